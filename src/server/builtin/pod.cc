// Pod: defaults, validation, graceful deletion.
#include <array>

#include "server/builtin/defaults.h"
#include "server/builtin/pod_admission.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace pod_rules {
namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kDefaultGraceSeconds = 30;

/// The account a pod runs as when it names none.
constexpr std::string_view kDefaultAccount = "default";

/// Requests default to limits: of pods, not of templates.
Value with_request_defaults(const Value& resources) {
  if (resources["limits"].empty()) return resources;
  Defaults requests(resources["requests"]);
  for (const auto [name, limit] : resources["limits"].members()) requests.absent(name, limit);
  return requests.value().is_same(resources["requests"]) ? resources : resources.with("requests", requests.value());
}

Value with_container_defaults(const Value& container) {
  return Defaults(container).present("resources", with_request_defaults).value();
}

Object fill_defaults(const Object& object) {
  if (!object["spec"].is_object()) return object;
  Defaults defaults(with_pod_defaults(object["spec"]));
  defaults.absent("enableServiceLinks", true);  // templates stay without
  defaults.each("containers", with_container_defaults).each("initContainers", with_container_defaults);
  const Value& spec = defaults.value();
  return spec.is_same(object["spec"]) ? object : object.with("spec", spec);
}

/// The object as the service account `default`, when it names none (upstream's ServiceAccount admission). DIVERGES: no volume
/// with a token is added, and whether the account is there is not asked.
Object with_account(const Object& object) {
  const Value& spec = object["spec"];
  if (!spec["serviceAccountName"].as_string().empty()) return object;
  return object.with("spec", spec.with("serviceAccountName", "default").with("serviceAccount", "default"));
}

Object prepare_create(const Object& plain, const Surroundings&) {
  const Object object = with_account(plain);
  const Value spec =
      Defaults(object["spec"]).absent("serviceAccountName", kDefaultAccount).absent("serviceAccount", kDefaultAccount).value();
  return object.with("spec", spec).with("status", json::object({{"phase", "Pending"}, {"qosClass", qos_class(spec)}}));
}

/// A spec without what may change after creation, or changes by a rule of its own. `takes_node`: the pod had no node yet.
Value fixed_spec(const Value& spec, bool takes_node) {
  Value fixed = spec;
  for (const char* key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) fixed = fixed.without(key);
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

bool has_item(const Value& list, const Value& item) { return std::ranges::find(list.items(), item) != list.items().end(); }

/// Tolerations may only come, and gates of scheduling only go.
void list_causes(const Value& spec, const Value& old, std::vector<Cause>& causes) {
  const Value& tolerations = spec["tolerations"];
  for (const Value& before : old["tolerations"].items()) {
    if (has_item(tolerations, before)) continue;
    causes.push_back(
        field::forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
    break;
  }
  for (const Value& gate : spec["schedulingGates"].items()) {
    if (has_item(old["schedulingGates"], gate)) continue;
    causes.push_back(field::forbidden("spec.schedulingGates",
                                      "only deletion is allowed, but found new scheduling gate '" + gate["name"].str() + "'"));
  }
}

/// A deadline may be set once, and then only come nearer.
void deadline_causes(const Value& spec, const Value& old, std::vector<Cause>& causes) {
  const std::string path = "spec.activeDeadlineSeconds";
  const Value& deadline = spec["activeDeadlineSeconds"];
  const Value& before = old["activeDeadlineSeconds"];
  if (before.is_null()) return;
  if (deadline.is_null()) {
    causes.push_back(field::invalid(path, "null", "must not update from a positive integer to nil value"));
  } else if (deadline.as_int() > before.as_int()) {
    causes.push_back(field::invalid(path, quoted(deadline), "must be less than or equal to previous value"));
  }
}

void update_causes(const Value& spec, const Value& old, std::vector<Cause>& causes) {
  if (spec.is_same(old) || spec == old) return;
  if (spec["containers"].size() != old["containers"].size()) {
    causes.push_back(field::forbidden("spec.containers", "pod updates may not add or remove containers"));
  }
  if (spec["initContainers"].size() != old["initContainers"].size()) {
    causes.push_back(field::forbidden("spec.initContainers", "pod updates may not add or remove containers"));
  }
  if (!causes.empty()) return;
  deadline_causes(spec, old, causes);
  list_causes(spec, old, causes);
  Value before = old;
  // A grace below zero counts as one second, and may be said so.
  if (old["terminationGracePeriodSeconds"].as_int() < 0 && spec["terminationGracePeriodSeconds"].as_int() == 1) {
    before = before.with("terminationGracePeriodSeconds", 1);
  }
  const bool takes_node = old["nodeName"].as_string().empty();
  if (fixed_spec(spec, takes_node) == fixed_spec(before, takes_node)) return;
  causes.push_back(
      field::forbidden("spec",
                       "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
                       "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
                       "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (!object["spec"].is_same(old["spec"])) pod_spec_causes(object["spec"], "spec", Value(), causes);
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
}  // namespace pod_rules

std::span<const Strategy> pod_strategies() {
  static constexpr std::array kRows{Strategy{.group = "",
                                             .kind = "Pod",
                                             .status_keeps = "ownerReferences",
                                             .fill_defaults = pod_rules::fill_defaults,
                                             .admit = admit_pod,
                                             .prepare_create = pod_rules::prepare_create,
                                             .validate = pod_rules::validate,
                                             .grace_seconds = pod_rules::grace_seconds}};
  return kRows;
}

}  // namespace slipway::server
