// What steps of an Application may call beside the standard providers: its components, its policies, and delivery to many
// clusters (kubevela/kubevela pkg/workflow/providers/oam, multicluster).
#pragma once

#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

/// Rows for one reconcile; `run` outlives them.
std::vector<workflow::Provider> application_providers(AppRun& run);

/// Placements and components of a `deploy` step.
struct DeployPlan {
  std::vector<Placement> placements;
  std::vector<ComponentSpec> components;
};
/// Errors: Invalid and NotFound for policies that are not there or cannot be followed.
Result<DeployPlan> plan_deploy(const Parsed& parsed, const std::vector<std::string>& policies,
                               const std::vector<PolicySpec>& inline_policies, const std::vector<ClusterEntry>& clusters);

}  // namespace slipway::delivery::application
