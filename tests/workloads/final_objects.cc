#include "final_objects.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "json/text.h"
#include "kube/builtin.h"

namespace slipway::workloads_test {

namespace {

/// The resources that recordings list, in the order in which differences are told.
constexpr std::array kResources{"deployments",   "replicasets", "statefulsets",           "daemonsets", "controllerrevisions",
                                "cronjobs",      "jobs",        "persistentvolumeclaims", "services",   "poddisruptionbudgets",
                                "endpointslices"};

kube::Resource resource_of(std::string_view plural) {
  for (const kube::ResourceType& type : kube::builtin_types()) {
    if (type.resource.plural == plural) return type.resource;
  }
  return {};
}

Value without_slipway_annotations(const Value& metadata) {
  json::ObjectBuilder rest;
  for (const auto& [key, value] : metadata["annotations"].members()) {
    if (!key.starts_with("slipway.dev/")) rest.add(key, value);
  }
  return rest.empty() ? metadata.without("annotations") : metadata.with("annotations", rest.build());
}

Value plain_metadata(Value metadata) {
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) metadata = metadata.without(key);
  metadata = without_slipway_annotations(metadata);
  json::ArrayBuilder owners;
  for (const Value& owner : metadata["ownerReferences"].items()) owners.add(owner.without("uid"));
  return owners.empty() ? metadata : metadata.with("ownerReferences", owners.build());
}

/// Members in the order of their keys, as both sides are compared as text; lists of conditions by type.
Value sorted(const Value& value) {
  if (value.is_array()) {
    std::vector<std::pair<std::string, Value>> items;
    bool has_types = true;
    for (const Value& item : value.items()) {
      has_types = has_types && item.has("type") && item.has("status");
      items.emplace_back(item["type"].str(), sorted(item));
    }
    if (has_types) std::ranges::sort(items, {}, [](const auto& item) { return item.first; });
    json::ArrayBuilder built;
    for (auto& [type, item] : items) built.add(std::move(item));
    return built.build();
  }
  if (!value.is_object()) return value;
  std::map<std::string, Value> members;
  for (const auto& [key, member] : value.members()) members.emplace(key, sorted(member));
  json::ObjectBuilder built;
  for (auto& [key, member] : members) built.add(key, std::move(member));
  return built.build();
}

std::string text_of(const Value& object) {
  std::string text = json::print(sorted(object));
  RE2::GlobalReplace(&text, R"(\$(POD|EPS|JOB)\([^)]*\))", R"($\1)");
  RE2::GlobalReplace(&text, R"("resourceVersion":"\d+")", R"("resourceVersion":"$RV")");
  return text;
}

/// An object of ours in the form of the recordings.
Value plain(const kube::Object& object) {
  Value plain = object.with("metadata", plain_metadata(object["metadata"]));
  const auto kind = kube::kind(object);
  if (kind == "ControllerRevision") {
    const auto image = object["data"]["spec"]["template"]["spec"]["containers"].item(0)["image"].as_string();
    plain = plain.with("data", fmt::format("(template {})", image));
  }
  if (kind == "ReplicaSet") plain = plain.without_path({"spec", "template"});
  return plain;
}

/// What the recordings have and this plane leaves out on purpose: Go's empty times, and volumes that are not made here.
Value expected_of(Value object) {
  if (object["spec"]["template"]["metadata"].has("creationTimestamp")) {
    object = object.without_path({"spec", "template", "metadata", "creationTimestamp"});
  }
  if (object["spec"].has("jobTemplate")) {
    object = object.without_path({"spec", "jobTemplate", "metadata"})
                 .without_path({"spec", "jobTemplate", "spec", "template", "metadata", "creationTimestamp"});
  }
  json::ArrayBuilder claims;
  for (const Value& claim : object["spec"]["volumeClaimTemplates"].items()) {
    claims.add(claim.without_path({"metadata", "creationTimestamp"}));
  }
  if (!claims.empty()) object = object.with_path({"spec", "volumeClaimTemplates"}, claims.build());
  return object["kind"].as_string() == "PersistentVolumeClaim" ? object.without_path({"spec", "volumeName"}) : object;
}

Value sorted_by_text(const Value& list) {
  std::vector<Value> items(list.items().begin(), list.items().end());
  std::ranges::sort(items, {}, [](const Value& item) { return json::print(item); });
  return json::array(std::span<const Value>(items));
}

/// Which node a pod was put on is chance, as is the order of the endpoints; ports stand in the order of a digest of Go's print
/// of them, which no client relies on.
Value plain_slice(const Value& slice) {
  json::ArrayBuilder endpoints;
  for (const Value& endpoint : slice["endpoints"].items()) {
    const std::string node = endpoint["nodeName"].str();
    const bool is_in_zone = endpoint["zone"].str() == "zone-" + node.substr(node.find('-') + 1);
    endpoints.add(endpoint.with("nodeName", "$NODE").with("zone", is_in_zone ? "of the node" : "another"));
  }
  return slice.with("endpoints", endpoints.build()).with("ports", sorted_by_text(slice["ports"]));
}

/// How often ReplicaSets were resized differs between two runs of the real thing, where what is left does; so does how often
/// slices were written.
Value without_generations(const Value& object) {
  const auto kind = object["kind"].as_string();
  if (kind != "ReplicaSet" && kind != "EndpointSlice") return object;
  return object.without_path({"metadata", "generation"}).without_path({"status", "observedGeneration"});
}

/// The text that is compared.
std::string judged_text(const Scenario& scenario, Value object) {
  if (object["kind"].as_string() == "EndpointSlice") object = plain_slice(object);
  return text_of(scenario.is_final_sure ? object : without_generations(object));
}

/// Pods of controllers that number their pods by chance are told apart by what they are, not by number.
std::string plain_pod_name(const Scenario& scenario, std::string name) {
  if (const auto at = name.find('#'); at != std::string::npos) return name.substr(0, at);
  if (!scenario.is_final_sure && scenario.kind == "ReplicaSet") return "p";  // which of equal pods goes is chance
  return RE2::FullMatch(name, R"((j\d+\.)?p\d+)") && scenario.kind != "StatefulSet" ? "p" : name;
}

std::string pod_line(const Scenario& scenario, const std::string& name, const Value& labels, std::string_view state) {
  return fmt::format("pod {} {} {}", plain_pod_name(scenario, name), state, text_of(labels));
}

void add_differences(std::vector<std::string>& told, const std::multiset<std::string>& wanted,
                     const std::multiset<std::string>& found) {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  std::ranges::set_difference(wanted, found, std::back_inserter(missing));
  std::ranges::set_difference(found, wanted, std::back_inserter(extra));
  for (const std::string& line : missing) told.push_back("- " + line);
  for (const std::string& line : extra) told.push_back("+ " + line);
}

std::int64_t limit_of(const Scenario& scenario, std::size_t step, const char* key, bool is_most) {
  const std::int64_t one = scenario.bounds.item(step)[key].as_int();
  if (scenario.other_bounds.is_null()) return one;
  const std::int64_t other = scenario.other_bounds.item(step)[key].as_int();
  return is_most ? std::max(one, other) : std::min(one, other);
}

/// What is sure of an order: how each pod went from one state to the next, and which pod did so first.
std::vector<std::string> plain_order(const std::vector<std::string>& order) {
  std::vector<std::string> plain;
  std::map<std::string, std::string> last;
  for (const std::string& line : order) {
    const std::string name = line.substr(0, line.find(' '));
    std::string state = line.substr(line.find(' ') + 1);
    if (state != "gone") state = plain_state(state);
    if (state.contains("F~") || std::exchange(last[name], state) == state) continue;
    plain.push_back(name + " " + state);
  }
  return plain;
}

}  // namespace

