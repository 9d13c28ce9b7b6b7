#include "cluster/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "kube/quantity.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kName = "metadata.name";
constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool tolerates(const Value& toleration, const Value& taint) {
  const std::string_view key = toleration["key"].as_string();
  const std::string_view effect = toleration["effect"].as_string();
  const bool is_exists = toleration["operator"].as_string() == "Exists";
  if (!effect.empty() && effect != taint["effect"].as_string()) return false;
  if (key.empty()) return is_exists;
  return key == taint["key"].as_string() && (is_exists || toleration["value"].as_string() == taint["value"].as_string());
}

bool has_value(const Value& values, std::string_view value) {
  return std::ranges::any_of(values.items(), [&](const Value& one) { return one.as_string() == value; });
}

/// Labels by expressions; the only field there is is the node's name.
bool matches_term(const Value& term, const kube::Object& node) {
  const Value& expressions = term["matchExpressions"];
  const Value& fields = term["matchFields"];
  if (expressions.empty() && fields.empty()) return false;
  for (const Value& field : fields.items()) {
    const bool is_named = has_value(field["values"], kube::name(node));
    if (field["key"].as_string() != kName || is_named != (field["operator"].as_string() == "In")) return false;
  }
  if (expressions.empty()) return true;
  const Value& labels = node["metadata"]["labels"];
  return std::ranges::all_of(expressions.items(), [&](const Value& expression) {
    const auto op = expression["operator"].as_string();
    if (op == "Gt" || op == "Lt") {
      const std::string text = fmt::format("{}{}{}", expression["key"].as_string(), op == "Gt" ? ">" : "<",
                                           expression["values"].item(0).as_string());
      const auto selector = kube::LabelSelector::parse(text);
      return selector && selector->matches(labels);
    }
    const auto selector = kube::LabelSelector::from_object(json::object({{"matchExpressions", json::array({expression})}}));
    return selector && selector->matches(labels);
  });
}

bool has_affinity_for(const Value& pod_spec, const kube::Object& node) {
  const Value& required = pod_spec["affinity"]["nodeAffinity"][kRequired];
  if (required.is_null()) return true;
  return std::ranges::any_of(required["nodeSelectorTerms"].items(),
                             [&](const Value& term) { return matches_term(term, node); });
}

/// How many pods the node takes; 0 when it does not say.
std::int64_t room_for_pods(const kube::Object& node) {
  const Value& room = node["status"]["allocatable"]["pods"];
  if (!room.is_string()) return room.as_int();
  const auto quantity = kube::Quantity::parse(room.as_string());
  return quantity ? quantity->units() : 0;
}

/// Why the pod may not go there; empty: it may.
std::string node_fault(const kube::Object& pod, const NodeLoad& load, bool is_only_node) {
  const Value& spec = pod["spec"];
  const std::string bound = target_node(pod);
  if (!bound.empty() && bound != kube::name(load.node)) return "didn't match Pod's node affinity/selector";
  const Value taint = untolerated_taint(spec["tolerations"], load.node, kKeepAway);
  if (taint["key"].as_string() == "node.kubernetes.io/unschedulable") return "were unschedulable";
  if (!taint.is_null()) {
    return fmt::format("had untolerated taint {{{}: {}}}", taint["key"].as_string(), taint["value"].as_string());
  }
  if (is_only_node) return "";
  if (!selects_node(spec, load.node)) return "didn't match Pod's node affinity/selector";
  return load.pods < room_for_pods(load.node) ? "" : "Too many pods";
}

}  // namespace

std::optional<std::string> placement_fault(const kube::Object& pod, std::span<const NodeLoad> nodes) {
  if (nodes.empty()) return "no nodes available to schedule pods";
  std::map<std::string, std::size_t> faults;
  for (const NodeLoad& load : nodes) {
    std::string fault = node_fault(pod, load, nodes.size() == 1);
    if (fault.empty()) return std::nullopt;
    ++faults[fault == "Too many pods" ? fault : "node(s) " + fault];
  }
  std::vector<std::string> told;
  told.reserve(faults.size());
  for (const auto& [fault, count] : faults) told.push_back(fmt::format("{} {}", count, fault));
  std::ranges::sort(told);
  return fmt::format(
      "0/{0} nodes are available: {1}. preemption: 0/{0} nodes are available: {0} Preemption is not helpful for "
      "scheduling.",
      nodes.size(), fmt::join(told, ", "));
}

std::string choose_node(const kube::Object& pod, std::span<const NodeLoad> nodes) {
  const NodeLoad* best = nullptr;
  for (const NodeLoad& load : nodes) {
    if (best != nullptr && best->pods <= load.pods) continue;
    if (node_fault(pod, load, nodes.size() == 1).empty()) best = &load;
  }
  return best == nullptr ? "" : std::string(kube::name(best->node));
}

bool selects_node(const Value& pod_spec, const kube::Object& node) {
  const Value& labels = node["metadata"]["labels"];
  for (const auto& [key, value] : pod_spec["nodeSelector"].members()) {
    if (!labels.has(key) || labels[key] != value) return false;
  }
  return has_affinity_for(pod_spec, node);
}

Value untolerated_taint(const Value& tolerations, const kube::Object& node, std::span<const std::string_view> effects) {
  static const Value kCordon = json::object({{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}});
  const auto is_met = [&](const Value& taint) {
    return std::ranges::find(effects, taint["effect"].as_string()) != effects.end() &&
           std::ranges::none_of(tolerations.items(), [&](const Value& one) { return tolerates(one, taint); });
  };
  if (node["spec"]["unschedulable"].as_bool() && is_met(kCordon)) return kCordon;
  const auto taints = node["spec"]["taints"].items();
  const auto found = std::ranges::find_if(taints, is_met);
  return found == taints.end() ? Value() : *found;
}

Value bound_to_node(const Value& affinity, std::string_view node) {
  const Value field = json::object({{"key", kName}, {"operator", "In"}, {"values", json::array({Value(node)})}});
  const Value term = json::object({{"matchFields", json::array({field})}});
  return affinity.with_path({"nodeAffinity", kRequired}, json::object({{"nodeSelectorTerms", json::array({term})}}));
}

std::string target_node(const kube::Object& pod) {
  const Value& spec = pod["spec"];
  if (const auto name = spec["nodeName"].as_string(); !name.empty()) return std::string(name);
  for (const Value& term : spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"].items()) {
    for (const Value& field : term["matchFields"].items()) {
      if (field["key"].as_string() == kName && field["operator"].as_string() == "In") return field["values"].item(0).str();
    }
  }
  return "";
}

}  // namespace slipway::cluster
