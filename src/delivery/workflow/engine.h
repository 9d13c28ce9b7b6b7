// The step engine: one pass looks at every step that can move, runs it, and says how the run stands and when to look again.
// Everything it knows is in RunStatus and RunStore, so that a pass may be cut off anywhere and made again. Follows
// kubevela/workflow pkg/executor; differences are marked DIVERGES in engine.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "delivery/workflow/provider.h"
#include "delivery/workflow/run_status.h"
#include "delivery/workflow/step.h"
#include "delivery/workflow/template.h"

namespace slipway::delivery::workflow {

struct EngineOptions {
  std::int64_t max_failures = 10;                // --max-workflow-step-error-retry-times
  Duration max_wait = std::chrono::seconds{60};  // --max-workflow-wait-backoff-time
  std::size_t parallel_steps = 16;               // --step-parallelism
  bool suspends_on_failure = false;              // --suspend-on-failure
  Duration evaluation_deadline = std::chrono::seconds{1};
  bool keeps_debug = false;  // Pass::debug is filled
};

/// A step definition found for the run. Errors of finding it are the step's.
struct StepDefinition {
  TemplatePtr program;
  Value context{};  // members that its template finds in `context` beside those of the run; null: none
};

/// What a run is made of. Outlives the pass.
struct Run {
  CallSetting setting;
  const Steps& steps;
  const Providers& providers;
  std::function<Task<Result<StepDefinition>>(std::string type)> definition;
  EngineOptions options;
};

struct Pass {
  RunStatus status;
  RunStore store;
  /// When to look again; nullopt: only when something changes.
  std::optional<Duration> again;
  /// Objects that waiting steps look at.
  std::vector<ResourceRef> watched;
  std::map<std::string, Value> debug;  // evaluated value by step id
};

/// One pass. `status` is the run's as it stands (fresh for a new run), with what users wrote into it (suspend, terminated).
Task<Pass> run_pass(const Run& run, RunStatus status, RunStore store);

/// The delay that the seed gives for the n-th wait in a row (n from 1): int(0.05 * 2^(n-1)) s, at least 1 s, at most `cap`.
Duration backoff_after(std::int64_t n, Duration cap);

// Operations, pure: what users ask for on a status. Errors: BadRequest with a reason a user understands.
Result<RunStatus> suspend(RunStatus status, const std::string& step = "");
Result<RunStatus> resume(RunStatus status, const std::string& step = "");
Result<RunStatus> terminate(RunStatus status);
/// Forgets a failed step and all that follows it or depends on it, with their variables.
Result<std::pair<RunStatus, RunStore>> restart_from(const Steps& steps, RunStatus status, RunStore store,
                                                    const std::string& step);

}  // namespace slipway::delivery::workflow
