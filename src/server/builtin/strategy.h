// How a kind behaves beyond its schema: one row of pure functions per built-in kind (k8s.io/kubernetes pkg/registry's
// strategies). A kind without a row has the plain behaviour. A row says only what differs; null means "nothing to do".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/user.h"

namespace slipway::store {
class Store;
}

namespace slipway::server {

class Registry;
class ServiceNumbers;

/// What a strategy may ask of the server.
struct Surroundings {
  const Registry& registry;
  Time now;
  ServiceNumbers* numbers = nullptr;     // of Services; never null in a server
  const kube::UserInfo* user = nullptr;  // who writes; null: the process itself
  const store::Store* store = nullptr;   // never null in a server
};

/// PathSegment: anything that may stand between two slashes of a URL (names of roles: "system:node").
enum class NameRule : std::uint8_t { Subdomain, Label, ServiceLabel, PathSegment };
/// What is wrong with a name under NameRule::PathSegment.
std::vector<std::string> path_segment_faults(std::string_view name);

struct Strategy {
  std::string_view group{};
  std::string_view kind{};
  NameRule name_rule = NameRule::Subdomain;
  /// A DELETE that says nothing about dependents leaves them (batch/v1 Job, as upstream for compatibility).
  bool orphans_by_default = false;
  /// A create may bring a status (a Node registers itself with one); others begin without.
  bool takes_status_at_create = false;
  /// A member of metadata that writes to status leave as it is; they may change the others.
  std::string_view status_keeps{};
  /// Subresource beside status, e.g. "finalize".
  std::string_view subresource{};

  /// Defaults that a schema cannot say. Runs on every write, after the schema's defaults.
  kube::Object (*fill_defaults)(const kube::Object& object) = nullptr;
  /// What upstream's admission plugins do before anything else: the object with what follows from others, or a refusal. `old`
  /// is null for a create.
  Result<kube::Object> (*admit)(const kube::Object& object, const kube::Object& old, const Surroundings& around) = nullptr;
  /// The object to store for a create. uid and name are set.
  kube::Object (*prepare_create)(const kube::Object& object, const Surroundings& around) = nullptr;
  /// The object to store for an update through the main endpoint; status is already the old one's.
  kube::Object (*prepare_update)(const kube::Object& object, const kube::Object& old, const Surroundings& around) = nullptr;
  /// The object to store for an update through `subresource`.
  kube::Object (*prepare_subresource)(const kube::Object& object, const kube::Object& old) = nullptr;
  /// Adds every violation. `old` is null for a create.
  void (*validate)(const kube::Object& object, const kube::Object& old, std::vector<Cause>& causes) = nullptr;
  /// The violations that only show beside other objects. Runs after `validate` found none.
  void (*validate_around)(const kube::Object& object, const kube::Object& old, const Surroundings& around,
                          std::vector<Cause>& causes) = nullptr;

  /// Seconds between a DELETE and the end, given what the client asked for; null: objects go at once.
  std::int64_t (*grace_seconds)(const kube::Object& object, std::optional<std::int64_t> asked) = nullptr;
  /// Forbidden when the object may never be deleted.
  Result<void> (*check_delete)(const kube::Object& object) = nullptr;
  /// More edits when deletion begins (finalizers included). The object is kept when it then still has finalizers.
  kube::Object (*begin_delete)(const kube::Object& object, const Surroundings& around) = nullptr;
  /// Whether something beside metadata.finalizers still holds a deleted object.
  bool (*is_held)(const kube::Object& object) = nullptr;
};

/// The row of a kind, or the plain one.
const Strategy& strategy_of(const kube::GroupVersionKind& kind);

// The rows, by subject.
std::span<const Strategy> namespace_strategies();
std::span<const Strategy> pod_strategies();
std::span<const Strategy> job_strategies();
std::span<const Strategy> config_strategies();       // ConfigMap, Secret
std::span<const Strategy> record_strategies();       // Event, Lease
std::span<const Strategy> claim_strategies();        // PersistentVolumeClaim
std::span<const Strategy> access_strategies();       // Role, ClusterRole, RoleBinding, ClusterRoleBinding
std::span<const Strategy> service_strategies();      // Service
std::span<const Strategy> network_strategies();      // Ingress, IngressClass, NetworkPolicy, EndpointSlice, Endpoints
std::span<const Strategy> scaling_strategies();      // HorizontalPodAutoscaler, PodDisruptionBudget
std::span<const Strategy> volume_strategies();       // PersistentVolume, StorageClass, PriorityClass, LimitRange, ResourceQuota
std::span<const Strategy> certificate_strategies();  // CertificateSigningRequest
std::span<const Strategy> node_strategies();         // Node
std::span<const Strategy> cron_job_strategies();     // CronJob
std::span<const Strategy> workload_strategies();     // Deployment, ReplicaSet, StatefulSet, DaemonSet and what goes with them
std::span<const Strategy> crd_strategies();          // CustomResourceDefinition; see server/crd.h

}  // namespace slipway::server
