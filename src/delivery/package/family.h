// The family of packages: revisions of configuration packages that many actors bring to "ready", that are then proposed,
// approved and published in Git (kptdev/kpt#3455, porch.kpt.dev).
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::package {

const Family& family();

}  // namespace slipway::delivery::package
