// How the view controller looks at targets: through the caches, or at why there is nothing to see.
#include <fmt/format.h>

#include <algorithm>

#include "base/turn.h"
#include "control/author_right.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/related.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

using kube::Object;
using kube::ObjectKey;

constexpr std::size_t kLooksPerTurn = 16;

bool is_silence(const Status& problem) {
  return problem.reason == Reason::ServiceUnavailable || problem.reason == Reason::Timeout;
}

}  // namespace

/// False while a target is not looked at yet.
Task<bool> ViewController::look_at_all(Viewing& viewing) {
  Turn turn(env_, kLooksPerTurn);
  bool is_complete = true;
  for (Entry& entry : viewing.pipeline.targets) {
    if (entry.is_dirty && !entry.is_hidden) {
      entry.is_dirty = false;
      look(viewing, entry);
      if (turn.spend(1)) co_await turn.pass();
    }
    is_complete = is_complete && entry.was_looked_at;
  }
  co_return is_complete;
}

Task<Result<void>> ViewController::hide_targets(control::Reconcile& run, Viewing& viewing) {
  for (Entry& entry : viewing.pipeline.targets) {
    const Target& target = viewing.target_of(entry);
    const AppRef& app = viewing.spec.app;
    SLIPWAY_CO_TRY(may, co_await access_.may(run.client, viewing.author, ReaderAccess::Right::See, run.key, app, target));
    if (may && entry.is_hidden) {
      entry.is_hidden = entry.was_looked_at = entry.is_seen = false;
      entry.is_dirty = true;
    }
    if (may) continue;
    hide(entry,
         fmt::format("{}: the pipeline's author {} may not {}", control::lacks_right_cause(*viewing.author),
                     viewing.author->name, ReaderAccess::needed(ReaderAccess::Right::See, run.key, app, target)),
         env_.clock.now());
  }
  co_return Result<void>{};
}

void ViewController::hide(Entry& entry, std::string text, Time now) {
  TargetView view;
  if (entry.is_hidden) view = entry.view();  // since when
  entry.is_hidden = entry.is_seen = true;
  entry.is_dirty = false;
  view.trouble = Trouble::NotReadable;
  view.problem = control::kAuthorLacksRight;
  view.text = view.error = std::move(text);
  view.set(State::Forbidden, now);
  view.was_looked_at = true;
  entry.keep(view);
}

bool ViewController::have_all_been_seen(Pipeline& pipeline, Steady now) {
  const bool is_late = pipeline.since + kLastSight <= now;
  bool are_all = true;
  for (Entry& entry : pipeline.targets) {
    if (!entry.is_seen && is_late) {
      TargetView view = entry.view();
      view.set(State::Stale, env_.clock.now());
      view.error = view.text = "it could not be looked at since this process began";
      view.was_looked_at = entry.is_seen = true;
      entry.keep(view);
    }
    are_all = are_all && entry.is_seen;
  }
  return are_all;
}

void ViewController::look(Viewing& viewing, Entry& entry) {
  const PipelineSpec& spec = viewing.spec;
  const ObjectKey& key = viewing.pipeline.key;
  const Target& target = viewing.target_of(entry);
  TargetView view = entry.view();
  if (!look_at_cluster(target, entry, view, key)) return;
  Sight sight = cache_.look(entry, target.ns, spec.app);
  if (viewing.is_annotated && sight.kind == Sight::Kind::Seen) {
    const std::string& environment = viewing.environment_of(entry).name;
    const Object& object = sight.look.object;
    const bool is_annotated = kube::annotation(object, kPipelineAnnotation) == key.to_string() &&
                              kube::annotation(object, kEnvironmentAnnotation) == environment;
    const KindName kind{std::string(object["apiVersion"].as_string().substr(0, object["apiVersion"].as_string().find('/'))),
                        std::string(kube::kind(object))};
    const auto resource = cache_.resource_of(entry.cluster(), kind);
    if (!is_annotated && resource) viewing.to_annotate.push_back({&target, entry.cluster(), *resource, object, environment});
  }
  take(entry, view, std::move(sight), spec.app);
}

