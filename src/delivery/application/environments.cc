#include "delivery/application/environments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "delivery/application/policy_properties.h"
#include "delivery/application/terraform_template.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

constexpr std::string_view kPolicyTypes[] = {"env-binding", "envbinding"};

bool is_binding(const PolicySpec& policy) { return std::ranges::find(kPolicyTypes, policy.type) != std::end(kPolicyTypes); }

Result<const PolicySpec*> find_binding(const ApplicationSpec& spec, const std::string& name) {
  const auto found = std::ranges::find_if(
      spec.policies, [&](const PolicySpec& one) { return is_binding(one) && (name.empty() || one.name == name); });
  if (found != spec.policies.end()) return &*found;
  const std::string what =
      name.empty() ? "there is no env-binding policy" : fmt::format("env-binding policy {} not found", name);
  return fail(Reason::NotFound, what);
}

Result<Placement> read_placement(const Value& placement, const std::string& env, const std::vector<ClusterEntry>& clusters) {
  for (const char* selector : {"clusterSelector", "namespaceSelector"}) {
    if (placement[selector]["labels"].empty()) continue;
    return fail(Reason::Invalid,
                fmt::format("env {}: placement.{}.labels is not supported; name one with placement.{}.name, or use a topology "
                            "policy, which chooses clusters by labels",
                            env, selector, selector));
  }
  Placement made{placement["clusterSelector"]["name"].str(), placement["namespaceSelector"]["name"].str()};
  if (made.cluster.empty()) made.cluster = kHub;
  if (made.cluster != kHub && !contains(clusters, made.cluster, &ClusterEntry::name)) {
    return fail(Reason::Invalid, fmt::format("failed to get cluster {} for env {}", made.cluster, env));
  }
  return made;
}

/// The components with an environment's patch, those that its selector names; as an override policy does it.
Result<std::vector<ComponentSpec>> changed_components(const ApplicationSpec& spec, const Value& patch, const Value& selector) {
  Value properties = Value::empty_object();
  if (!patch["components"].is_null()) properties = properties.with("components", patch["components"]);
  if (!selector["components"].is_null()) properties = properties.with("selector", selector["components"]);
  return override_components(spec.components, {"env-binding", "env-binding", properties});
}

Value components_value(const std::vector<ComponentSpec>& components) {
  json::ArrayBuilder out;
  for (const ComponentSpec& component : components) out.add(component.to_json());
  return out.build();
}

Value decisions_value(const Placement& placement) {
  return json::array({json::object({{"cluster", placement.cluster}, {"namespace", placement.ns}})});
}

/// On the compute pool: an environment changes components as an override policy does.
Task<Result<Environment>> environment_in_pool(AppRun& run, std::string policy, std::string env) {
  Result<Environment> found;
  const std::vector<ClusterEntry> clusters = run.clusters();
  co_await compute_for(run.tools().env, std::string(kube::ns(run.application())),
                       [&] { found = read_environment(run.parsed().spec, policy, env, clusters); });
  co_return found;
}

Task<Answer> prepare(AppRun& run, ProviderCall call) {
  const Value& inputs = call.params["inputs"];
  auto found = co_await environment_in_pool(run, inputs["policy"].str(), inputs["env"].str());
  if (!found) co_return Answer::error(found.error());
  co_return Answer::done(json::object({{"outputs", json::object({{"policy", found->policy},
                                                                 {"components", components_value(found->components)},
                                                                 {"decisions", decisions_value(found->placement)}})}}));
}

Task<Answer> make_decisions(AppRun& run, ProviderCall call) {
  const Value& inputs = call.params["inputs"];
  const std::string env = inputs["envName"].str();
  if (inputs["policyName"].as_string().empty()) co_return Answer::error("empty policy name");
  if (env.empty()) co_return Answer::error("empty env name");
  if (inputs["placement"].is_null()) {
    co_return Answer::error(fmt::format("empty placement for policy {} in env {}", inputs["policyName"].as_string(), env));
  }
  auto placement = read_placement(inputs["placement"], env, run.clusters());
  if (!placement) co_return Answer::error(placement.error());
  co_return Answer::done(json::object({{"outputs", json::object({{"decisions", decisions_value(*placement)}})}}));
}

