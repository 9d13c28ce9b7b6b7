// Compares two versions of a list of gates: whether the newer one protects less. Adding a gate, requiring more approvals, and
// narrowing the list of approvers need no right to approve. Every other change of an approval gate, and of a gate beside one,
// needs it. Pure, for admission.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// The user name of a signed call begins with this: "hook:SECRET". A signature counts as an approver only where a gate names
/// it.
inline constexpr std::string_view kHookPrefix = "hook:";

/// True if one of them is an approval gate: then each of them is protected.
bool has_approval(const std::vector<GateSpec>& gates);

/// Whether `after` lets something pass that `before` would not. Of approval gates: a lower count, other people than those who
/// counted, the author's own approval, another moment or deadline. Of other gates: any change.
/// Example: count 2 → 3 is not weaker; users [ann, bob] → [ann] is not; users [ann] → [ann, hook:ci] is.
bool is_weaker(const GateSpec& before, const GateSpec& after);

/// Returns the names of the gates of `before` that `after` lacks or weakens. Empty if `before` has no approval gate.
std::vector<std::string> weakened_gates(const std::vector<GateSpec>& before, const std::vector<GateSpec>& after);

}  // namespace slipway::delivery::gate
