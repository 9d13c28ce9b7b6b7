// How a pipeline ended, as the log keeps it and the status of a revision shows it: the functions that ran with their results,
// bounded, and the condition Rendered (reasons RenderSuccess and RenderFailed, as kpt has them).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/package/conditions.h"
#include "delivery/package/readiness.h"
#include "delivery/package/status.h"

namespace slipway::delivery::package {

inline constexpr std::size_t kMaxResults = 50;           // of all functions together
inline constexpr std::size_t kMaxFunctions = 50;         //
inline constexpr std::size_t kMaxResultTextBytes = 500;  // of each message and value
inline constexpr std::size_t kMaxErrorBytes = 1'000;     // of a function's standard error

/// Within the bounds; the last result says how many are left out. Nothing where no function ran and nothing failed.
std::optional<RenderStatus> kept_render(const RenderStatus& status);
/// Absent where no pipeline ran here.
std::optional<Condition> rendered_condition(Render render, const std::optional<RenderStatus>& status, const std::string& error);

/// `text` cut at a character within `max` bytes, " …" in place of the rest.
std::string cut_text(std::string text, std::size_t max);
/// "[warning] apps/v1 Deployment web, spec.replicas (web.yaml, document 2): too many"
std::string result_line(const ResultItem& item);
/// A line for each function, `[PASS] "image"`, with its results and standard error below it.
std::vector<std::string> function_lines(const ResultList& list);
/// The result_line() of each error, for a refusal that keeps no results: at most kMaxErrorLines, then how many are left out.
inline constexpr std::size_t kMaxErrorLines = 20;
std::vector<std::string> error_lines(const ResultList& list);

}  // namespace slipway::delivery::package
