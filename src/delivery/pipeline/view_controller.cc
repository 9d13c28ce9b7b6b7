#include "delivery/pipeline/view_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using kube::Object;
using kube::ObjectKey;

constexpr Duration kWriteEvery = std::chrono::seconds{1};
/// How long the first status waits for targets that are not looked at yet; and how long while lists wait for each other, since
/// statuses of half a look, a thousand of them each second, would hold those up.
constexpr Duration kFirstLook = std::chrono::seconds{5};
constexpr Duration kLongestFirstLook = std::chrono::seconds{30};

}  // namespace

ViewController::ViewController(const ControllerContext& context, std::shared_ptr<ViewedPipelines> viewed)
    : env_(context.env),
      acts_as_(context.acts_as),
      access_(context.env, control::kAuthorRightPause),
      viewed_(std::move(viewed)),
      cache_(context.env, [this](Follower& follower) { enqueue_(*static_cast<Watching&>(follower).pipeline); }) {}

ViewController::~ViewController() {
  enqueue_ = [](const ObjectKey&) {};
  for (const auto& [key, pipeline] : known_) {
    for (Entry& entry : pipeline->targets) cache_.remove(entry);
    for (const auto& [cluster, watching] : pipeline->triggers) cache_.remove(*watching);
  }
  for (const auto& [key, cluster] : connected_) cache_.remove(*cluster);
}

void ViewController::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
  pipelines_ = &watches.primary(kPipelines);
  const auto of_pipeline = [this](const Object& object) {
    const ObjectKey key{std::string(kube::ns(object)), object["spec"]["pipeline"].str()};
    if (const auto known = known_.find(key); known != known_.end()) known->second->has_news = true;
    return std::vector{key};
  };
  promotions_ = &watches.also(kPromotions, of_pipeline);
  releases_ = &watches.also(kReleases, of_pipeline);
  promotions_->add_index("pipeline", [](const Object& promotion) {
    return std::vector{fmt::format("{}/{}", kube::ns(promotion), promotion["spec"]["pipeline"].as_string())};
  });
  const auto of_cluster = [this](const Object& before, const Object& after) {
    const Object& object = after.is_null() ? before : after;
    const bool is_own_write = !before.is_null() && !after.is_null() && kube::generation(before) == kube::generation(after) &&
                              before["status"]["conditions"] == after["status"]["conditions"];
    if (is_own_write) return std::vector<ObjectKey>();
    cache_.wake_all(cluster_name(watches_->home(), kube::ns(object), kube::name(object)));
    return std::vector{cluster_queue_key(kube::key_of(object))};
  };
  clusters_ = &watches.changes(kGitopsClusters, of_cluster);
  const auto changed = [this](const std::string& cluster, const Object& before, const Object& after) {
    const std::set<ObjectKey> touched = annotations_.changed(cluster, before, after);
    for (const ObjectKey& pipeline : touched) add_news(pipeline);
    for (const auto& [key, one] : connected_) {
      if (!touched.empty() && one->cluster() == cluster) enqueue_(key);
    }
  };
  const auto forgotten = [this](const std::string& cluster) {
    for (const ObjectKey& pipeline : annotations_.forget(cluster)) add_news(pipeline);
  };
  cache_.start(watches.clusters(), changed, forgotten);
}

void ViewController::add_news(const ObjectKey& pipeline) {
  if (const auto known = known_.find(pipeline); known != known_.end()) known->second->has_news = true;
  enqueue_(pipeline);
}

