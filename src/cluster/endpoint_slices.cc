#include "cluster/endpoint_slices.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "cluster/service_pods.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr std::string_view kSliceController = "endpointslice-controller.k8s.io";

/// A slice as it is to be. `before` is null for a new one.
struct Draft {
  Value before;
  Value ports;
  std::vector<Value> endpoints{};
  bool is_changed = false;
};

/// Pods that are reached under the same ports.
struct Group {
  Value ports;
  std::map<std::string, Value> endpoints{};  // by the pod's uid
};

Value endpoint_of(const Value& service, const Value& pod, std::string address, const SliceView& view) {
  json::ObjectBuilder endpoint;
  endpoint.set("addresses", json::array({Value(address)}));
  endpoint.set("conditions", json::object({{"ready", is_ready_endpoint(service, pod)},
                                           {"serving", kube::is_true(pod, "Ready")},
                                           {"terminating", kube::is_deleting(pod)}}));
  if (const std::string host = endpoint_hostname(service, pod); !host.empty()) endpoint.set("hostname", host);
  endpoint.set(
      "targetRef",
      json::object({{"kind", "Pod"}, {"namespace", kube::ns(pod)}, {"name", kube::name(pod)}, {"uid", kube::uid(pod)}}));
  if (const Value& node = pod["spec"]["nodeName"]; !node.as_string().empty()) {
    endpoint.set("nodeName", node);
    const Value place = view.node(node.as_string());
    const std::string_view zone = kube::label(place, "topology.kubernetes.io/zone");
    if (!zone.empty()) endpoint.set("zone", zone);
  }
  return endpoint.build();
}

std::vector<Group> groups_of(const Value& service, const std::string& family, const SliceView& view) {
  std::vector<Group> groups;
  for (const Value& pod : view.pods) {
    const std::string address = address_of_family(pod, family);
    if (address.empty() || !has_endpoint(pod) || !selects(service, pod)) continue;
    const Value ports = endpoint_ports(service, pod);
    auto group = std::ranges::find(groups, ports, &Group::ports);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{ports});
    group->endpoints.emplace(kube::uid(pod), endpoint_of(service, pod, address, view));
  }
  return groups;
}

/// The slice with those of its endpoints that still belong to the group, which are taken out of it.
Draft kept_of(const Value& slice, Group& group) {
  Draft draft{slice, group.ports};
  for (const Value& endpoint : slice["endpoints"].items()) {
    auto wanted = group.endpoints.extract(endpoint["targetRef"]["uid"].str());
    if (wanted) draft.endpoints.push_back(wanted.mapped());
    draft.is_changed |= !wanted || wanted.mapped() != endpoint;
  }
  return draft;
}

/// Moves endpoints of the group into the slice while there is room.
void fill(Draft& draft, Group& group) {
  while (!group.endpoints.empty() && draft.endpoints.size() < kMostEndpointsOfSlice) {
    draft.endpoints.push_back(group.endpoints.extract(group.endpoints.begin()).mapped());
    draft.is_changed = true;
  }
}

/// New endpoints go where something is written anyway, then where there is room, then into new slices.
void add_drafts(std::vector<Draft>& drafts, Group group, const std::vector<Value>& slices) {
  std::vector<Draft> own;
  for (const Value& slice : slices) {
    if (slice["ports"] == group.ports || (slice["ports"].empty() && group.ports.empty())) own.push_back(kept_of(slice, group));
  }
  for (Draft& draft : own) {
    if (draft.is_changed && !draft.endpoints.empty()) fill(draft, group);
  }
  for (Draft& draft : own) {
    if (!draft.endpoints.empty()) fill(draft, group);
  }
  std::erase_if(own, [](const Draft& draft) { return draft.endpoints.empty(); });
  while (!group.endpoints.empty()) fill(own.emplace_back(Draft{{}, group.ports}), group);
  std::ranges::move(own, std::back_inserter(drafts));
}

Value slice_of(const Value& service, const std::string& family, const Draft& draft, const Value& labels) {
  Value slice = draft.before;
  if (slice.is_null()) {
    const Value metadata = json::object({{"generateName", std::string(kube::name(service)) + "-"},
                                         {"namespace", kube::ns(service)},
                                         {"ownerReferences", json::array({kube::owner_reference(service)})}});
    slice = json::object(
        {{"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"}, {"metadata", metadata}, {"addressType", family}});
  }
  return slice.with_path({"metadata", "labels"}, labels)
      .with("endpoints", json::array(std::span<const Value>(draft.endpoints)))
      .with("ports", draft.ports);
}

std::string name_slice(const Value& service, const std::string& family, int number) {
  const std::string seed = fmt::format("{}/{}/{}", kube::uid(service), family, number);
  return fmt::format("{}-{}", kube::name(service), name_hash(seed).substr(0, 5));
}

void plan_family(SlicePlan& plan, const Value& service, const std::string& family, const SliceView& view,
                 std::vector<Value> slices) {
  std::vector<Draft> drafts;
  for (Group& group : groups_of(service, family, view)) add_drafts(drafts, std::move(group), slices);
  if (drafts.empty()) drafts.push_back({{}, Value::empty_array()});
  for (const Draft& draft : drafts) {
    std::erase_if(slices, [&](const Value& slice) { return kube::uid(slice) == kube::uid(draft.before); });
  }
  const Value labels =
      labels_for_endpoints(service).with(kSliceManagedBy, kSliceController).with(kServiceName, kube::name(service));
  int number = 0;
  for (Draft& draft : drafts) {
    if (draft.before.is_null() && !slices.empty()) {  // what would be deleted is written instead
      draft.before = slices.front();
      slices.erase(slices.begin());
      draft.is_changed = draft.before["endpoints"].size() + draft.endpoints.size() > 0;
    }
    Value slice = slice_of(service, family, draft, labels);
    if (!draft.before.is_null()) {
      if (draft.is_changed || draft.before["metadata"]["labels"] != labels) plan.update.push_back(std::move(slice));
      continue;
    }
    while (view.is_taken(name_slice(service, family, number))) ++number;
    plan.create.push_back(slice.with_path({"metadata", "name"}, name_slice(service, family, number++)));
  }
  std::ranges::move(slices, std::back_inserter(plan.remove));
}

}  // namespace

SlicePlan plan_slices(const kube::Object& service, const SliceView& view) {
  SlicePlan plan;
  std::vector<Value> ours;
  for (const Value& slice : view.slices) {
    if (kube::label(slice, kSliceManagedBy) == kSliceController && !kube::is_deleting(slice)) ours.push_back(slice);
  }
  std::vector<std::string> families;
  for (const Value& family : service["spec"]["ipFamilies"].items()) families.push_back(family.str());
  if (families.empty()) families.emplace_back("IPv4");
  for (const std::string& family : families) {
    std::vector<Value> slices;
    for (const Value& slice : ours) {
      if (slice["addressType"].as_string() == family) slices.push_back(slice);
    }
    std::erase_if(ours, [&](const Value& slice) { return slice["addressType"].as_string() == family; });
    plan_family(plan, service, family, view, std::move(slices));
  }
  std::ranges::move(ours, std::back_inserter(plan.remove));  // of a family that the Service no longer has
  return plan;
}

}  // namespace slipway::cluster
