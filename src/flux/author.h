// As whom Flux's objects act. Admission records the user who last wrote the spec of a GitRepository, HelmRelease or
// Kustomization (delivery/family/identity.h), and they read and write as that user. A HelmRelease or Kustomization with
// spec.serviceAccountName delivers as that account of its namespace, as under Flux, if its author may impersonate the account.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "delivery/family/identity.h"
#include "kube/admission.h"

namespace slipway::flux {

inline constexpr delivery::IdentityAnnotations kAuthor{.user = "flux.slipway.dev/author",
                                                       .groups = "flux.slipway.dev/author-groups"};
/// The kinds of which admission records the author.
delivery::AuthoredKinds authored_kinds();
/// Rows that record the author. REQUIRES: they stand in admission also while nothing simulates Flux, since a user could write
/// the annotations then.
std::vector<kube::AdmissionRow> author_rows();
/// Rows that restore what users wrote into a status, which says what was applied and from which revision. Not for clusters
/// where Flux itself runs.
std::vector<kube::AdmissionRow> status_rows();

/// Null is the process itself.
struct Acting {
  std::shared_ptr<const kube::UserInfo> author;  // for Flux's own objects and Secrets
  std::shared_ptr<const kube::UserInfo> user;    // for what is delivered: the author, or the service account
};
/// Asks `process` whether the author may impersonate a service account that is named. Errors: Forbidden if not, BadRequest for
/// what is no name of an account.
Task<Result<Acting>> acting_for(client::Client& process, kube::Object object, delivery::ActsAs acts_as);
/// The text of a refusal for the status: what to do, if `user` lacks a right.
std::string refusal_text(const Status& error, const kube::UserInfo* user);

}  // namespace slipway::flux
