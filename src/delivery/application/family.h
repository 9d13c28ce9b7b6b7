// The application family: Application, its definitions, revisions and trackers, and stand-alone runs of workflows.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::application {

const Family& family();

}  // namespace slipway::delivery::application
