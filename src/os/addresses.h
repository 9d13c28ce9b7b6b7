// Addresses of this machine's interfaces.
#pragma once

#include <vector>

#include "base/address_policy.h"

namespace slipway::os {

/// Empty when the system does not tell.
std::vector<AddressBytes> addresses_of_machine();

}  // namespace slipway::os