Task<Outcome> ViewController::reconcile(control::Reconcile& run) {
  if (run.key.ns.empty()) co_return co_await reconcile_cluster(run);
  const Object object = pipelines_->get(run.key);
  if (object.is_null()) {
    if (known_.contains(run.key)) claims_changed(run.key);
    drop(run.key);
    if (viewed_) viewed_->remove(run.key);
    co_await tell_faults(run, faults_of(annotations_.of(run.key), run.key, nullptr, {}));
    co_return Outcome::settled();
  }
  if (is_as_written(object)) co_return Outcome::settled();
  auto spec = json::decode<PipelineSpec>(object["spec"], "spec", {});
  if (!spec) {  // the schema of the kind keeps such objects out
    drop(run.key);
    co_return Outcome::settled();
  }
  if (!known_.contains(run.key)) claims_changed(run.key);
  Pipeline& pipeline = pipeline_of(object, *spec);
  if (const Steady now = env_.clock.steady(); now < pipeline.next_write)
    co_return Outcome::retries_after(pipeline.next_write - now);
  Viewing viewing{.pipeline = pipeline,
                  .spec = *std::move(spec),
                  .is_annotated = kube::annotation(object, kAnnotateAnnotation) == "true",
                  .author = author_of(object, acts_as_)};
  if (auto hidden = co_await hide_targets(run, viewing); !hidden) co_return Outcome::failed(std::move(hidden).error());
  const bool is_complete = co_await look_at_all(viewing);
  const Steady now = env_.clock.steady();
  const bool is_seen = have_all_been_seen(pipeline, now);
  if (!is_seen && cache_.is_listing() && now < pipeline.since + kLongestFirstLook) {
    pipeline.next_write = now + kWriteEvery;
    co_return Outcome::retries_after(kWriteEvery);
  }
  const Steady patience = pipeline.since + kFirstLook;
  if (!is_complete && now < patience) co_return Outcome::retries_after(patience - now);
  ViewInput input{.spec = viewing.spec};
  std::vector<TargetView> views = views_of(pipeline);
  for (const TargetView& view : views) {
    input.targets.push_back(&view);
    if (view.problem.empty()) continue;
    input.problems.push_back({.kind = view.problem, .object = target_object(viewing.spec, view), .text = view.error});
  }
  add_claim_problems(run.key, viewing, views, input.problems);
  std::vector<AnnotationFault> faults = faults_of(annotations_.of(run.key), run.key, &viewing.spec, places_of(viewing));
  for (const AnnotationFault& fault : faults) {
    input.problems.push_back(
        {.kind = fault.reason,
         .object = fmt::format("{} {} in cluster {}", fault.claim.kind, fault.claim.key.to_string(), fault.claim.cluster),
         .text = fault.text});
  }
  pipeline.has_news = false;
  pipeline.written = 0;
  input.promotions = promotions_of(run.key);
  input.triggers = triggers_of(viewing, views, object);
  pipeline.next_write = now + kWriteEvery;
  Viewed viewed = view_of(input);
  input.targets.clear();
  std::exchange(views, {});  // many at once wait for their answers
  auto written = co_await write(run, object, std::move(viewed));
  if (!written) co_return Outcome::failed(std::move(written).error());
  if (is_seen) pipeline.written = kube::revision(*written);
  if (viewed_ && is_seen && !written->is_null()) viewed_->add(*written);
  co_await tell_faults(run, std::move(faults));
  const bool has_rights = co_await annotate(run, viewing, std::move(viewing.to_annotate));
  pipeline.waits_for_right = !has_rights;
  const bool waits = !has_rights || std::ranges::any_of(pipeline.targets, &Entry::is_hidden);
  if (is_seen) co_return waits ? Outcome::retries_after(control::kAuthorRightPause) : Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(pipeline.since + kLastSight - now, kWriteEvery));
}

/// What woke it is the event of its own write. With many targets a look at them all costs some milliseconds.
bool ViewController::is_as_written(const Object& object) const {
  const auto found = known_.find(kube::key_of(object));
  if (found == known_.end()) return false;
  const Pipeline& pipeline = *found->second;
  const auto is_dirty = [](const auto& one) { return one.second->is_dirty; };
  return pipeline.uid == kube::uid(object) && pipeline.written != 0 && pipeline.written == kube::revision(object) &&
         !pipeline.has_news && !pipeline.waits_for_right && std::ranges::none_of(pipeline.targets, &Entry::is_dirty) &&
         std::ranges::none_of(pipeline.targets, &Entry::is_hidden) && std::ranges::none_of(pipeline.triggers, is_dirty);
}

void ViewController::drop(const ObjectKey& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  for (Entry& entry : found->second->targets) cache_.remove(entry);
  for (const auto& [cluster, watching] : found->second->triggers) cache_.remove(*watching);
  known_.erase(found);
}

ViewController::Pipeline& ViewController::pipeline_of(const Object& object, const PipelineSpec& spec) {
  const ObjectKey key = kube::key_of(object);
  if (const auto known = known_.find(key); known != known_.end()) {
    const bool is_same = known->second->uid == kube::uid(object) && known->second->generation == kube::generation(object);
    if (is_same) return *known->second;
  }
  auto made = std::make_unique<Pipeline>();
  made->key = key;
  made->uid = kube::uid(object);
  made->generation = kube::generation(object);
  made->since = env_.clock.steady();
  make_entries(*made, spec, object);
  drop(key);
  return *(known_[key] = std::move(made));
}

