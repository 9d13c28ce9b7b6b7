// Garbage collection by owner references, over the metadata of every kind that is served, custom ones included: an object whose
// owners are all gone is deleted; an owner deleted in the foreground waits for those dependents that block it, one deleted with
// `orphan` lets go of them first. That an owner is gone is asked of the server before anything is deleted. Owners of a kind
// that is not served are taken to exist. After kube-controller-manager's garbagecollector; events are left out, as there.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/owner_graph.h"
#include "control/controller.h"

namespace slipway::cluster {

/// One controller for all kinds. Its keys are uids: {"", uid}.
class GarbageCollector : public control::Controller {
 public:
  explicit GarbageCollector(Env& env) : env_(env) {}

  std::string name() const override { return "gc"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// A kind whose objects may own or be owned.
  struct Kind {
    kube::Resource resource;
    std::string kind;
    bool is_namespaced = true;
    control::Informer* cache = nullptr;
    control::InformerLease lease{};  // of kinds that come and go
  };
  enum class OwnerState : std::uint8_t {
    Solid,     // it is there, and stays
    Dangling,  // it is gone
    Waiting,   // it waits for its dependents to go
    Unknown,   // its kind is being listed
  };
  /// The owners of one object, sorted.
  struct Owners {
    bool has_solid = false;
    bool has_waiting = false;
    bool has_unknown = false;
    std::set<std::string> lost;  // uids of those that are dangling or waiting
  };

  std::vector<kube::ObjectKey> changed(const kube::Resource& resource, const kube::Object& before, const kube::Object& after);
  bool needs_look(const kube::Object& before, const kube::Object& after) const;
  void definition_changed(const kube::Object& before, const kube::Object& after);
  void follow(kube::Resource resource, std::string kind, bool is_namespaced);
  void unfollow(const std::string& group_resource);

  const Kind* kind_of(const json::Value& reference) const;
  kube::Object cached_owner(const Kind& kind, const json::Value& reference, const kube::Object& object) const;

  Task<Result<OwnerState>> owner_state(client::Client& client, json::Value reference, kube::Object object);
  Task<Result<Owners>> sort_owners(client::Client& client, kube::Object object);
  Task<control::Outcome> collect(client::Client& client, kube::Resource resource, kube::Object object);
  Task<control::Outcome> end(client::Client& client, kube::Resource resource, kube::Object object);
  Task<Result<void>> orphan(client::Client& client, kube::Resource resource, kube::Object owner);
  bool is_in_a_circle(const std::string& uid) const;

  Env& env_;
  control::Watches* watches_ = nullptr;
  std::map<std::string, Kind> kinds_;  // by "plural.group"
  OwnerGraph graph_;
};

}  // namespace slipway::cluster
