// Pods that run nothing: phases by virtual timers, as kwok's stages, but exact. A pod runs for slipway.dev/run-time (absent: no
// time, or for ever under restartPolicy Always) and its containers end with slipway.dev/exit-code. They are ready after
// slipway.dev/ready-after, and never start where slipway.dev/missing-images has their image. Deterministic: how a pod stands is
// a function of the time, its annotations and the start in its status.
#pragma once

#include <map>
#include <string>

#include "base/wall_steps.h"
#include "cluster/pod_addresses.h"
#include "cluster/pod_runtime.h"

namespace slipway::cluster {

/// How a simulated pod stands at `now`, when its containers first started at `first_start` unless its status says otherwise.
/// Its address is that of its status.
PodReport simulate_pod(const kube::Object& pod, Time first_start, const Now& now);

class SimulatedRuntime : public PodRuntime {
 public:
  explicit SimulatedRuntime(Env& env) : env_(env), wall_(env.clock) {}

  Task<Result<PodReport>> advance(kube::Object pod) override;
  Task<Result<PodReport>> stop(kube::Object pod, Duration grace) override;
  Task<Result<void>> forget(std::string uid) override;
  Task<Result<void>> forget_all_but(std::set<std::string> uids) override;
  Task<Result<std::string>> logs(kube::Object pod, server::LogQuery query) override;

 private:
  Env& env_;
  WallSteps wall_;
  PodAddresses addresses_{10};
  /// When pods were first seen, until that is in their status.
  std::map<std::string, Time> starts_;
};

}  // namespace slipway::cluster
