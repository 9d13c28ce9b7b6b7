// Numbers: exact text in, exact text out, equality by what they mean.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "json/layout.h"
#include "json/value.h"

namespace slipway::json {

namespace {

// 0.d1d2d3… times ten to the exponent, without zeros on either end; zero has no digits.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
};

Decimal decimal_of(std::string_view text) {
  Decimal result;
  if (text.starts_with('-')) {
    result.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    const bool negative = power.starts_with('-');
    if (power.starts_with('+') || negative) power.remove_prefix(1);
    std::int64_t read = 0;
    if (std::from_chars(power.data(), power.data() + power.size(), read).ec != std::errc{}) {
      read = std::numeric_limits<std::int64_t>::max() / 4;
    }
    result.exponent = negative ? -read : read;
    text = text.substr(0, e);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  result.digits.append(text.substr(0, point));
  if (point < text.size()) result.digits.append(text.substr(point + 1));
  result.exponent += static_cast<std::int64_t>(point);
  const std::size_t first = result.digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  result.exponent -= static_cast<std::int64_t>(first);
  result.digits.erase(result.digits.find_last_not_of('0') + 1);
  result.digits.erase(0, first);
  return result;
}

std::optional<std::int64_t> whole(const Decimal& number) {
  if (number.digits.empty()) return 0;
  const auto digits = static_cast<std::int64_t>(number.digits.size());
  if (number.exponent < digits || number.exponent > 19) return std::nullopt;
  std::string text = number.negative ? "-" : "";
  text.append(number.digits).append(static_cast<std::size_t>(number.exponent - digits), '0');
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole(double number) {
  if (!(number >= -0x1p63 && number < 0x1p63) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

double double_of(std::string_view text, bool* in_range = nullptr) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (in_range) *in_range = error == std::errc{};
  if (error == std::errc::result_out_of_range) {
    // Too small is zero, too big is infinite.
    const Decimal decimal = decimal_of(text);
    value = decimal.exponent < 0 ? 0.0 : std::numeric_limits<double>::infinity();
    return decimal.negative ? -value : value;
  }
  return value;
}

}  // namespace

std::string format_double(double value) {
  if (!std::isfinite(value)) return {};
  const double size = std::fabs(value);
  const bool scientific = size != 0 && (size < 1e-6 || size >= 1e21);
  std::array<char, 64> text{};
  auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string result(text.data(), end);
  // Go writes e-9, not e-09.
  const std::size_t e = result.find('e');
  if (e != std::string::npos && result.size() == e + 4 && result[e + 1] == '-' && result[e + 2] == '0') result.erase(e + 2, 1);
  return result;
}

Value::Value(double value) noexcept : low_(std::bit_cast<std::uint64_t>(value)), high_(word(Tag::Double)) {}

Value Value::large_unsigned(std::uint64_t value) noexcept {
  std::array<char, 24> text{};
  auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return Layout::number_text({text.data(), end});
}

Value Value::number(std::string_view text) {
  const bool integral = text.find_first_of(".eE") == std::string_view::npos;
  if (integral && text != "-0") {
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{}) return {value};
  }
  if (!integral && text.size() <= 32) {
    bool in_range = false;
    const double value = double_of(text, &in_range);
    if (in_range && format_double(value) == text) return {value};
  }
  return Layout::number_text(text);
}

std::int64_t Value::as_int(std::int64_t fallback) const noexcept {
  if (is_int()) return static_cast<std::int64_t>(low_);
  if (tag() == Tag::Double) return whole(as_double()).value_or(fallback);
  return is_number() ? whole(decimal_of(number_text())).value_or(fallback) : fallback;
}

double Value::as_double(double fallback) const noexcept {
  if (is_int()) return static_cast<double>(static_cast<std::int64_t>(low_));
  if (tag() == Tag::Double) return std::bit_cast<double>(low_);
  return is_number() ? double_of(number_text()) : fallback;
}

std::string Value::number_text() const {
  const Tag kind = tag();
  if (kind == Tag::Int) return std::to_string(static_cast<std::int64_t>(low_));
  if (kind == Tag::ShortNumber) return {reinterpret_cast<const char*>(this), static_cast<std::uint8_t>(high_ >> 48)};
  if (kind == Tag::LongNumber) return {reinterpret_cast<const char*>(node() + 1), length()};
  if (kind != Tag::Double) return {};
  std::string text = format_double(as_double());
  return text.empty() ? "null" : text;
}

bool Layout::equal_numbers(const Value& left, const Value& right) noexcept {
  if (left.is_int() && right.is_int()) return left.low_ == right.low_;
  if (left.type() == Type::Double && right.type() == Type::Double) return left.as_double() == right.as_double();
  if (left.type() == Type::Number || right.type() == Type::Number) {
    return decimal_of(left.number_text()) == decimal_of(right.number_text());
  }
  const Value& fraction = left.is_int() ? right : left;
  const Value& integer = left.is_int() ? left : right;
  return whole(fraction.as_double()) == integer.as_int();
}

}  // namespace slipway::json
