// The members of a Pipeline that protect its environments, for admission (delivery/family/protection.h): who weakens them needs
// the right to create Approvals in the namespace. An environment is protected that has an approval gate or is `manual`. Pure.
#pragma once

#include <span>

#include "delivery/family/protection.h"

namespace slipway::delivery::pipeline {

std::span<const Protection> protections();

}  // namespace slipway::delivery::pipeline
