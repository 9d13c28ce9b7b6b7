// PersistentVolumeClaim.
#include <fmt/format.h>

#include <array>

#include "json/text.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace claim_rules {
namespace {

using json::Value;
using kube::Object;

Object prepare_create(const Object& object, const Surroundings&) {
  return object.with("status", json::object({{"phase", "Pending"}}));
}

void spec_causes(const Value& spec, std::vector<Cause>& causes) {
  static const std::vector<std::string> kModes{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  const Value& modes = spec["accessModes"];
  if (modes.empty()) causes.push_back(field::required("spec.accessModes", "at least 1 access mode is required"));
  bool is_alone = false;
  for (const Value& mode : modes.items()) {
    if (std::ranges::find(kModes, mode.as_string()) == kModes.end()) {
      causes.push_back(field::not_supported("spec.accessModes", json::print(mode), kModes));
    }
    is_alone |= mode.as_string() == "ReadWriteOncePod";
  }
  if (is_alone && modes.size() > 1) {
    causes.push_back(field::forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes"));
  }
  if (!spec["resources"]["requests"].has("storage")) causes.push_back(field::required("spec.resources[storage]"));
  const Value& mode = spec["volumeMode"];
  if (mode.as_string() != "Filesystem" && mode.as_string() != "Block") {
    causes.push_back(field::not_supported("spec.volumeMode", json::print(mode), {"Block", "Filesystem"}));
  }
}

/// spec without what may change after creation.
Value fixed_spec(const Object& object, const Object& old) {
  Value spec = object["spec"];
  if (old["spec"]["volumeName"].as_string().empty()) spec = spec.without("volumeName");
  if (old["status"]["phase"].as_string() == "Bound") {
    spec = spec.without_path({"resources", "requests"}).without("volumeAttributesClassName");
  }
  return spec;
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  spec_causes(object["spec"], causes);
  if (old.is_null() || fixed_spec(object, old) == fixed_spec(old, old)) return;
  causes.push_back(field::forbidden(
      "spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"));
}

}  // namespace
}  // namespace claim_rules

std::span<const Strategy> claim_strategies() {
  static constexpr std::array kRows{Strategy{.group = "",
                                             .kind = "PersistentVolumeClaim",
                                             .prepare_create = claim_rules::prepare_create,
                                             .validate = claim_rules::validate}};
  return kRows;
}

}  // namespace slipway::server