Task<Answer> read_decisions(AppRun& run, ProviderCall call) {
  const Value& inputs = call.params["inputs"];
  // The older of the two names is what upstream's package declares.
  const std::string policy = inputs[inputs.has("policyName") ? "policyName" : "policy"].str();
  auto found = co_await environment_in_pool(run, policy, inputs["envName"].str());
  if (!found) co_return Answer::error(found.error());
  co_return Answer::done(json::object({{"outputs", json::object({{"decisions", decisions_value(found->placement)}})}}));
}

Task<Answer> patch_application(AppRun& run, ProviderCall call) {
  const Value& inputs = call.params["inputs"];
  Result<std::vector<ComponentSpec>> changed;
  co_await compute_for(run.tools().env, std::string(kube::ns(run.application())),
                       [&] { changed = changed_components(run.parsed().spec, inputs["patch"], inputs["selector"]); });
  if (!changed) co_return Answer::error(changed.error());
  const Value application = run.application().without("status").with_path({"spec", "components"}, components_value(*changed));
  co_return Answer::done(json::object({{"outputs", application}}));
}

Task<Answer> load_terraform(AppRun& run, ProviderCall) {
  json::ArrayBuilder out;
  for (const ComponentSpec& component : run.parsed().spec.components) {
    auto definitions = definitions_of(component, run.parsed(), run.lookup());
    if (!definitions) co_return Answer::error(definitions.error());
    if (is_terraform(definitions->first->object)) out.add(component.to_json());
  }
  co_return Answer::done(json::object({{"outputs", json::object({{"components", out.build()}})}}));
}

Task<Answer> connection_status(AppRun& run, ProviderCall call) {
  const std::string name = call.params["inputs"]["componentName"].str();
  if (name.empty()) co_return Answer::error("componentName is required");
  const auto service = std::ranges::find(run.services(), name, &ServiceStatus::name);
  const bool is_healthy = service != run.services().end() && service->is_healthy;
  co_return Answer::done(json::object({{"outputs", json::object({{"healthy", is_healthy}})}}));
}

using Function = Task<Answer> (*)(AppRun& run, ProviderCall call);

struct EnvironmentRow {
  const char* package;
  const char* function;
  Function run;
};

constexpr EnvironmentRow kRows[] = {
    {"multicluster", "prepare-env-binding", prepare},
    {"multicluster", "make-placement-decisions", make_decisions},
    {"multicluster", "read-placement-decisions", read_decisions},
    {"multicluster", "patch-application", patch_application},
    {"terraform", "load-terraform-components", load_terraform},
    {"terraform", "get-connection-status", connection_status},
};

}  // namespace

Result<Environment> read_environment(const ApplicationSpec& spec, const std::string& policy, const std::string& env,
                                     const std::vector<ClusterEntry>& clusters) {
  SLIPWAY_TRY(binding, find_binding(spec, policy));
  for (const Value& one : binding->properties["envs"].items()) {
    if (one["name"].as_string() != env) continue;
    SLIPWAY_TRY(placement, read_placement(one["placement"], env, clusters));
    SLIPWAY_TRY(components, changed_components(spec, one["patch"], one["selector"]));
    return Environment{binding->name, std::move(placement), std::move(components)};
  }
  return fail(Reason::NotFound, fmt::format("env-binding policy {}: there is no env \"{}\"", binding->name, env));
}

std::vector<workflow::Provider> environment_providers(AppRun& run) {
  std::vector<workflow::Provider> providers;
  for (const EnvironmentRow& row : kRows) {
    providers.push_back({row.package, row.function, {"inputs"}, [&run, function = row.run](ProviderCall call) {
                           return function(run, std::move(call));
                         }});
  }
  return providers;
}

}  // namespace slipway::delivery::application
