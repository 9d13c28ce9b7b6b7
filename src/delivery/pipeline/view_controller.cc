#include "delivery/pipeline/view_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/turn.h"
#include "control/events.h"
#include "control/object_writes.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/related.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using kube::Object;
using kube::ObjectKey;

constexpr const char* kManager = "slipway-pipeline";
constexpr const char* kAnnotationManager = "slipway-pipeline-annotations";
constexpr Duration kWriteEvery = std::chrono::seconds{1};
/// How long the first status waits for targets that are not looked at yet.
constexpr Duration kFirstLook = std::chrono::seconds{5};
/// How long a target is shown as an earlier process left it.
constexpr Duration kLastSight = std::chrono::minutes{1};
constexpr std::size_t kLooksPerTurn = 16;
constexpr std::size_t kMostTold = 10'000;

bool is_silence(const Status& problem) {
  return problem.reason == Reason::ServiceUnavailable || problem.reason == Reason::Timeout;
}

ObjectKey cluster_key(const ObjectKey& pipeline, const ClusterRef& ref) {
  return {ref.ns.empty() ? pipeline.ns : ref.ns, ref.name};
}

}  // namespace

/// Somebody who is woken on behalf of a pipeline.
struct ViewController::Watching : Follower {
  ObjectKey pipeline{};
};

struct ViewController::Entry : Watching {
  TargetView view{};
  bool is_seen = false;  // the view is what this process saw, not what a status said
};

struct ViewController::Pipeline {
  ObjectKey key{};
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
  Object object{};
  std::string environment{};
};

struct ViewController::Looked {
  bool is_annotated = false;  // the pipeline asks for annotations
  std::vector<Annotation> to_annotate{};
};

ViewController::ViewController(const ControllerContext& context, std::shared_ptr<ViewedPipelines> viewed)
    : env_(context.env),
      viewed_(std::move(viewed)),
      cache_(context.env, [this](Follower& follower) { enqueue_(static_cast<Watching&>(follower).pipeline); }) {}

ViewController::~ViewController() {
  for (const auto& [key, pipeline] : known_) {
    for (const auto& entry : pipeline->targets) cache_.remove(*entry);
    for (const auto& [cluster, watching] : pipeline->triggers) cache_.remove(*watching);
  }
}

void ViewController::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
  pipelines_ = &watches.primary(kPipelines);
  const auto of_pipeline = [](const Object& object) {
    return std::vector{ObjectKey{std::string(kube::ns(object)), object["spec"]["pipeline"].str()}};
  };
  promotions_ = &watches.also(kPromotions, of_pipeline);
  releases_ = &watches.also(kReleases, of_pipeline);
  promotions_->add_index("pipeline", [](const Object& promotion) {
    return std::vector{fmt::format("{}/{}", kube::ns(promotion), promotion["spec"]["pipeline"].as_string())};
  });
  const auto of_cluster = [this](const Object& object) {
    const auto found = by_cluster_.find(kube::key_of(object));
    if (found == by_cluster_.end()) return std::vector<ObjectKey>();
    for (const ObjectKey& key : found->second) {
      const auto known = known_.find(key);
      if (known == known_.end()) continue;
      for (const auto& entry : known->second->targets) entry->is_dirty = true;
    }
    return std::vector<ObjectKey>(found->second.begin(), found->second.end());
  };
  clusters_ = &watches.also(kGitopsClusters, of_cluster);
  cache_.start(watches.clusters(), [this](const std::string& cluster, const Object& before, const Object& after) {
    for (const ObjectKey& pipeline : annotations_.changed(cluster, before, after)) enqueue_(pipeline);
  });
}

