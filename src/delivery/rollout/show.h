// How rollouts are judged and shown: functions of a KindRow. What they say comes from the status alone, so that it is the same
// whoever looks, and wherever the controllers run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/family.h"
#include "delivery/rollout/status.h"

namespace slipway::delivery::rollout {

/// What can be read of the status; fields that do not decode leave a fresh one.
RolloutStatus read_status(const kube::Object& rollout);
/// "Deployment/web-v2": what the present attempt rolls out.
std::string target_of(const kube::Object& rollout, const RolloutStatus& status);

/// New pods, ready or not.
std::int64_t new_pods(const RolloutStatus& status);

/// Ended, unless a new target or a retry that was asked for has yet to be taken up.
std::optional<Verdict> verdict(const kube::Object& rollout);
std::vector<News> news(const kube::Object& before, const kube::Object& after);
/// A line and a table of the batches.
std::string summary_text(const kube::Object& rollout);
std::string describe(const kube::Object& rollout, const control::View& view, const std::vector<kube::Object>& events);
/// A pause, a partition, an approval.
std::optional<Hold> hold(const kube::Object& rollout);
/// A batch is a part: its number.
bool has_part(const kube::Object& rollout, const std::string& part);

/// Keys of the approval gates that are asked now, in the order of the status.
std::vector<std::string> open_approvals(const kube::Object& rollout);

/// A table of the attempts, for `slipway rollout history`.
std::string history(const kube::Object& rollout, Time now);

}  // namespace slipway::delivery::rollout
