// CertificateSigningRequest (certificates.k8s.io/v1): who asks is written by the server, approval and denial are conditions set
// through a subresource of their own.
#include <array>

#include "server/builtin/defaults.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace certificate_rules {
namespace {

using json::Value;
using kube::Object;

Object prepare_create(const Object& object, const Surroundings& around) {
  Value spec = object["spec"];
  for (const char* key : {"username", "uid", "groups", "extra"}) spec = spec.without(key);
  if (around.user != nullptr) {
    spec = spec.with("username", around.user->name);
    if (!around.user->uid.empty()) spec = spec.with("uid", around.user->uid);
    if (!around.user->groups.empty()) spec = spec.with("groups", json::array(around.user->groups));
  }
  return object.with("spec", spec).with("status", Value::empty_object());
}

/// The request itself never changes.
Object prepare_update(const Object& object, const Object& old, const Surroundings&) { return object.with("spec", old["spec"]); }

Object prepare_approval(const Object& object, const Object& old) {
  const Value& conditions = object["status"]["conditions"];
  if (conditions.empty()) return old.without_path({"status", "conditions"});
  return old.with_path({"status", "conditions"}, conditions);
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (!old.is_null()) return;
  const Value& spec = object["spec"];
  if (spec["usages"].empty()) causes.push_back(field::required("spec.usages"));
  if (spec["request"].as_string().empty()) causes.push_back(field::required("spec.request"));
  const std::string_view signer = spec["signerName"].as_string();
  if (signer.find('/') == std::string_view::npos) {
    causes.push_back(field::invalid("spec.signerName", quoted(spec["signerName"]),
                                    "must be a fully qualified domain and path of the form \"example.com/signer-name\""));
  }
  if (const Value& seconds = spec["expirationSeconds"]; !seconds.is_null() && seconds.as_int() < 600) {
    causes.push_back(field::invalid("spec.expirationSeconds", quoted(seconds),
                                    "may not specify a duration less than 600 seconds (10 minutes)"));
  }
}

}  // namespace
}  // namespace certificate_rules

std::span<const Strategy> certificate_strategies() {
  static constexpr std::array kRows{Strategy{.group = "certificates.k8s.io",
                                             .kind = "CertificateSigningRequest",
                                             .name_rule = NameRule::PathSegment,
                                             .subresource = "approval",
                                             .prepare_create = certificate_rules::prepare_create,
                                             .prepare_update = certificate_rules::prepare_update,
                                             .prepare_subresource = certificate_rules::prepare_approval,
                                             .validate = certificate_rules::validate}};
  return kRows;
}

}  // namespace slipway::server