Task<Outcome> ViewController::reconcile(control::Reconcile& run) {
  const Object object = pipelines_->get(run.key);
  if (object.is_null()) {
    drop(run.key);
    if (viewed_) viewed_->remove(run.key);
    co_await tell_faults(run, faults_of(annotations_.of(run.key), run.key, nullptr, {}));
    co_return Outcome::settled();
  }
  const auto known = pipeline_of(object);
  if (!known) co_return Outcome::settled();  // the schema of the kind keeps such objects out
  Pipeline& pipeline = **known;
  if (const Steady now = env_.clock.steady(); now < pipeline.next_write)
    co_return Outcome::retries_after(pipeline.next_write - now);
  Looked looked{.is_annotated = kube::annotation(object, kAnnotateAnnotation) == "true"};
  const bool is_complete = co_await look_at_all(pipeline, looked);
  const Steady now = env_.clock.steady();
  const Steady patience = pipeline.since + kFirstLook;
  if (!is_complete && now < patience) co_return Outcome::retries_after(patience - now);
  const bool is_seen = have_all_been_seen(pipeline, now);
  ViewInput input{.spec = pipeline.spec};
  for (const auto& entry : pipeline.targets) {
    if (!entry->view.was_looked_at) {
      entry->view.set(State::Stale, env_.clock.now());
      entry->view.error = entry->view.text = "it has not been looked at yet";
    }
    input.targets.push_back(&entry->view);
    const std::string subject = fmt::format("{} {}", pipeline.spec.app.kind, target_name(pipeline.spec, entry->view));
    if (entry->view.problem.empty()) continue;
    input.problems.push_back({.kind = entry->view.problem, .object = subject, .text = entry->view.error});
  }
  std::vector<AnnotationFault> faults = faults_of(annotations_.of(run.key), run.key, &pipeline.spec, places_of(pipeline));
  for (const AnnotationFault& fault : faults) {
    input.problems.push_back(
        {.kind = fault.reason,
         .object = fmt::format("{} {} in cluster {}", fault.claim.kind, fault.claim.key.to_string(), fault.claim.cluster),
         .text = fault.text});
  }
  input.promotions = promotions_of(run.key);
  input.triggers = triggers_of(pipeline, object);
  pipeline.next_write = now + kWriteEvery;
  auto written = co_await write(run, object, view_of(input));
  if (!written) co_return Outcome::failed(std::move(written).error());
  if (viewed_ && is_seen && !written->is_null()) viewed_->add(*written);
  co_await tell_faults(run, std::move(faults));
  co_await annotate(run, std::move(looked.to_annotate));
  if (is_seen) co_return Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(pipeline.since + kLastSight - now, kWriteEvery));
}

void ViewController::drop(const ObjectKey& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  for (const auto& entry : found->second->targets) cache_.remove(*entry);
  for (const auto& [cluster, watching] : found->second->triggers) cache_.remove(*watching);
  for (auto& [cluster, pipelines] : by_cluster_) pipelines.erase(key);
  std::erase_if(by_cluster_, [](const auto& one) { return one.second.empty(); });
  known_.erase(found);
}

Result<ViewController::Pipeline*> ViewController::pipeline_of(const Object& object) {
  const ObjectKey key = kube::key_of(object);
  if (const auto known = known_.find(key); known != known_.end()) {
    const bool is_same = known->second->uid == kube::uid(object) && known->second->generation == kube::generation(object);
    if (is_same) return known->second.get();
  }
  auto spec = json::decode<PipelineSpec>(object["spec"], "spec", {});
  if (!spec) {
    drop(key);
    return fail(std::move(spec).error());
  }
  auto made = std::make_unique<Pipeline>();
  made->key = key;
  made->uid = kube::uid(object);
  made->generation = kube::generation(object);
  made->spec = *std::move(spec);
  made->since = env_.clock.steady();
  make_entries(*made, object);
  for (const auto& entry : made->targets) cache_.add(*entry);
  for (const auto& [cluster, watching] : made->triggers) cache_.add(*watching);
  drop(key);
  for (const Environment& environment : made->spec.environments) {
    for (const Target& target : environment.targets) {
      if (target.cluster) by_cluster_[cluster_key(key, *target.cluster)].insert(key);
    }
  }
  auto& kept = known_[key] = std::move(made);
  return kept.get();
}

