#include "delivery/jobflow/external_kinds.h"

#include <array>

#include "json/value.h"
#include "kube/well_known.h"

namespace slipway::delivery::jobflow {
namespace {

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
};

// Namespaced ones only: an external object is in the workflow's namespace.
constexpr std::array kBuiltIn{
    Row{"", "v1", "Pod", "pods"},
    Row{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
    Row{"", "v1", "ConfigMap", "configmaps"},
    Row{"", "v1", "Secret", "secrets"},
    Row{"", "v1", "Service", "services"},
    Row{"apps", "v1", "Deployment", "deployments"},
    Row{"apps", "v1", "StatefulSet", "statefulsets"},
    Row{"apps", "v1", "DaemonSet", "daemonsets"},
    Row{"apps", "v1", "ReplicaSet", "replicasets"},
    Row{"batch", "v1", "CronJob", "cronjobs"},
    Row{"coordination.k8s.io", "v1", "Lease", "leases"},
};

using kube::kDefinitions;

bool serves(const json::Value& definition, const kube::GroupVersionKind& kind) {
  const json::Value& spec = definition["spec"];
  if (spec["group"].as_string() != kind.group || spec["names"]["kind"].as_string() != kind.kind) return false;
  return std::ranges::any_of(spec["versions"].items(), [&](const json::Value& version) {
    return version["name"].as_string() == kind.version && version["served"].as_bool();
  });
}

}  // namespace

Task<Result<std::optional<kube::Resource>>> find_resource(client::Client& client, kube::GroupVersionKind kind) {
  for (const Row& row : kBuiltIn) {
    if (kind.group == row.group && kind.version == row.version && kind.kind == row.kind) {
      co_return kube::Resource{row.group, row.version, row.plural};
    }
  }
  auto definitions = co_await client::list(client, kDefinitions, {});
  if (!definitions) co_return fail(std::move(definitions).error());
  for (const json::Value& definition : (*definitions)["items"].items()) {
    if (serves(definition, kind))
      co_return kube::Resource{kind.group, kind.version, definition["spec"]["names"]["plural"].str()};
  }
  co_return std::nullopt;
}

}  // namespace slipway::delivery::jobflow
