// What steps of an Application may call beside the standard providers: its components, its policies, questions about it
// (query_providers.h), and delivery to many clusters (kubevela/kubevela pkg/workflow/providers/oam, multicluster).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/workflow/engine.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

/// Rows for one reconcile; `run` outlives them.
std::vector<workflow::Provider> application_providers(AppRun& run);

/// kube.#Apply and kube.#ApplyInParallel of an application's steps, to be added before the standard ones.
std::vector<workflow::Provider> object_providers(AppRun& run);
/// The rows of application_providers for a run that belongs to no Application: each fails and says so.
std::vector<workflow::Provider> providers_without_application();
/// What the engine needs of a step's definition. Errors: Invalid when it has no template that compiles.
Result<workflow::StepDefinition> step_definition(const std::string& type, const Definition& definition);

/// Placements and components of a `deploy` step.
struct DeployPlan {
  std::vector<Placement> placements;
  std::vector<ComponentSpec> components;
};
/// Errors: Invalid and NotFound for policies that are not there or cannot be followed. `spent` as override_components has it.
Result<DeployPlan> plan_deploy(const Parsed& parsed, const std::vector<std::string>& policies,
                               const std::vector<PolicySpec>& inline_policies, const std::vector<ClusterEntry>& clusters,
                               std::size_t* spent = nullptr);

/// The same on the compute pool.
Task<Result<DeployPlan>> plan_deploy_in_pool(AppRun& run, std::vector<std::string> policies,
                                             std::vector<PolicySpec> inline_policies);

/// The component as the steps of the application deliver it to a place, overrides included; nullopt when no built-in step
/// delivers it there. An empty namespace of a step is the application's, `ns`. Heavy where steps of type deploy have override
/// policies, which together may cost what those of one step may.
std::optional<ComponentSpec> component_as_delivered(const Parsed& parsed, const std::vector<ClusterEntry>& clusters,
                                                    const std::string& component, const Placement& at, const std::string& ns);

}  // namespace slipway::delivery::application
