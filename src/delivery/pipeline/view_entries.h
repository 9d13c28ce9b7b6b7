// What the view controller keeps of each pipeline and each of its targets between looks. Internal to view_controller.cc,
// view_looks.cc and view_effects.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "delivery/pipeline/view_controller.h"

namespace slipway::delivery::pipeline {

/// How long a target is shown as an earlier process left it.
inline constexpr Duration kLastSight = std::chrono::minutes{1};

inline kube::ObjectKey cluster_key(const kube::ObjectKey& pipeline, const ClusterRef& ref) {
  return {ref.ns.empty() ? pipeline.ns : ref.ns, ref.name};
}

/// A follower that is woken on behalf of a pipeline.
struct ViewController::Watching : Follower {
  kube::ObjectKey pipeline{};
};

struct ViewController::Entry : Watching {
  TargetView view{};
  bool is_seen = false;  // the view is what this process saw, not what a status said
};

struct ViewController::Pipeline {
  kube::ObjectKey key{};
  std::string uid{};
  std::int64_t generation = -1;
  PipelineSpec spec{};
  std::vector<std::unique_ptr<Entry>> targets{};
  std::map<std::string, std::unique_ptr<Watching>> triggers{};  // by cluster of the first environments
  Steady since{};
  Steady next_write{};
};

struct ViewController::Annotation {
  std::string cluster{};
  kube::Resource resource{};
  kube::Object object{};
  std::string environment{};
};

struct ViewController::Looked {
  bool is_annotated = false;  // the pipeline asks for annotations
  std::vector<Annotation> to_annotate{};
};

}  // namespace slipway::delivery::pipeline
