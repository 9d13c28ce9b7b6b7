// Controller "package-approval", one key per revision: approves and rejects proposals as ApprovalPolicies say (approval.h
// decides), through /approval as a person would. What a PackageRollout is about is left to that, which asks the same policies.
// Controller "package-approval-policy", one key per policy, says whether it can be followed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/package/policy_index.h"
#include "delivery/package/record_index.h"

namespace slipway::delivery::package {

class ApprovalController : public control::Controller {
 public:
  ApprovalController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-approval"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  std::vector<kube::ObjectKey> proposals_in(std::string_view ns) const;
  bool is_in_rollout(const StoredRecord& revision) const;

  std::shared_ptr<RecordIndex> records_;
  PolicyIndex policies_;
  WallSteps wall_;
  control::Informer* rollouts_ = nullptr;
  control::Informer* repositories_ = nullptr;
};

class PolicyController : public control::Controller {
 public:
  PolicyController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-approval-policy"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  PolicyIndex policies_;
  control::Informer* objects_ = nullptr;
};

}  // namespace slipway::delivery::package
