// Whole numbers of any size in binary, for what decimal digits are bad at: other bases, shifts, and the bit operations, which
// see a negative number in two's complement with endless ones to the left, as Go's math/big does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cue/number/decimal.h"

namespace slipway::cue {

struct Integer {
  std::vector<std::uint32_t> words;  // least significant first, no leading zeros
  bool is_negative = false;

  bool is_zero() const { return words.empty(); }
  /// Bits of the magnitude.
  std::size_t bit_count() const;
  /// Of the two's complement form.
  bool bit(std::size_t index) const;
};

/// REQUIRES: value is whole.
Integer to_integer(const Decimal& value);
Decimal to_decimal(const Integer& value);
/// Digits of a base from 2 to 62 (0-9, a-z, A-Z; up to 36 either case), with sign and nothing else. nullopt else.
std::optional<Integer> parse_integer(std::string_view digits, int base);
std::string print_integer(const Integer& value, int base);

enum class BitOp : std::uint8_t { And, Or, Xor, AndNot };
Integer combine_bits(BitOp op, const Integer& a, const Integer& b);
Integer shift_left(const Integer& value, std::size_t bits);
/// Rounds to minus infinity.
Integer shift_right(const Integer& value, std::size_t bits);

}  // namespace slipway::cue
