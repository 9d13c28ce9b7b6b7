// Objects whose number of replicas is read and written through /scale, found by apiVersion and kind as references name them:
// what autoscalers and disruption budgets share. Custom kinds are found by their definitions.
#pragma once

#include <string>

#include "client/client.h"
#include "client/informer.h"

namespace slipway::cluster {

struct ScaleTarget {
  kube::Resource resource;
  bool has_scale = false;
};

/// NotFound `no matches for kind "X" in version "g/v"`. `definitions` caches CustomResourceDefinitions.
Result<ScaleTarget> find_scale_target(const kube::GroupVersionKind& kind, const client::Informer& definitions);

/// The autoscaling/v1 Scale of an object.
Task<Result<json::Value>> read_scale(client::Client& client, kube::Resource resource, kube::ObjectKey key);
/// Writes spec.replicas of a Scale that was read. Conflict when the object has changed since.
Task<Result<void>> write_scale(client::Client& client, kube::Resource resource, json::Value scale, std::int64_t replicas,
                               std::string manager);

}  // namespace slipway::cluster
