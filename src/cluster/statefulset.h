// The StatefulSet controller: pods with a stable name, ordinal and claims. What to do is decided by plan_stateful_set()
// (statefulset_plan.h), which templates there were by controller_revision.h, whom pods belong to by sort_claim() (adoption.h).
//
// DIVERGES: no SuccessfulCreate and SuccessfulDelete events, as for the other workloads here.
#pragma once

#include <memory>

#include "base/wall_steps.h"
#include "cluster/statefulset_plan.h"
#include "control/controller.h"

namespace slipway::cluster {

/// Of apps/v1, or OpenKruise's (advanced_statefulset.h).
enum class StatefulKind : std::uint8_t { Plain, Advanced };

class StatefulSetController : public control::Controller {
 public:
  explicit StatefulSetController(Env& env, StatefulKind kind = StatefulKind::Plain);

  std::string name() const override { return kind_ == StatefulKind::Plain ? "statefulset" : "advanced-statefulset"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  std::vector<kube::ObjectKey> sets_of_pod(const kube::Object& pod) const;
  std::vector<kube::ObjectKey> sets_of_claim(const kube::Object& claim) const;
  Task<control::Outcome> sync(client::Client& client, kube::Object set, std::vector<kube::Object> pods,
                              std::vector<kube::Object> revisions);
  Task<Result<void>> carry_out(client::Client& client, std::shared_ptr<const StatefulSetPlan> plan);

  Env& env_;
  WallSteps wall_;
  StatefulKind kind_;
  kube::Resource resource_;
  control::Informer* sets_ = nullptr;
  control::Informer* pods_ = nullptr;
  control::Informer* claims_ = nullptr;
  control::Informer* revisions_ = nullptr;
};

}  // namespace slipway::cluster
