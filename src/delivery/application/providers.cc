#include "delivery/application/providers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "delivery/application/component_patch.h"
#include "delivery/application/environments.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/query_providers.h"
#include "delivery/application/terraform_template.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

Value outputs_value(const Delivered& delivered) {
  json::ObjectBuilder out;
  if (!delivered.output.is_null()) out.set("output", delivered.output);
  if (delivered.outputs.size() > 0) out.set("outputs", delivered.outputs);
  return out.build();
}

/// Whether one of the objects in {output, outputs} is a Secret.
bool holds_secret(const Value& returns) {
  bool is_one = kube::kind(returns["output"]) == "Secret";
  for (const auto& [name, object] : returns["outputs"].members()) is_one = is_one || kube::kind(object) == "Secret";
  return is_one;
}

Placement placement_of(const Value& params) { return {params["cluster"].str(), params["namespace"].str()}; }

Task<Answer> apply_component(AppRun& run, ProviderCall call) {
  auto component = read_component(call.params["value"], "value");
  if (!component) co_return Answer::error(component.error());
  component->is_secret = call.is_secret;
  const Value patch = patch_with_exports(call, component->name, call.params["patch"]);
  auto delivered = co_await run.deliver(std::move(*component), placement_of(call.params), patch);
  if (!delivered) co_return Answer::error(delivered.error());
  Answer answer = Answer::done(outputs_value(*delivered));
  answer.resource = delivered->workload;
  answer.is_secret = delivered->is_secret || holds_secret(answer.returns);
  if (!delivered->is_healthy && call.params["waitHealthy"].as_bool(true)) {
    answer.kind = Answer::Kind::Wait;
    answer.message = delivered->message;
  }
  co_return answer;
}

Task<Answer> render_component_call(AppRun& run, ProviderCall call) {
  auto component = read_component(call.params["value"], "value");
  if (!component) co_return Answer::error(component.error());
  const Value patch = patch_with_exports(call, component->name, call.params["patch"]);
  component->is_secret = call.is_secret;
  auto rendered = co_await run.render(std::move(*component), placement_of(call.params), patch, {});
  if (!rendered) co_return Answer::error(rendered.error());
  json::ObjectBuilder outputs;
  for (const RenderedObject& one : (*rendered)->others) {
    if (!one.name.empty()) outputs.set(one.name, one.object);
  }
  Answer answer = Answer::done(json::object({{"output", (*rendered)->workload}, {"outputs", outputs.build()}}));
  answer.is_secret = (*rendered)->is_secret || holds_secret(answer.returns);
  co_return answer;
}

/// The spec of the application that a call names with `app`, read as whom the run acts; its own when none is named.
Task<Result<ApplicationSpec>> named_spec(AppRun& run, std::string app) {
  if (app.empty() || app == kube::name(run.application())) co_return run.parsed().spec;
  SLIPWAY_CO_TRY(hub, run.on(kHub));
  SLIPWAY_CO_TRY(other, co_await client::get(*hub, kApplications, {std::string(kube::ns(run.application())), app}));
  co_return read_application(other["spec"]);
}

Task<Answer> load_components(AppRun& run, ProviderCall call) {
  const auto spec = co_await named_spec(run, call.params["app"].str());
  if (!spec) co_return Answer::error(spec.error());
  const std::string only = call.params["component"].str();
  json::ObjectBuilder out;
  for (const ComponentSpec& component : spec->components) {
    if (only.empty() || only == component.name) out.set(component.name, component.to_json());
  }
  co_return Answer::done(json::object({{"value", out.build()}}));
}

Task<Answer> load_components_in_order(AppRun& run, ProviderCall call) {
  const auto spec = co_await named_spec(run, call.params["app"].str());
  if (!spec) co_return Answer::error(spec.error());
  json::ArrayBuilder out;
  for (const ComponentSpec& component : spec->components) out.add(component.to_json());
  co_return Answer::done(json::object({{"value", out.build()}}));
}

