#include "cluster/kruise_explain.h"

#include <algorithm>

#include "cluster/deployment_explain.h"

namespace slipway::cluster {

namespace {

using control::Wait;
using json::Value;

/// One that says nothing of its own: what it waits for is under way.
Wait wait_on(std::string what, const char* reason, std::string message) {
  return {std::move(what), reason, std::move(message), std::nullopt, {}, {}};
}

}  // namespace

std::vector<Wait> explain_kruise_set(const kube::Object& set, const control::View& view) {
  std::vector<Wait> waits;
  const Value& spec = set["spec"];
  const Value& status = set["status"];
  const std::int64_t wanted = spec["replicas"].as_int(1);
  const std::int64_t updated = status["updatedReplicas"].as_int();
  const Value& update = spec["updateStrategy"];
  const Value& rolling = update["rollingUpdate"];
  const std::int64_t to_update =
      status["expectedUpdatedReplicas"].as_int(std::max<std::int64_t>(wanted - rolling["partition"].as_int(), 0));
  const bool is_paused = update["paused"].as_bool(rolling["paused"].as_bool());
  const std::int64_t available = status["availableReplicas"].as_int();
  for (const char* type : {"FailedScale", "FailedUpdate", "FailedUpdatePod"}) {
    if (kube::is_true(set, type)) waits.push_back(wait_of_condition(set, type));
  }
  if (status["observedGeneration"].as_int() < kube::generation(set)) {
    waits.push_back(wait_on("its controller", "NotObserved", "the present spec has not been seen yet"));
    return waits;
  }
  if (updated < to_update && is_paused) {
    waits.push_back(wait_on(fmt::format("{} {} to be resumed", kube::kind(set), kube::name(set)), "UpdatePaused",
                            "set paused in spec.updateStrategy to false to go on"));
  }
  for (Wait& wait : waits_for_unready_pods(set, view)) waits.push_back(std::move(wait));
  if (!waits.empty()) return waits;
  if (updated < to_update) {
    waits.push_back(wait_on("its pods", "PodsUpdating", fmt::format("{} of {} pods are updated", updated, to_update)));
  } else if (status["replicas"].as_int() != wanted) {
    waits.push_back(
        wait_on("its pods", "PodsScaling", fmt::format("there are {} of {} pods", status["replicas"].as_int(), wanted)));
  } else if (available < wanted) {
    waits.push_back(
        wait_on("minReadySeconds", "NotYetAvailable",
                fmt::format("{} of {} pods have been ready for {} s", available, wanted, spec["minReadySeconds"].as_int())));
  }
  return waits;
}

}  // namespace slipway::cluster
