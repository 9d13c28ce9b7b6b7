// The members of a Repository that protect its packages, for admission (delivery/family/protection.h): who weakens them needs
// the right to approve packages of the namespace. Gates of revisions have rules of their own (gates.h). Pure.
#pragma once

#include <span>

#include "delivery/family/protection.h"

namespace slipway::delivery::package {

std::span<const Protection> protections();

/// The Repository to store, with kGatesWaived as it holds: a write by a user who may approve sets it where gates only report.
/// Without it the gates of records that are older than the Repository are enforced (gate_mode_of()), so that registering a
/// repository again weakens none. For the `mutate_for` row.
kube::Object stamp_waiver(const kube::Object& repository, const kube::Object& old, const kube::Asker& asker);

}  // namespace slipway::delivery::package