Task<Answer> load_policies(AppRun& run, ProviderCall call) {
  const auto spec = co_await named_spec(run, call.params["app"].str());
  if (!spec) co_return Answer::error(spec.error());
  json::ObjectBuilder out;
  for (const PolicySpec& policy : spec->policies) {
    out.set(policy.name, json::object({{"name", policy.name}, {"type", policy.type}, {"properties", policy.properties}}));
  }
  co_return Answer::done(json::object({{"value", out.build()}}));
}

/// One component at one place of a deploy step.
struct Unit {
  ComponentSpec component;
  Placement placement;
  Value patch;
  bool is_done = false;
  bool is_healthy = false;
  std::string message{};  // why it is not
  Status error{};
  bool has_failed = false;
};

/// Whether all that the unit's component depends on is healthy at its place.
bool may_start(const Unit& unit, const std::vector<Unit>& units) {
  return std::ranges::all_of(unit.component.depends_on, [&](const std::string& name) {
    const auto at = std::ranges::find_if(
        units, [&](const Unit& other) { return other.component.name == name && other.placement == unit.placement; });
    return at == units.end() || at->is_healthy;
  });
}

Task<> deliver_unit(AppRun& run, Unit& unit) {
  ComponentSpec component = unit.component;
  auto delivered = co_await run.deliver(std::move(component), unit.placement, unit.patch);
  unit.is_done = true;
  unit.has_failed = !delivered;
  if (!delivered) unit.error = std::move(delivered).error();
  if (delivered) unit.is_healthy = delivered->is_healthy;
  if (delivered) unit.message = delivered->message;
}

/// Runs units that may start, `parallelism` at once, until none can go on.
Task<> deliver_units(AppRun& run, std::vector<Unit>& units, std::size_t parallelism) {
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    std::vector<Unit*> ready;
    for (Unit& unit : units) {
      if (!unit.is_done && may_start(unit, units)) ready.push_back(&unit);
    }
    for (std::size_t from = 0; from < ready.size(); from += parallelism) {
      Tasks tasks(run.tools().env);
      for (std::size_t i = from; i < std::min(ready.size(), from + parallelism); ++i) tasks.spawn(deliver_unit(run, *ready[i]));
      co_await tasks.join();
      has_moved = true;
    }
  }
}

std::string place_of(const Unit& unit) {
  return fmt::format("component {} in cluster {}", unit.component.name, unit.placement.cluster);
}

bool is_from_terraform(AppRun& run, const ComponentSpec& component) {
  const auto definitions = definitions_of(component, run.parsed(), run.lookup());
  return definitions && is_terraform(definitions->first->object);
}

Task<Answer> deploy(AppRun& run, ProviderCall call) {
  std::vector<PolicySpec> inline_policies;
  for (const Value& policy : call.params["inlinePolicies"].items()) {
    inline_policies.push_back({policy["name"].str(), policy["type"].str(), policy["properties"]});
  }
  auto plan = co_await plan_deploy_in_pool(run, texts_in(call.params["policies"]), std::move(inline_policies));
  if (!plan) co_return Answer::error(plan.error());
  if (call.params["ignoreTerraformComponent"].as_bool(true)) {
    std::erase_if(plan->components, [&](const ComponentSpec& one) { return is_from_terraform(run, one); });
  }
  std::vector<Unit> units;
  for (const Placement& placement : plan->placements) {
    for (const ComponentSpec& component : plan->components) {
      units.push_back({component, placement, patch_with_exports(call, component.name, {})});
    }
  }
  const auto parallelism = static_cast<std::size_t>(std::max<std::int64_t>(1, call.params["parallelism"].as_int(5)));
  co_await deliver_units(run, units, parallelism);
  std::vector<std::string> errors, waits;
  for (const Unit& unit : units) {
    if (unit.has_failed) {
      auto& told = Answer::is_passing(unit.error) ? waits : errors;
      told.push_back(fmt::format("{}: {}", place_of(unit), unit.error.message));
    }
    if (unit.has_failed || unit.is_healthy) continue;
    const bool is_plain = unit.message.empty() || unit.message == kWaitHealthy;
    waits.push_back(is_plain ? place_of(unit) : fmt::format("{}: {}", place_of(unit), unit.message));
  }
  if (!errors.empty()) co_return Answer::error(fmt::format("{}", fmt::join(errors, "; ")));
  if (!waits.empty()) co_return Answer::wait(fmt::format("{}: {}", kWaitHealthy, fmt::join(waits, ", ")));
  co_return Answer::done();
}

