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

}  // namespace

std::vector<BootstrapObject> bootstrap_objects() {
  const kube::Resource priorities{"scheduling.k8s.io", "v1", "priorityclasses"};
  return {{{"", "v1", "services"}, "default", api_service()},
          {priorities, "", priority("system-cluster-critical", 2'000'000'000, "for pods that the cluster needs")},
          {priorities, "", priority("system-node-critical", 2'000'001'000, "for pods that a node cannot do without")}};
}

}  // namespace slipway::server
