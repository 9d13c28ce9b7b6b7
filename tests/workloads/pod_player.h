// Pods as the recordings of workloads.jsonl played them: annotations of the pod (x-ready-after, x-exit, x-run …, see
// WORKLOADS.md of the corpus) say when it is ready, how it ends and how long it takes to go. Nothing runs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "cluster/pod_addresses.h"
#include "cluster/pod_runtime.h"

namespace slipway::workloads_test {

class PodPlayer : public cluster::PodRuntime {
 public:
  explicit PodPlayer(Env& env) : env_(env) {}

  Task<Result<cluster::PodReport>> advance(kube::Object pod) override;
  Task<Result<cluster::PodReport>> stop(kube::Object pod, Duration grace) override;
  Task<Result<void>> forget(std::string uid) override;
  Task<Result<void>> forget_all_but(std::set<std::string>) override { co_return Result<void>{}; }
  Task<Result<std::string>> logs(kube::Object, server::LogQuery) override { co_return std::string(); }

 private:
  struct Run {
    Steady started{};
    std::int64_t restarts = 0;
    std::optional<Steady> stopped;
    std::optional<std::int64_t> exit_code;
  };
  cluster::PodReport play(const kube::Object& pod, Run& run);
  cluster::PodReport play_service(const kube::Object& pod, const Run& run) const;
  cluster::PodReport play_job(const kube::Object& pod, Run& run);
  /// How the next end of this pod turns out.
  std::int64_t next_exit_code(const kube::Object& pod);

  Env& env_;
  cluster::PodAddresses addresses_{10};
  Steady next_start_{};
  std::map<std::string, Run> runs_;           // by uid of the pod
  std::map<std::string, std::int64_t> ends_;  // so far, by Job and index
};

}  // namespace slipway::workloads_test