/// Whether the cluster can be looked at; the entry says why not.
bool ViewController::look_at_cluster(const Target& target, Entry& entry, TargetView& view, const ObjectKey& pipeline) {
  const auto unknown = [&](Trouble trouble, std::string text) {
    Reading reading = read({.access = Access::Unreachable}, std::move(view.memory), env_.clock.now());
    view.memory = std::move(reading.memory);
    view.trouble = trouble;
    view.error = std::move(text);
    view.text = view.error;
    view.problem.clear();
    view.set(State::Unreachable, env_.clock.now());
    view.was_looked_at = entry.is_seen = true;
    entry.keep(view);
    return false;
  };
  if (target.cluster) {
    const ObjectKey key = cluster_key(pipeline, *target.cluster);
    const Object object = clusters_->get(key);
    if (object.is_null())
      return unknown(Trouble::ClusterNotFound, fmt::format("GitopsCluster {} does not exist", key.to_string()));
    const kube::GroupVersionKind& kind = kGitopsClusterKind;
    if (watches_->clusters().find(entry.cluster()) == nullptr) {
      const json::Value& ready = kube::condition(object, "Ready");
      if (ready["status"].as_string() != "False") return false;  // its controller comes to it
      return unknown(Trouble::ClusterNotReady,
                     fmt::format("{} {} is not ready: {}", kind.kind, key.to_string(), ready["message"].as_string()));
    }
  }
  const control::Reach reach = watches_->clusters().reach(entry.cluster());
  if (reach.is_reachable) return true;
  const std::string name = target.cluster ? cluster_key(pipeline, *target.cluster).to_string() : entry.cluster();
  return unknown(Trouble::ClusterNotReady, is_silence(reach.problem)
                                               ? fmt::format("cluster {} does not answer: {}", name, reach.problem.message)
                                               : fmt::format("cluster {} cannot be used: {}", name, reach.problem.message));
}

void ViewController::take(Entry& entry, TargetView& view, Sight sight, const AppRef& app) {
  if (sight.kind == Sight::Kind::Pending) return;  // the row stays as it is
  const Time now = env_.clock.now();
  const bool is_old = sight.kind == Sight::Kind::Stale || sight.kind == Sight::Kind::Failing;
  if (is_old) sight.look.access = Access::Stale;
  view.was_looked_at = entry.is_seen = true;
  view.error = sight.text;
  view.problem.clear();
  view.trouble = sight.kind == Sight::Kind::Seen ? Trouble::None : Trouble::NotReadable;
  if (sight.kind == Sight::Kind::NoAccess) {
    view.problem = "NoAccess";
    view.text = sight.text;
    view.set(State::Forbidden, now);
    return entry.keep(view);
  }
  if (sight.kind == Sight::Kind::NoSpace) view.problem = "MissingNamespace";
  if (sight.kind == Sight::Kind::NotServed) view.problem = "MissingKind";
  if (sight.kind == Sight::Kind::Unknown) view.problem = "UnknownKind";
  if (sight.kind == Sight::Kind::Seen) {
    view.related = related_to(sight.look.object);
    const ObjectKey claim = claimed_pipeline(sight.look.object);
    view.claim = claim.name.empty() ? "" : claim.to_string();
    view.api_version = sight.api_version;
  } else if (!is_old) {
    sight.look.object = {};
    view.related.clear();
    view.claim.clear();
    view.api_version = app.api_version;
  }
  Reading reading = read(sight.look, std::move(view.memory), now);
  view.memory = std::move(reading.memory);
  view.text = sight.text.empty() ? reading.values.text : sight.text;
  view.set(reading.values.state, now);
  entry.keep(view);
}

std::vector<TargetView> ViewController::views_of(Pipeline& pipeline) const {
  std::vector<TargetView> views;
  views.reserve(pipeline.targets.size());
  for (Entry& entry : pipeline.targets) {
    TargetView& view = views.emplace_back(entry.view());
    if (view.was_looked_at) continue;
    view.set(State::Stale, env_.clock.now());
    view.error = view.text = "it has not been looked at yet";
    entry.keep(view);
  }
  return views;
}

}  // namespace slipway::delivery::pipeline
