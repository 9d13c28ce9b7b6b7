#include "delivery/family/protected_status.h"

#include <string>

namespace slipway::delivery {
namespace {

const kube::Resource kUsers{"", "v1", "users"};

}  // namespace

bool may_write_status(const kube::Asker& asker) { return asker.user == nullptr || asker.may("impersonate", kUsers, "", ""); }

kube::Object with_protected_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                                   std::initializer_list<std::string_view> members) {
  if (object["status"] == old["status"] || may_write_status(asker)) return object;
  json::Value status = old["status"].is_object() ? old["status"] : json::Value::empty_object();
  for (const std::string_view member : members) {
    const std::string key(member);
    status = object["status"].has(key) ? status.with(key, object["status"][key]) : status.without(key);
  }
  return object.with("status", status);
}

kube::Object with_own_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                             std::initializer_list<std::string_view> own) {
  if (object["status"] == old["status"] || may_write_status(asker)) return object;
  json::Value status = object["status"].is_object() ? object["status"] : json::Value::empty_object();
  for (const std::string_view member : own) {
    const std::string key(member);
    status = old["status"].has(key) ? status.with(key, old["status"][key]) : status.without(key);
  }
  return object.with("status", status);
}

}  // namespace slipway::delivery
