#include "client/access_review.h"

namespace slipway::client {
namespace {

json::Value strings(const std::vector<std::string>& all) {
  json::ArrayBuilder list;
  for (const std::string& one : all) list.add(one);
  return list.build();
}

}  // namespace

json::Value access_review(const kube::UserInfo* user, json::Value attributes, std::string_view member) {
  json::ObjectBuilder spec;
  if (user != nullptr) {
    json::ObjectBuilder extra;
    for (const auto& [name, values] : user->extra) extra.add(name, strings(values));
    spec.add("user", user->name).add("uid", user->uid).add("groups", strings(user->groups)).add("extra", extra.build());
  }
  spec.add(member, std::move(attributes));
  return json::object({{"apiVersion", "authorization.k8s.io/v1"},
                       {"kind", user == nullptr ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
                       {"spec", spec.build()}});
}

}  // namespace slipway::client
