// What brings new versions into a pipeline, or tells of them: ranges and branches that its first environments follow, image
// policies over the images that run there, alerts that name the application, with the providers they go to, and the last
// webhook that spoke of the pipeline. Pure.
#pragma once

#include <string>
#include <vector>

#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// A target of an environment that nothing comes before.
struct FirstTarget {
  std::string cluster{};  // for people
  std::string ns{};
  const Values* values = nullptr;
  std::vector<std::string> related{};
};
/// The Alerts, Providers and ImagePolicies of a cluster with such targets.
struct ClusterTriggers {
  std::string cluster{};
  std::vector<kube::Object> objects{};
};

/// `hook` is what kHookAnnotation says; empty: none came.
std::vector<Trigger> triggers_of(const AppRef& app, const std::vector<FirstTarget>& targets,
                                 const std::vector<ClusterTriggers>& clusters, std::string_view hook);

}  // namespace slipway::delivery::pipeline
