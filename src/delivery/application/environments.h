// Environments of the deprecated policy env-binding: where one is and how components differ there; and the components that
// Terraform provides, which its steps deploy and share (kubevela/kubevela pkg/policy/envbinding and
// pkg/workflow/providers/legacy). DIVERGES: nothing is remembered of a decision; it follows from the policy each time.
#pragma once

#include <string>
#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

struct Environment {
  std::string policy;  // its name
  Placement placement;
  std::vector<ComponentSpec> components;
};
/// The environment `env` of the env-binding policy called `policy`, of the first one if empty. Errors: NotFound for a policy or
/// environment that is not there, Invalid for labels as selectors (only names are supported, as upstream) and unknown clusters.
Result<Environment> read_environment(const ApplicationSpec& spec, const std::string& policy, const std::string& env,
                                     const std::vector<ClusterEntry>& clusters);

/// Rows for one reconcile; `run` outlives them.
std::vector<workflow::Provider> environment_providers(AppRun& run);

}  // namespace slipway::delivery::application
