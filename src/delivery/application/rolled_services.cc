#include "delivery/application/rolled_services.h"

#include <fmt/format.h>

#include "delivery/application/rollout_plans.h"
#include "delivery/family/rolled_workloads.h"

namespace slipway::delivery::application {
namespace {

using Objects = std::vector<std::pair<ManagedResource, Value>>;

/// Rollouts of components, which no trait has made.
std::vector<ManagedResource> service_rollouts(AppRun& run) {
  std::vector<ManagedResource> all;
  for (const Tracker* tracker : {&run.current(), &run.root()}) {
    for (const ManagedResource& one : tracker->resources) {
      if (one.trait.empty() && has_plan(one.raw) && one.raw["spec"]["componentList"].size() == 1) all.push_back(one);
    }
  }
  return all;
}

std::string component_of(const ManagedResource& rollout) { return rollout.raw["spec"]["componentList"].item(0).str(); }

/// As a tracker would have it, if the application made the object.
ManagedResource resource_of(const Value& reference, const std::string& cluster, const std::string& component) {
  return {.cluster = cluster,
          .component = component,
          .trait = {},
          .creator = "workflow",
          .api_version = reference["apiVersion"].str(),
          .kind = reference["kind"].str(),
          .ns = reference["namespace"].str(),
          .name = reference["name"].str(),
          .raw = {}};
}

/// The target of the rollout; nothing while there is none.
Task<Result<void>> add_target(AppRun& run, Value rollout, std::string cluster, std::string component, Objects& objects) {
  const std::vector<Value> workloads = rolled_workloads(rollout);
  if (workloads.empty()) co_return Result<void>{};
  ManagedResource resource = resource_of(workloads.front(), cluster, component);
  SLIPWAY_CO_TRY(live, co_await run.live_object(resource));
  if (live.is_null()) co_return Result<void>{};
  resource.raw = json::object({{"metadata", json::object({{"labels", json::object({{kLabelResourceType, "WORKLOAD"}})}})}});
  resource.is_whole = false;
  objects.emplace_back(std::move(resource), shown(live));
  co_return Result<void>{};
}

/// What stands beside the workload: Services and the objects of traits.
Task<Result<void>> add_others(AppRun& run, ComponentSpec component, Objects& objects) {
  const auto rendered = co_await run.render(component, {}, {}, {});
  if (!rendered) co_return Result<void>{};  // with inputs that are not there; the workload tells enough
  for (const RenderedObject& one : std::vector<RenderedObject>((*rendered)->others)) {
    ManagedResource resource = resource_of(kube::reference_to(one.object), kHub, component.name);
    resource.trait = one.trait;
    resource.raw = one.object;
    const auto live = co_await run.live_object(resource);
    if (!live && live.error().reason == Reason::NotFound) continue;  // its kind is not served
    if (!live) co_return fail(live.error());
    objects.emplace_back(std::move(resource), shown(*live));
  }
  co_return Result<void>{};
}

std::string progress_of(const Value& rollout, const ManagedResource& made) {
  const Value& status = rollout["status"];
  const std::string name = fmt::format("{} {}", made.kind, made.name);
  const std::string state = status["rollingState"].str();
  if (rollout.is_null()) return name + " is not there";
  if (state.empty()) return name + " has not begun";
  if (!status["failure"].as_string().empty()) return fmt::format("{}: {}: {}", name, state, status["failure"].as_string());
  const Value& wait = status["waits"].item(0);
  const std::string where = state == "rollingInBatches"
                                ? fmt::format("batch {} of {}", status["currentBatch"].as_int() + 1, status["goals"].size())
                                : state;
  if (wait.is_null()) return fmt::format("{}: {}", name, where);
  return fmt::format("{}: {}, waits for {}: {}", name, where, wait["on"].as_string(), wait["text"].as_string());
}

Task<Result<void>> judge_rolled(AppRun& run, ManagedResource made) {
  const std::string name = component_of(made);
  const Placement at{"", std::string(kube::ns(run.application()))};
  const auto component = co_await run.delivered_component(name, at);
  if (!component) co_return Result<void>{};
  SLIPWAY_CO_TRY(rollout, co_await run.live_object(made));
  Objects objects;
  SLIPWAY_CO_TRY_VOID(co_await add_target(run, rollout, made.cluster, name, objects));
  if (!objects.empty()) SLIPWAY_CO_TRY_VOID(co_await add_others(run, *component, objects));
  ServiceStatus service = run.judge_service(*component, at, objects);
  if (!has_rolled_out(rollout)) {
    service.is_healthy = false;
    service.message += (service.message.empty() ? "" : "; ") + progress_of(rollout, made);
  }
  run.put_service(std::move(service));
  co_return Result<void>{};
}

}  // namespace

std::set<std::string> rolled_components(AppRun& run) {
  std::set<std::string> names;
  for (const ManagedResource& one : service_rollouts(run)) names.insert(component_of(one));
  return names;
}

Task<Result<void>> judge_rolled_services(AppRun& run) {
  for (const ManagedResource& one : service_rollouts(run)) SLIPWAY_CO_TRY_VOID(co_await judge_rolled(run, one));
  co_return Result<void>{};
}

Task<Result<void>> add_rolled_workload(AppRun& run, Objects& objects) {
  for (const auto& [resource, live] : Objects(objects)) {
    if (!has_plan(live)) continue;
    SLIPWAY_CO_TRY_VOID(co_await add_target(run, live, resource.cluster, resource.component, objects));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
