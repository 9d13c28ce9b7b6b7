// Package strings: what the language's own tests need first.
#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

Value min_runes(Calls&, std::span<const Value> args) {
  return Value::of(static_cast<std::int64_t>(count_runes(args[0].str())) >= args[1].integer);
}
Value max_runes(Calls&, std::span<const Value> args) {
  return Value::of(static_cast<std::int64_t>(count_runes(args[0].str())) <= args[1].integer);
}

constexpr KindMask kStringInt[] = {kString, kInt};

constexpr Builtin kRows[] = {
    {"strings", "MinRunes", kStringInt, kBool, min_runes, false, true},
    {"strings", "MaxRunes", kStringInt, kBool, max_runes, false, true},
};

}  // namespace

std::span<const Builtin> strings_rows() { return kRows; }

}  // namespace slipway::cue
