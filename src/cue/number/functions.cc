// Exponential, logarithms and roots of decimals: series on a reduced argument with digits to spare, rounded once at the end.
#include <cmath>

#include "cue/number/decimal.h"

namespace slipway::cue {
namespace {

constexpr int kWorking = 60;  // digits in between

/// Sixty-two digits of the natural logarithm of ten.
Decimal log_of_ten() { return *parse_decimal("2.3025850929940456840179914546843642076011014886287729760333278"); }

Decimal times(const Decimal& a, const Decimal& b) { return multiply(a, b, kWorking); }
Decimal over(const Decimal& a, const Decimal& b) { return divide(a, b, kWorking); }
Decimal plus(const Decimal& a, const Decimal& b) { return add(a, b, kWorking); }

/// The power of ten of the first digit.
int magnitude(const Decimal& x) { return x.exponent + static_cast<int>(x.digits.size()) - 1; }

bool is_negligible(const Decimal& term, const Decimal& sum) {
  return term.is_zero() || magnitude(term) < magnitude(sum) - kWorking - 1;
}

// e^x = 10^n e^r with |r| < 2; r is halved eight times for the series, which is squared as often.
std::optional<Decimal> exponential_at_work(const Decimal& x) {
  if (x.is_zero()) return decimal_of(1);
  if (magnitude(x) > 6) return std::nullopt;
  Decimal tens = truncate(over(x, log_of_ten()));
  auto n = to_int64(tens);
  if (!n || std::abs(*n) > kMaxExponent) return std::nullopt;
  Decimal rest = subtract(x, times(tens, log_of_ten()), kWorking);
  constexpr int kHalvings = 8;
  Decimal small = over(rest, decimal_of(1 << kHalvings));
  Decimal sum = decimal_of(1);
  Decimal term = decimal_of(1);
  for (int i = 1; i < 100 && (i == 1 || !is_negligible(term, sum)); ++i) {
    term = over(times(term, small), decimal_of(i));
    sum = plus(sum, term);
  }
  for (int i = 0; i < kHalvings; ++i) sum = times(sum, sum);
  sum.exponent += static_cast<std::int32_t>(*n);
  return sum;
}

// ln(m 10^e) = ln m + e ln 10; Newton's method for m, from the binary logarithm.
std::optional<Decimal> logarithm_at_work(const Decimal& x) {
  if (x.is_zero() || x.is_negative) return std::nullopt;
  int tens = magnitude(x);
  Decimal part = x;
  part.exponent -= tens;
  Decimal guess = decimal_of(0);
  if (auto start = parse_decimal(std::to_string(std::log(to_double(part))))) guess = *start;
  for (int i = 0; i < 5; ++i) {  // each step triples the digits that are right
    auto reached = exponential_at_work(guess);
    if (!reached) return std::nullopt;
    Decimal step = over(subtract(part, *reached, kWorking), plus(part, *reached));
    guess = plus(guess, times(decimal_of(2), step));
  }
  return plus(guess, times(decimal_of(tens), log_of_ten()));
}

Decimal without_zeros(Decimal value) {
  value = round(std::move(value));
  while (value.digits.size() > 1 && value.digits.back() == '0') {
    value.digits.pop_back();
    ++value.exponent;
  }
  return value;
}

}  // namespace

std::optional<Decimal> exponential(const Decimal& x) {
  auto value = exponential_at_work(x);
  return value ? std::optional(without_zeros(*value)) : std::nullopt;
}

std::optional<Decimal> natural_logarithm(const Decimal& x) {
  auto value = logarithm_at_work(x);
  return value ? std::optional(without_zeros(*value)) : std::nullopt;
}

std::optional<Decimal> logarithm(const Decimal& x, int base) {
  auto value = logarithm_at_work(x);
  auto unit = logarithm_at_work(decimal_of(base));
  return value && unit ? std::optional(without_zeros(over(*value, *unit))) : std::nullopt;
}

std::optional<Decimal> power(const Decimal& base, const Decimal& exponent) {
  auto log = logarithm_at_work(base);
  auto value = log ? exponential_at_work(times(*log, exponent)) : std::nullopt;
  return value ? std::optional(without_zeros(*value)) : std::nullopt;
}

Decimal cube_root(const Decimal& x) {
  if (x.is_zero()) return decimal_of(0);
  Decimal part = x;
  part.is_negative = false;
  int thirds = magnitude(x) / 3;
  part.exponent -= 3 * thirds;
  auto start = parse_decimal(std::to_string(std::cbrt(to_double(part))));
  Decimal guess = start && !start->is_zero() ? *start : decimal_of(1);
  for (int i = 0; i < 7; ++i) {
    Decimal square = times(guess, guess);
    Decimal miss = subtract(times(square, guess), part, kWorking);
    guess = subtract(guess, over(miss, times(decimal_of(3), square)), kWorking);
  }
  guess.exponent += thirds;
  guess.is_negative = x.is_negative;
  return without_zeros(guess);
}

}  // namespace slipway::cue
