// A cluster as the recordings had it: five nodes, pods that a PodPlayer steers, all controllers of the room, in virtual time.
// It keeps what a scenario is judged by: how many pods there were at most and at least, and in which order they changed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/manual_env.h"
#include "client/informer.h"
#include "control/runtime.h"
#include "pod_player.h"
#include "scenario.h"
#include "server/server.h"
#include "store/memory_vfs.h"

namespace slipway::workloads_test {

/// Over the pods that have not ended.
struct Bounds {
  std::int64_t max_pods = 0;
  std::int64_t max_active = 0;
  std::int64_t min_active = 0;
  std::int64_t min_ready = 0;
};

class WorkloadWorld {
 public:
  static constexpr const char* kNamespace = "n";

  WorkloadWorld();
  ~WorkloadWorld();

  /// Sends a step; the text says in which way the answer was another than the recorded one, empty when it was not.
  std::string send(const Value& step);
  /// Until nothing has changed for `quiet`.
  void settle(Duration quiet);
  void advance(Duration duration) { env_.advance(duration); }
  /// Until the pods stand as in the recording, but for names. False when they never did.
  bool await(const PodStates& states, Duration limit);
  /// Until as many pods have changed since `before` as in the recording.
  bool await_progress(const PodStates& before, const PodStates& states, Duration limit);

  const std::vector<Bounds>& bounds() const { return bounds_; }
  const std::vector<std::string>& order() const { return order_; }
  /// All objects of a resource in the namespace.
  std::vector<Value> list(const kube::Resource& resource);
  /// The recording's name and state of a pod.
  std::string name_of(const kube::Object& pod) const;
  std::string state_of(const kube::Object& pod) const;
  /// `text` with the names that the world gave replaced by those that the recordings give: hashes, pods, slices,
  /// addresses, uids, times.
  std::string normalise(std::string text) const;

 private:
  void add_nodes();
  void watch(const kube::Resource& resource);
  void see(const Value& before, const Value& after);
  void see_pod(const Value& before, const Value& after);
  void note_hash(const Value& object);
  void note_name(std::vector<std::string>& names, const Value& object);
  std::multiset<std::string> plain_states() const;
  void begin_bounds();
  void count();
  std::string resolve(std::string text) const;
  Result<client::Reply> call(const Value& step);

  store::MemoryVfs disk_;
  ManualEnv env_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<PodPlayer> pods_;
  std::unique_ptr<control::OneCluster> clusters_;
  std::unique_ptr<control::Runtime> runtime_;
  std::vector<std::unique_ptr<client::Informer>> informers_;

  Steady changed_;
  std::vector<std::string> hashes_;                  // of templates, in the order of their appearance
  std::map<std::string, std::string> names_;         // of pods: the recording's by uid
  std::map<std::string, std::string> pod_by_label_;  // name of the pod by the recording's name for it
  std::vector<std::string> slices_;                  // names of EndpointSlices, in the order of their appearance
  std::vector<std::string> jobs_;                    // and those of Jobs of a CronJob
  std::map<std::string, std::int64_t> counters_;     // pods named so far, by node, index or owner
  std::map<std::string, Value> live_;                // pods by uid
  std::vector<Bounds> bounds_;
  std::vector<std::string> order_;
};

}  // namespace slipway::workloads_test
