// As whom an Application or WorkflowRun acts: as the user who last wrote its spec, whom admission records in annotations from
// the request and never from the body, or as a service account of its namespace that the user named and may impersonate. Pure.
// The annotations are those of kubevela/kubevela pkg/auth.
//
// DIVERGES: a service account that is named wins over the user; upstream takes the user then.
#pragma once

#include <memory>
#include <vector>

#include "delivery/application/kind.h"
#include "delivery/family.h"
#include "delivery/family/identity.h"
#include "kube/admission.h"
#include "kube/user.h"

namespace slipway::delivery::application {

inline constexpr IdentityAnnotations kIdentityAnnotations{.user = kUserName, .groups = kUserGroup};

/// The object with who asks in its annotations when it is created, or its spec or service account changes, with those of `old`
/// otherwise. What the process itself writes stays as it is. A group whose name has a comma is left out: the list could not be
/// read back.
kube::Object record_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// A service account that the application acts as from this write on needs the verb impersonate.
std::vector<Cause> check_service_account(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// Null where the controller acts as itself: by --application-identity=controller, or when no user is recorded since the
/// process itself wrote the object.
std::shared_ptr<const kube::UserInfo> identity_of(const kube::Object& application, ActsAs acts_as = ActsAs::User);

/// The user who named the service account that it acts as. Null where none is named.
std::shared_ptr<const kube::UserInfo> namer_of(const kube::Object& application);

}  // namespace slipway::delivery::application
