#include "delivery/application/rolling_back.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/rollout_plans.h"
#include "delivery/family/claimed_fields.h"
#include "delivery/family/handover.h"
#include "delivery/family/rolled_workloads.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kAppTarget = "targetAppRevisionName";
constexpr const char* kAppSource = "sourceAppRevisionName";

/// Over revisions of the application itself, not of a component.
bool is_over_application(const Value& rollout) { return rollout["spec"].has(kAppTarget); }

const Value& target_in(const Value& rollout) {
  return rollout["spec"][is_over_application(rollout) ? kAppTarget : "targetRevisionName"];
}

/// Of an object of the hub, as live_object() takes it.
ManagedResource record_in(const Value& object) {
  ManagedResource made;
  made.cluster = kHub;
  made.api_version = object["apiVersion"].str();
  made.kind = kube::kind(object);
  made.ns = kube::ns(object);
  made.name = kube::name(object);
  return made;
}

/// The batches by their sizes and shares of the traffic. Pods that a batch names are those of another revision by now: there
/// are as many equal batches then.
Value plan_back(Value plan) {
  for (const char* member : {"gates", "rolloutWebhooks", "canaryMetric", "revertOnDelete", "lastBatchToRollout", "onFailure"}) {
    plan = plan.without(member);
  }
  const Value batches = plan["rolloutBatches"];
  const std::int64_t named = plan["numBatches"].is_int() ? plan["numBatches"].as_int() : 1;
  const std::int64_t count = batches.empty() ? named : static_cast<std::int64_t>(batches.size());
  json::ArrayBuilder back;
  bool names_pods = false;
  for (const Value& batch : batches.items()) {
    names_pods = names_pods || !batch["podList"].empty();
    back.add(batch.without("gates").without("canaryMetric").without("batchRolloutWebhooks"));
  }
  if (names_pods) plan = plan.without("rolloutBatches").with("numBatches", count);
  if (!batches.empty() && !names_pods) plan = plan.with("rolloutBatches", back.build());
  // Said, since others may have said otherwise on the rollout.
  return plan.with("batchPartition", count - 1).with("paused", false);
}

/// The pods that the rollout has rolled out are those of the manifest's target, and no other rollout has replaced them.
Task<Result<bool>> serves(AppRun& run, Value manifest, Value live) {
  if (live.is_null() || target_in(live) != target_in(manifest) || !has_rolled_out(live)) co_return false;
  const std::string self = holder_name(manifest), component = component_of_holder(manifest);
  const bool has_other = std::ranges::any_of(run.current().resources, [&](const ManagedResource& one) {
    return is_holder(one.raw) && component_of_holder(one.raw) == component && holder_name(one.raw) != self;
  });
  if (has_other) co_return false;
  const std::vector<Value> workloads = rolled_workloads(live);
  if (workloads.empty()) co_return true;
  const Value& reference = workloads.front();
  SLIPWAY_CO_TRY(target, co_await run.live_object(record_in(reference.with("metadata", reference))));
  co_return !target.is_null() && kube::annotation(target, kReplacedBy).empty();
}

Value rollout_back(Value manifest, const std::string& revision, const std::string& request) {
  manifest = manifest.with_path({"metadata", "annotations", kRetryRequest}, request)
                 .with_path({"spec", "rolloutPlan"}, plan_back(manifest["spec"]["rolloutPlan"]));
  if (!kube::annotation(manifest, kClaimedFields).empty()) {
    manifest = manifest.with_path({"metadata", "annotations", kClaimedFields},
                                  "spec.rolloutPlan.batchPartition,spec.rolloutPlan.paused");
  }
  const bool is_back = is_over_application(manifest) && target_in(manifest).as_string() != revision;
  return is_back ? manifest.with_path({"spec", kAppSource}, revision) : manifest;
}

}  // namespace

Restored restored_by(const std::vector<Manifest>& manifests) {
  Restored restored;
  for (const Manifest& manifest : manifests) {
    restored.objects.insert(manifest.id());
    if (!manifest.component.empty()) restored.components.insert(manifest.component);
    if (!is_holder(manifest.object)) continue;
    const std::string component = component_of_holder(manifest.object);
    restored.holders.insert(holder_name(manifest.object));
    restored.components.insert(component);
    if (is_over_application(manifest.object)) restored.rolled.insert(component);
  }
  return restored;
}

Task<Result<std::vector<Manifest>>> with_rollouts_to_restore(AppRun& run, std::vector<Manifest> manifests,
                                                             std::string request) {
  for (Manifest& manifest : manifests) {
    if (!is_holder(manifest.object) || manifest.cluster != kHub) continue;
    const ManagedResource* known = run.current().find(manifest.id());
    if (known != nullptr && known->is_whole && kube::annotation(known->raw, kRestoreRequest) == request) {
      manifest.object = known->raw;
      continue;
    }
    SLIPWAY_CO_TRY(live, co_await run.newest_object(manifest.id(), manifest.object));
    SLIPWAY_CO_TRY(is_serving, co_await serves(run, manifest.object, live));
    if (!is_serving) manifest.object = rollout_back(manifest.object, run.revision(), request);
    manifest.object = manifest.object.with_path({"metadata", "annotations", kRestoreRequest}, request);
  }
  co_return manifests;
}

Task<Result<std::string>> first_unrestored(AppRun& run, std::vector<Value> applied) {
  for (const Value& object : applied) {
    if (!is_holder(object)) continue;
    SLIPWAY_CO_TRY(live, co_await run.live_object(record_in(object)));
    const Value& status = live["status"];
    const bool is_done = !live.is_null() && has_rolled_out(live) &&
                         status["completedRevision"].as_string() == completion_of(object, target_in(object).as_string());
    if (is_done) continue;
    const std::string_view failure = status["failure"].as_string();
    const std::string name = fmt::format("{} {}", kube::kind(object), kube::name(object));
    const Value& wait = status["waits"].item(0);
    if (!failure.empty()) co_return fmt::format("{}: {}: {}", name, status["rollingState"].as_string(), failure);
    if (!wait.is_null()) {
      co_return fmt::format("{} is on its way, waits for {}: {}", name, wait["on"].as_string(), wait["text"].as_string());
    }
    co_return fmt::format("{} is on its way", name);
  }
  co_return std::string();
}

bool is_replaced_last(const Restored& restored, const ManagedResource& resource) {
  if (is_holder(resource.raw)) return false;
  // A workload that the trait `rollout` has made goes with the record of its revision.
  const bool is_traits = resource.kind == "ControllerRevision" && restored.components.contains(resource.component);
  const bool is_workload = kube::label(resource.raw, kLabelResourceType) == "WORKLOAD";
  return is_traits || (is_workload && restored.rolled.contains(resource.component));
}

}  // namespace slipway::delivery::application
