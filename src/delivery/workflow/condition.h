// Conditions of steps (`if`): CUE expressions that give true or false. Read as text for what they name, and evaluated with the
// names' values; the names are those of steps, and `status`, `steps`, `inputs`, `context` and `parameter`. Pure.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cue/cue.h"
#include "json/value.h"

namespace slipway::delivery::workflow {

using json::Value;

/// Names that win over steps of the same name.
inline constexpr const char* kReservedNames[] = {"status", "inputs", "context", "parameter", "steps"};

/// A name and the members below it, as far as the text names them: `status["a-b"].failed` is {status, a-b, failed}.
using Reference = std::vector<std::string>;
/// What an expression names, in order of the text; names of packages and of its own `for` and `let` are not left out. Empty for
/// a text that does not parse.
std::vector<Reference> references_of(const std::string& expression);
/// The step that a reference reads, by `name…`, `status.name…` or `steps.name…`; empty: none.
std::string step_read_by(const Reference& reference);

/// What is wrong with a condition, whatever the steps come to: its text, or a name that is none of `steps`. Empty: nothing.
std::string condition_fault(const std::string& expression, const std::vector<std::string>& steps);

/// A boolean expression over `names`. The error is a text for people.
std::expected<bool, std::string> evaluate_condition(const std::string& expression, const std::map<std::string, Value>& names,
                                                    const cue::Limits& limits);

}  // namespace slipway::delivery::workflow
