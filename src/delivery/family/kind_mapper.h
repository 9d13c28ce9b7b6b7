// Under which resource a kind is served in a cluster, and whether its objects live in namespaces: the built-in kinds, else what
// the cluster's CustomResourceDefinitions say. Answers are kept; a kind that was not found is looked for again.
#pragma once

#include <map>
#include <string>

#include "client/client.h"
#include "kube/resource.h"

namespace slipway::delivery {

struct MappedKind {
  kube::Resource resource;
  kube::GroupVersionKind kind;
  bool is_namespaced = true;
};

class KindMapper {
 public:
  /// Errors: NotFound `no matches for kind "Ingress" in version "networking.k8s.io/v1beta1"` (as kubectl says it), and those of
  /// listing definitions. `cluster` tells clusters apart.
  Task<Result<MappedKind>> find(client::Client& client, std::string cluster, kube::GroupVersionKind kind);
  /// By apiVersion and kind of an object; BadRequest when one is missing.
  Task<Result<MappedKind>> find_for(client::Client& client, std::string cluster, json::Value object);
  /// By the name of a resource as people write it (plural, singular, kind or short name), in a group; of several versions the
  /// one that objects are stored in.
  Task<Result<MappedKind>> find_named(client::Client& client, std::string cluster, std::string group, std::string word);
  /// What is known of a custom kind is forgotten: its definition has gone or changed.
  void forget(const std::string& cluster);

 private:
  Task<Result<void>> learn(client::Client& client, std::string cluster);

  std::map<std::string, std::map<kube::GroupVersionKind, MappedKind>> custom_;
  std::map<std::string, std::map<std::string, MappedKind>> named_;  // by cluster and "word.group"
};

}  // namespace slipway::delivery
