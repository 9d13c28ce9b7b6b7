#include "cluster/hpa.h"

#include "cluster/names.h"
#include "cluster/scale_target.h"
#include "control/events.h"
#include "control/object_writes.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

const kube::Resource kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};
constexpr const char* kAutoscalerManager = "slipway-horizontalpodautoscaler";
constexpr Duration kPeriod = std::chrono::seconds{15};

std::string asked_of(const kube::Object& hpa) {
  return fmt::format("{}/{}/{}", kube::uid(hpa), kube::generation(hpa), kube::annotation(hpa, kMetrics));
}

}  // namespace

void AutoscalerController::watch(control::Watches& watches) {
  autoscalers_ = &watches.primary(kAutoscalers);
  pods_ = &watches.cache(kPods);
  definitions_ = &watches.cache(kDefinitions);
}

/// The limits on how fast a size may change count looks too, so there is one in each period, whatever wakes the controller.
Task<Outcome> AutoscalerController::reconcile(control::Reconcile& run) {
  const kube::Object hpa = autoscalers_->get(run.key);
  if (hpa.is_null() || kube::is_deleting(hpa)) {
    memory_.erase(run.key);
    co_return Outcome::settled();
  }
  const Steady now = env_.clock.steady();
  Memory& memory = memory_[run.key];
  if (memory.asked == asked_of(hpa) && now < memory.due) co_return Outcome::retries_after(memory.due - now);
  if (!memory.asked.starts_with(kube::uid(hpa))) memory = {};
  memory.asked = asked_of(hpa);
  memory.due = now + kPeriod;
  auto target = co_await look_at(run.client, hpa);
  Value status;
  if (target) {
    status = co_await carry_out(run.client, hpa, std::move(*target));
  } else {
    status = failed_scale_status(hpa, "FailedGetScale",
                                 "the HPA controller was unable to get the target's current scale: " + target.error().message,
                                 env_.clock.now());
  }
  const auto written = co_await write_status(run.client, hpa, std::move(status));
  co_return written ? Outcome::retries_after(kPeriod) : Outcome::failed(written.error());
}

Task<Result<AutoscalerController::Target>> AutoscalerController::look_at(client::Client& client, kube::Object hpa) {
  const Value& reference = hpa["spec"]["scaleTargetRef"];
  const kube::ObjectKey key{std::string(kube::ns(hpa)), reference["name"].str()};
  SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(reference));
  SLIPWAY_CO_TRY(found, find_scale_target(kind, *definitions_));
  if (!found.has_scale) {
    co_return fail(Reason::NotFound, found.resource.group_resource() + " does not implement the scale subresource");
  }
  Target target;
  target.resource = found.resource;
  SLIPWAY_CO_TRY(scale, co_await read_scale(client, found.resource, key));
  target.scale = std::move(scale);
  target.view.spec_replicas = target.scale["spec"]["replicas"].as_int();
  target.view.status_replicas = target.scale["status"]["replicas"].as_int();
  target.view.pods = pods_of(key.ns, target.scale["status"]["selector"]);
  if (kube::annotation(hpa, kMetrics).empty()) {
    SLIPWAY_CO_TRY(object, co_await client::get(client, found.resource, key));
    hpa = std::move(object);
  }
  auto metrics = metrics_at(hpa, env_.clock.now());
  if (!metrics) target.view.fault = metrics.error().message;
  if (metrics) target.view.metrics = std::move(*metrics);
  co_return target;
}

std::vector<kube::Object> AutoscalerController::pods_of(std::string_view ns, const json::Value& selector) const {
  std::vector<kube::Object> found;
  const auto parsed = kube::LabelSelector::parse(selector.as_string());
  if (!parsed || parsed->matches_everything()) return found;
  for (const auto& [key, pod] : pods_->objects(ns)) {
    if (parsed->matches(pod["metadata"]["labels"])) found.push_back(pod);
  }
  return found;
}

Task<json::Value> AutoscalerController::carry_out(client::Client& client, kube::Object hpa, Target target) {
  const kube::ObjectKey key = kube::key_of(hpa);
  HpaPlan plan = plan_autoscaler(hpa, target.view, memory_[key].history, env_.clock.now(), env_.clock.steady());
  memory_[key].history = plan.history;
  if (!plan.resize) co_return plan.status;
  const auto resized = co_await write_scale(client, target.resource, target.scale, *plan.resize, kAutoscalerManager);
  if (!resized) {
    auto& changes = memory_[key].history.changes;
    if (!changes.empty()) changes.pop_back();
    co_return failed_scale_status(hpa, "FailedUpdateScale",
                                  "the HPA controller was unable to update the target scale: " + resized.error().message,
                                  env_.clock.now());
  }
  control::EventText text{
      "Normal", "SuccessfulRescale", fmt::format("New size: {}; reason: {}", *plan.resize, plan.reason), {}};
  text.is_series = true;
  const auto told = co_await control::record_event(env_, client, hpa, text, "horizontal-pod-autoscaler");
  if (!told) env_.log.debug("an event was not recorded", {{"error", told.error().message}});
  co_return plan.status;
}

Task<Result<void>> AutoscalerController::write_status(client::Client& client, kube::Object hpa, json::Value status) {
  if (status == hpa["status"]) co_return Result<void>{};
  const auto written =
      co_await control::write_status(client, kAutoscalers, std::move(hpa), std::move(status), kAutoscalerManager);
  if (!written && written.error().reason != Reason::NotFound) co_return fail(written.error());
  co_return Result<void>{};
}

}  // namespace slipway::cluster
