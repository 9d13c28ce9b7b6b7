#include "server/access/review.h"

#include <fmt/format.h>

#include "kube/object.h"
#include "server/access/authorizer.h"

namespace slipway::server {

using json::Value;

Result<void> check_review_body(const Value& body, const kube::GroupVersionKind& kind) {
  SLIPWAY_TRY(given, kube::GroupVersionKind::of(body));
  if (given.api_version() != kind.api_version()) {
    return fail(Reason::BadRequest, fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                                given.api_version(), kind.api_version()));
  }
  if (given.kind == kind.kind) return {};
  return fail(Reason::BadRequest,
              fmt::format("the kind in the data ({}) does not match the expected kind ({})", given.kind, kind.kind));
}

client::Reply reviewed(const Value& body, Value metadata, Value status) {
  json::ObjectBuilder made;
  made.add("kind", body["kind"]).add("apiVersion", body["apiVersion"]).add("metadata", std::move(metadata));
  if (body["spec"].is_object()) made.add("spec", body["spec"]);
  made.add("status", std::move(status));
  return {made.build(), {}, 201};
}

kube::UserInfo user_of(const client::Request& request) {
  if (request.user != nullptr) return *request.user;
  return {.name = "system:admin", .uid = "", .groups = {std::string(kMasters), "system:authenticated"}, .extra = {}};
}

Value user_object(const kube::UserInfo& user) {
  json::ObjectBuilder made;
  made.add("username", user.name);
  if (!user.uid.empty()) made.add("uid", user.uid);
  if (!user.groups.empty()) made.add("groups", json::array(user.groups));
  json::ObjectBuilder extra;
  for (const auto& [key, values] : user.extra) extra.add(key, json::array(values));
  if (!extra.empty()) made.add("extra", extra.build());
  return made.build();
}

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> result;
  for (const Value& one : list.items()) result.push_back(one.str());
  return result;
}

}  // namespace slipway::server