void ViewController::make_entries(Pipeline& pipeline, const PipelineSpec& spec, const Object& object) {
  const auto before = known_.find(pipeline.key);
  const bool is_another = before == known_.end() || before->second->uid != pipeline.uid;
  const auto status = json::decode<PipelineStatus>(object["status"], "status", {});
  std::size_t count = 0;
  for (const Environment& environment : spec.environments) count += environment.targets.size();
  pipeline.targets = std::vector<Entry>(count);
  auto entry = pipeline.targets.begin();
  for (std::size_t i = 0; i < spec.environments.size(); ++i) {
    const Environment& environment = spec.environments[i];
    const bool is_first = environment.depends_on ? environment.depends_on->empty() : i == 0;
    for (std::size_t j = 0; j < environment.targets.size(); ++j, ++entry) {
      const Target& target = environment.targets[j];
      const std::string cluster = cluster_of(pipeline.key, target);
      entry->pipeline = &pipeline.key;
      entry->environment = static_cast<std::uint32_t>(i);
      entry->target = static_cast<std::uint32_t>(j);
      entry->identity = std::hash<std::string>{}(fmt::format("{} {} {} {}", cluster, target.ns, spec.app.kind, spec.app.name));
      if (is_another && status && status->environments.contains(environment.name)) {
        restore(*entry, value_at(status->environments, environment.name), target);
      } else if (!is_another) {
        const auto old = std::ranges::find(before->second->targets, entry->identity, &Entry::identity);
        if (old != before->second->targets.end()) entry->keep_of(*old);
      }
      cache_.add(*entry, cluster);
      if (!is_first || pipeline.triggers.contains(cluster)) continue;
      auto& watching = pipeline.triggers[cluster] = std::make_unique<Watching>();
      watching->pipeline = &pipeline.key;
      cache_.add(*watching, cluster);
    }
  }
}

/// As an earlier process left it.
void ViewController::restore(Entry& entry, const EnvironmentStatus& told, const Target& target) {
  const auto row = std::ranges::find_if(
      told.targets, [&](const TargetStatus& one) { return one.ns == target.ns && one.app.cluster == target.cluster; });
  TargetView view;
  row != told.targets.end() ? pipeline::restore(view, *row) : pipeline::restore(view, told);
  entry.keep(view);
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

std::vector<Trigger> ViewController::triggers_of(Viewing& viewing, const std::vector<TargetView>& views, const Object& object) {
  std::vector<FirstTarget> first;
  std::vector<ClusterTriggers> clusters;
  const auto shown = [&](const std::string& cluster) {
    const std::string prefix = watches_->home() + "/";
    return cluster.starts_with(prefix) ? cluster.substr(prefix.size()) : cluster;
  };
  for (std::size_t i = 0; i < views.size(); ++i) {
    const TargetView& view = views[i];
    const Environment& environment = viewing.spec.environments[view.environment];
    const bool is_first = environment.depends_on ? environment.depends_on->empty() : view.environment == 0;
    if (!is_first || viewing.pipeline.targets[i].is_hidden) continue;
    first.push_back({.cluster = shown(viewing.pipeline.targets[i].cluster()),
                     .ns = environment.targets[view.target].ns,
                     .values = &view.memory.last,
                     .related = view.related});
  }
  for (const auto& [cluster, watching] : viewing.pipeline.triggers) {
    watching->is_dirty = false;
    if (watches_->clusters().find(cluster) == nullptr) continue;
    clusters.push_back({.cluster = shown(cluster), .objects = cache_.triggers(*watching)});
  }
  return pipeline::triggers_of(viewing.spec.app, first, clusters, kube::annotation(object, kHookAnnotation));
}

std::vector<TargetPlace> ViewController::places_of(const Viewing& viewing) const {
  std::vector<TargetPlace> places;
  places.reserve(viewing.pipeline.targets.size());
  for (const Entry& entry : viewing.pipeline.targets)
    places.push_back({entry.cluster(), viewing.target_of(entry).ns, viewing.environment_of(entry).name});
  return places;
}

Task<Result<Object>> ViewController::write(control::Reconcile& run, Object object, Viewed viewed) {
  const json::Value status = control::observed_status(object, json::encode(viewed.status), viewed.conditions, env_.clock.now());
  auto written = co_await control::write_status(run.client, kPipelines, object, status, kViewManager);
  if (!written && written.error().reason == Reason::NotFound) co_return Object{};
  co_return written;
}

}  // namespace slipway::delivery::pipeline
