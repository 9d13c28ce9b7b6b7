#include "delivery/application/identity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/kind.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kAuthenticated = "system:authenticated";
constexpr const char* kAccounts = "system:serviceaccounts";

kube::Object with_annotation(const kube::Object& object, const char* key, const Value& value) {
  if (object["metadata"]["annotations"][key] == value) return object;
  return value.is_null() ? object.without_path({"metadata", "annotations", key})
                         : object.with_path({"metadata", "annotations", key}, value);
}

std::vector<std::string> groups_in(std::string_view list) {
  std::vector<std::string> groups;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) groups.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return groups;
}

bool is_written(const kube::Object& object, const kube::Object& old) { return old.is_null() || object["spec"] != old["spec"]; }

}  // namespace

kube::Object record_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return object;
  if (!is_written(object, old)) {
    const Value& before = old["metadata"]["annotations"];
    return with_annotation(with_annotation(object, kUserName, before[kUserName]), kUserGroup, before[kUserGroup]);
  }
  std::vector<std::string> groups;
  std::ranges::copy_if(asker.user->groups, std::back_inserter(groups),
                       [](const std::string& group) { return !group.contains(','); });
  return with_annotation(with_annotation(object, kUserName, asker.user->name), kUserGroup, joined(groups, ","));
}

std::vector<Cause> check_service_account(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  const std::string_view account = kube::annotation(object, kServiceAccount);
  if (account.empty()) return {};
  if (!is_written(object, old) && account == kube::annotation(old, kServiceAccount)) return {};
  if (asker.may("impersonate", kube::kServiceAccounts, kube::ns(object), account)) return {};
  return {{.reason = "FieldValueForbidden",
           .message = fmt::format("Forbidden: to act as service account {} the user {} needs the verb impersonate on it",
                                  account, asker.user->name),
           .field = fmt::format("metadata.annotations[{}]", kServiceAccount)}};
}

std::shared_ptr<const kube::UserInfo> identity_of(const kube::Object& application, ActsAs acts_as) {
  if (acts_as == ActsAs::Controller) return nullptr;
  auto user = std::make_shared<kube::UserInfo>();
  if (const std::string_view account = kube::annotation(application, kServiceAccount); !account.empty()) {
    const std::string_view ns = kube::ns(application);
    user->name = fmt::format("system:serviceaccount:{}:{}", ns, account);
    user->groups = {kAccounts, fmt::format("{}:{}", kAccounts, ns), kAuthenticated};
    return user;
  }
  user->name = std::string(kube::annotation(application, kUserName));
  if (user->name.empty()) return nullptr;
  user->groups = groups_in(kube::annotation(application, kUserGroup));
  return user;
}

}  // namespace slipway::delivery::application
