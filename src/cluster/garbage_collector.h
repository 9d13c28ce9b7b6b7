// Garbage collection by owner references: an object whose owners are all gone is deleted; an owner deleted in the foreground
// waits for its dependents (those that block it), one deleted with `orphan` lets go of them first. One controller per resource;
// what it knows of owners and dependents comes from the shared caches, and that an owner is gone is asked of the server before
// anything is deleted. Owners of a kind that is not in the list are taken to exist.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"

namespace slipway::cluster {

/// A kind whose objects may own or be owned.
struct OwnableKind {
  kube::Resource resource;
  std::string kind;
  bool is_namespaced = true;
};

class GarbageCollector : public control::Controller {
 public:
  using Kinds = std::shared_ptr<const std::vector<OwnableKind>>;

  /// Collects the objects of `resource`, which is one of `kinds`.
  GarbageCollector(Env& env, Kinds kinds, kube::Resource resource)
      : env_(env), kinds_(std::move(kinds)), resource_(std::move(resource)) {}

  /// One controller for each kind.
  static std::vector<std::unique_ptr<control::Controller>> make_all(Env& env, std::vector<OwnableKind> kinds);

  std::string name() const override { return "gc-" + resource_.plural; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  enum class OwnerState : std::uint8_t { Solid, Dangling, Waiting };

  const OwnableKind* kind_of(const json::Value& reference) const;
  kube::ObjectKey owner_key(const json::Value& reference, const kube::Object& object) const;
  const kube::Object* cached_owner(const json::Value& reference, const kube::Object& object) const;
  bool needs_look(const kube::Object& before, const kube::Object& after) const;
  std::vector<kube::ObjectKey> dependents_of(const kube::Object& before, const kube::Object& after) const;
  std::vector<kube::ObjectKey> released_owners(const kube::Object& before, const kube::Object& after) const;
  bool has_dependents(const kube::Object& owner) const;
  bool has_blocking_dependents(const kube::Object& owner) const;

  Task<Result<OwnerState>> owner_state(client::Client& client, json::Value reference, kube::Object object);
  Task<control::Outcome> collect(client::Client& client, kube::Object object);
  Task<Result<void>> orphan(client::Client& client, kube::Object owner);

  Env& env_;
  Kinds kinds_;
  kube::Resource resource_;
  std::vector<control::Informer*> caches_;  // as kinds_
  control::Informer* own_ = nullptr;
};

}  // namespace slipway::cluster
