// Whole numbers out of text that others wrote (annotations, headers, options), without exceptions: `std::stoll` and its kin
// throw on what is no number, and are refused by tests/house.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slipway {

/// The number that `text` writes in decimal digits and nothing else: "0", "007", "9223372036854775807". Nothing for an empty
/// text, a sign, blanks, or a number beyond 64 bits.
std::optional<std::int64_t> parse_count(std::string_view text);

/// The number that the digits at the front of `text` write: 50 of "50%". 0 without digits, the largest number beyond 64 bits.
/// For text whose form was checked already.
std::int64_t leading_count(std::string_view text);

}  // namespace slipway
