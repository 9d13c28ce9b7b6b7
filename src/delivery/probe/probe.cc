#include "delivery/probe/probe.h"

namespace slipway::delivery::probe {

Task<Answer> ask(Reach /*reach*/, Question /*question*/) { co_return Answer{}; }

}  // namespace slipway::delivery::probe
