// Package math. Rounding, sums of powers and roots work on decimals; the rest is binary floating point as in Go.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace math_package {
namespace {

using Args = std::span<const Value>;

double number_of(const Value& value) { return to_double(to_decimal(value)); }

// --- decimals

Decimal floor_of(const Decimal& value) {
  Decimal cut = whole(truncate(value));
  bool has_rest = compare(cut, value) != 0;
  return has_rest && value.is_negative ? subtract(cut, decimal_of(1)) : cut;
}
Decimal negated(Decimal value) {
  value.is_negative = !value.is_negative && !value.is_zero();
  return value;
}

Value floor_value(Calls& calls, Args args) { return calls.make_number(floor_of(to_decimal(args[0])), false); }
Value ceil_value(Calls& calls, Args args) { return calls.make_number(negated(floor_of(negated(to_decimal(args[0])))), false); }
Value trunc_value(Calls& calls, Args args) { return calls.make_number(whole(truncate(to_decimal(args[0]))), false); }

// Halves away from zero.
Value round_value(Calls& calls, Args args) {
  Decimal value = to_decimal(args[0]);
  Decimal magnitude = value;
  magnitude.is_negative = false;
  Decimal half = *parse_decimal("0.5");
  Decimal rounded = floor_of(add(magnitude, half));
  return calls.make_number(value.is_negative ? negated(rounded) : rounded, false);
}

Value round_to_even(Calls& calls, Args args) {
  Decimal value = to_decimal(args[0]);
  Decimal low = floor_of(value);
  int order = compare(subtract(value, low), *parse_decimal("0.5"));
  bool is_odd = divide_euclidean(low, decimal_of(2)).remainder.digits == "1";
  return calls.make_number(order > 0 || (order == 0 && is_odd) ? add(low, decimal_of(1)) : low, false);
}

// With its digits as they are, but whole ones are ints.
Value as_written(Calls& calls, const Decimal& value) {
  return value.is_whole() ? calls.make_number(whole(value), false) : calls.make_number(value, true);
}
Value abs_value(Calls& calls, Args args) {
  Decimal value = to_decimal(args[0]);
  value.is_negative = false;
  return as_written(calls, value);
}
Value copysign_value(Calls& calls, Args args) {
  Decimal value = to_decimal(args[0]);
  value.is_negative = to_decimal(args[1]).is_negative && !value.is_zero();
  return as_written(calls, value);
}
Value dim_value(Calls& calls, Args args) {
  Decimal difference = subtract(to_decimal(args[0]), to_decimal(args[1]));
  return difference.is_negative ? Value::of_int(0) : as_written(calls, difference);
}

Value multiple_of(Calls& calls, Args args) {
  Decimal by = to_decimal(args[1]);
  Decimal a = to_decimal(args[0]);
  if (by.is_zero()) return calls.fail(a.is_zero() ? "division undefined" : "division by zero");
  std::int32_t shift = -std::min({a.exponent, by.exponent, 0});
  a.exponent += shift;
  by.exponent += shift;
  return Value::of(divide_truncated(a, by).remainder.is_zero());
}

// What was rounded has all of its 34 digits, zeros too.
Value rounded(Calls& calls, Decimal value) {
  if (value.is_whole()) return make_reduced(calls, std::move(value));
  while (value.digits.size() < kPrecision) {
    value.digits += '0';
    --value.exponent;
  }
  return calls.make_number(value, true);
}
Value rounded(Calls& calls, const std::optional<Decimal>& value, const char* otherwise) {
  return value ? rounded(calls, *value) : calls.fail(otherwise);
}
Value exp_value(Calls& calls, Args args) { return rounded(calls, exponential(to_decimal(args[0])), "overflow"); }
Value exp2_value(Calls& calls, Args args) {
  return rounded(calls, slipway::cue::power(decimal_of(2), to_decimal(args[0])), "exponent out of range");
}
Value log_value(Calls& calls, Args args) { return rounded(calls, natural_logarithm(to_decimal(args[0])), "invalid operation"); }
Value log2_value(Calls& calls, Args args) { return rounded(calls, logarithm(to_decimal(args[0]), 2), "invalid operation"); }
Value log10_value(Calls& calls, Args args) { return rounded(calls, logarithm(to_decimal(args[0]), 10), "invalid operation"); }
Value cbrt_value(Calls& calls, Args args) { return rounded(calls, cube_root(to_decimal(args[0]))); }

// To 34 digits.
Value power(Calls& calls, Args args) {
  Decimal base = to_decimal(args[0]);
  Decimal exponent = to_decimal(args[1]);
  auto times = to_int64(exponent);
  if (base.is_zero() && exponent.is_zero()) return calls.fail("invalid operation");
  if (base.is_zero() && exponent.is_negative) return calls.fail("division by zero");
  if (base.is_zero()) return Value::of_int(0);
  if (!times || std::abs(*times) > 100'000) {
    if (base.is_negative) return calls.fail("invalid operation");
    return rounded(calls, slipway::cue::power(base, exponent), "overflow");
  }
  Decimal result = decimal_of(1);
  Decimal square = base;
  for (std::uint64_t left = static_cast<std::uint64_t>(std::abs(*times)); left > 0; left >>= 1) {
    if ((left & 1) != 0) result = multiply(result, square);
    if (std::abs(square.exponent) > kMaxExponent / 2) return calls.fail("exponent out of range");
    square = multiply(square, square);
  }
  if (*times < 0) return rounded(calls, divide(decimal_of(1), result));
  return make_reduced(calls, result);
}

Value power_of_ten(Calls& calls, Args args) {
  std::int64_t exponent = to_int(args[0]);
  if (std::abs(exponent) > kMaxExponent) return calls.fail("exponent out of range");
  Decimal result = decimal_of(1);
  result.exponent = static_cast<std::int32_t>(exponent);
  return make_reduced(calls, result);
}

// --- binary

template <double (*function)(double)>
Value unary(Calls& calls, Args args) {
  Value error;
  double x = to_double(calls, args[0], 0, error);
  return error.is_bottom() ? error : make_double(calls, function(x));
}
template <double (*function)(double, double)>
Value binary(Calls& calls, Args args) {
  Value error;
  double x = to_double(calls, args[0], 0, error);
  if (error.is_bottom()) return error;
  double y = to_double(calls, args[1], 1, error);
  return error.is_bottom() ? error : make_double(calls, function(x, y));
}

// As Go computes it, so that the last digit is the same.
double hypotenuse(double x, double y) {
  double long_side = std::max(std::abs(x), std::abs(y));
  double ratio = std::min(std::abs(x), std::abs(y)) / long_side;
  return long_side == 0 ? 0 : long_side * std::sqrt(1 + ratio * ratio);
}
double inverse_cosh(double x) {
  if (x > 2) return std::log(2 * x - 1 / (x + std::sqrt(x * x - 1)));
  double over = x - 1;
  return std::log1p(over + std::sqrt(2 * over + over * over));
}
double erf_inverse(double x) {
  // Newton's method from a first approximation; converges in a few steps for every |x| < 1.
  if (x <= -1 || x >= 1) return x == 1 ? HUGE_VAL : x == -1 ? -HUGE_VAL : std::nan("");
  double w = -std::log((1 - x) * (1 + x));
  double a = 2 / (M_PI * 0.147) - w / 2;
  double y = std::copysign(std::sqrt(std::max(0.0, std::sqrt(a * a + w / 0.147) - a)), x);
  for (int i = 0; i < 60; ++i) {
    double step = (std::erf(y) - x) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= step;
    if (std::abs(step) <= 1e-17 * std::abs(y)) break;
  }
  return y;
}
double erfc_inverse(double x) { return erf_inverse(1 - x); }

Value ilogb_value(Calls&, Args args) {
  double x = number_of(args[0]);
  return x == 0 ? Value::of_int(INT32_MIN) : Value::of_int(std::ilogb(x));
}
Value ldexp_value(Calls& calls, Args args) {
  return make_double(calls,
                     std::ldexp(number_of(args[0]), static_cast<int>(std::clamp<std::int64_t>(to_int(args[1]), -5000, 5000))));
}
Value jn_value(Calls& calls, Args args) {
  return make_double(calls, ::jn(static_cast<int>(to_int(args[0])), number_of(args[1])));
}
Value yn_value(Calls& calls, Args args) {
  return make_double(calls, ::yn(static_cast<int>(to_int(args[0])), number_of(args[1])));
}
Value signbit_value(Calls&, Args args) { return Value::of(to_decimal(args[0]).is_negative); }

Value jacobi(Calls& calls, Args args) {
  Decimal x = to_decimal(args[0]);
  Decimal y = to_decimal(args[1]);
  auto small_x = to_int64(x);
  auto small_y = to_int64(y);
  if (!small_x || !small_y) return calls.fail("numbers beyond 64 bits are not supported");
  if (*small_y % 2 == 0)
    return calls.fail(fmt::format("big: invalid 2nd argument to Int.Jacobi: need odd integer but got {}", *small_y));
  __int128 a = *small_x;
  __int128 b = *small_y;
  int sign = 1;
  if (b < 0) {
    if (a < 0) sign = -1;
    b = -b;
  }
  for (;;) {
    if (b == 1) return Value::of_int(sign);
    if (a == 0) return Value::of_int(0);
    a %= b;
    if (a < 0) a += b;
    if (a == 0) return Value::of_int(0);
    int shift = 0;
    while (a % 2 == 0) {
      a /= 2;
      ++shift;
    }
    if (shift % 2 == 1 && (b % 8 == 3 || b % 8 == 5)) sign = -sign;
    if (b % 4 == 3 && a % 4 == 3) sign = -sign;
    std::swap(a, b);
  }
}

constexpr auto& kOne = kParams<kNumber>;
constexpr auto& kTwo = kParams<kNumber, kNumber>;

constexpr Builtin number(std::string_view name, std::string_view text) {
  return {"math", name, {}, kNumber, nullptr, false, false, text};
}

constexpr Builtin kRows[] = {
    {"math", "Floor", kOne, kInt, floor_value},
    {"math", "Ceil", kOne, kInt, ceil_value},
    {"math", "Trunc", kOne, kInt, trunc_value},
    {"math", "Round", kOne, kInt, round_value},
    {"math", "RoundToEven", kOne, kInt, round_to_even},
    {"math", "Abs", kOne, kNumber, abs_value},
    {"math", "MultipleOf", kTwo, kBool, multiple_of, false, true},
    {"math", "Pow", kTwo, kNumber, power},
    {"math", "Pow10", kParams<kInt>, kNumber, power_of_ten},
    {"math", "Sqrt", kOne, kNumber, unary<std::sqrt>},
    {"math", "Cbrt", kOne, kNumber, cbrt_value},
    {"math", "Exp", kOne, kNumber, exp_value},
    {"math", "Exp2", kOne, kNumber, exp2_value},
    {"math", "Expm1", kOne, kNumber, unary<std::expm1>},
    {"math", "Log", kOne, kNumber, log_value},
    {"math", "Log10", kOne, kNumber, log10_value},
    {"math", "Log2", kOne, kNumber, log2_value},
    {"math", "Log1p", kOne, kNumber, unary<std::log1p>},
    {"math", "Logb", kOne, kNumber, unary<std::logb>},
    {"math", "Ilogb", kOne, kInt, ilogb_value},
    {"math", "Sin", kOne, kNumber, unary<std::sin>},
    {"math", "Cos", kOne, kNumber, unary<std::cos>},
    {"math", "Tan", kOne, kNumber, unary<std::tan>},
    {"math", "Asin", kOne, kNumber, unary<std::asin>},
    {"math", "Acos", kOne, kNumber, unary<std::acos>},
    {"math", "Atan", kOne, kNumber, unary<std::atan>},
    {"math", "Atan2", kTwo, kNumber, binary<std::atan2>},
    {"math", "Sinh", kOne, kNumber, unary<std::sinh>},
    {"math", "Cosh", kOne, kNumber, unary<std::cosh>},
    {"math", "Tanh", kOne, kNumber, unary<std::tanh>},
    {"math", "Asinh", kOne, kNumber, unary<std::asinh>},
    {"math", "Acosh", kOne, kNumber, unary<inverse_cosh>},
    {"math", "Atanh", kOne, kNumber, unary<std::atanh>},
    {"math", "Hypot", kTwo, kNumber, binary<hypotenuse>},
    {"math", "Copysign", kTwo, kNumber, copysign_value},
    {"math", "Dim", kTwo, kNumber, dim_value},
    {"math", "Mod", kTwo, kNumber, binary<std::fmod>},
    {"math", "Remainder", kTwo, kNumber, binary<std::remainder>},
    {"math", "Erf", kOne, kNumber, unary<std::erf>},
    {"math", "Erfc", kOne, kNumber, unary<std::erfc>},
    {"math", "Erfinv", kOne, kNumber, unary<erf_inverse>},
    {"math", "Erfcinv", kOne, kNumber, unary<erfc_inverse>},
    {"math", "Gamma", kOne, kNumber, unary<std::tgamma>},
    {"math", "J0", kOne, kNumber, unary<::j0>},
    {"math", "J1", kOne, kNumber, unary<::j1>},
    {"math", "Y0", kOne, kNumber, unary<::y0>},
    {"math", "Y1", kOne, kNumber, unary<::y1>},
    {"math", "Jn", kParams<kInt, kNumber>, kNumber, jn_value},
    {"math", "Yn", kParams<kInt, kNumber>, kNumber, yn_value},
    {"math", "Ldexp", kParams<kNumber, kInt>, kNumber, ldexp_value},
    {"math", "Signbit", kOne, kBool, signbit_value},
    with_big({"math", "Jacobi", kParams<kInt, kInt>, kInt, jacobi}, 3),
    number("E", "2.71828182845904523536028747135266249775724709369995957496696763"),
    number("Pi", "3.14159265358979323846264338327950288419716939937510582097494459"),
    number("Phi", "1.61803398874989484820458683436563811772030917980576286213544861"),
    number("Sqrt2", "1.41421356237309504880168872420969807856967187537694807317667974"),
    number("SqrtE", "1.64872127070012814684865078781416357165377610071014801157507931"),
    number("SqrtPi", "1.77245385090551602729816748334114518279754945612238712821380779"),
    number("SqrtPhi", "1.27201964951406896425242246173749149171560804184009624861664038"),
    number("Ln2", "0.693147180559945309417232121458176568075500134360255254120680009"),
    number("Log2E", "1.442695040888963407359924681001892137426645954152985934135449408"),
    number("Ln10", "2.3025850929940456840179914546843642076011014886287729760333278"),
    number("Log10E", "0.43429448190325182765112891891660508229439700580366656611445378"),
    number("MaxExp", "2147483647"),
    number("MinExp", "-2147483648"),
    number("MaxPrec", "4294967295"),
    number("ToNearestEven", "0"),
    number("ToNearestAway", "1"),
    number("ToZero", "2"),
    number("AwayFromZero", "3"),
    number("ToNegativeInf", "4"),
    number("ToPositiveInf", "5"),
    number("Below", "-1"),
    number("Exact", "0"),
    number("Above", "1"),
};

}  // namespace
}  // namespace math_package

std::span<const Builtin> math_rows() { return math_package::kRows; }

}  // namespace slipway::cue
