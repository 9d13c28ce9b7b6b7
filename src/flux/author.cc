#include "flux/author.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "delivery/family/protected_status.h"
#include "delivery/family/service_account.h"
#include "flux/kinds.h"
#include "json/quoted.h"
#include "kube/names.h"
#include "kube/well_known.h"

namespace slipway::flux {
namespace {

struct AuthoredKind {
  const char* group;
  const char* kind;
};

kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return delivery::record_identity(kAuthor, object, old, asker);
}

}  // namespace

delivery::AuthoredKinds authored_kinds() {
  return {.in = kAuthor, .resources = {kGitRepositories, kHelmReleases, kKustomizations}};
}

std::vector<kube::AdmissionRow> author_rows() {
  std::vector<kube::AdmissionRow> rows;
  for (const AuthoredKind& one : {AuthoredKind{kSourceGroup, "GitRepository"}, AuthoredKind{kHelmGroup, "HelmRelease"},
                                  AuthoredKind{kKustomizeGroup, "Kustomization"}}) {
    rows.push_back({.group = one.group, .kind = one.kind, .mutate = {}, .validate = {}, .mutate_for = stamp_author});
  }
  return rows;
}

std::vector<kube::AdmissionRow> status_rows() {
  std::vector<kube::AdmissionRow> rows;
  for (const AuthoredKind& one : {AuthoredKind{kSourceGroup, "GitRepository"}, AuthoredKind{kSourceGroup, "HelmChart"},
                                  AuthoredKind{kSourceGroup, "OCIRepository"}, AuthoredKind{kHelmGroup, "HelmRelease"},
                                  AuthoredKind{kKustomizeGroup, "Kustomization"}}) {
    rows.push_back({.group = one.group, .kind = one.kind, .mutate = {}, .validate = {}, .stamp_status = delivery::keep_status});
  }
  return rows;
}

Task<Result<Acting>> acting_for(client::Client& process, kube::Object object, delivery::ActsAs acts_as) {
  Acting acting{.author = delivery::author_of(kAuthor, object, acts_as), .user = nullptr};
  acting.user = acting.author;
  const std::string account = object["spec"]["serviceAccountName"].str();
  if (account.empty()) co_return acting;
  if (const kube::Faults faults = kube::dns1123_subdomain_faults(account); !faults.empty()) {
    co_return fail(Reason::BadRequest, fmt::format("spec.serviceAccountName: {} must be the name of a service account: {}",
                                                   json::quoted(account), kube::joined(faults)));
  }
  const std::string ns(kube::ns(object));
  const auto may = co_await control::require_right(
      process, acting.author, {.verb = "impersonate", .resource = kube::kServiceAccounts, .key = {ns, account}});
  if (!may) {
    Status refused = may.error();
    refused.message = fmt::format("spec.serviceAccountName: {}", refused.message);
    co_return fail(std::move(refused));
  }
  acting.user = delivery::service_account_user(ns, account);
  co_return acting;
}

std::string refusal_text(const Status& error, const kube::UserInfo* user) {
  return control::lacks_right(error, user) ? control::lacks_right_text(error, *user) : error.message;
}

}  // namespace slipway::flux
