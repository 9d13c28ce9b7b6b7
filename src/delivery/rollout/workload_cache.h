// The workloads of all rollouts, their pods and revisions, from caches that follow the kinds which rollouts have named. A
// change of a workload, or of a pod that counts, wakes the rollouts that look at it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/rollout/workload_view.h"

namespace slipway::delivery::rollout {

class WorkloadCache {
 public:
  /// `watches` outlives this.
  void watch(control::Watches& watches);

  /// The workload as the caches have it; its object is null when it is not there, its row when the kind is unknown. Waits
  /// for the first list of a kind that is new. Errors: those of asking what kinds there are.
  Task<Result<Workload>> find(client::Client& client, kube::GroupVersionKind kind, kube::ObjectKey key);
  /// Another object that a rollout looks at (of traffic); null when it is not there.
  Task<Result<kube::Object>> find_object(client::Client& client, kube::GroupVersionKind kind, kube::ObjectKey key);
  struct Component {
    std::string ns, application, name;
  };
  /// The objects of a kind that are labelled as the component's, oldest first. Empty where the kind has no row, or `of` names
  /// no application.
  Task<Result<std::vector<kube::Object>>> find_of_component(client::Client& client, kube::GroupVersionKind kind, Component of);
  /// Of a kind that was looked for; nullopt: it is not served.
  std::optional<kube::Resource> known_resource(const kube::GroupVersionKind& kind) const;
  /// As which resource a kind is served. NotFound when it is not.
  Task<Result<kube::Resource>> resource_of(client::Client& client, kube::GroupVersionKind kind);
  bool is_cluster_scoped(const kube::GroupVersionKind& kind) const { return cluster_scoped_.contains(kind); }

  struct Looked {
    kube::Resource resource;
    kube::ObjectKey key;
    std::string uid{};  // of a workload whose pods count

    auto operator<=>(const Looked&) const = default;
  };
  /// From now on changes of these objects wake the rollout, and of no others.
  void follow(const kube::ObjectKey& rollout, std::set<Looked> objects);
  void forget(const kube::ObjectKey& rollout);
  /// A change of any row wakes the rollout until it is forgotten: its kind has none.
  void await_row(const kube::ObjectKey& rollout) { without_row_.insert(rollout); }
  /// What is wrong with the ConfigMaps that are to describe kinds, by ConfigMap.
  const std::map<kube::ObjectKey, std::string>& row_faults() const { return row_faults_; }
  /// ConfigMaps with a fault that no event has reported yet.
  std::vector<kube::Object> take_faulty_rows() { return std::exchange(faulty_rows_, {}); }
  /// A pod of a workload, as its cache has it; null when it is not there.
  kube::Object pod(const kube::ObjectKey& key) const;

 private:
  using Place = std::pair<kube::Resource, kube::ObjectKey>;

  /// As what an object is looked at: for what it says itself, or as one that a workload controls, such as the ReplicaSet of a
  /// Deployment, of which the metadata are enough.
  enum class As : std::uint8_t { Itself, Part };
  control::Informer& cache_of(const kube::Resource& resource, As as = As::Itself);
  Task<> load(kube::Resource resource, As as = As::Itself);
  const WorkloadRow* row_of(const kube::GroupVersionKind& kind);
  std::vector<kube::Object> owned(const kube::Resource& resource, std::string_view uid);
  void wake(const std::set<kube::ObjectKey>& rollouts);
  void pod_changed(const kube::Object& before, const kube::Object& after);
  void row_changed(const kube::Object& before, const kube::Object& after);
  Task<Result<void>> read_rows(client::Client& client);

  control::Watches* watches_ = nullptr;
  std::function<void(const kube::ObjectKey&)> enqueue_;
  KindMapper kinds_;
  std::map<kube::Resource, control::InformerLease> leases_;
  std::map<kube::Resource, control::InformerLease> parts_;
  std::map<Place, std::set<kube::ObjectKey>> by_object_;                        // rollouts
  std::map<std::string, std::set<kube::ObjectKey>, std::less<>> by_pod_owner_;  // by the workload's uid
  std::map<kube::ObjectKey, std::set<Looked>> looked_;                          // by rollout
  std::map<kube::ObjectKey, WorkloadRow> users_rows_;                           // by ConfigMap
  std::set<kube::ObjectKey> unread_rows_;
  std::map<kube::ObjectKey, std::string> row_faults_;
  std::vector<kube::Object> faulty_rows_;
  std::set<kube::ObjectKey> without_row_;              // rollouts
  std::set<kube::GroupVersionKind> cluster_scoped_{};  // of those known
  std::map<kube::GroupVersionKind, kube::Resource> resources_;
};

}  // namespace slipway::delivery::rollout
