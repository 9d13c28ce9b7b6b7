// Approvals of a rollout: what its approval gates are asked about, and what came of it. Pure; the rule is gate/approval.h.
#pragma once

#include <string>
#include <string_view>

#include "delivery/family.h"
#include "delivery/gate/approval.h"
#include "delivery/rollout/status.h"

namespace slipway::delivery::rollout {

/// Under which a gate's decisions stand in status.verdicts: "1/3/after/success-rate".
std::string log_key(std::int64_t attempt, std::string_view key);
/// What the gate of a key (wave::gate_key) is about, in an attempt: "3/after/go" is gate go of batch 3.
gate::Approvable approvable(std::string_view key, std::int64_t attempt);
/// The verdict of an approval gate, from status.approvals and the author that admission stamped. Where no admission stands in
/// the way (ActsAs::Controller) whatever they say is Unknown, with ApproverUnknown.
gate::Verdict judge_approvals(const gate::ApprovalGate& rule, const kube::Object& rollout, std::string_view key,
                              ActsAs acts_as);

}  // namespace slipway::delivery::rollout
