// What runs the containers of pods. The pod controller (pod.h) drives one runtime, whatever it is: it asks how a pod stands,
// writes the answer into the pod's status, and asks again when told to. A runtime keeps nothing that it cannot find again after
// a restart from the pod's status or from what it has started.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "kube/object.h"
#include "server/pod_backend.h"

namespace slipway::cluster {

/// What is told once per pod, as a Warning event.
struct PodWarning {
  std::string reason;  // as the kubelet's: "Failed", "FailedMount"
  std::string message;
};

/// How a pod stands.
struct PodReport {
  std::string phase = "Pending";  // Pending, Running, Succeeded, Failed
  std::string reason;             // why the pod as a whole failed, e.g. "PodSupervisorLost"
  std::string message;
  bool is_disrupted = false;    // it failed by no fault of its own: condition DisruptionTarget
  bool is_unreachable = false;  // its node does not answer: it counts as not ready, whatever its containers last said
  bool is_initialized = true;
  std::string ip{};                          // of the pod, once it has one
  std::vector<json::Value> init_containers;  // ContainerStatus
  std::vector<json::Value> containers;       // ContainerStatus, in the order of the spec
  std::optional<PodWarning> warning;         // why it does not start
  std::optional<Duration> look_again;        // nothing will be told before: ask then
};

class PodRuntime : public server::PodBackend {
 public:
  /// `changed` may be called whenever a pod stands differently.
  virtual void on_change(std::function<void(const kube::ObjectKey&)> changed) { changed_ = std::move(changed); }
  /// Starts what is not started. A failure here is tried again later; what is wrong with the pod itself is in the report.
  virtual Task<Result<PodReport>> advance(kube::Object pod) = 0;
  /// Ends the pod: SIGTERM, after `grace` SIGKILL. To be called until the report is terminal; a smaller grace may follow.
  virtual Task<Result<PodReport>> stop(kube::Object pod, Duration grace) = 0;
  /// The object is gone: ends what may still run and removes what was kept for it.
  virtual Task<Result<void>> forget(std::string uid) = 0;
  /// Forgets every pod but these; after a restart.
  virtual Task<Result<void>> forget_all_but(std::set<std::string> uids) = 0;
  /// Whether it may have begun to use the claims of a pod that has not ended. They are kept for as long.
  virtual bool uses_claims(const kube::Object& /*pod*/) const { return true; }
  /// Removes what is kept for a claim; fine when there is nothing.
  virtual Result<void> release_claim(const kube::ObjectKey& /*claim*/) { return {}; }
  /// Whether `image` means nothing to it.
  virtual bool ignores_images() const { return false; }
  /// Whether ConfigMaps with the label kPodScript change how its pods behave.
  virtual bool takes_scripts() const { return false; }
  /// Such a ConfigMap as it is now; null when it is gone.
  virtual void steer(const kube::ObjectKey& /*key*/, const kube::Object& /*config_map*/) {}

 protected:
  std::function<void(const kube::ObjectKey&)> changed_;
};

}  // namespace slipway::cluster
