// Text that families share when they show their objects to people: aligned columns, ages and events.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/object.h"

namespace slipway::delivery {

/// Cells in aligned columns, two spaces apart, nothing trailing. Widths count characters, not bytes of UTF-8.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// `text` with control characters as spaces, so that it stays one line and cannot steer a terminal.
std::string one_line(std::string text);

/// "3m5s"; "-" without a time, and never negative.
std::string age(const std::optional<Time>& since, Time now);

/// Those of `events` that are about `object` (by its uid), oldest first. Times have whole seconds; within one second the
/// revisions know the order.
std::vector<kube::Object> events_about(std::vector<kube::Object> events, const kube::Object& object);

/// A table TYPE, REASON, AGE, FROM, MESSAGE of events in the order given.
std::string events_table(const std::vector<kube::Object>& events, Time now);

}  // namespace slipway::delivery
