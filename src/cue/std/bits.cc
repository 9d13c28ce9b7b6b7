// Package math/bits: whole numbers of any size, negative ones in two's complement with endless ones to the left.
#include "cue/number/integer.h"
#include "cue/std/packages.h"

namespace slipway::cue {
namespace bits_package {
namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kMaxBits = 1 << 20;

Integer integer_of(const Value& value) { return to_integer(to_decimal(value)); }

// Made decimal digit by digit, each of which goes through all words.
Value make_integer(Calls& calls, const Integer& value) {
  constexpr std::uint64_t kSquaredBitsPerStep = 16384;
  if (!calls.spend(value.bit_count() * value.bit_count() / kSquaredBitsPerStep)) return calls.ended();
  return calls.make_number(to_decimal(value), false);
}

Value combine(Calls& calls, Args args, BitOp op) {
  return make_integer(calls, combine_bits(op, integer_of(args[0]), integer_of(args[1])));
}
Value bits_and(Calls& calls, Args args) { return combine(calls, args, BitOp::And); }
Value bits_or(Calls& calls, Args args) { return combine(calls, args, BitOp::Or); }
Value bits_xor(Calls& calls, Args args) { return combine(calls, args, BitOp::Xor); }
Value bits_clear(Calls& calls, Args args) { return combine(calls, args, BitOp::AndNot); }

bool is_position(const Value& value) { return to_int(value) >= 0 && to_int(value) <= kMaxBits; }

Value shift_up(Calls& calls, Args args) {
  if (integer_of(args[0]).is_zero() && to_int(args[1]) >= 0) return Value::of_int(0);
  if (!is_position(args[1])) return calls.fail("shift is negative or too large");
  return make_integer(calls, shift_left(integer_of(args[0]), static_cast<std::size_t>(to_int(args[1]))));
}
Value shift_down(Calls& calls, Args args) {
  if (to_int(args[1]) > kMaxBits) return Value::of_int(integer_of(args[0]).is_negative ? -1 : 0);
  if (!is_position(args[1])) return calls.fail("shift is negative or too large");
  return make_integer(calls, shift_right(integer_of(args[0]), static_cast<std::size_t>(to_int(args[1]))));
}

Value at(Calls& calls, Args args) {
  if (!is_position(args[1])) return calls.fail("bit index must be >= 0 and not too large");
  return Value::of_int(integer_of(args[0]).bit(static_cast<std::size_t>(to_int(args[1]))) ? 1 : 0);
}

Value set(Calls& calls, Args args) {
  if (!is_position(args[1])) return calls.fail("bit index must be >= 0 and not too large");
  std::int64_t bit = to_int(args[2]);
  if (bit != 0 && bit != 1) return calls.fail("bit must be 0 or 1");
  Integer mask = shift_left(Integer{{1}, false}, static_cast<std::size_t>(to_int(args[1])));
  return make_integer(calls, combine_bits(bit == 1 ? BitOp::Or : BitOp::AndNot, integer_of(args[0]), mask));
}

Value ones_count(Calls&, Args args) {
  std::int64_t count = 0;
  for (std::uint32_t word : integer_of(args[0]).words) count += __builtin_popcount(word);
  return Value::of_int(count);
}
Value len(Calls&, Args args) { return Value::of_int(static_cast<std::int64_t>(integer_of(args[0]).bit_count())); }

constexpr auto& kOne = kParams<kInt>;
constexpr auto& kTwo = kParams<kInt, kInt>;

constexpr Builtin kRows[] = {
    with_big({"math/bits", "And", kTwo, kInt, bits_and}, 3),
    with_big({"math/bits", "Or", kTwo, kInt, bits_or}, 3),
    with_big({"math/bits", "Xor", kTwo, kInt, bits_xor}, 3),
    with_big({"math/bits", "Clear", kTwo, kInt, bits_clear}, 3),
    with_big({"math/bits", "Lsh", kTwo, kInt, shift_up}, 1),
    with_big({"math/bits", "Rsh", kTwo, kInt, shift_down}, 1),
    with_big({"math/bits", "At", kTwo, kInt, at}, 1),
    with_big({"math/bits", "Set", kParams<kInt, kInt, kInt>, kInt, set}, 1),
    with_big({"math/bits", "OnesCount", kOne, kInt, ones_count}, 1),
    with_big({"math/bits", "Len", kOne, kInt, len}, 1),
};

}  // namespace
}  // namespace bits_package

std::span<const Builtin> bits_rows() { return bits_package::kRows; }

}  // namespace slipway::cue
