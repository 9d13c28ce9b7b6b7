// Pod: defaults, validation, graceful deletion.
#include <array>

#include "json/text.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kDefaultGraceSeconds = 30;

Object fill_defaults(const Object& object) {
  Value spec = with_pod_defaults(object["spec"]);
  return spec.is_same(object["spec"]) ? object : object.with("spec", std::move(spec));
}

Object prepare_create(const Object& object, const Surroundings&) {
  return object.with("status", json::object({{"phase", "Pending"}, {"qosClass", qos_class(object["spec"])}}));
}

/// A spec without what may change after creation. `takes_node`: the pod had no node yet.
Value fixed_spec(const Value& spec, bool takes_node) {
  Value fixed = spec;
  for (const char* key : {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates"}) {
    fixed = fixed.without(key);
  }
  // DIVERGES: upstream sets the node through pods/binding only.
  if (takes_node) fixed = fixed.without("nodeName");
  for (const char* list : {"containers", "initContainers"}) {
    Value containers = fixed[list];
    for (std::size_t i = 0; i < containers.size(); ++i)
      containers = containers.with_item(i, containers.item(i).without("image"));
    if (!containers.empty()) fixed = fixed.with(list, containers);
  }
  return fixed;
}

void update_causes(const Value& spec, const Value& old, std::vector<Cause>& causes) {
  if (spec.is_same(old) || spec == old) return;
  if (spec["containers"].size() != old["containers"].size()) {
    causes.push_back(field::forbidden("spec.containers", "pod updates may not add or remove containers"));
    return;
  }
  const bool takes_node = old["nodeName"].as_string().empty();
  if (fixed_spec(spec, takes_node) == fixed_spec(old, takes_node)) return;
  causes.push_back(
      field::forbidden("spec",
                       "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
                       "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
                       "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (!object["spec"].is_same(old["spec"])) pod_spec_causes(object["spec"], "spec", causes);
  if (causes.empty() && !old.is_null()) update_causes(object["spec"], old["spec"], causes);
}

/// DIVERGES: the embedded cluster runs pods without binding them to a node, so a pod that has started counts as scheduled.
std::int64_t grace_seconds(const Object& object, std::optional<std::int64_t> asked) {
  const bool is_placed = !object["spec"]["nodeName"].as_string().empty() || object["status"].has("startTime");
  const std::string_view phase = object["status"]["phase"].as_string();
  if (!is_placed || phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t grace = asked.value_or(object["spec"]["terminationGracePeriodSeconds"].as_int(kDefaultGraceSeconds));
  return grace < 0 ? 1 : grace;
}

}  // namespace

std::span<const Strategy> pod_strategies() {
  static constexpr std::array kRows{Strategy{.group = "",
                                             .kind = "Pod",
                                             .fill_defaults = fill_defaults,
                                             .prepare_create = prepare_create,
                                             .validate = validate,
                                             .grace_seconds = grace_seconds}};
  return kRows;
}

}  // namespace slipway::server
