// Events about Applications and WorkflowRuns, with the reasons and texts that KubeVela's users know. Each is a series: the same
// thing told again moves the count of one event. Callers tell what has changed, so that an application that stays as it is
// writes none.
#pragma once

#include <string>

#include "base/env.h"
#include "client/client.h"
#include "kube/object.h"

namespace slipway::delivery::application {

/// A step of a reconcile, by the reason of its event.
enum class Told : std::uint8_t {
  Parsed,
  Revisioned,
  PolicyGenerated,
  Rendered,
  Applied,
  Deployed,
};

/// That a step went well.
Task<Result<void>> tell_success(Env& env, client::Client& client, kube::Object application, Told what);
/// A warning: `reason` is "FailedParse", "FailedApply", "FailedWorkflow", "FailedStateKeep", "FailedGC" or a policy's.
Task<Result<void>> tell_failure(Env& env, client::Client& client, kube::Object application, std::string reason,
                                std::string message);
/// Something to know, with a reason of its own.
Task<Result<void>> tell_normal(Env& env, client::Client& client, kube::Object application, std::string reason,
                               std::string message);
/// About a WorkflowRun: "Execute", or the warning "Generate".
Task<Result<void>> tell_of_run(Env& env, client::Client& client, kube::Object run, std::string reason, std::string message,
                               std::string instance);

}  // namespace slipway::delivery::application
