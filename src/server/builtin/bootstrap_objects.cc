#include "server/builtin/bootstrap_objects.h"

#include <string_view>

namespace slipway::server {

namespace {

using json::array;
using json::object;
using json::Value;

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

/// The one node that pods of the embedded cluster have in spec.nodeName.
Value local_node() {
  const Value room = object({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "100000"}});
  const Value info = object({{"architecture", "amd64"},
                             {"operatingSystem", "linux"},
                             {"osImage", "Slipway"},
                             {"kernelVersion", "none"},
                             {"containerRuntimeVersion", "slipway://1"},
                             {"kubeletVersion", "v1.33.0+slipway"}});
  return object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata",
        object({{"name", "local"}, {"labels", object({{"kubernetes.io/hostname", "local"}, {"kubernetes.io/os", "linux"}})}})},
       {"status",
        object({{"capacity", room},
                {"allocatable", room},
                {"conditions", array({condition("Ready", "True", "SlipwayReady", "pods run in this process's runtime")})},
                {"addresses", array({object({{"type", "InternalIP"}, {"address", "127.0.0.1"}}),
                                     object({{"type", "Hostname"}, {"address", "local"}})})},
                {"nodeInfo", info}})}});
}

}  // namespace

std::vector<BootstrapObject> bootstrap_objects() {
  const kube::Resource priorities{"scheduling.k8s.io", "v1", "priorityclasses"};
  return {{{"", "v1", "services"}, "default", api_service()},
          {{"", "v1", "nodes"}, "", local_node()},
          {priorities, "", priority("system-cluster-critical", 2'000'000'000, "for pods that the cluster needs")},
          {priorities, "", priority("system-node-critical", 2'000'001'000, "for pods that a node cannot do without")}};
}

}  // namespace slipway::server
