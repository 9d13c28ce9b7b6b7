// The verbs that only look: `slipway rollout status|watch|replay`.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::rollout {

/// Exits as `run` does: 0 succeeded, 1 failed, 3 it waits for a person or the time is up. Without --wait 0.
Task<Result<CommandAnswer>> show_status(ActionCall call);
/// Tells each change as it comes.
Task<Result<CommandAnswer>> watch(ActionCall call);
/// Exits with 1 when a decision would be another one now.
Task<Result<CommandAnswer>> tell_replay(ActionCall call);

/// "rollouttrait/web": how commands name a rollout.
std::string title(const kube::Object& rollout);

}  // namespace slipway::delivery::rollout
