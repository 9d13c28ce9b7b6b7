// One of several processes is to act: the holder of a Lease (coordination.k8s.io/v1), as client-go's leaderelection has it.
//
// Whether a lease has run out is judged by the local clock since its record was last seen to change, never by the times in the
// record. A holder that cannot renew within the renew deadline must stop writing. This is no fence: a write that is under way
// may still land after that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/env.h"
#include "client/client.h"

namespace slipway::control {

class LeaderElection {
 public:
  static constexpr const char* kNote = "slipway.dev/waits-for";

  struct Options {
    std::string ns = "default";
    std::string name = "slipway-controller";
    std::string identity{};  // of this process, unlike any other's
    Duration lease = std::chrono::seconds{15};
    Duration renew_deadline = std::chrono::seconds{10};
    Duration retry = std::chrono::seconds{2};  // spread by up to a fifth
    /// What the holder wants known, in kNote of the Lease at each renewal; for people, e.g. what its controllers wait for.
    std::function<std::string()> note{};
  };

  LeaderElection(Env& env, client::Client& client, Options options);

  /// Returns when the lease is held.
  Task<> acquire();
  /// Renews until that has failed for the renew deadline, or another holds the lease; returns then: stop writing at once. Why
  /// it ended is in problem(). REQUIRES: acquire() has returned.
  Task<> hold();
  /// Gives the lease up, so that another need not wait for its end. Best effort.
  Task<> release();

  bool is_leader() const { return is_leader_; }
  const std::string& problem() const { return problem_; }
  /// Who holds it, as last seen; empty: no process.
  std::string holder() const { return observed_["spec"]["holderIdentity"].str(); }

 private:
  Task<bool> try_to_take();
  Task<Result<json::Value>> read();
  Task<Result<json::Value>> write(json::Value lease);
  json::Value claimed(json::Value lease) const;
  void observe(json::Value lease);
  bool is_held_by_other() const;
  Task<> keep_renewing();

  Env& env_;
  client::Client& client_;
  Options options_;
  json::Value observed_{};
  Steady observed_at_{};
  Steady renewed_at_{};
  bool is_leader_ = false;
  bool is_over_ = false;
  std::string problem_{};
  Signal changed_;
  Tasks tasks_;
};

}  // namespace slipway::control