std::vector<std::string> final_differences(WorkloadWorld& world, const Scenario& scenario) {
  std::vector<std::string> told;
  for (const char* plural : kResources) {
    if (scenario.is_grid() && plural != std::string_view("deployments")) continue;
    std::multiset<std::string> wanted;
    std::multiset<std::string> found;
    for (const Value& object : scenario.final_objects[plural].items()) {
      wanted.insert(judged_text(scenario, expected_of(object)));
    }
    for (const Value& object : world.list(resource_of(plural))) {
      const Value seen = scenario.is_grid() ? json::object({{"status", object["status"]}}) : plain(object);
      found.insert(world.normalise(judged_text(scenario, seen)));
    }
    add_differences(told, wanted, found);
  }
  if (scenario.is_grid()) return told;
  std::multiset<std::string> wanted;
  std::multiset<std::string> found;
  for (const auto& [name, pod] : scenario.final_objects["pods"].members()) {
    wanted.insert(pod_line(scenario, std::string(name), pod["labels"], pod["state"].as_string()));
  }
  for (const Value& pod : world.list(resource_of("pods"))) {
    const Value labels = *json::parse(world.normalise(json::print(pod["metadata"]["labels"])));
    found.insert(pod_line(scenario, world.name_of(pod), labels, world.state_of(pod)));
  }
  add_differences(told, wanted, found);
  return told;
}

std::vector<std::string> bound_differences(const WorkloadWorld& world, const Scenario& scenario) {
  std::vector<std::string> told;
  for (std::size_t step = 0; step < std::min(world.bounds().size(), scenario.bounds.size()); ++step) {
    const Bounds& ours = world.bounds()[step];
    const auto check = [&](const char* key, std::int64_t value, bool is_most) {
      const std::int64_t limit = limit_of(scenario, step, key, is_most);
      if (is_most ? value <= limit : value >= limit) return;
      told.push_back(fmt::format("step {}: {} is {}, recorded {}", step, key, value, limit));
    };
    // Pods that are going overlap as much as the machine is slow: for Deployments no bound that is kept (WORKLOADS.md).
    if (scenario.kind != "Deployment") check("max_pods", ours.max_pods, true);
    check("max_active", ours.max_active, true);
    check("min_active", ours.min_active, false);
    check("min_ready", ours.min_ready, false);
  }
  return told;
}

std::vector<std::string> order_differences(const WorkloadWorld& world, const Scenario& scenario) {
  const auto wanted = plain_order(scenario.order);
  const auto found = plain_order(world.order());
  std::vector<std::string> told;
  for (std::size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
    const std::string one = i < wanted.size() ? wanted[i] : "nothing";
    const std::string other = i < found.size() ? found[i] : "nothing";
    if (one != other) told.push_back(fmt::format("change {}: {}, recorded {}", i, other, one));
  }
  return told;
}

}  // namespace slipway::workloads_test
