// The part of a log that is about what runs: environments and targets as Pipeline.status tells of them. Pure; see log_entries.h
// for what the entries mean.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "delivery/pipeline/log_entries.h"

namespace slipway::delivery::pipeline {

/// Entries of all environments of the spec, and of their targets: of each target, or above kMostTargetsShown targets of the
/// pipeline the counts by state and version of each environment.
NewEntries environment_entries(const Told& told, const LogWorld& world);

/// The subject ("prod/podinfo@eu-1", "prod" for counts) of a target's entry, and what was told of it. Nullopt for others.
std::optional<std::pair<std::string, Told::Target>> target_of(const DeliveryEntry& entry);

}  // namespace slipway::delivery::pipeline
