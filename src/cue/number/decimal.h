// Decimal numbers of any size: sign, digits and a power of ten, as the language's numbers are. Results of arithmetic are
// rounded to 34 significant digits, half away from zero (the General Decimal Arithmetic model); literals, comparisons and whole
// number division are exact. This is the slow path: whole numbers that fit 64 bits never come here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cue {

struct Decimal {
  std::string digits = "0";  // most significant first, no leading zeros
  std::int32_t exponent = 0;
  bool is_negative = false;

  bool is_zero() const { return digits == "0"; }
  /// Whole in value, however written (1.0 and 1e3 are).
  bool is_whole() const;
};

inline constexpr int kPrecision = 34;
/// Exponents beyond this are refused.
inline constexpr int kMaxExponent = 100000;

Decimal decimal_of(std::int64_t value);
/// Digits with optional sign, dot and exponent. Nothing else. nullopt when it is no such number.
std::optional<Decimal> parse_decimal(std::string_view text);
std::optional<std::int64_t> to_int64(const Decimal& value);
double to_double(const Decimal& value);

Decimal add(const Decimal& a, const Decimal& b, int precision = kPrecision);
Decimal subtract(const Decimal& a, const Decimal& b, int precision = kPrecision);
Decimal multiply(const Decimal& a, const Decimal& b, int precision = kPrecision);
/// REQUIRES: b is not zero.
Decimal divide(const Decimal& a, const Decimal& b, int precision = kPrecision);
/// Rounded to the precision.
Decimal round(Decimal value, int precision = kPrecision);

/// Functions to the precision. nullopt where there is no value: a logarithm of what is not positive, a power too large.
std::optional<Decimal> exponential(const Decimal& x);
std::optional<Decimal> natural_logarithm(const Decimal& x);
/// Logarithm to base 2 or 10.
std::optional<Decimal> logarithm(const Decimal& x, int base);
/// base to the power of any exponent; REQUIRES: base is positive.
std::optional<Decimal> power(const Decimal& base, const Decimal& exponent);
Decimal cube_root(const Decimal& x);

/// <0, 0, >0
int compare(const Decimal& a, const Decimal& b);

/// Whole number division; REQUIRES: both whole, b not zero. quo and rem truncate; div and mod are Euclidean.
struct Division {
  Decimal quotient;
  Decimal remainder;
};
Division divide_truncated(const Decimal& a, const Decimal& b);
Division divide_euclidean(const Decimal& a, const Decimal& b);

/// Drops the part behind the dot, exactly.
Decimal truncate(const Decimal& value);
/// As the same value with exponent 0. REQUIRES: is_whole().
Decimal whole(Decimal value);

/// Scientific string of the decimal arithmetic model: 1.50, 1E+3, 1.0E-10. A float without dot or exponent gets ".0".
std::string format(const Decimal& value, bool is_float);
/// Without exponent, as interpolation writes numbers that are small enough.
std::string format_plain(const Decimal& value);

}  // namespace slipway::cue
