#include "delivery/pipeline/log_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Informer;
using control::Outcome;
using kube::Object;
using kube::ObjectKey;

constexpr const char* kLogManager = "slipway-delivery-log";
constexpr const char* kSegmentsByPipeline = "pipeline";

std::string log_index_key(std::string_view ns, std::string_view pipeline) { return fmt::format("{}/{}", ns, pipeline); }

std::vector<ObjectKey> pipeline_of(const Object& object) {
  const std::string name = object["spec"]["pipeline"].str();
  if (name.empty()) return {};
  return {ObjectKey{std::string(kube::ns(object)), name}};
}

Duration soak_of(const Object& pipeline) {
  const std::string_view written = kube::annotation(pipeline, kSoakAnnotation);
  return written.empty() ? kSoak : parse_days(written).value_or(kSoak);
}

bool is_named_in(const json::Value& names, std::string_view name) {
  return names.empty() || std::ranges::any_of(names.items(), [&](const json::Value& one) { return one.as_string() == name; });
}

}  // namespace

void LogController::watch(control::Watches& watches) {
  pipelines_ = &watches.primary(kPipelines);
  const auto related = [&](const kube::Resource& resource) {
    Informer& informer = watches.also(resource, pipeline_of);
    informer.add_index(kSegmentsByPipeline, [](const Object& object) {
      return std::vector<std::string>{log_index_key(kube::ns(object), object["spec"]["pipeline"].as_string())};
    });
    return &informer;
  };
  releases_ = related(kReleases);
  promotions_ = related(kPromotions);
  approvals_ = related(kApprovals);
  holds_ = related(kHolds);
  logs_ = &watches.changes(
      kDeliveryLogs,
      [](const Object& before, const Object& after) {
        const Object& object = after.is_null() ? before : after;
        const std::string name(kube::annotation(object, kPipelineLabel));
        return name.empty() ? std::vector<ObjectKey>{} : std::vector{ObjectKey{std::string(kube::ns(object)), name}};
      },
      control::Form::Metadata);
  logs_->add_index(kSegmentsByPipeline, [](const Object& object) {
    return std::vector<std::string>{log_index_key(kube::ns(object), kube::annotation(object, kPipelineLabel))};
  });
  freezes_ = &watches.also(kFreezes, [this](const Object& freeze) { return pipelines_of_freeze(freeze); });
}

std::vector<ObjectKey> LogController::pipelines_of_freeze(const Object& freeze) const {
  std::vector<ObjectKey> keys;
  const bool is_for_all = kube::ns(freeze) == kFreezesForAll;
  for (const ObjectKey& key : is_for_all ? pipelines_->keys() : pipelines_->keys(kube::ns(freeze))) {
    if (is_named_in(freeze["spec"]["pipelines"], key.name)) keys.push_back(key);
  }
  return keys;
}

std::vector<Object> LogController::about(const Informer& informer, const ObjectKey& key) const {
  return informer.index(kSegmentsByPipeline, log_index_key(key.ns, key.name));
}

std::vector<Object> LogController::freezes_of(const ObjectKey& key) const {
  std::vector<Object> found;
  for (const std::string& ns : std::set<std::string>{key.ns, std::string(kFreezesForAll)}) {
    for (const auto& [at, freeze] : freezes_->objects(ns)) {
      if (is_named_in(freeze["spec"]["pipelines"], key.name)) found.push_back(freeze);
    }
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
  world.acts_as = acts_as_;
  world.now = env_.clock.now();
  return world;
}

bool LogController::is_as_left(const ObjectKey& key) const {
  const auto known = memory_.find(key);
  if (known == memory_.end()) return false;
  std::map<std::string, kube::Revision> left;
  for (const auto& [uid, log] : known->second) left.insert(log.revisions.begin(), log.revisions.end());
  std::map<std::string, kube::Revision> found;
  for (const Object& segment : about(*logs_, key)) found[std::string(kube::name(segment))] = kube::revision(segment);
  return left == found;
}

LogController::Log LogController::log_of(const Chain& chain) {
  Log log;
  for (const Segment& segment : chain.segments) {
    log.segments[segment.spec.segment] = age_of(segment);
    log.revisions[std::string(kube::name(segment.object))] = kube::revision(segment.object);
    log.keep = kube::annotation(segment.object, kKeepAnnotation);
    for (const DeliveryEntry& entry : segment.spec.entries) log.told.take(entry);
  }
  const DeliveryEntry* last = chain.last();
  log.has_ended = last != nullptr && last->what == "removed";
  return log;
}

Task<Result<void>> LogController::remember(control::Client& client, ObjectKey key) {
  if (is_as_left(key)) co_return Result<void>{};
  memory_.erase(key);
  std::vector<Object> objects;
  for (const Object& segment : about(*logs_, key)) {
    auto read = co_await client::get(client, kDeliveryLogs, kube::key_of(segment));
    if (!read && read.error().reason == Reason::NotFound) continue;
    if (!read) co_return fail(read.error());
    objects.push_back(std::move(*read));
  }
  Logs& logs = memory_[key];
  for (const Chain& chain : chains_of(objects, key.ns, key.name)) logs[chain.uid] = log_of(chain);
  co_return Result<void>{};
}

Task<Outcome> LogController::reconcile(control::Reconcile& run) {
  const auto next = co_await look(run.client, run.key);
  if (!next) {
    memory_.erase(run.key);
    co_return Outcome::failed(next.error());
  }
  if (!*next) co_return Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(**next - env_.clock.now(), std::chrono::seconds{1}));
}

