// The members of a Repository that protect its packages, for admission (delivery/family/protection.h): who weakens them needs
// the right to approve packages of the namespace. Gates of revisions have rules of their own (gates.h). Pure.
#pragma once

#include <span>

#include "delivery/family/protection.h"

namespace slipway::delivery::package {

std::span<const Protection> protections();

}  // namespace slipway::delivery::package
