// Controller "package-rollout", one key per PackageRollout: approves the proposals that follow one upstream revision, a part at
// a time (rollout_plan.h decides, over what rollout_world.h sees). Each pass looks, decides, writes its record into the status
// and only then carries out what was decided, so that a crash at any point finds what may have been done. It approves, returns
// to draft and drafts what goes back; it never edits a package.
//
// Whether a cluster has a commit that contains the one that was published is asked of Git when it reports another one.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/gate/metric.h"
#include "delivery/package/author.h"
#include "delivery/package/cluster_reports.h"
#include "delivery/package/policy_index.h"
#include "delivery/package/record_index.h"
#include "delivery/package/rollout_plan.h"

namespace slipway::delivery::package {

/// The field manager of what the controller writes.
inline constexpr const char* kRolloutManager = "slipway-package-rollout";

class RolloutController : public control::Controller {
 public:
  RolloutController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-rollout"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  using Key = kube::ObjectKey;
  /// What is known of a gate that was asked.
  struct Asked {
    gate::Verdict verdict{};
    std::vector<gate::Sample> samples{};
    std::int64_t tries = 0;
    Time since{};
    std::optional<Time> next{};  // when to ask again
  };
  /// A rollout as it is looked at in one reconcile.
  struct Rollout {
    kube::Object object{};
    PackageRolloutSpec spec{};
    RolloutRecord record{};
    std::vector<RecordIndex::Known> followers{};
    RolloutWorld world{};
  };
  /// A commit that a cluster reports, of which it is not known whether it contains the one that was published.
  struct Doubt {
    std::string repository{};
    std::string reported{};
    std::string published{};
    auto operator<=>(const Doubt&) const = default;
  };

  std::vector<Key> woken_by(const kube::Object& before, const kube::Object& after) const;
  std::vector<Key> rollouts_in(std::string_view ns) const;
  void look(Rollout& rollout, std::vector<Doubt>& doubts);
  Task<bool> settle(control::Reconcile& run, std::vector<Doubt> doubts);

  Task<Result<void>> store(control::Reconcile& run, Rollout rollout, RolloutDecision decision);
  /// Forbidden while the author may not do what is to be done now.
  Task<Result<void>> check_rights(control::Reconcile& run, Rollout rollout, RolloutDecision decision);
  /// All of them, also when one fails; the first error.
  Task<Result<void>> carry_out(control::Reconcile& run, Rollout rollout, RolloutDecision decision);
  Task<Result<void>> carry_out_one(control::Reconcile& run, Rollout rollout, RolloutEffect effect);
  Task<Result<void>> ask(control::Reconcile& run, Rollout rollout, std::string key);
  Task<Result<void>> back_out(control::Reconcile& run, Rollout rollout, std::string target, std::string revision);
  Task<control::Outcome> refuse(control::Reconcile& run, kube::Object object, std::string why, std::string reason = "Invalid");
  std::vector<RecordIndex::Known> of_target(const Rollout& rollout, const std::string& target) const;

  Env& env_;
  HttpClient* http_;
  ActsAs acts_as_;
  std::shared_ptr<RecordIndex> records_;
  PolicyIndex policies_;
  ClusterReports reports_;
  WallSteps wall_;
  control::Informer* rollouts_ = nullptr;
  control::Informer* repositories_ = nullptr;
  std::map<std::string, std::map<std::string, Asked>> asked_;  // by uid and gate_key()
  Ancestry ancestry_;
  std::map<Doubt, Steady> unanswered_;  // those that Git said no to, or could not tell, and when
};

/// The status of a rollout. Pure.
json::Value rollout_status(const kube::Object& object, const RolloutDecision& decision, const std::vector<TargetView>& targets,
                           Time now);

}  // namespace slipway::delivery::package
