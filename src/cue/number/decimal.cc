#include "cue/number/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace slipway::cue {
namespace {

using Digits = std::string;

void trim(Digits& digits) {
  auto first = digits.find_first_not_of('0');
  digits = first == std::string::npos ? "0" : digits.substr(first);
}

int compare_digits(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

Digits add_digits(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  Digits sum(a.size() + 1, '0');
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' + carry + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    carry = digit / 10;
    sum[sum.size() - 1 - i] = static_cast<char>('0' + digit % 10);
  }
  sum[0] = static_cast<char>('0' + carry);
  trim(sum);
  return sum;
}

// REQUIRES: a >= b
Digits subtract_digits(std::string_view a, std::string_view b) {
  Digits rest(a);
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' - borrow - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    borrow = digit < 0 ? 1 : 0;
    rest[rest.size() - 1 - i] = static_cast<char>('0' + digit + borrow * 10);
  }
  trim(rest);
  return rest;
}

Digits multiply_digits(std::string_view a, std::string_view b) {
  std::vector<std::uint32_t> cells(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto left = static_cast<std::uint32_t>(a[a.size() - 1 - i] - '0');
    std::uint32_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::uint32_t cell = cells[i + j] + left * static_cast<std::uint32_t>(b[b.size() - 1 - j] - '0') + carry;
      cells[i + j] = cell % 10;
      carry = cell / 10;
    }
    cells[i + b.size()] += carry;
  }
  Digits product(cells.size(), '0');
  for (std::size_t i = 0; i < cells.size(); ++i) product[cells.size() - 1 - i] = static_cast<char>('0' + cells[i]);
  trim(product);
  return product;
}

struct DigitDivision {
  Digits quotient;
  Digits remainder;
};

DigitDivision divide_digits(std::string_view a, const Digits& b) {
  DigitDivision result{"", "0"};
  for (char digit : a) {
    if (result.remainder == "0") {
      result.remainder.clear();
    }
    result.remainder += digit;
    trim(result.remainder);
    char count = '0';
    while (compare_digits(result.remainder, b) >= 0) {
      result.remainder = subtract_digits(result.remainder, b);
      ++count;
    }
    result.quotient += count;
  }
  trim(result.quotient);
  return result;
}

Digits shifted(const Digits& digits, std::int32_t zeros) {
  return digits == "0" ? digits : digits + std::string(static_cast<std::size_t>(std::max(zeros, 0)), '0');
}

Decimal add_signed(const Decimal& a, const Decimal& b, bool flip, int precision) {
  std::int32_t exponent = std::min(a.exponent, b.exponent);
  Digits left = shifted(a.digits, a.exponent - exponent);
  Digits right = shifted(b.digits, b.exponent - exponent);
  bool right_negative = b.is_negative != flip;
  Decimal result;
  result.exponent = exponent;
  if (a.is_negative == right_negative) {
    result.digits = add_digits(left, right);
    result.is_negative = a.is_negative;
  } else if (compare_digits(left, right) >= 0) {
    result.digits = subtract_digits(left, right);
    result.is_negative = a.is_negative;
  } else {
    result.digits = subtract_digits(right, left);
    result.is_negative = right_negative;
  }
  if (result.is_zero()) result.is_negative = false;
  return round(std::move(result), precision);
}

}  // namespace

bool Decimal::is_whole() const {
  if (exponent >= 0 || is_zero()) return true;
  auto behind = static_cast<std::size_t>(-exponent);
  if (behind >= digits.size()) return false;
  return digits.find_first_not_of('0', digits.size() - behind) == std::string::npos;
}