void ViewController::make_entries(Pipeline& pipeline, const Object& object) {
  const auto before = known_.find(pipeline.key);
  const bool is_another = before == known_.end() || before->second->uid != pipeline.uid;
  const auto status = json::decode<PipelineStatus>(object["status"], "status", {});
  for (std::size_t i = 0; i < pipeline.spec.environments.size(); ++i) {
    const Environment& environment = pipeline.spec.environments[i];
    const bool is_first = environment.depends_on ? environment.depends_on->empty() : i == 0;
    for (std::size_t j = 0; j < environment.targets.size(); ++j) {
      const Target& target = environment.targets[j];
      auto entry = std::make_unique<Entry>();
      entry->cluster = cluster_of(pipeline.key, target);
      entry->pipeline = pipeline.key;
      if (is_another && status && status->environments.contains(environment.name)) {
        const EnvironmentStatus& told = status->environments.at(environment.name);
        const auto row = std::ranges::find_if(
            told.targets, [&](const TargetStatus& one) { return one.ns == target.ns && one.app.cluster == target.cluster; });
        row != told.targets.end() ? restore(entry->view, *row) : restore(entry->view, told);
      } else if (!is_another) {
        const auto old = std::ranges::find_if(before->second->targets, [&](const auto& one) {
          const Environment& its = before->second->spec.environments[one->view.environment];
          const AppRef& app = before->second->spec.app;
          return one->cluster == entry->cluster && its.targets[one->view.target].ns == target.ns &&
                 app.name == pipeline.spec.app.name && app.kind == pipeline.spec.app.kind;
        });
        if (old != before->second->targets.end()) {
          entry->view = (*old)->view;
          entry->is_seen = (*old)->is_seen;
        }
      }
      entry->view.environment = i;
      entry->view.target = j;
      if (is_first && !pipeline.triggers.contains(entry->cluster)) {
        auto& watching = pipeline.triggers[entry->cluster] = std::make_unique<Watching>();
        watching->cluster = entry->cluster;
        watching->pipeline = pipeline.key;
      }
      pipeline.targets.push_back(std::move(entry));
    }
  }
}

std::string ViewController::cluster_of(const ObjectKey& pipeline, const Target& target) const {
  if (!target.cluster) return watches_->home();
  const ObjectKey key = cluster_key(pipeline, *target.cluster);
  return cluster_name(watches_->home(), key.ns, key.name);
}

/// False while a target is not looked at yet.
Task<bool> ViewController::look_at_all(Pipeline& pipeline, Looked& looked) {
  Turn turn(env_, kLooksPerTurn);
  bool is_complete = true;
  for (const auto& entry : pipeline.targets) {
    if (entry->is_dirty) {
      entry->is_dirty = false;
      look(pipeline, *entry, looked);
      if (turn.spend(1)) co_await turn.pass();
    }
    is_complete = is_complete && entry->view.was_looked_at;
  }
  co_return is_complete;
}

bool ViewController::have_all_been_seen(Pipeline& pipeline, Steady now) {
  const bool is_late = pipeline.since + kLastSight <= now;
  bool are_all = true;
  for (const auto& entry : pipeline.targets) {
    if (!entry->is_seen && is_late) {
      entry->view.set(State::Stale, env_.clock.now());
      entry->view.error = entry->view.text = "it could not be looked at since this process began";
      entry->view.was_looked_at = entry->is_seen = true;
    }
    are_all = are_all && entry->is_seen;
  }
  return are_all;
}

void ViewController::look(Pipeline& pipeline, Entry& entry, Looked& looked) {
  const Target& target = pipeline.spec.environments[entry.view.environment].targets[entry.view.target];
  if (!look_at_cluster(target, entry, pipeline.key)) return;
  Sight sight = cache_.look(entry, target.ns, pipeline.spec.app);
  if (looked.is_annotated && sight.kind == Sight::Kind::Seen) {
    const std::string& environment = pipeline.spec.environments[entry.view.environment].name;
    const Object& object = sight.look.object;
    const bool is_annotated = kube::annotation(object, kPipelineAnnotation) == pipeline.key.to_string() &&
                              kube::annotation(object, kEnvironmentAnnotation) == environment;
    const KindName kind{std::string(object["apiVersion"].as_string().substr(0, object["apiVersion"].as_string().find('/'))),
                        std::string(kube::kind(object))};
    const auto resource = cache_.resource_of(entry.cluster, kind);
    if (!is_annotated && resource) looked.to_annotate.push_back({entry.cluster, *resource, object, environment});
  }
  take(entry, std::move(sight), pipeline.spec.app);
}