/// Those that were joined: not the hub.
Task<Answer> list_clusters(AppRun& run, ProviderCall) {
  json::ArrayBuilder names;
  for (const ClusterEntry& cluster : run.clusters()) {
    if (cluster.name != kHub) names.add(cluster.name);
  }
  co_return Answer::done(json::object({{"outputs", json::object({{"clusters", names.build()}})}}));
}

Task<Answer> get_placements(AppRun& run, ProviderCall call) {
  std::vector<PolicySpec> topologies;
  for (const std::string& name : texts_in(call.params["policies"])) {
    if (const PolicySpec* policy = run.parsed().find_policy(name)) topologies.push_back(*policy);
  }
  auto found = placements(topologies, run.clusters());
  if (!found) co_return Answer::error(found.error());
  json::ArrayBuilder out;
  for (const Placement& one : *found) out.add(json::object({{"cluster", one.cluster}, {"namespace", one.ns}}));
  co_return Answer::done(json::object({{"placements", out.build()}}));
}

}  // namespace

Value patch_with_exports(const ProviderCall& call, const std::string& component, Value patch) {
  if (call.store == nullptr) return patch;
  const auto note = call.store->notes.find(std::string(workflow::kComponentPatch) + component);
  if (note == call.store->notes.end()) return patch;
  if (!patch.is_object()) patch = Value::empty_object();
  return patch.with(kExported, json::parse(note->second).value_or(Value()));
}

std::vector<std::string> texts_in(const Value& list) {
  std::vector<std::string> out;
  for (const Value& one : list.items()) out.push_back(one.str());
  return out;
}

Result<DeployPlan> plan_deploy(const Parsed& parsed, const std::vector<std::string>& policies,
                               const std::vector<PolicySpec>& inline_policies, const std::vector<ClusterEntry>& clusters,
                               std::size_t* spent) {
  std::size_t own = 0;
  if (spent == nullptr) spent = &own;
  std::vector<PolicySpec> used = inline_policies;
  for (const std::string& name : policies) {
    const PolicySpec* policy = parsed.find_policy(name);
    if (policy == nullptr) return fail(Reason::NotFound, fmt::format("policy {} not found", name));
    used.push_back(*policy);
  }
  std::vector<PolicySpec> topologies;
  std::ranges::copy_if(used, std::back_inserter(topologies), [](const PolicySpec& one) { return one.type == "topology"; });
  DeployPlan plan{.placements = {}, .components = parsed.spec.components};
  SLIPWAY_TRY(places, placements(topologies, clusters));
  plan.placements = std::move(places);
  for (const PolicySpec& policy : used) {
    if (policy.type != "override") continue;
    SLIPWAY_TRY(changed, override_components(plan.components, policy, spent));
    plan.components = std::move(changed);
  }
  for (const PolicySpec& policy : used) {
    if (policy.type != "replication") continue;
    SLIPWAY_TRY(changed, replicate_components(plan.components, policy));
    plan.components = std::move(changed);
  }
  return plan;
}

Task<Result<DeployPlan>> plan_deploy_in_pool(AppRun& run, std::vector<std::string> policies,
                                             std::vector<PolicySpec> inline_policies) {
  Result<DeployPlan> plan;
  const std::vector<ClusterEntry> clusters = run.clusters();
  co_await compute_for(run.tools().env, std::string(kube::ns(run.application())),
                       [&] { plan = plan_deploy(run.parsed(), policies, inline_policies, clusters); });
  co_return plan;
}

