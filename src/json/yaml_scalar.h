// What a plain (unquoted) YAML scalar means by the rules of sigs.k8s.io/yaml, that is YAML 1.1 as Go's yaml.v2 reads it: yes,
// no, on and off are booleans, 010 and 0o10 are eight, 1_000 is a thousand, ~ is null. For the
// sources of this room and of krm.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace slipway::json {

/// Null, a bool, a number, or a Double that is infinite or no number; nullopt for text. Timestamps are text.
std::optional<Value> resolve_plain(std::string_view text);
/// Text that other YAML readers take for a date or a base-60 number; such strings are written in quotes.
bool needs_quotes_elsewhere(std::string_view text);
/// A number as the key of a mapping, as Go's strconv.FormatFloat(…, 'g', -1, 32) for fractions.
std::string number_key(const Value& number);

}  // namespace slipway::json
