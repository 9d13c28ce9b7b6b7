#include "cluster/service_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cluster/pod_facts.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// 0 when no container has a port of that name and protocol.
std::int64_t named_port(const kube::Object& pod, std::string_view name, std::string_view protocol) {
  for (const Value& container : pod["spec"]["containers"].items()) {
    for (const Value& port : container["ports"].items()) {
      const std::string_view spoken = port["protocol"].is_null() ? "TCP" : port["protocol"].as_string();
      if (port["name"].as_string() == name && spoken == protocol) return port["containerPort"].as_int();
    }
  }
  return 0;
}

/// Eight bytes: a pod has many labels, and each takes a place in the index.
std::string label_key(std::string_view ns, std::string_view key, std::string_view value) {
  const std::size_t digest = std::hash<std::string>()(fmt::format("{} {}={}", ns, key, value));
  return {reinterpret_cast<const char*>(&digest), sizeof digest};
}

}  // namespace

bool keeps_endpoints(const kube::Object& service) {
  return !service["spec"]["selector"].empty() && service["spec"]["type"].as_string() != "ExternalName";
}

bool selects(const kube::Object& service, const kube::Object& pod) {
  const Value& labels = pod["metadata"]["labels"];
  for (const auto [key, value] : service["spec"]["selector"].members()) {
    if (labels[key] != value) return false;
  }
  return keeps_endpoints(service);
}

std::vector<std::string> selector_keys(const kube::Object& service) {
  if (!keeps_endpoints(service)) return {};
  std::string_view longest_key;
  std::string_view longest;
  for (const auto [key, value] : service["spec"]["selector"].members()) {
    if (longest_key.empty() || value.as_string().size() > longest.size()) longest_key = key, longest = value.as_string();
  }
  return {label_key(kube::ns(service), longest_key, longest)};
}

std::vector<std::string> label_keys(const kube::Object& pod) {
  std::vector<std::string> keys;
  for (const auto [key, value] : pod["metadata"]["labels"].members()) {
    keys.push_back(label_key(kube::ns(pod), key, value.as_string()));
  }
  return keys;
}

bool is_headless(const kube::Object& service) { return service["spec"]["clusterIP"].as_string() == "None"; }

bool has_endpoint(const kube::Object& pod) { return !is_terminal_pod(pod) && !pod["status"]["podIP"].as_string().empty(); }

std::string address_of_family(const kube::Object& pod, std::string_view family) {
  const auto is_meant = [&](std::string_view address) { return address.contains(':') == (family == "IPv6"); };
  for (const Value& entry : pod["status"]["podIPs"].items()) {
    if (is_meant(entry["ip"].as_string())) return entry["ip"].str();
  }
  const std::string first = pod["status"]["podIP"].str();
  return is_meant(first) ? first : std::string();
}

bool is_ready_endpoint(const kube::Object& service, const kube::Object& pod) {
  return service["spec"]["publishNotReadyAddresses"].as_bool() || (kube::is_true(pod, "Ready") && !kube::is_deleting(pod));
}

std::string endpoint_hostname(const kube::Object& service, const kube::Object& pod) {
  return pod["spec"]["subdomain"].as_string() == kube::name(service) ? pod["spec"]["hostname"].str() : std::string();
}

json::Value endpoint_ports(const kube::Object& service, const kube::Object& pod) {
  json::ArrayBuilder ports;
  for (const Value& port : service["spec"]["ports"].items()) {
    const std::string protocol = port["protocol"].is_null() ? "TCP" : port["protocol"].str();
    const Value& target = port["targetPort"];
    const std::int64_t number = target.is_string()     ? named_port(pod, target.as_string(), protocol)
                                : target.as_int() == 0 ? port["port"].as_int()
                                                       : target.as_int();
    if (number == 0) continue;
    json::ObjectBuilder made;
    made.set("name", port["name"].str()).set("protocol", protocol).set("port", number);
    if (!port["appProtocol"].is_null()) made.set("appProtocol", port["appProtocol"]);
    ports.add(made.build());
  }
  return ports.build();
}

json::Value labels_for_endpoints(const kube::Object& service) {
  constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
  const Value labels = service["metadata"]["labels"].without(kHeadless);
  return is_headless(service) ? labels.with(kHeadless, "") : labels;
}

}  // namespace slipway::cluster
