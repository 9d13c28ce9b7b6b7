#include "server/builtin/bootstrap_objects.h"

#include <fmt/format.h>

#include <string_view>

namespace slipway::server {

namespace {

using json::array;
using json::object;
using json::Value;

constexpr std::string_view kVersion = "v1.33.0+slipway";

Value api_service() {
  return object({{"apiVersion", "v1"},
                 {"kind", "Service"},
                 {"metadata", object({{"name", "kubernetes"},
                                      {"labels", object({{"component", "apiserver"}, {"provider", "kubernetes"}})}})},
                 {"spec", object({{"clusterIP", "10.96.0.1"},
                                  {"ports", array({object({{"name", "https"}, {"port", 443}, {"targetPort", 6443}})})}})}});
}

Value priority(std::string_view name, std::int64_t value, std::string_view description) {
  return object({{"apiVersion", "scheduling.k8s.io/v1"},
                 {"kind", "PriorityClass"},
                 {"metadata", object({{"name", name}})},
                 {"value", value},
                 {"description", description}});
}

Value condition(std::string_view type, std::string_view status, std::string_view reason, std::string_view message) {
  return object({{"type", type}, {"status", status}, {"reason", reason}, {"message", message}});
}

/// Every member of NodeSystemInfo: clients in other languages refuse a node that lacks one. The machine's own identities are
/// not told; each cluster draws some.
Value node_info(Random& random) {
  const std::string machine = uuid(random);
  std::string machine_id = machine;
  std::erase(machine_id, '-');
  return object({{"machineID", machine_id},
                 {"systemUUID", machine},
                 {"bootID", uuid(random)},
                 {"kernelVersion", "none"},
                 {"osImage", "Slipway"},
                 {"containerRuntimeVersion", "slipway://1"},
                 {"kubeletVersion", kVersion},
                 {"kubeProxyVersion", kVersion},
                 {"operatingSystem", "linux"},
                 {"architecture", "amd64"}});
}

/// A node that pods of the embedded cluster have in spec.nodeName: "local", "local-2", …
Value local_node(Random& random, std::size_t number) {
  const std::string name = number == 1 ? "local" : fmt::format("local-{}", number);
  const Value room = object({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "100000"}});
  return object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata",
        object({{"name", name},
                {"labels",
                 object({{"kubernetes.io/arch", "amd64"}, {"kubernetes.io/hostname", name}, {"kubernetes.io/os", "linux"}})}})},
       {"status",
        object({{"capacity", room},
                {"allocatable", room},
                {"conditions", array({condition("Ready", "True", "SlipwayReady", "pods run in this process's runtime")})},
                {"addresses", array({object({{"type", "InternalIP"}, {"address", "127.0.0.1"}}),
                                     object({{"type", "Hostname"}, {"address", name}})})},
                {"nodeInfo", node_info(random)}})}});
}

}  // namespace

std::vector<BootstrapObject> bootstrap_objects(Random& random, std::size_t nodes) {
  const kube::Resource priorities{"scheduling.k8s.io", "v1", "priorityclasses"};
  std::vector<BootstrapObject> objects{{{"", "v1", "services"}, "default", api_service()}};
  for (std::size_t i = 1; i <= nodes; ++i) objects.push_back({{"", "v1", "nodes"}, "", local_node(random, i)});
  objects.push_back({priorities, "", priority("system-cluster-critical", 2'000'000'000, "for pods that the cluster needs")});
  objects.push_back(
      {priorities, "", priority("system-node-critical", 2'000'001'000, "for pods that a node cannot do without")});
  return objects;
}

std::vector<BootstrapObject> api_endpoints(const std::string& address, std::uint16_t port) {
  const Value ports = array({object({{"name", "https"}, {"port", port}, {"protocol", "TCP"}})});
  const Value subset = object({{"addresses", array({object({{"ip", address}})})}, {"ports", ports}});
  const Value endpoint = object({{"addresses", array({Value(address)})}, {"conditions", object({{"ready", true}})}});
  const auto named = [](const char* api_version, const char* kind, const char* label, const char* value) {
    return object({{"apiVersion", api_version},
                   {"kind", kind},
                   {"metadata", object({{"name", "kubernetes"}, {"labels", object({{label, value}})}})}});
  };
  return {{{"", "v1", "endpoints"},
           "default",
           named("v1", "Endpoints", "endpointslice.kubernetes.io/skip-mirror", "true").with("subsets", array({subset}))},
          {{"discovery.k8s.io", "v1", "endpointslices"},
           "default",
           named("discovery.k8s.io/v1", "EndpointSlice", "kubernetes.io/service-name", "kubernetes")
               .with("addressType", address.contains(':') ? "IPv6" : "IPv4")
               .with("endpoints", array({endpoint}))
               .with("ports", ports)}};
}

Value with_node_info(const Value& node, Random& random) {
  json::ObjectBuilder info(node["status"]["nodeInfo"]);
  const Value complete = node_info(random);
  bool is_changed = false;
  for (const auto [key, value] : complete.members()) {
    if (node["status"]["nodeInfo"].has(key)) continue;
    info.set(key, value);
    is_changed = true;
  }
  return is_changed ? node.with_path({"status", "nodeInfo"}, info.build()) : node;
}

}  // namespace slipway::server
