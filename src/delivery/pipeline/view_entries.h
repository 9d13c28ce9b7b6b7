// What the view controller keeps of each pipeline and each of its targets between looks. Internal to view_controller.cc,
// view_looks.cc and view_effects.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "delivery/pipeline/author.h"
#include "delivery/pipeline/packed_view.h"
#include "delivery/pipeline/view_controller.h"

namespace slipway::delivery::pipeline {

/// The field manager of what the controller writes.
inline constexpr const char* kViewManager = "slipway-pipeline";

/// How long a target is shown as an earlier process left it.
inline constexpr Duration kLastSight = std::chrono::minutes{1};

inline kube::ObjectKey cluster_key(const kube::ObjectKey& pipeline, const ClusterRef& ref) {
  return {ref.ns.empty() ? pipeline.ns : ref.ns, ref.name};
}

/// A follower that is woken on behalf of a pipeline.
struct ViewController::Watching : Follower {
  const kube::ObjectKey* pipeline = nullptr;  // of the Pipeline that it is of
};

struct ViewController::Entry : Watching {
  bool was_looked_at = false;
  bool is_hidden = false;         // the Pipeline's author may not see it
  bool is_seen = false;           // the view is what this process saw, not what a status said
  std::uint32_t environment = 0;  // index in the spec
  std::uint32_t target = 0;       // in the environment
  std::uint64_t identity = 0;     // hash of cluster, namespace and application: the same target in another spec
  std::string packed_view{};

  TargetView view() const {
    TargetView made = unpacked(packed_view);
    made.environment = environment;
    made.target = target;
    made.was_looked_at = was_looked_at;
    return made;
  }
  void keep_of(const Entry& other) {
    packed_view = other.packed_view;
    was_looked_at = other.was_looked_at;
    is_hidden = other.is_hidden;
    is_seen = other.is_seen;
  }
  void keep(const TargetView& view) {
    was_looked_at = view.was_looked_at;
    packed_view = packed(view);
  }
};

/// What is kept of a connected cluster for the status of its GitopsCluster. It is reconciled under a key of its own, which has
/// no namespace, so that it is none of a Pipeline.
struct ViewController::ConnectedCluster : Watching {
  kube::ObjectKey key{};     // in the queue: see cluster_queue_key()
  kube::ObjectKey object{};  // the GitopsCluster
  Steady next_write{};
};
inline kube::ObjectKey cluster_queue_key(const kube::ObjectKey& object) { return {"", object.to_string()}; }

struct ViewController::Pipeline {
  kube::ObjectKey key{};
  std::string uid{};
  std::int64_t generation = -1;
  std::vector<Entry> targets{};                                 // as many as there will be: they do not move
  std::map<std::string, std::unique_ptr<Watching>> triggers{};  // by cluster of the first environments
  Steady since{};
  Steady next_write{};
  bool has_news = true;          // beside targets and the object itself
  bool waits_for_right = false;  // to annotate targets
  kube::Revision written = 0;    // of the object, with a status of all that was known then; 0: not yet
};

struct ViewController::Annotation {
  const Target* target = nullptr;  // in the spec
  std::string cluster{};
  kube::Resource resource{};
  kube::Object object{};
  std::string environment{};
};

/// A pipeline under reconcile. Specs are read each time: a decoded one is larger than all else that is kept of its targets.
struct ViewController::Viewing {
  Pipeline& pipeline;
  const PipelineSpec spec;
  bool is_annotated = false;  // the pipeline asks for annotations
  User author{};              // null: the process
  std::vector<Annotation> to_annotate{};

  const Environment& environment_of(const Entry& entry) const { return spec.environments[entry.environment]; }
  const Target& target_of(const Entry& entry) const { return environment_of(entry).targets[entry.target]; }
};

}  // namespace slipway::delivery::pipeline