Task<Result<std::optional<Time>>> LogController::look(control::Client& client, ObjectKey key) {
  SLIPWAY_CO_TRY_VOID(co_await remember(client, key));
  const Object pipeline = pipelines_->get(key);
  std::optional<Time> next;
  if (!pipeline.is_null()) {
    SLIPWAY_CO_TRY(again, co_await there(client, key, pipeline));
    next = again;
  }
  SLIPWAY_CO_TRY_VOID(co_await end_chains(client, key, std::string(kube::uid(pipeline))));
  SLIPWAY_CO_TRY(due, co_await prune(client, key, pipeline));
  if (due) next = std::min(next.value_or(*due), *due);
  if (memory_[key].empty()) memory_.erase(key);
  co_return next;
}

/// Segment by segment in their order, so that a crash leaves a shorter chain and no gap.
Task<Result<void>> LogController::write(control::Client& client, ObjectKey key, std::string uid,
                                        std::vector<DeliveryEntry> entries, std::string keep) {
  Chain chain{.ns = key.ns, .pipeline = key.name, .uid = uid, .segments = {}};
  if (const Log& log = memory_[key][uid]; !log.segments.empty()) {
    SLIPWAY_CO_TRY(object, co_await client::get(client, kDeliveryLogs, {key.ns, log.segments.rbegin()->second.name}));
    const auto known = memory_[key][uid].revisions.find(std::string(kube::name(object)));
    if (known->second != kube::revision(object)) {
      co_return fail(kube::conflict(kDeliveryLogs, kube::name(object), "somebody else wrote to it"));
    }
    SLIPWAY_CO_TRY(spec, json::decode<DeliveryLogSpec>(object["spec"], "spec", {.allow_unknown = true}));
    chain.segments.push_back({.object = object, .spec = std::move(spec)});
  }
  for (const std::size_t index : append(chain, entries)) {
    Segment& segment = chain.segments[index];
    const Object object = object_of(segment, chain.ns, keep);
    auto written = segment.object.is_null() ? co_await client::create(client, kDeliveryLogs, object, kLogManager)
                                            : co_await client::update(client, kDeliveryLogs, object, kLogManager);
    if (!written) co_return fail(written.error());
    segment.object = std::move(*written);
    Log& log = memory_[key][uid];
    log.segments[segment.spec.segment] = age_of(segment);
    log.revisions[std::string(kube::name(segment.object))] = kube::revision(segment.object);
    log.keep = keep;
  }
  Log& log = memory_[key][uid];
  for (const DeliveryEntry& entry : entries) log.told.take(entry);
  log.has_ended = !entries.empty() && entries.back().what == "removed";
  co_return Result<void>{};
}

Task<Result<std::optional<Time>>> LogController::there(control::Client& client, ObjectKey key, Object pipeline) {
  const std::string uid(kube::uid(pipeline));
  const LogWorld world = world_of(pipeline, key);
  NewEntries made = new_entries(memory_[key][uid].told, world);
  if (!made.entries.empty()) {
    const std::string keep(kube::annotation(pipeline, kKeepAnnotation));
    SLIPWAY_CO_TRY_VOID(co_await write(client, key, uid, std::move(made.entries), keep));
  }
  co_return made.look_again;
}

Task<Result<std::optional<Time>>> LogController::prune(control::Client& client, ObjectKey key, Object pipeline) {
  std::optional<Time> next;
  std::vector<SegmentAge> old;
  for (const auto& [uid, log] : memory_[key]) {
    const bool is_live = uid == kube::uid(pipeline);
    const Duration keep = pipeline.is_null() ? parse_days(log.keep).value_or(kKeepHistory) : keep_of(pipeline);
    std::vector<SegmentAge> ages;
    ages.reserve(log.segments.size());
    for (const auto& [number, age] : log.segments) ages.push_back(age);
    const Outdated found = outdated(ages, is_live ? PipelineIs::There : PipelineIs::Gone, keep, env_.clock.now());
    old.insert(old.end(), found.segments.begin(), found.segments.end());
    if (found.next) next = std::min(next.value_or(*found.next), *found.next);
  }
  for (const SegmentAge& age : old) {
    const client::DeleteQuery query{.propagation = "Background", .uid = age.uid, .resource_version = "", .grace_seconds = {}};
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(client, kDeliveryLogs, {key.ns, age.name}, query));
  }
  co_return next;
}

Task<Result<void>> LogController::end_chains(control::Client& client, ObjectKey key, std::string live_uid) {
  std::vector<std::pair<std::string, std::string>> open;  // uid, how long it is kept
  for (const auto& [uid, log] : memory_[key]) {
    if (uid != live_uid && !log.has_ended && !log.segments.empty()) open.emplace_back(uid, log.keep);
  }
  for (const auto& [uid, keep] : open) {
    SLIPWAY_CO_TRY_VOID(co_await write(client, key, uid, {removed_entry(uid, env_.clock.now())}, keep));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::pipeline
