#include "delivery/pipeline/log_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Informer;
using control::ObjectKey;
using control::Outcome;
using kube::Object;

constexpr const char* kManager = "slipway-delivery-log";
constexpr const char* kByPipeline = "pipeline";

std::string index_key(std::string_view ns, std::string_view pipeline) { return fmt::format("{}/{}", ns, pipeline); }

std::vector<ObjectKey> pipeline_of(const Object& object) {
  const std::string name = object["spec"]["pipeline"].str();
  if (name.empty()) return {};
  return {ObjectKey{std::string(kube::ns(object)), name}};
}

Duration soak_of(const Object& pipeline) {
  const std::string_view written = kube::annotation(pipeline, kSoakAnnotation);
  return written.empty() ? kSoak : parse_days(written).value_or(kSoak);
}

bool is_of(const json::Value& names, std::string_view name) {
  return names.size() == 0 ||
         std::ranges::any_of(names.items(), [&](const json::Value& one) { return one.as_string() == name; });
}

}  // namespace

void LogController::watch(control::Watches& watches) {
  pipelines_ = &watches.primary(kPipelines);
  const auto related = [&](const kube::Resource& resource) {
    Informer& informer = watches.also(resource, pipeline_of);
    informer.add_index(kByPipeline, [](const Object& object) {
      return std::vector<std::string>{index_key(kube::ns(object), object["spec"]["pipeline"].as_string())};
    });
    return &informer;
  };
  releases_ = related(kReleases);
  promotions_ = related(kPromotions);
  approvals_ = related(kApprovals);
  holds_ = related(kHolds);
  logs_ = related(kDeliveryLogs);
  freezes_ = &watches.also(kFreezes, [this](const Object& freeze) { return pipelines_of_freeze(freeze); });
}

std::vector<ObjectKey> LogController::pipelines_of_freeze(const Object& freeze) const {
  std::vector<ObjectKey> keys;
  const std::string ns(kube::ns(freeze));
  for (auto at = pipelines_->objects().lower_bound({ns, ""}); at != pipelines_->objects().end() && at->first.ns == ns; ++at) {
    if (is_of(freeze["spec"]["pipelines"], at->first.name)) keys.push_back(at->first);
  }
  return keys;
}

std::vector<Object> LogController::about(const Informer& informer, const ObjectKey& key) const {
  return informer.index(kByPipeline, index_key(key.ns, key.name));
}

std::vector<Object> LogController::freezes_of(const ObjectKey& key) const {
  std::vector<Object> found;
  for (auto at = freezes_->objects().lower_bound({key.ns, ""}); at != freezes_->objects().end() && at->first.ns == key.ns;
       ++at) {
    if (is_of(at->second["spec"]["pipelines"], key.name)) found.push_back(at->second);
  }
  return found;
}

LogWorld LogController::world_of(const Object& pipeline, const ObjectKey& key) const {
  LogWorld world;
  world.pipeline = key.name;
  if (auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true})) world.spec = std::move(*spec);
  if (pipeline["status"].has("environments")) {
    auto status = json::decode<PipelineStatus>(pipeline["status"], "status", {.allow_unknown = true});
    if (status) world.status = std::move(*status);
  }
  world.releases = about(*releases_, key);
  world.promotions = about(*promotions_, key);
  world.approvals = about(*approvals_, key);
  world.holds = about(*holds_, key);
  world.freezes = freezes_of(key);
  world.keep = keep_of(pipeline);
  world.soak = soak_of(pipeline);
  world.now = env_.clock.now();
  return world;
}

std::vector<Chain> LogController::chains(const ObjectKey& key) const { return chains_of(about(*logs_, key), key.ns, key.name); }

const Told& LogController::told(const ObjectKey& key, const std::string& uid) {
  std::map<std::string, kube::Revision> segments;
  const std::vector<Object> objects = about(*logs_, key);
  for (const Object& object : objects) {
    if (object["spec"]["pipelineUID"].as_string() == uid) segments[std::string(kube::name(object))] = kube::revision(object);
  }
  Memory& memory = memory_[key];
  if (memory.uid == uid && memory.segments == segments) return memory.told;
  memory = {.uid = uid, .segments = std::move(segments), .told = {}};
  for (const Chain& chain : chains_of(objects, key.ns, key.name)) {
    if (chain.uid != uid) continue;
    for (const Segment& segment : chain.segments) {
      for (const DeliveryEntry& entry : segment.spec.entries) memory.told.take(entry);
    }
  }
  return memory.told;
}