/// Whether the cluster can be looked at; the entry says why not.
bool ViewController::look_at_cluster(const Target& target, Entry& entry, const ObjectKey& pipeline) {
  TargetView& view = entry.view;
  const auto unknown = [&](Trouble trouble, std::string text) {
    Reading reading = read({.access = Access::Unreachable}, std::move(view.memory), env_.clock.now());
    view.memory = std::move(reading.memory);
    view.trouble = trouble;
    view.error = std::move(text);
    view.text = view.error;
    view.problem.clear();
    view.set(State::Unreachable, env_.clock.now());
    view.was_looked_at = entry.is_seen = true;
    return false;
  };
  if (target.cluster) {
    const ObjectKey key = cluster_key(pipeline, *target.cluster);
    const Object object = clusters_->get(key);
    if (object.is_null())
      return unknown(Trouble::ClusterNotFound, fmt::format("GitopsCluster {} does not exist", key.to_string()));
    const kube::GroupVersionKind& kind = kGitopsClusterKind;
    if (watches_->clusters().find(entry.cluster) == nullptr) {
      const json::Value& ready = kube::condition(object, "Ready");
      if (ready["status"].as_string() != "False") return false;  // its controller comes to it
      return unknown(Trouble::ClusterNotReady,
                     fmt::format("{} {} is not ready: {}", kind.kind, key.to_string(), ready["message"].as_string()));
    }
  }
  const control::Reach reach = watches_->clusters().reach(entry.cluster);
  if (reach.is_reachable) return true;
  const std::string name = target.cluster ? cluster_key(pipeline, *target.cluster).to_string() : entry.cluster;
  return unknown(Trouble::ClusterNotReady, is_silence(reach.problem)
                                               ? fmt::format("cluster {} does not answer: {}", name, reach.problem.message)
                                               : fmt::format("cluster {} cannot be used: {}", name, reach.problem.message));
}

void ViewController::take(Entry& entry, Sight sight, const AppRef& app) {
  TargetView& view = entry.view;
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
    return view.set(State::Forbidden, now);
  }
  if (sight.kind == Sight::Kind::NoSpace) view.problem = "MissingNamespace";
  if (sight.kind == Sight::Kind::NotServed) view.problem = "MissingKind";
  if (sight.kind == Sight::Kind::Unknown) view.problem = "UnknownKind";
  if (sight.kind == Sight::Kind::Seen) {
    view.related = related_to(sight.look.object);
    view.api_version = sight.api_version;
  } else if (!is_old) {
    sight.look.object = {};
    view.related.clear();
    view.api_version = app.api_version;
  }
  Reading reading = read(sight.look, std::move(view.memory), now);
  view.memory = std::move(reading.memory);
  view.text = sight.text.empty() ? reading.values.text : sight.text;
  view.set(reading.values.state, now);
}

std::vector<PromotionView> ViewController::promotions_of(const ObjectKey& pipeline) const {
  std::vector<PromotionView> found;
  for (const Object& object : promotions_->index("pipeline", pipeline.to_string())) {
    auto spec = json::decode<PromotionSpec>(object["spec"], "spec", {});
    auto status = json::decode<PromotionStatus>(object["status"], "status", {});
    if (!spec || !status) continue;
    const Object release = releases_->get({pipeline.ns, spec->release});
    found.push_back({.name = std::string(kube::name(object)),
                     .version = release["spec"]["version"].str(),
                     .created = kube::creation_time(object),
                     .spec = *std::move(spec),
                     .status = *std::move(status)});
  }
  return found;
}

