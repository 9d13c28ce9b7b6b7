// The Workflow controller: reads what Flow wants to know, carries out what it decides. Between reconciles it keeps each live
// workflow's Flow, so that a Job's end costs only what it touches; after any error, and at a restart, the Flow is made again
// from what is durable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/author_right.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/jobflow/flow.h"

namespace slipway::delivery::jobflow {

struct ControllerOptions {
  /// As whom Jobs and objects are created, and objects in other namespaces and clusters are looked at.
  ActsAs acts_as = ActsAs::User;
  /// The status of a workflow with step sets only sums them up: it is written at most once in this time.
  Duration summary_pause = std::chrono::milliseconds{250};
  /// Writes of one workflow under way at once.
  std::size_t parallel_writes = 256;
  /// How often external objects are looked at that are neither Workflows nor Jobs, and objects that steps have created while
  /// the cache of their kind has no first list.
  Duration poll = std::chrono::seconds{5};
};

/// The index of Jobs and step sets by the uid of their workflow.
inline constexpr const char* kByOwner = "workflow-owner";

class WorkflowController : public control::Controller {
 public:
  explicit WorkflowController(Env& env, ControllerOptions options = {}) : env_(env), wall_(env.clock), options_(options) {}

  std::string name() const override { return "workflow"; }
  control::ControllerOptions options() const override { return {.workers = 256}; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// A change of a Job since the Flow last heard of it.
  struct JobChange {
    kube::Object job;
    bool is_gone = false;
  };
  struct Entry {
    std::string uid;
    std::int64_t generation = 0;
    std::shared_ptr<const Program> program;
    std::unique_ptr<Flow> flow;                // null while it is in use, and after an error
    std::map<std::string, JobChange> changes;  // by Job name
  };
  /// A kind of objects that steps have created: their changes wake the workflows that own them.
  struct Followed {
    control::InformerLease lease;
    std::set<kube::ObjectKey> workflows;
  };
  /// What carrying out came to.
  struct Carried {
    Result<void> result{};
    bool decides_again = false;  // a Job was refused, an object was created or deleted
    /// The refusal of a right that the author has lost; all else has been carried out.
    std::optional<Status> lost_right{};
  };

  // Keys to reconcile after a change.
  std::vector<kube::ObjectKey> keys_of_workflow(const Value& before, const Value& after) const;
  std::vector<kube::ObjectKey> keys_of_job(const Value& before, const Value& after) const;
  std::vector<kube::ObjectKey> waiting_for(const char* kind, const Value& object) const;
  /// Keeps a Job's end or going for the Flow of its workflow, if there is one.
  void record_change(const Value& before, const Value& after);

  bool is_settled(const kube::Object& workflow) const;
  Task<control::Outcome> run_live(control::Reconcile& run, kube::Object workflow);
  Task<control::Outcome> let_go(client::Client& client, kube::Object workflow);
  Task<control::Outcome> refuse(client::Client& client, kube::Object workflow, std::vector<Cause> causes);
  std::unique_ptr<Flow> take_flow(Entry& entry, const kube::Object& workflow);
  /// Records which rights the author has, where the flow wants to know.
  Task<Result<void>> record_author(client::Client& client, Flow& flow);
  /// `lost_right`: as Carried::lost_right.
  Task<Result<bool>> settle(control::Reconcile& run, Flow& flow, std::optional<Status>& lost_right);
  Task<Result<ExternalView>> look_at(control::Reconcile& run, kube::Object workflow, Step step);
  /// What a look at a step's object needs to tell beside the view.
  struct Look {
    bool is_watched = false;  // a change of the object wakes the workflow
    std::optional<Status> lost_right{};
  };
  Task<Result<ExternalView>> look_at_object(client::Client& client, Flow& flow, graph::StepIndex step, Look& look);
  bool follow(const kube::ObjectKey& workflow, const kube::Resource& resource);
  void wake_owner(const Value& object);
  void forget(const kube::ObjectKey& workflow);
  Task<Result<ExternalView>> look_as_author(control::Reconcile& run, kube::Object workflow, Step step);
  Task<Result<ExternalView>> poll(client::Client& own, client::Client& as, kube::ObjectKey key, Step step);
  std::vector<std::string> find_cycle_of(const kube::Object& workflow, const ExternalRef& reference) const;
  std::vector<std::string> waits_of(const std::string& workflow) const;
  std::vector<Value> step_sets_of(const kube::Object& workflow) const;

  Task<Carried> carry_out(client::Client& client, Flow& flow, Actions actions);
  Task<Result<void>> write_events(client::Client& client, kube::Object workflow, std::vector<control::EventText> events);
  Task<Result<void>> write_set(client::Client& client, kube::Object workflow, StepSetWrite write);
  Task<Result<void>> create_job(client::Client& client, Flow& flow, StepAttempt attempt, Carried& carried);
  /// True if the refusal is one of a right that the author had when the spec was taken up and has not now, or if the author is
  /// unknown.
  Task<Result<bool>> has_lost_right(client::Client& client, const Flow& flow, std::string verb, kube::Resource resource,
                                    const Status& refusal);
  Task<control::Outcome> wait_for_right(client::Client& client, const Flow& flow, const Status& refusal, Duration pause);
  Task<Result<void>> create_object(client::Client& client, Flow& flow, StepAttempt attempt, Carried& carried);
  Task<Result<void>> discard_object(client::Client& client, Flow& flow, Discard discard, Carried& carried);
  Task<Result<void>> remove_job(client::Client& client, std::string ns, JobRemoval removal);
  Task<Result<void>> release_job(client::Client& client, kube::ObjectKey key);

  Env& env_;
  WallSteps wall_;
  ControllerOptions options_;
  control::Informer* workflows_ = nullptr;
  control::Informer* jobs_ = nullptr;
  control::Informer* step_sets_ = nullptr;
  control::Watches* watches_ = nullptr;
  std::function<void(const kube::ObjectKey&)> enqueue_;
  KindMapper kinds_;
  std::map<kube::ObjectKey, Entry> entries_;
  std::map<kube::Resource, Followed> followed_;
  control::InformerLease job_changes_;  // feeds record_change()
};

}  // namespace slipway::delivery::jobflow