std::optional<ComponentSpec> component_as_delivered(const Parsed& parsed, const std::vector<ClusterEntry>& clusters,
                                                    const std::string& component, const Placement& at, const std::string& ns) {
  const auto is_here = [&](const Placement& place) {
    return place.cluster == at.cluster && (place.ns.empty() ? ns : place.ns) == at.ns;
  };
  std::optional<ComponentSpec> found;
  std::size_t spent = 0;
  std::map<std::vector<std::string>, Result<DeployPlan>> plans;  // by the policies of a step
  const auto look = [&](const workflow::Step& step) {
    if (step.type == kApplyComponent || step.type == kBuiltinApplyComponent) {
      auto spec = read_component(step.properties["value"], "value");
      if (spec && spec->name == component && is_here(placement_of(step.properties))) found = std::move(*spec);
    } else if (step.type == "deploy") {
      const std::vector<std::string> policies = texts_in(step.properties["policies"]);
      auto known = plans.find(policies);
      if (known == plans.end()) known = plans.emplace(policies, plan_deploy(parsed, policies, {}, clusters, &spent)).first;
      const Result<DeployPlan>& plan = known->second;
      if (!plan || std::ranges::none_of(plan->placements, is_here)) return;
      const auto spec = std::ranges::find(plan->components, component, &ComponentSpec::name);
      if (spec != plan->components.end()) found = *spec;
    }
  };
  for (const workflow::Step& step : parsed.steps.steps) {
    look(step);
    for (const workflow::Step& sub : step.sub_steps) look(sub);
  }
  return found;
}

namespace {

std::vector<ProviderRow> rows() {
  const std::vector<std::string> component = {"value", "cluster", "namespace", "env", "waitHealthy", "patch"};
  std::vector<ProviderRow> all = {
      {"oam", "component-apply", component, apply_component},
      {"oam", "component-render", component, render_component_call},
      {"oam", "load", {"app", "component"}, load_components},
      {"oam", "load-comps-in-order", {"app"}, load_components_in_order},
      {"oam", "load-policies", {"app"}, load_policies},
      {"multicluster", "deploy", {"policies", "parallelism", "ignoreTerraformComponent", "inlinePolicies"}, deploy},
      {"multicluster", "list-clusters", {}, list_clusters},
      {"multicluster", "get-placements-from-topology-policies", {"policies"}, get_placements},
  };
  for (auto* more : {gitops_rows, cluster_rows, pre_render_rows, rolled_rows, rollback_rows})
    std::ranges::move(more(), std::back_inserter(all));
  return all;
}

}  // namespace

std::vector<workflow::Provider> application_providers(AppRun& run) {
  std::vector<workflow::Provider> providers;
  for (const ProviderRow& row : rows()) {
    providers.push_back({row.package, row.function, row.params,
                         [&run, function = row.run](ProviderCall call) { return function(run, std::move(call)); }});
  }
  std::ranges::move(environment_providers(run), std::back_inserter(providers));
  std::ranges::move(query_providers(run), std::back_inserter(providers));
  return providers;
}

std::vector<workflow::Provider> providers_without_application() {
  std::vector<workflow::Provider> providers;
  for (const ProviderRow& row : rows()) {
    const std::string what =
        fmt::format("{}.{} needs an Application: a WorkflowRun has no components and no policies", row.package, row.function);
    providers.push_back(
        {row.package, row.function, row.params, [what](ProviderCall) -> Task<Answer> { co_return Answer::error(what); }});
  }
  return providers;
}

Result<workflow::StepDefinition> step_definition(const std::string& type, const Definition& definition) {
  if (definition.program) return workflow::StepDefinition{definition.program};
  const std::string& fault = definition.fault;
  return fail(Reason::Invalid, fmt::format("step type {}: {}", type, fault.empty() ? "it has no CUE template" : fault));
}

}  // namespace slipway::delivery::application
