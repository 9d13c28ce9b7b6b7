// Events are forgotten an hour after they were last written, as kube-apiserver's --event-ttl has it. One sweep looks at all of
// them; there is none while there are no events. Ages hold over a step of the wall clock.
#pragma once

#include "base/wall_steps.h"
#include "control/controller.h"

namespace slipway::cluster {

class EventExpiry : public control::Controller {
 public:
  explicit EventExpiry(Env& env) : wall_(env.clock) {}

  std::string name() const override { return "event-expiry"; }
  void watch(control::Watches& watches) override;
  /// The only key is {}: a sweep.
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  WallSteps wall_;
  control::Informer* events_ = nullptr;
};

/// When an event was last written: the latest of its times. Pure.
Time last_written(const kube::Object& event);

}  // namespace slipway::cluster
