#include "delivery/application/identity.h"

#include <fmt/format.h>

#include "delivery/family/service_account.h"
#include "json/quoted.h"
#include "kube/names.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

bool is_written(const kube::Object& object, const kube::Object& old) { return old.is_null() || object["spec"] != old["spec"]; }

}  // namespace

kube::Object record_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  // Who takes away the account under which it acted becomes the one it acts as.
  const bool is_redirected =
      !old.is_null() && kube::annotation(object, kServiceAccount) != kube::annotation(old, kServiceAccount);
  return delivery::record_identity(kIdentityAnnotations, object, is_redirected ? kube::Object() : old, asker);
}

std::vector<Cause> check_service_account(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  const std::string_view account = kube::annotation(object, kServiceAccount);
  if (account.empty()) return {};
  if (!is_written(object, old) && account == kube::annotation(old, kServiceAccount)) return {};
  if (const kube::Faults faults = kube::dns1123_subdomain_faults(account); !faults.empty()) {
    return {field::invalid(fmt::format("metadata.annotations[{}]", kServiceAccount), json::quoted(account),
                           "must be the name of a service account: " + kube::joined(faults))};
  }
  if (asker.may("impersonate", kube::kServiceAccounts, kube::ns(object), account)) return {};
  return {{.reason = "FieldValueForbidden",
           .message = fmt::format("Forbidden: to act as service account {} the user {} needs the verb impersonate on it",
                                  account, asker.user->name),
           .field = fmt::format("metadata.annotations[{}]", kServiceAccount)}};
}

std::shared_ptr<const kube::UserInfo> identity_of(const kube::Object& application, ActsAs acts_as) {
  if (acts_as == ActsAs::Controller) return nullptr;
  const std::string_view account = kube::annotation(application, kServiceAccount);
  if (account.empty()) return author_of(kIdentityAnnotations, application, acts_as);
  return service_account_user(kube::ns(application), account);
}

std::shared_ptr<const kube::UserInfo> namer_of(const kube::Object& application) {
  if (kube::annotation(application, kServiceAccount).empty()) return nullptr;
  return recorded_identity(kIdentityAnnotations, application);
}

}  // namespace slipway::delivery::application
