// The WorkflowRun controller: steps that belong to no Application, written in the run or in a Workflow of its namespace. One
// reconcile is one pass of the engine; the variables of the run are written before the status that counts on them. A run that
// cannot begin, because its Workflow or the definition of a step is not there, says so in its condition and looks again when
// one appears. Follows kubevela/workflow controllers/workflowrun_controller.go.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/other_leader.h"
#include "delivery/application/watched_objects.h"
#include "delivery/application/workflow_run_status.h"
#include "delivery/family.h"
#include "delivery/workflow/engine.h"

namespace slipway::delivery::application {

inline constexpr const char* kLabelRunName = "workflowrun.oam.dev/name";
inline constexpr const char* kLabelRunNamespace = "workflowrun.oam.dev/namespace";
inline constexpr const char* kRunCondition = "WorkflowRun";

struct WorkflowRunOptions {
  workflow::EngineOptions engine;
  /// At least between two passes of one run.
  Duration pause = std::chrono::milliseconds{100};
  /// A run that cannot begin is looked at this often.
  Duration resync = std::chrono::minutes{1};
  ActsAs acts_as = ActsAs::User;
  std::string definition_namespace = kDefinitionNamespace;
};

class WorkflowRunController : public control::Controller {
 public:
  WorkflowRunController(Env& env, HttpClient* http, WorkflowRunOptions options = {});

  std::string name() const override { return "workflow-run"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What is remembered of a run between reconciles, and may be lost.
  struct Memory {
    std::string uid;
    std::int64_t generation = -1;
    Value status;               // as it was read or written last
    std::optional<Steady> due;  // of the next pass; nullopt: when something changes
    std::optional<Steady> last_pass;
  };

  std::vector<kube::ObjectKey> unresolved(const std::string& ns) const;
  /// How long the next pass may wait; nullopt: it is due now.
  Task<control::Outcome> settle(client::Client& client, kube::Object object, WorkflowRunStatus status);
  std::optional<control::Outcome> rest(const kube::Object& object, const Memory& memory);
  Result<workflow::Steps> steps_of(const kube::Object& object);
  Result<void> check_types(const std::string& ns, const std::vector<workflow::Step>& steps);
  Task<Result<std::optional<Duration>>> run_pass(control::Reconcile& run, kube::Object object, WorkflowRunStatus& status,
                                                 workflow::Steps steps);

  Env& env_;
  HttpClient* http_;
  WorkflowRunOptions options_;
  WallSteps wall_;
  OtherLeader other_;
  DefinitionStore definitions_;
  WatchedObjects watched_;
  workflow::Providers providers_;
  control::Informer* runs_ = nullptr;
  control::Informer* workflows_ = nullptr;
  std::map<kube::ObjectKey, Memory> memories_;
};

}  // namespace slipway::delivery::application
