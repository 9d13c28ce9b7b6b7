// The members of a rollout that protect it, for admission (delivery/family/protection.h): who weakens its gates, or deletes it
// in mid-flight, needs the verb `approve` on it. Pure.
#pragma once

#include <span>

#include "delivery/family/protection.h"

namespace slipway::delivery::rollout {

std::span<const Protection> protections();

}  // namespace slipway::delivery::rollout
