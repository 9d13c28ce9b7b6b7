#include "delivery/family/protected_status.h"

#include <string>

namespace slipway::delivery {
namespace {

const kube::Resource kUsers{"", "v1", "users"};

}  // namespace

kube::Object with_protected_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                                   std::initializer_list<std::string_view> members) {
  if (asker.user == nullptr || object["status"] == old["status"] || asker.may("impersonate", kUsers, "", "")) return object;
  json::Value status = old["status"].is_object() ? old["status"] : json::Value::empty_object();
  for (const std::string_view member : members) {
    const std::string key(member);
    status = object["status"].has(key) ? status.with(key, object["status"][key]) : status.without(key);
  }
  return object.with("status", status);
}

}  // namespace slipway::delivery
