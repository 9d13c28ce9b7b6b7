#include "delivery/rollout/controller.h"

#include "control/object_writes.h"
#include "delivery/rollout/kind.h"

namespace slipway::delivery::rollout {

using control::Outcome;

RolloutController::RolloutController(const ControllerContext& context, std::string name, kube::Resource resource)
    : env_(context.env),
      wall_(context.env.clock),
      http_(context.http),
      acts_as_(context.acts_as),
      name_(std::move(name)),
      resource_(std::move(resource)) {}

void RolloutController::watch(control::Watches& watches) {
  rollouts_ = &watches.primary(resource_);
  rollouts_->keep_trees();
  workloads_.watch(watches);
}

Task<Outcome> RolloutController::reconcile(control::Reconcile& run) {
  kube::Object rollout = rollouts_->get(run.key);
  const bool is_gone = rollout.is_null() || (kube::is_deleting(rollout) && !kube::has_finalizer(rollout, kFinalizer));
  if (is_gone) {
    workloads_.forget(run.key);
    memories_.erase(run.key);
    co_return Outcome::settled();
  }
  if (!kube::is_deleting(rollout)) {
    auto held =
        co_await control::add_finalizer(run.client, resource_, rollout, std::string(kFinalizer), std::string(kFieldManager));
    if (!held) co_return Outcome::failed(std::move(held).error());
    rollout = std::move(*held);
  }
  Memory& memory = memories_[run.key];
  if (memory.uid != kube::uid(rollout)) {
    memory = Memory{};
    memory.uid = std::string(kube::uid(rollout));
  }
  Pass pass({env_, wall_, run.outgoing(http_), workloads_, resource_, acts_as_}, run, std::move(rollout), memory);
  const Outcome outcome = co_await pass.run();
  if (pass.is_idle()) memories_.erase(run.key);
  co_return outcome;
}

}  // namespace slipway::delivery::rollout
