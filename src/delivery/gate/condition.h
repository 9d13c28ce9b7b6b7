// The numbers and conditions that users write in gates, read: shared by the judging (metric.cc) and the admission (gate.cc).
// And texts within bounds, for what is kept in objects.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "cel/program.h"
#include "delivery/gate/expression.h"
#include "json/value.h"

namespace slipway::delivery::gate {

/// 3, 0.5, "99.9"; nullopt for what is none.
std::optional<double> number_of(const json::Value& value);
/// At most `bytes` of UTF-8 text, whole characters, with "…" where something is missing.
std::string cut(std::string text, std::size_t bytes);
/// A CEL expression over `result` and `baseline`; the error is its text with place.
std::expected<std::shared_ptr<const cel::Program>, std::string> compile_cel(std::string_view text);

}  // namespace slipway::delivery::gate
