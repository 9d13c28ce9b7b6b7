// The scale subresource: the number of replicas of any kind that has one, as autoscaling/v1 Scale (k8s.io/kubernetes
// pkg/registry/apps, apiextensions' customresource/etcd.go). Pure functions over the paths of kube::ScalePaths.
#pragma once

#include "base/status.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::server {

/// The Scale of an object. REQUIRES: type.scale.
json::Value scale_of(const kube::ResourceType& type, const kube::Object& object);

/// The object with the replicas that a Scale wants. BadRequest for a body that is no Scale, Invalid for a number below zero.
/// REQUIRES: type.scale.
Result<kube::Object> with_scale(const kube::ResourceType& type, const kube::Object& object, const json::Value& scale);

}  // namespace slipway::server
