// Pods that run nothing: phases by virtual timers, as kwok's stages, but exact. How a pod behaves is said by its annotations
// and may be changed while it runs (pod_behaviour.h): when it is ready, crashes, cannot pull its image, loses its node. Probes
// are ignored: there is nothing to probe. Deterministic: how a pod stands is a function of the time, its annotations, the rules
// that name it, and the start in its status.
#pragma once

#include <map>
#include <string>

#include "base/wall_steps.h"
#include "cluster/pod_addresses.h"
#include "cluster/pod_behaviour.h"
#include "cluster/pod_runtime.h"

namespace slipway::cluster {

/// How a simulated pod stands at `now`, when its containers first started at `first_start` unless its status says otherwise.
/// Its address is that of its status.
PodReport simulate_pod(const kube::Object& pod, Time first_start, const Now& now, const std::vector<PodRule>& rules = {});

class SimulatedRuntime : public PodRuntime {
 public:
  explicit SimulatedRuntime(Env& env) : env_(env), wall_(env.clock) {}

  Task<Result<PodReport>> advance(kube::Object pod) override;
  Task<Result<PodReport>> stop(kube::Object pod, Duration grace) override;
  Task<Result<void>> forget(std::string uid) override;
  Task<Result<void>> forget_all_but(std::set<std::string> uids) override;
  Task<Result<std::string>> logs(kube::Object pod, server::LogQuery query) override;
  bool takes_scripts() const override { return true; }
  void steer(const kube::ObjectKey& key, const kube::Object& config_map) override;

 private:
  std::vector<PodRule> rules() const;

  Env& env_;
  WallSteps wall_;
  PodAddresses addresses_{10};
  /// When pods were first seen, until that is in their status.
  std::map<std::string, Time> starts_;
  /// When they were first asked to end.
  std::map<std::string, Time> stops_;
  std::map<kube::ObjectKey, std::vector<PodRule>> scripts_;
};

}  // namespace slipway::cluster