Task<Outcome> LogController::reconcile(control::Reconcile& run) {
  const Object pipeline = pipelines_->get(run.key);
  if (pipeline.is_null()) co_return co_await gone(run);
  co_return co_await there(run, pipeline);
}

/// Segment by segment in their order, so that a crash leaves a shorter chain and no gap.
Task<Result<void>> LogController::write(control::Client& client, Chain chain, std::vector<DeliveryEntry> entries,
                                        std::string keep) {
  const ObjectKey key{chain.ns, chain.pipeline};
  for (const std::size_t index : append(chain, std::move(entries))) {
    const Segment segment = chain.segments[index];
    const Object object = object_of(segment, chain.ns, keep);
    const auto written = segment.object.is_null() ? co_await client::create(client, kDeliveryLogs, object, kManager)
                                                  : co_await client::update(client, kDeliveryLogs, object, kManager);
    if (!written) {
      memory_.erase(key);
      co_return fail(written.error());
    }
  }
  co_return Result<void>{};
}

Task<Outcome> LogController::there(control::Reconcile& run, Object pipeline) {
  const ObjectKey key = run.key;
  const std::string uid(kube::uid(pipeline));
  const LogWorld world = world_of(pipeline, key);
  NewEntries made = new_entries(told(key, uid), world);
  if (!made.entries.empty()) {
    Chain chain{.ns = key.ns, .pipeline = key.name, .uid = uid, .segments = {}};
    for (Chain& one : chains(key)) {
      if (one.uid == uid) chain = std::move(one);
    }
    const std::string keep(kube::annotation(pipeline, kKeepAnnotation));
    const auto written = co_await write(run.client, std::move(chain), std::move(made.entries), keep);
    if (!written) co_return Outcome::failed(written.error());
  }
  const auto ended = co_await end_chains(run.client, key, uid);
  if (!ended) co_return Outcome::failed(ended.error());
  auto next = co_await prune(run.client, key, pipeline);
  if (!next) co_return Outcome::failed(next.error());
  if (made.look_again) next = std::min(next->value_or(*made.look_again), *made.look_again);
  co_return when(*next);
}

/// Of all chains of the name; when the next segment is due.
Task<Result<std::optional<Time>>> LogController::prune(control::Client& client, ObjectKey key, Object pipeline) {
  std::optional<Time> next;
  for (const Chain& chain : chains(key)) {
    const bool is_live = chain.uid == kube::uid(pipeline);
    const Duration keep = keep_of(pipeline.is_null() ? chain.segments.back().object : pipeline);
    const Outdated old = outdated(chain, is_live ? PipelineIs::There : PipelineIs::Gone, keep, env_.clock.now());
    for (const Object& object : old.segments) {
      const auto removed = co_await client::remove_exactly(
          client, kDeliveryLogs, kube::key_of(object),
          client::DeleteQuery{
              .propagation = "Background", .uid = std::string(kube::uid(object)), .resource_version = "", .grace_seconds = {}});
      if (!removed) co_return fail(removed.error());
    }
    if (old.next) next = std::min(next.value_or(*old.next), *old.next);
  }
  co_return next;
}

/// The chains of pipelines that are no more end with an entry that says so.
Task<Result<void>> LogController::end_chains(control::Client& client, ObjectKey key, std::string live_uid) {
  for (Chain& chain : chains(key)) {
    const DeliveryEntry removed = removed_entry(chain.uid, env_.clock.now());
    const DeliveryEntry* last = chain.last();
    if (chain.uid == live_uid || last == nullptr || last->key == removed.key) continue;
    const std::string keep(kube::annotation(chain.segments.back().object, kKeepAnnotation));
    SLIPWAY_CO_TRY_VOID(co_await write(client, std::move(chain), {removed}, keep));
  }
  co_return Result<void>{};
}

Task<Outcome> LogController::gone(control::Reconcile& run) {
  memory_.erase(run.key);
  const auto ended = co_await end_chains(run.client, run.key, "");
  if (!ended) co_return Outcome::failed(ended.error());
  const auto next = co_await prune(run.client, run.key, {});
  if (!next) co_return Outcome::failed(next.error());
  co_return when(*next);
}

Outcome LogController::when(const std::optional<Time>& next) const {
  if (!next) return Outcome::settled();
  return Outcome::retries_after(std::max<Duration>(*next - env_.clock.now(), std::chrono::seconds{1}));
}

}  // namespace slipway::delivery::pipeline
