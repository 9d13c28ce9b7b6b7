#include "delivery/application/operate.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "delivery/application/workflow_run_status.h"
#include "delivery/workflow/engine.h"
#include "json/codec.h"

namespace slipway::delivery::application {
namespace {

using workflow::RunStatus;
using Operation = Result<RunStatus> (*)(RunStatus status, const std::string& step);

/// Tries when somebody else writes the status at the same time.
constexpr int kMaxTries = 10;

/// `before` with `changed`, a status of which `known` was read, in it. What was not read stays.
Value replaced(Value before, const Value& known, const Value& changed) {
  for (const auto& [key, value] : known.members()) before = before.without(key);
  for (const auto& [key, value] : changed.members()) before = before.with(key, value);
  return before;
}

/// status.workflow of an Application.
Result<Value> operated_workflow(const Value& before, Operation operation, const std::string& step) {
  SLIPWAY_TRY(status, json::decode<RunStatus>(before, "status.workflow", {.allow_unknown = true}));
  const Value known = json::encode(status);
  SLIPWAY_TRY(changed, operation(std::move(status), step));
  return replaced(before, known, json::encode(changed));
}

/// status of a WorkflowRun.
Result<Value> operated_run(const Value& before, Operation operation, const std::string& step) {
  SLIPWAY_TRY(status, json::decode<WorkflowRunStatus>(before, "status", {.allow_unknown = true}));
  const Value known = json::encode(status);
  SLIPWAY_TRY(changed, operation(status.run(), step));
  const shape::Mode mode = status.mode;
  status.take(std::move(changed), {});
  status.mode = mode;
  return replaced(before, known, json::encode(status));
}

Task<Result<kube::Object>> operate(ActionCall call, Operation operation) {
  Status last;
  for (int i = 0; i < kMaxTries; ++i) {
    SLIPWAY_CO_TRY(object, co_await client::get(call.client, call.resource, call.key));
    const bool is_run = call.resource.plural == kWorkflowRuns.plural;
    const Value before = is_run ? object["status"] : object["status"]["workflow"];
    if (!before.is_object()) {
      co_return fail(Reason::BadRequest, fmt::format("the workflow of {} has not begun", call.key.name));
    }
    SLIPWAY_CO_TRY(after, (is_run ? operated_run : operated_workflow)(before, operation, call.part));
    Value wanted = is_run ? object.with("status", after) : object.with_path({"status", "workflow"}, after);
    auto written = co_await client::update_status(call.client, call.resource, std::move(wanted), kManager);
    if (written || written.error().reason != Reason::Conflict) co_return written;
    last = std::move(written).error();
  }
  co_return fail(std::move(last));
}

struct Row {
  const char* verb;
  const char* help;
  Operation operation;
};

constexpr Row kRows[] = {
    {"suspend", "pause a workflow", workflow::suspend},
    {"resume", "go on with a workflow that waits for a person", workflow::resume},
    {"terminate", "end a workflow; what it made stays",
     [](RunStatus status, const std::string&) { return workflow::terminate(std::move(status)); }},
};

}  // namespace

std::vector<Action> workflow_actions() {
  std::vector<Action> actions;
  for (const Row& row : kRows) {
    actions.push_back({.verb = row.verb, .help = row.help, .options = {}, .run = [operation = row.operation](ActionCall call) {
                         return operate(std::move(call), operation);
                       }});
  }
  return actions;
}

}  // namespace slipway::delivery::application
