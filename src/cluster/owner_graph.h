// Who owns whom, over all kinds: the part of garbage collection that is pure. Only objects that name owners, or that are being
// deleted in the foreground or with orphaning, are kept; everything else is looked up in the caches when a reference asks for
// it. After kube-controller-manager's GraphBuilder (pkg/controller/garbagecollector).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::cluster {

inline constexpr std::string_view kForegroundDeletion = "foregroundDeletion";
inline constexpr std::string_view kOrphanDependents = "orphan";

/// True for an object that is kept only until its dependents are gone.
bool waits_for_dependents(const kube::Object& object);

class OwnerGraph {
 public:
  /// An object in the graph.
  struct Node {
    kube::Resource resource;
    kube::ObjectKey key;
    json::Value references;             // metadata.ownerReferences
    bool waits_for_dependents = false;  // being deleted in the foreground
  };

  /// Takes one change of an object of `resource` in and gives the uids of what has to be looked at because of it, itself not
  /// included: dependents whose owner went or has begun to wait for them, and waiting owners that lost a dependent. `before` or
  /// `after` is null for an object that appeared or went.
  std::vector<std::string> change(const kube::Resource& resource, const kube::Object& before, const kube::Object& after);
  /// Forgets the objects of a resource that is served no longer.
  void forget(const kube::Resource& resource);

  /// nullptr when it is not in the graph.
  const Node* find(const std::string& uid) const;
  /// Uids of the objects that name this one as owner.
  const std::set<std::string>& dependents(const std::string& uid) const;
  /// Some dependent of it says blockOwnerDeletion.
  bool has_blocking_dependents(const std::string& uid) const;
  /// Uids of the objects that name an owner of this group and kind.
  std::vector<std::string> dependents_on_kind(std::string_view group, std::string_view kind) const;

 private:
  void insert(const kube::Resource& resource, const kube::Object& object);
  void erase(const std::string& uid);

  std::map<std::string, Node> nodes_;
  std::map<std::string, std::set<std::string>> dependents_;  // by the owner's uid
};

}  // namespace slipway::cluster
