#include "server/builtin/pod_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "json/members.h"
#include "json/text.h"
#include "store/store.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::string_view kPriorityClasses = "/registry/scheduling.k8s.io/priorityclasses/";
constexpr std::string_view kRuntimeClasses = "/registry/node.k8s.io/runtimeclasses/";
constexpr std::int64_t kLostNodeSeconds = 300;

std::unexpected<Status> forbidden(const Object& pod, const std::string& why) {
  Status status;
  status.reason = Reason::Forbidden;
  status.message = fmt::format("pods \"{}\" is forbidden: {}", kube::name(pod), why);
  status.name = std::string(kube::name(pod));
  status.kind = "pods";
  return fail(std::move(status));
}

/// Null when there is no such object.
Value find(const Surroundings& around, std::string_view prefix, std::string_view name) {
  const auto entry = around.store->get_head(std::string(prefix) + std::string(name));
  return entry ? entry->value : Value();
}

/// The class of pods that name none: the lowest of those that are global defaults, or null.
Value default_priority_class(const Surroundings& around) {
  Value best;
  const auto classes = around.store->range({.prefix = std::string(kPriorityClasses)});
  if (!classes) return best;
  for (const auto& [key, entry] : classes->entries) {
    if (!entry.value["globalDefault"].as_bool()) continue;
    if (best.is_null() || entry.value["value"].as_int() < best["value"].as_int()) best = entry.value;
  }
  return best;
}

Result<Value> with_priority(const Object& pod, const Surroundings& around) {
  Value spec = pod["spec"];
  const std::string name = spec["priorityClassName"].str();
  const Value found = name.empty() ? default_priority_class(around) : find(around, kPriorityClasses, name);
  if (!name.empty() && found.is_null()) {
    return forbidden(pod, fmt::format("no PriorityClass with name {} was found", name));
  }
  const std::int64_t priority = found["value"].as_int();
  const std::string policy = found.is_null() ? "PreemptLowerPriority" : found["preemptionPolicy"].str();
  if (spec.has("priority") && spec["priority"].as_int() != priority) {
    return forbidden(pod, fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority admission "
                                      "controller computed {} from the given PriorityClass name",
                                      spec["priority"].as_int(), priority));
  }
  if (!policy.empty() && spec.has("preemptionPolicy") && spec["preemptionPolicy"].as_string() != policy) {
    return forbidden(pod, fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
                                      "admission controller computed {} from the given PriorityClass name",
                                      spec["preemptionPolicy"].as_string(), policy));
  }
  if (name.empty() && !found.is_null()) spec = spec.with("priorityClassName", kube::name(found));
  spec = spec.with("priority", priority);
  return policy.empty() ? spec : spec.with("preemptionPolicy", policy);
}

/// The selector of the node with what the runtime class asks for.
Result<Value> with_runtime_placement(const Object& pod, Value spec, const Value& scheduling) {
  const Value& nodes = spec["nodeSelector"];
  for (const auto [key, value] : scheduling["nodeSelector"].members()) {
    const Value& own = nodes[key];
    if (!own.is_null() && own != value) {
      return forbidden(
          pod, fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; pod.spec.nodeSelector[{0}] = {2}", key,
                           value.as_string(), own.as_string()));
    }
  }
  if (const Value selector = json::with_members(nodes, scheduling["nodeSelector"]); !selector.empty() || !nodes.is_null())
    spec = spec.with("nodeSelector", selector);
  Value tolerations = spec["tolerations"];
  for (const Value& one : scheduling["tolerations"].items()) {
    const auto known = tolerations.items();
    if (std::ranges::find(known, one) == known.end()) tolerations = tolerations.appended(one);
  }
  return tolerations.is_null() ? spec : spec.with("tolerations", tolerations);
}

Result<Value> with_runtime_class(const Object& pod, Value spec, const Surroundings& around) {
  const std::string name = spec["runtimeClassName"].str();
  const Value found = name.empty() ? Value() : find(around, kRuntimeClasses, name);
  if (!name.empty() && found.is_null()) {
    return forbidden(pod, fmt::format("pod rejected: RuntimeClass {} not found", json::print(Value(name))));
  }
  const Value& overhead = found["overhead"]["podFixed"];
  const Value& own = spec["overhead"];
  if (found["overhead"].is_null() && !own.empty()) {
    return forbidden(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  if (!own.empty() && own != overhead) {
    return forbidden(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  if (!overhead.empty()) spec = spec.with("overhead", overhead);
  return found["scheduling"].is_null() ? spec : with_runtime_placement(pod, std::move(spec), found["scheduling"]);
}

bool tolerates(const Value& spec, std::string_view key) {
  return std::ranges::any_of(spec["tolerations"].items(), [&](const Value& one) {
    const std::string_view own = one["key"].as_string();
    const std::string_view effect = one["effect"].as_string();
    return (own.empty() || own == key) && (effect.empty() || effect == "NoExecute");
  });
}

/// A pod stays for a while on a node that is not ready or cannot be reached.
Value with_default_tolerations(const Value& spec) {
  static const auto lost = [](const char* key) {
    return json::object(
        {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kLostNodeSeconds}});
  };
  static const Value kNotReady = lost("node.kubernetes.io/not-ready");
  static const Value kUnreachable = lost("node.kubernetes.io/unreachable");
  Value tolerations = spec["tolerations"];
  if (!tolerates(spec, kNotReady["key"].as_string())) tolerations = tolerations.appended(kNotReady);
  if (!tolerates(spec, kUnreachable["key"].as_string())) tolerations = tolerations.appended(kUnreachable);
  return tolerations.is_same(spec["tolerations"]) ? spec : spec.with("tolerations", tolerations);
}

}  // namespace

Result<Object> admit_pod(const Object& pod, const Object& old, const Surroundings& around) {
  Value spec = pod["spec"];
  if (old.is_null()) {
    SLIPWAY_TRY(prioritised, with_priority(pod, around));
    SLIPWAY_TRY(placed, with_runtime_class(pod, std::move(prioritised), around));
    spec = std::move(placed);
  } else {
    for (const char* key : {"priority", "preemptionPolicy"}) {
      if (spec[key].is_null() && !old["spec"][key].is_null()) spec = spec.with(key, old["spec"][key]);
    }
  }
  spec = with_default_tolerations(spec);
  return spec.is_same(pod["spec"]) ? pod : pod.with("spec", std::move(spec));
}

}  // namespace slipway::server