Decimal decimal_of(std::int64_t value) {
  Decimal result;
  result.is_negative = value < 0;
  auto magnitude = result.is_negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  result.digits = std::to_string(magnitude);
  return result;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal result;
  if (text.starts_with('-') || text.starts_with('+')) {
    result.is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  auto e = text.find_first_of("eE");
  std::string_view mantissa = text.substr(0, e);
  result.digits.clear();
  std::int64_t exponent = 0;
  bool behind = false;
  for (char c : mantissa) {
    if (c == '.' && !behind) {
      behind = true;
    } else if (c >= '0' && c <= '9') {
      result.digits += c;
      if (behind) --exponent;
    } else {
      return std::nullopt;
    }
  }
  if (result.digits.empty()) return std::nullopt;
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    bool negative = power.starts_with('-');
    if (negative || power.starts_with('+')) power.remove_prefix(1);
    if (power.empty() || power.size() > 9 || power.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    std::int64_t value = std::strtol(std::string(power).c_str(), nullptr, 10);
    exponent += negative ? -value : value;
  }
  if (std::abs(exponent) > kMaxExponent) return std::nullopt;
  result.exponent = static_cast<std::int32_t>(exponent);
  trim(result.digits);
  return result;
}

std::optional<std::int64_t> to_int64(const Decimal& value) {
  if (!value.is_whole() || static_cast<std::int64_t>(value.digits.size()) + value.exponent > 19) return std::nullopt;
  Decimal plain = whole(value);
  std::uint64_t magnitude = 0;
  for (char c : plain.digits) {
    if (__builtin_mul_overflow(magnitude, 10u, &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(c - '0'), &magnitude)) {
      return std::nullopt;
    }
  }
  std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (value.is_negative ? 1 : 0);
  if (magnitude > limit) return std::nullopt;
  return static_cast<std::int64_t>(value.is_negative ? ~magnitude + 1 : magnitude);
}

double to_double(const Decimal& value) {
  return std::strtod(fmt::format("{}{}e{}", value.is_negative ? "-" : "", value.digits, value.exponent).c_str(), nullptr);
}

Decimal round(Decimal value, int precision) {
  auto keep = static_cast<std::size_t>(precision);
  if (value.digits.size() <= keep) return value;
  std::size_t dropped = value.digits.size() - keep;
  bool up = value.digits[keep] >= '5';
  value.digits.resize(keep);
  value.exponent += static_cast<std::int32_t>(dropped);
  if (up) {
    value.digits = add_digits(value.digits, "1");
    if (value.digits.size() > keep) {
      value.digits.pop_back();
      ++value.exponent;
    }
  }
  return value;
}

Decimal add(const Decimal& a, const Decimal& b, int precision) { return add_signed(a, b, false, precision); }
Decimal subtract(const Decimal& a, const Decimal& b, int precision) { return add_signed(a, b, true, precision); }

Decimal multiply(const Decimal& a, const Decimal& b, int precision) {
  Decimal result;
  result.digits = multiply_digits(a.digits, b.digits);
  result.exponent = a.exponent + b.exponent;
  result.is_negative = !result.is_zero() && a.is_negative != b.is_negative;
  return round(std::move(result), precision);
}

Decimal divide(const Decimal& a, const Decimal& b, int precision) {
  std::int32_t ideal = a.exponent - b.exponent;
  Decimal result;
  result.exponent = ideal;
  if (a.is_zero()) return result;
  // Enough zeros for the precision and one digit to round by.
  auto zeros = static_cast<std::int32_t>(std::max<std::int64_t>(
      0, precision + 1 + static_cast<std::int64_t>(b.digits.size()) - static_cast<std::int64_t>(a.digits.size())));
  DigitDivision division = divide_digits(shifted(a.digits, zeros), b.digits);
  result.digits = division.quotient;
  result.exponent = ideal - zeros;
  result.is_negative = a.is_negative != b.is_negative;
  bool exact = division.remainder == "0";
  result = round(std::move(result), precision);
  while (exact && result.exponent < ideal && result.digits.size() > 1 && result.digits.back() == '0') {
    result.digits.pop_back();
    ++result.exponent;
  }
  return result;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.is_zero() && b.is_zero()) return 0;
  bool a_negative = a.is_negative && !a.is_zero();
  bool b_negative = b.is_negative && !b.is_zero();
  if (a_negative != b_negative) return a_negative ? -1 : 1;
  int sign = a_negative ? -1 : 1;
  if (a.is_zero()) return -sign;
  if (b.is_zero()) return sign;
  std::int64_t left = static_cast<std::int64_t>(a.digits.size()) + a.exponent;
  std::int64_t right = static_cast<std::int64_t>(b.digits.size()) + b.exponent;
  if (left != right) return left < right ? -sign : sign;
  std::int32_t exponent = std::min(a.exponent, b.exponent);
  return sign * compare_digits(shifted(a.digits, a.exponent - exponent), shifted(b.digits, b.exponent - exponent));
}

Decimal truncate(const Decimal& value) {
  if (value.exponent >= 0) return value;
  Decimal result = value;
  auto behind = static_cast<std::size_t>(-value.exponent);
  result.digits = behind >= result.digits.size() ? "0" : result.digits.substr(0, result.digits.size() - behind);
  result.exponent = 0;
  if (result.is_zero()) result.is_negative = false;
  return result;
}

Decimal whole(Decimal value) {
  if (value.exponent > 0) {
    value.digits = shifted(value.digits, value.exponent);
    value.exponent = 0;
    return value;
  }
  return value.exponent == 0 ? value : truncate(value);
}

Division divide_truncated(const Decimal& a, const Decimal& b) {
  Decimal left = whole(a);
  Decimal right = whole(b);
  DigitDivision division = divide_digits(left.digits, right.digits);
  Division result;
  result.quotient.digits = division.quotient;
  result.quotient.is_negative = division.quotient != "0" && left.is_negative != right.is_negative;
  result.remainder.digits = division.remainder;
  result.remainder.is_negative = division.remainder != "0" && left.is_negative;
  return result;
}

Division divide_euclidean(const Decimal& a, const Decimal& b) {
  Division result = divide_truncated(a, b);
  if (!result.remainder.is_negative) return result;
  Decimal one = decimal_of(b.is_negative ? -1 : 1);
  result.quotient = subtract(result.quotient, one);
  result.remainder = b.is_negative ? subtract(result.remainder, whole(b)) : add(result.remainder, whole(b));
  return result;
}

std::string format(const Decimal& value, bool is_float) {
  std::string text = value.is_negative ? "-" : "";
  auto size = static_cast<std::int64_t>(value.digits.size());
  std::int64_t adjusted = value.exponent + size - 1;
  if (value.exponent <= 0 && adjusted >= -6) {
    if (value.exponent == 0) return text + value.digits + (is_float ? ".0" : "");
    auto behind = static_cast<std::size_t>(-value.exponent);
    std::string digits = value.digits;
    if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
    return text + digits.substr(0, digits.size() - behind) + "." + digits.substr(digits.size() - behind);
  }
  text += value.digits[0];
  if (size > 1) text += "." + value.digits.substr(1);
  return text + fmt::format("E{}{}", adjusted < 0 ? "-" : "+", std::abs(adjusted));
}

std::string format_plain(const Decimal& value) {
  Decimal plain = value.exponent > 0 ? whole(value) : value;
  if (plain.exponent == 0) return (plain.is_negative ? "-" : "") + plain.digits;
  auto behind = static_cast<std::size_t>(-plain.exponent);
  std::string digits = plain.digits;
  if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
  return (plain.is_negative ? "-" : "") + digits.substr(0, digits.size() - behind) + "." +
         digits.substr(digits.size() - behind);
}

}  // namespace slipway::cue
