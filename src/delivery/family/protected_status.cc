#include "delivery/family/protected_status.h"

#include <string>

namespace slipway::delivery {
namespace {

const kube::Resource kUsers{"", "v1", "users"};

/// `status` with these members as `from` has them.
json::Value with_members_of(const json::Value& status, const json::Value& from,
                            std::initializer_list<std::string_view> members) {
  json::Value out = status.is_object() ? status : json::Value::empty_object();
  for (const std::string_view member : members) {
    const std::string key(member);
    out = from.has(key) ? out.with(key, from[key]) : out.without(key);
  }
  return out;
}

}  // namespace

bool may_write_status(const kube::Asker& asker) { return asker.user == nullptr || asker.may("impersonate", kUsers, "", ""); }

kube::Object with_protected_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                                   std::initializer_list<std::string_view> members) {
  if (object["status"] == old["status"] || may_write_status(asker)) return object;
  return object.with("status", with_members_of(old["status"], object["status"], members));
}

Result<kube::Object> keep_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return with_protected_status(object, old, asker, {});
}

kube::Object with_own_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                             std::initializer_list<std::string_view> own) {
  if (object["status"] == old["status"] || may_write_status(asker)) return object;
  return object.with("status", with_members_of(object["status"], old["status"], own));
}

}  // namespace slipway::delivery
