#include "delivery/pipeline/view_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/object_writes.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using kube::Object;
using kube::ObjectKey;

constexpr const char* kManager = "slipway-pipeline";
constexpr Duration kWriteEvery = std::chrono::seconds{1};
/// How long the first status waits for targets that are not looked at yet.
constexpr Duration kFirstLook = std::chrono::seconds{5};

}  // namespace

ViewController::ViewController(const ControllerContext& context, std::shared_ptr<ViewedPipelines> viewed)
    : env_(context.env),
      viewed_(std::move(viewed)),
      cache_(context.env, [this](Follower& follower) { enqueue_(*static_cast<Watching&>(follower).pipeline); }) {}

ViewController::~ViewController() {
  enqueue_ = [](const ObjectKey&) {};
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
  const auto changed = [this](const std::string& cluster, const Object& before, const Object& after) {
    for (const ObjectKey& pipeline : annotations_.changed(cluster, before, after)) enqueue_(pipeline);
  };
  const auto forgotten = [this](const std::string& cluster) {
    for (const ObjectKey& pipeline : annotations_.forget(cluster)) enqueue_(pipeline);
  };
  cache_.start(watches.clusters(), changed, forgotten);
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
  std::vector<TargetView> views = views_of(pipeline);
  for (const TargetView& view : views) {
    input.targets.push_back(&view);
    if (view.problem.empty()) continue;
    const std::string subject = fmt::format("{} {}", pipeline.spec.app.kind, target_name(pipeline.spec, view));
    input.problems.push_back({.kind = view.problem, .object = subject, .text = view.error});
  }
  std::vector<AnnotationFault> faults = faults_of(annotations_.of(run.key), run.key, &pipeline.spec, places_of(pipeline));
  for (const AnnotationFault& fault : faults) {
    input.problems.push_back(
        {.kind = fault.reason,
         .object = fmt::format("{} {} in cluster {}", fault.claim.kind, fault.claim.key.to_string(), fault.claim.cluster),
         .text = fault.text});
  }
  input.promotions = promotions_of(run.key);
  input.triggers = triggers_of(pipeline, views, object);
  pipeline.next_write = now + kWriteEvery;
  Viewed viewed = view_of(input);
  input.targets.clear();
  std::exchange(views, {});  // many at once wait for their answers
  auto written = co_await write(run, object, std::move(viewed));
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
      entry->pipeline = &pipeline.key;
      entry->environment = static_cast<std::uint32_t>(i);
      entry->target = static_cast<std::uint32_t>(j);
      if (is_another && status && status->environments.contains(environment.name)) {
        const EnvironmentStatus& told = status->environments.at(environment.name);
        const auto row = std::ranges::find_if(
            told.targets, [&](const TargetStatus& one) { return one.ns == target.ns && one.app.cluster == target.cluster; });
        TargetView view;
        row != told.targets.end() ? restore(view, *row) : restore(view, told);
        entry->keep(view);
      } else if (!is_another) {
        const auto old = std::ranges::find_if(before->second->targets, [&](const auto& one) {
          const Environment& its = before->second->spec.environments[one->environment];
          const AppRef& app = before->second->spec.app;
          return one->cluster == entry->cluster && its.targets[one->target].ns == target.ns &&
                 app.name == pipeline.spec.app.name && app.kind == pipeline.spec.app.kind;
        });
        if (old != before->second->targets.end()) {
          entry->packed_view = (*old)->packed_view;
          entry->was_looked_at = (*old)->was_looked_at;
          entry->is_seen = (*old)->is_seen;
        }
      }
      if (is_first && !pipeline.triggers.contains(entry->cluster)) {
        auto& watching = pipeline.triggers[entry->cluster] = std::make_unique<Watching>();
        watching->cluster = entry->cluster;
        watching->pipeline = &pipeline.key;
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

std::vector<Trigger> ViewController::triggers_of(Pipeline& pipeline, const std::vector<TargetView>& views,
                                                 const Object& object) {
  std::vector<FirstTarget> first;
  std::vector<ClusterTriggers> clusters;
  const auto shown = [&](const std::string& cluster) {
    const std::string prefix = watches_->home() + "/";
    return cluster.starts_with(prefix) ? cluster.substr(prefix.size()) : cluster;
  };
  for (std::size_t i = 0; i < views.size(); ++i) {
    const TargetView& view = views[i];
    const Environment& environment = pipeline.spec.environments[view.environment];
    const bool is_first = environment.depends_on ? environment.depends_on->empty() : view.environment == 0;
    if (!is_first) continue;
    first.push_back({.cluster = shown(pipeline.targets[i]->cluster),
                     .ns = environment.targets[view.target].ns,
                     .values = &view.memory.last,
                     .related = view.related});
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
    const Environment& environment = pipeline.spec.environments[entry->environment];
    places.push_back({entry->cluster, environment.targets[entry->target].ns, environment.name});
  }
  return places;
}

Task<Result<Object>> ViewController::write(control::Reconcile& run, Object object, Viewed viewed) {
  const json::Value status = control::observed_status(object, json::encode(viewed.status), viewed.conditions, env_.clock.now());
  auto written = co_await control::write_status(run.client, kPipelines, object, status, kManager);
  if (!written && written.error().reason == Reason::NotFound) co_return Object{};
  co_return written;
}

}  // namespace slipway::delivery::pipeline