std::vector<Trigger> ViewController::triggers_of(Pipeline& pipeline, const Object& object) {
  std::vector<FirstTarget> first;
  std::vector<ClusterTriggers> clusters;
  const auto shown = [&](const std::string& cluster) {
    const std::string prefix = watches_->home() + "/";
    return cluster.starts_with(prefix) ? cluster.substr(prefix.size()) : cluster;
  };
  for (const auto& entry : pipeline.targets) {
    const Environment& environment = pipeline.spec.environments[entry->view.environment];
    const bool is_first = environment.depends_on ? environment.depends_on->empty() : entry->view.environment == 0;
    if (!is_first) continue;
    first.push_back({.cluster = shown(entry->cluster),
                     .ns = environment.targets[entry->view.target].ns,
                     .values = &entry->view.memory.last,
                     .related = entry->view.related});
  }
  for (const auto& [cluster, watching] : pipeline.triggers) {
    watching->is_dirty = false;
    if (watches_->clusters().find(cluster) == nullptr) continue;
    clusters.push_back({.cluster = shown(cluster), .objects = cache_.triggers(*watching)});
  }
  return pipeline::triggers_of(pipeline.spec.app, first, clusters, kube::annotation(object, kHookAnnotation));
}

std::vector<TargetPlace> ViewController::places_of(const Pipeline& pipeline) const {
  std::vector<TargetPlace> places;
  for (const auto& entry : pipeline.targets) {
    const Environment& environment = pipeline.spec.environments[entry->view.environment];
    places.push_back({entry->cluster, environment.targets[entry->view.target].ns, environment.name});
  }
  return places;
}

Task<Result<Object>> ViewController::write(control::Reconcile& run, Object object, Viewed viewed) {
  const json::Value status = control::observed_status(object, json::encode(viewed.status), viewed.conditions, env_.clock.now());
  auto written = co_await control::write_status(run.client, kPipelines, object, status, kManager);
  if (!written && written.error().reason == Reason::NotFound) co_return Object{};
  co_return written;
}

/// Once per fault and process; the events themselves are told apart by name, so that a restart repeats nothing.
Task<> ViewController::tell_faults(control::Reconcile& run, std::vector<AnnotationFault> faults) {
  for (AnnotationFault& fault : faults) {
    const std::string mark = fmt::format("{} {} {}", fault.claim.uid, fault.reason, fault.text);
    if (told_.size() >= kMostTold) told_.clear();
    if (!told_.insert(mark).second) continue;
    const bool is_home = fault.claim.cluster == watches_->home();
    const Result<client::Client*> client = is_home ? Result<client::Client*>(&run.client) : run.on(fault.claim.cluster);
    Result<void> recorded;
    if (client) {
      recorded = co_await control::record_event(
          env_, **client, fault.claim.reference(),
          {.type = "Warning", .reason = fault.reason, .message = fault.text, .instance = fault.text}, kManager);
    }
    const bool is_refused = !recorded && recorded.error().reason == Reason::Forbidden;
    if (!client || (!recorded && !is_refused)) told_.erase(mark);
  }
}

/// Only what nobody else has claimed: an agent that manages the annotation keeps it.
Task<> ViewController::annotate(control::Reconcile& run, std::vector<Annotation> wanted) {
  for (Annotation& one : wanted) {
    const bool is_home = one.cluster == watches_->home();
    const Result<client::Client*> client = is_home ? Result<client::Client*>(&run.client) : run.on(one.cluster);
    if (!client) continue;
    const json::Value body = json::object(
        {{"apiVersion", one.object["apiVersion"]},
         {"kind", one.object["kind"]},
         {"metadata",
          json::object({{"name", one.object["metadata"]["name"]},
                        {"namespace", one.object["metadata"]["namespace"]},
                        {"uid", one.object["metadata"]["uid"]},
                        {"annotations", json::object({{std::string(kPipelineAnnotation), run.key.to_string()},
                                                      {std::string(kEnvironmentAnnotation), one.environment}})}})}});
    const auto applied = co_await client::apply(**client, one.resource, body, kAnnotationManager, "", false);
    if (applied) continue;
    env_.log.info("annotations of a target are not written",
                  {{"pipeline", run.key.to_string()}, {"cluster", one.cluster}, {"error", applied.error().message}});
  }
}

}  // namespace slipway::delivery::pipeline
