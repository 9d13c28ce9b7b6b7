#include "cluster/job_policy.h"

#include <algorithm>
#include <optional>

#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Says which container made the rule match; nullopt when none did.
std::optional<std::string> match_exit_codes(const Value& rule, const kube::Object& pod) {
  const auto wanted = rule["containerName"].as_string();
  const bool wants_in = rule["operator"].as_string() == "In";
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : pod["status"][list].items()) {
      const Value& ended = container["state"]["terminated"];
      const std::int64_t code = ended["exitCode"].as_int();
      if (code == 0 || (!wanted.empty() && container["name"].as_string() != wanted)) continue;
      const auto values = rule["values"].items();
      const bool is_in =
          std::any_of(values.begin(), values.end(), [&](const Value& value) { return value.as_int(-1) == code; });
      if (is_in == wants_in) {
        return fmt::format("Container {} for pod {}/{} failed with exit code {}", container["name"].as_string(), kube::ns(pod),
                           kube::name(pod), code);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> match_conditions(const Value& patterns, const kube::Object& pod) {
  for (const Value& pattern : patterns.items()) {
    const Value& found = kube::condition(pod, pattern["type"].as_string());
    const auto status = pattern.has("status") ? pattern["status"].as_string() : "True";
    if (!found.is_null() && found["status"].as_string() == status) {
      return fmt::format("Pod {}/{} has condition {}", kube::ns(pod), kube::name(pod), pattern["type"].as_string());
    }
  }
  return std::nullopt;
}

PodFailure action_of(std::string_view text) {
  if (text == "FailJob") return PodFailure::FailJob;
  if (text == "Ignore") return PodFailure::Ignore;
  if (text == "FailIndex") return PodFailure::FailIndex;
  return PodFailure::Count;
}

}  // namespace

PodVerdict judge_failed_pod(const kube::Object& job, const kube::Object& pod) {
  std::size_t index = 0;
  for (const Value& rule : job["spec"]["podFailurePolicy"]["rules"].items()) {
    const auto match =
        rule.has("onExitCodes") ? match_exit_codes(rule["onExitCodes"], pod) : match_conditions(rule["onPodConditions"], pod);
    if (match) {
      const auto action = rule["action"].as_string();
      return {action_of(action), fmt::format("{} matching {} rule at index {}", *match, action, index)};
    }
    ++index;
  }
  const Value& disruption = kube::condition(pod, kDisruptionTarget);
  const bool is_stopped = disruption["status"].as_string() == "True" && disruption["reason"].as_string() == kStoppedWithSlipway;
  if (is_stopped) return {PodFailure::Replace, {}};
  return {};
}

}  // namespace slipway::cluster
