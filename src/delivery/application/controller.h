// The Application controller. One reconcile: look up what the spec names, freeze it in a revision, dispatch what policies make,
// run one pass of the workflow, and when that has ended judge health, repair drift and collect what is left over; at its end
// one write of the status. It may be cut off anywhere and made again: objects are recorded before they are applied, the
// variables of a run are written before the status that counts on them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/application/app_run.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/other_leader.h"
#include "delivery/application/restart_schedule.h"
#include "delivery/application/scoped_policies.h"
#include "delivery/application/settings.h"
#include "delivery/application/status.h"
#include "delivery/application/watched_objects.h"
#include "delivery/workflow/engine.h"

namespace slipway::delivery::application {

struct ControllerOptions {
  workflow::EngineOptions engine;
  /// A finished application is looked at this often, whatever happens.
  Duration resync = std::chrono::minutes{5};
  /// At least between two passes of one application.
  Duration pause = std::chrono::milliseconds{100};
  /// While objects are being deleted.
  Duration collect_pause = std::chrono::seconds{3};
  /// After the spec could not be read.
  Duration parse_pause = std::chrono::minutes{1};
  std::int64_t revision_limit = 10;
  /// A workflow that waits this long without any change does not progress; zero: that is never told.
  Duration progress_deadline = std::chrono::minutes{10};
  ApplyMode apply_mode = ApplyMode::ServerSide;
  ActsAs acts_as = ActsAs::User;
  std::string definition_namespace = kDefinitionNamespace;
};

class ApplicationController : public control::Controller {
 public:
  ApplicationController(Env& env, HttpClient* http, ControllerOptions options = {});

  std::string name() const override { return "application"; }
  control::ControllerOptions options() const override { return {.workers = 24}; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What an application is delivered from.
  struct Resolved {
    std::shared_ptr<const Parsed> parsed;
    Lookup lookup;
    LatestRevision revision;
    Scoped scoped{};         // the application as policies of scope Application left it
    Value written_before{};  // of an earlier author, where that is what is delivered: the application in its revision
  };
  using Status = ApplicationStatus;
  static Resolved resolved_with(std::shared_ptr<const Parsed> parsed, Lookup lookup, Value referred, LatestRevision revision);

  Lookup live_lookup(const kube::Object& application);
  Result<std::shared_ptr<const Parsed>> parse_once(Memory& memory, const kube::Object& application, const Value& spec,
                                                   const Lookup& lookup, const std::string& key);
  Task<Result<Resolved>> resolve(control::Reconcile& run, kube::Object application, Status status, Memory& memory);
  Task<Result<Resolved>> resolve_new(control::Reconcile& run, kube::Object application, Status status, Memory& memory);
  Task<Result<Scoped>> apply_scoped(kube::Object application, Lookup lookup);
  Task<Result<void>> record_policies(client::Client& client, kube::Object application, Scoped scoped, Status& status);
  Task<control::Outcome> prepare(control::Reconcile& run, kube::Object application, Memory& memory);
  Task<control::Outcome> deliver(control::Reconcile& run, kube::Object application, Memory& memory);
  /// What a reconcile cannot go beyond.
  struct Obstacle {
    const char* condition;
    const char* phase;
    const char* event;
    std::string message;
  };
  Task<control::Outcome> stop_at(client::Client& client, kube::Object application, Status status, Value before,
                                 Obstacle obstacle);
  std::optional<Duration> until_restart(const kube::Object& application, Status& status) const;
  RestartPlan restart_plan(const kube::Object& application, const Status& status) const;
  Task<control::Outcome> remove_restart(client::Client& client, kube::Object application);
  /// What a reconcile began with.
  struct Since {
    Value before;               // the status
    bool was_finished = false;  // the workflow
  };
  Task<Result<void>> tell_of(client::Client& client, kube::Object application, Status status, Since since);
  std::optional<Duration> note_contested(RepairLog& log, Status& status);
  Task<Result<std::optional<Duration>>> go_on(control::Reconcile& run, AppRun& app, Status& status);
  Task<> write_plans(AppRun& app, Status& status);
  Task<Result<void>> run_pass(control::Reconcile& run, AppRun& app, Status& status, std::optional<Duration>& again);
  Task<Result<std::optional<Duration>>> keep_up(AppRun& app, Status& status);
  Task<Result<bool>> limit_revisions(client::Client& client, kube::Object application, std::int64_t limit, std::string current);
  Task<control::Outcome> write(client::Client& client, kube::Object application, Status status, Value before,
                               control::Outcome outcome);
  Task<control::Outcome> let_go(control::Reconcile& run, kube::Object application, Memory& memory);
  Value delivered_spec(const kube::Object& application, const Status& status) const;
  std::vector<Value> trackers_of(const kube::Object& application) const;
  /// Applications whose spec could not be read, in a namespace or (empty) all of them; they are woken.
  std::vector<kube::ObjectKey> unresolved(const std::string& ns);
  void forget_parsed();
  /// Applications that name a definition, or for which it is or was a global policy; they are woken.
  std::vector<kube::ObjectKey> users_of(const kube::Object& before, const kube::Object& after);
  void note_definitions(const kube::Object& application, const Parsed& parsed, Status& status);
  /// The next reconcile of the application is no echo of its own write.
  void wake(const kube::ObjectKey& key);

  Env& env_;
  HttpClient* http_;
  ControllerOptions options_;
  WallSteps wall_;
  OtherLeader other_;
  DefinitionStore definitions_;
  RevisionPacker packer_;
  LiveObjects live_;
  Verdicts verdicts_;
  WatchedObjects watched_;  // that steps read
  workflow::Providers template_providers_;
  control::Informer* applications_ = nullptr;
  control::Informer* revisions_ = nullptr;
  control::Informer* trackers_ = nullptr;
  control::Informer* policies_ = nullptr;
  control::Informer* workflows_ = nullptr;
  std::map<kube::ObjectKey, Memory> memories_;
  std::uint64_t looks_ = 0;
  control::Clusters::Subscription clusters_;
};

}  // namespace slipway::delivery::application
