// The rows of what an Application's steps may call, as tables: one file adds a group of them. What belongs to no Application
// (a WorkflowRun) gets the same rows with a refusal.
#pragma once

#include <string>
#include <vector>

#include "base/git.h"
#include "delivery/application/app_run.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

struct ProviderRow {
  const char* package;
  const char* function;
  std::vector<std::string> params;
  Task<workflow::Answer> (*run)(AppRun& run, workflow::ProviderCall call);
};

std::vector<ProviderRow> gitops_rows();
std::vector<ProviderRow> cluster_rows();
std::vector<ProviderRow> pre_render_rows();
std::vector<ProviderRow> rolled_rows();
std::vector<ProviderRow> rollback_rows();

/// The answer of a step that has failed for good.
inline workflow::Answer failed(std::string message) {
  return {.kind = workflow::Answer::Kind::Fail, .message = std::move(message)};
}

/// The note of a run that names the revision whose objects a step has applied again.
inline constexpr const char* kRolledBackTo = "rolledBackTo";
/// The note of a run that rolls back: an id of the rollback. It is stored before anything is applied or deleted.
inline constexpr const char* kRollsBack = "rollsBack";

/// A step's patch with what steps have exported into the component.
Value patch_with_exports(const workflow::ProviderCall& call, const std::string& component, Value patch);
std::vector<std::string> texts_in(const Value& list);
/// The credentials of the Secret that `reference` {secretRef: {name}} names in the Application's namespace, read as the
/// Application's identity; of a null none.
Task<Result<GitCredentials>> git_credentials(AppRun& run, Value reference);

}  // namespace slipway::delivery::application
