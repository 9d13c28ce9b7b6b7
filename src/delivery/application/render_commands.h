// render, dry-run and diff on the command line.
#pragma once

#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::application {

std::vector<Command> render_commands();

}  // namespace slipway::delivery::application
