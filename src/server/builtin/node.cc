// Node (v1): taints, pod networks that are given once.
#include <fmt/format.h>

#include <array>
#include <set>

#include "kube/names.h"
#include "server/builtin/defaults.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace node_rules {
namespace {

using json::Value;
using kube::Object;

void taint_causes(const Value& taints, std::vector<Cause>& causes) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Value& taint = taints.item(i);
    const std::string at = fmt::format("spec.taints[{}]", i);
    for (const std::string& fault : kube::qualified_name_faults(taint["key"].as_string())) {
      causes.push_back(field::invalid(at + ".key", quoted(taint["key"]), fault));
    }
    for (const std::string& fault : kube::label_value_faults(taint["value"].as_string())) {
      causes.push_back(field::invalid(at + ".value", quoted(taint["value"]), fault));
    }
    if (!seen.emplace(taint["key"].as_string(), taint["effect"].as_string()).second) {
      causes.push_back(field::duplicate(at, quoted(taint)));
    }
  }
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  taint_causes(spec["taints"], causes);
  if (old.is_null()) return;
  if (!old["spec"]["podCIDRs"].empty() && spec["podCIDRs"] != old["spec"]["podCIDRs"]) {
    causes.push_back(field::forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
  }
  if (const Value& before = old["spec"]["providerID"]; !before.as_string().empty() && spec["providerID"] != before) {
    causes.push_back(field::forbidden("spec.providerID", "node updates may not change providerID except from \"\" to valid"));
  }
}

}  // namespace
}  // namespace node_rules

std::span<const Strategy> node_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = "", .kind = "Node", .takes_status_at_create = true, .validate = node_rules::validate}};
  return kRows;
}

}  // namespace slipway::server
