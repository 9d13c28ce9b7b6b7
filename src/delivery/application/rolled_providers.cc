// Which components a rollout can take. A rollout moves pods between versions of a workload, so it takes what has a template of
// pods and is no Job, and kinds of users' own that a ConfigMap describes (docs/rollout.md, Kinds of your own). Everything else
// is simply applied.
#include <algorithm>

#include "delivery/application/provider_rows.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

constexpr const char* kDescribesKind = "rollout.slipway.dev/workload-row=true";

bool has_pods(const Value& workload) {
  const auto kind = kube::GroupVersionKind::of(workload);
  return kind && kind->group != "batch" && workload["spec"]["template"]["spec"]["containers"].is_array();
}

/// Kinds of this cluster's users, by API version and kind.
Task<Result<std::vector<std::pair<std::string, std::string>>>> described_kinds(AppRun& run) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  client::ListQuery query;
  query.ns = kDefinitionNamespace;  // only there: they are for all
  query.label_selector = kDescribesKind;
  SLIPWAY_CO_TRY(listed, co_await client::list(*hub, kube::kConfigMaps, query));
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const Value& map : listed["items"].items()) {
    const auto row = json::parse_yaml(map["data"]["row"].as_string());
    if (row) kinds.emplace_back((*row)["apiVersion"].str(), (*row)["kind"].str());
  }
  co_return kinds;
}

Task<Result<bool>> is_rolled(AppRun& run, ComponentSpec component) {
  SLIPWAY_CO_TRY(rendered, co_await run.render(std::move(component), {}, {}, {}));
  const Value& workload = rendered->workload;
  if (workload.is_null() || rendered->is_workload_managed) co_return false;
  if (has_pods(workload)) co_return true;
  const auto kind = kube::GroupVersionKind::of(workload);
  if (!kind || !kind->group.contains('.')) co_return false;
  SLIPWAY_CO_TRY(kinds, co_await described_kinds(run));
  co_return std::ranges::find(kinds, std::pair(workload["apiVersion"].str(), kind->kind)) != kinds.end();
}

Task<Answer> load_rolled_components(AppRun& run, ProviderCall call) {
  const std::vector<std::string> only = texts_in(call.params["components"]);
  json::ArrayBuilder rolled, others;
  for (const ComponentSpec& component : std::vector<ComponentSpec>(run.parsed().spec.components)) {
    if (!only.empty() && std::ranges::find(only, component.name) == only.end()) continue;
    const auto takes = co_await is_rolled(run, component);
    if (!takes) co_return Answer::error(takes.error());
    (*takes ? rolled : others).add(component.to_json());
  }
  co_return Answer::done(json::object({{"value", rolled.build()}, {"others", others.build()}}));
}

}  // namespace

std::vector<ProviderRow> rolled_rows() { return {{"oam", "load-rolled-comps", {"components"}, load_rolled_components}}; }

}  // namespace slipway::delivery::application
