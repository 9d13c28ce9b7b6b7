// The answer of a window (gate/window.h) with the clock and the time zones of this machine.
#pragma once

#include "delivery/probe/probe.h"

namespace slipway::delivery::probe {

/// Asked again when the window opens or closes, at least a millisecond from now; Unknown where its time zone is not here.
Answer look_at(const gate::WindowGate& window, Env& env);

}  // namespace slipway::delivery::probe
