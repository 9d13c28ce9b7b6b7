#include "cluster/endpoints.h"

#include <algorithm>
#include <vector>

#include "cluster/service_pods.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kEndpointsManagedBy = "endpoints.kubernetes.io/managed-by";
constexpr std::string_view kEndpointsController = "endpoint-controller";
constexpr std::string_view kOverCapacity = "endpoints.kubernetes.io/over-capacity";

struct Subset {
  Value ports;
  std::vector<Value> ready{};
  std::vector<Value> not_ready{};
};

Value address_of(const Value& service, const Value& pod, const std::string& ip) {
  json::ObjectBuilder address;
  address.set("ip", ip);
  if (const std::string host = endpoint_hostname(service, pod); !host.empty()) address.set("hostname", host);
  if (const Value& node = pod["spec"]["nodeName"]; !node.as_string().empty()) address.set("nodeName", node);
  address.set(
      "targetRef",
      json::object({{"kind", "Pod"}, {"namespace", kube::ns(pod)}, {"name", kube::name(pod)}, {"uid", kube::uid(pod)}}));
  return address.build();
}

/// EndpointPorts of v1: an empty name is left out.
Value core_ports(const Value& ports) {
  json::ArrayBuilder out;
  for (const Value& port : ports.items()) out.add(port["name"].as_string().empty() ? port.without("name") : port);
  return out.build();
}

std::vector<Subset> subsets_of(const Value& service, const std::vector<Value>& pods) {
  const Value& first = service["spec"]["ipFamilies"].item(0);
  const bool publishes_all = service["spec"]["publishNotReadyAddresses"].as_bool();
  std::vector<Subset> subsets;
  for (const Value& pod : pods) {
    const std::string ip = address_of_family(pod, first.is_null() ? "IPv4" : first.as_string());
    if (ip.empty() || !has_endpoint(pod) || !selects(service, pod) || (kube::is_deleting(pod) && !publishes_all)) continue;
    const Value ports = core_ports(endpoint_ports(service, pod));
    if (ports.empty() && !(is_headless(service) && service["spec"]["ports"].empty())) continue;
    auto subset = std::ranges::find(subsets, ports, &Subset::ports);
    if (subset == subsets.end()) subset = subsets.insert(subsets.end(), Subset{ports});
    (is_ready_endpoint(service, pod) ? subset->ready : subset->not_ready).push_back(address_of(service, pod, ip));
  }
  return subsets;
}

/// Ready addresses go before others when there are too many.
bool cut_to_capacity(std::vector<Subset>& subsets) {
  std::size_t left = kMostAddresses;
  bool is_cut = false;
  for (auto list : {&Subset::ready, &Subset::not_ready}) {
    for (Subset& subset : subsets) {
      std::vector<Value>& addresses = subset.*list;
      is_cut |= addresses.size() > left;
      addresses.resize(std::min(addresses.size(), left));
      left -= addresses.size();
    }
  }
  std::erase_if(subsets, [](const Subset& subset) { return subset.ready.empty() && subset.not_ready.empty(); });
  return is_cut;
}

Value to_json(std::vector<Subset> subsets) {
  const auto by_address = [](const Value& address) { return address["ip"].str(); };
  json::ArrayBuilder out;
  for (Subset& subset : subsets) {
    std::ranges::sort(subset.ready, {}, by_address);
    std::ranges::sort(subset.not_ready, {}, by_address);
    json::ObjectBuilder made;
    if (!subset.ready.empty()) made.set("addresses", json::array(std::span<const Value>(subset.ready)));
    if (!subset.not_ready.empty()) made.set("notReadyAddresses", json::array(std::span<const Value>(subset.not_ready)));
    if (!subset.ports.empty()) made.set("ports", subset.ports);
    out.add(made.build());
  }
  return out.build();
}

}  // namespace

kube::Object endpoints_object(const kube::Object& service, const std::vector<kube::Object>& pods, const kube::Object& before) {
  std::vector<Subset> subsets = subsets_of(service, pods);
  const bool is_cut = cut_to_capacity(subsets);
  const Value lists = to_json(std::move(subsets));
  const Value labels = labels_for_endpoints(service).with(kEndpointsManagedBy, kEndpointsController);
  Value made = before;
  if (made.is_null()) {
    made = json::object({{"apiVersion", "v1"},
                         {"kind", "Endpoints"},
                         {"metadata", json::object({{"name", kube::name(service)}, {"namespace", kube::ns(service)}})}});
  }
  if (made["metadata"]["labels"] != labels) made = made.with_path({"metadata", "labels"}, labels);
  if (is_cut && kube::annotation(made, kOverCapacity).empty()) {
    made = made.with_path({"metadata", "annotations", kOverCapacity}, "truncated");
  } else if (!is_cut && !kube::annotation(made, kOverCapacity).empty()) {
    made = made.without_path({"metadata", "annotations", kOverCapacity});
  }
  const bool is_equal = made["subsets"] == lists || (made["subsets"].empty() && lists.empty());
  return is_equal ? made : made.with("subsets", lists);
}

bool is_kept_by_controller(const kube::Object& endpoints) {
  return kube::label(endpoints, kEndpointsManagedBy) == kEndpointsController;
}

}  // namespace slipway::cluster
