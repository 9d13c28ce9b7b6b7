// How a simulated pod behaves and when that changes. Its annotations (names.h) say how it behaves from its start; rules in
// ConfigMaps with the label slipway.dev/pod-script: "true" change that later for pods that a selector names. An entry of such a
// ConfigMap, in YAML:
//
//   bad-after-a-while: |
//     selector: app=web,version=v2
//     from: 5m             # age of the pod, or a time such as 2026-01-02T03:04:05Z; absent: when the ConfigMap was created
//     ready-after: never   # annotations without their prefix
//
// What a rule sets counts from the rule's moment: "run-time: 10s" ends a container ten seconds after it, or after the
// container's start when that is later. An empty text means: as if it had never been set. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "kube/object.h"
#include "kube/selector.h"

namespace slipway::cluster {

/// How one run of the containers ends.
struct SimulatedExit {
  std::int64_t code = 0;
  bool is_oom = false;  // code 137, reason OOMKilled
};

/// A duration that counts from the start of a container, or of the pod, or from `since` when that is later.
struct BehaviourSpan {
  Duration length{0};
  Time since = Time::min();

  Time end(Time start) const { return std::max(start, since) + length; }
};

struct PodBehaviour {
  std::optional<BehaviourSpan> run_time{};
  std::optional<BehaviourSpan> ready_after = BehaviourSpan{};  // nullopt: never
  std::optional<BehaviourSpan> node_loss{};
  Duration start_after{0};
  Duration stop_after{0};
  std::vector<SimulatedExit> exits{};
  std::int64_t attempt = 0;
  std::string missing_images{};
  std::string error{};  // an annotation that cannot be read; not empty: nothing else is

  SimulatedExit exit(std::int64_t restarts) const;
  bool is_missing(std::string_view image) const;
};

struct PodRule {
  std::string ns{};
  kube::LabelSelector selector{};
  std::optional<Duration> age{};  // else `at`
  Time at{};
  json::Value annotations{};
};
/// The rules of a ConfigMap with the label kPodScript, by the names of its entries; none for one without. Invalid, with a cause
/// for every entry that cannot be read.
Result<std::vector<PodRule>> parse_pod_rules(const kube::Object& config_map);
/// The same as a check of admission.
std::vector<Cause> pod_script_causes(const kube::Object& config_map);

/// The behaviours of a pod in the order of their beginning. There is always one, from Time::min().
struct PodSegment {
  Time from = Time::min();
  PodBehaviour behaviour{};
};
std::vector<PodSegment> behaviour_of(const kube::Object& pod, const std::vector<PodRule>& rules, const Now& now);

}  // namespace slipway::cluster
