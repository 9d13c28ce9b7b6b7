// Whether a change of gates makes protection weaker. Adding a gate, asking for more people, or narrowing whose approval counts
// needs nobody's consent; everything else that changes an approval gate, or a gate beside one, is a decision of those who may
// approve. Pure, for admission.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// Users of signed calls are called so ("hook:SECRET"). A signature counts as a person only where a gate names it.
inline constexpr std::string_view kHookPrefix = "hook:";

/// One of them is an approval gate: then all of them protect.
bool has_approval(const std::vector<GateSpec>& gates);

/// Whether `after` lets something pass that `before` would not. Of approval gates: a lower count, other people than those who
/// counted, the author's own approval, another moment or deadline. Of other gates: any change.
/// Example: count 2 → 3 is not weaker; users [ann, bob] → [ann] is not; users [ann] → [ann, hook:ci] is.
bool is_weaker(const GateSpec& before, const GateSpec& after);

/// Names of the gates of `before` that `after` lacks or has weaker, where `before` protects; otherwise none.
std::vector<std::string> weakened_gates(const std::vector<GateSpec>& before, const std::vector<GateSpec>& after);

}  // namespace slipway::delivery::gate
