// Time zones of this machine, for gates with windows.
#pragma once

#include <string>

#include "base/env.h"
#include "delivery/gate/zone.h"

namespace slipway::delivery::probe {

/// From the system's zone files (/usr/share/zoneinfo); "UTC" needs none. NotFound, naming the package, where there is no such
/// file. A small file is read: look once, keep it.
Result<gate::Zone> load_zone(Files& files, const std::string& name);

}  // namespace slipway::delivery::probe
