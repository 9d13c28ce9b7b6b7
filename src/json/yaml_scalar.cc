#include "json/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "json/layout.h"

namespace slipway::json {

namespace {

// Words with every spelling that counts; other mixtures of case are text.
std::optional<Value> resolve_word(std::string_view text) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  static constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  static constexpr std::string_view kNullWords[] = {"", "~", "null", "Null", "NULL"};
  static constexpr std::string_view kNotANumber[] = {".nan", ".NaN", ".NAN"};
  static constexpr std::string_view kInfinity[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
  static constexpr std::string_view kMinusInfinity[] = {"-.inf", "-.Inf", "-.INF"};
  if (text.size() > 5) return std::nullopt;
  auto is_in = [text](const auto& words) { return std::ranges::find(words, text) != std::end(words); };
  if (is_in(kTrue)) return Value(true);
  if (is_in(kFalse)) return Value(false);
  if (is_in(kNullWords)) return Value();
  if (is_in(kNotANumber)) return Value(std::numeric_limits<double>::quiet_NaN());
  if (is_in(kInfinity)) return Value(kInfinite);
  if (is_in(kMinusInfinity)) return Value(-kInfinite);
  return std::nullopt;
}

// Go's strconv.ParseInt and ParseUint with base 0.
std::optional<Value> resolve_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  std::uint64_t size = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!negative) return Value(size);
  if (size > std::uint64_t{1} << 63) return std::nullopt;
  return Value(static_cast<std::int64_t>(~size + 1));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
  std::size_t at = 0;
  auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - first;
  };
  auto take = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != std::string_view::npos && ++at > 0;
  };
  take("+-");
  const std::size_t whole = digits();
  const std::size_t fraction = take(".") ? digits() : 0;
  if (whole + fraction == 0) return false;
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool is_json_number(std::string_view text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t point = text.find('.');
  const bool leading_zero = text.size() > first + 1 && text[first] == '0' && is_digit(text[first + 1]);
  const bool bare_point =
      point == first || (point != std::string_view::npos && (point + 1 == text.size() || !is_digit(text[point + 1])));
  return text[0] != '+' && !leading_zero && !bare_point;
}

std::optional<Value> resolve_float(std::string_view text) {
  if (!is_float(text)) return std::nullopt;
  const std::string_view unsigned_text = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  auto [end, error] = std::from_chars(unsigned_text.data(), unsigned_text.data() + unsigned_text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return Value::number(is_json_number(text) ? std::string(text) : format_double(value));
}

}  // namespace

std::optional<Value> resolve_plain(std::string_view text) {
  if (auto word = resolve_word(text)) return word;
  const char first = text[0];
  if (!is_digit(first) && first != '+' && first != '-' && first != '.') return std::nullopt;
  std::string plain(text);
  if (first != '.') std::erase(plain, '_');
  if (first != '.') {
    if (plain == "-0") return Value::number("-0");
    if (auto integer = resolve_integer(plain)) return integer;
  }
  return resolve_float(plain);
}

bool needs_quotes_elsewhere(std::string_view text) {
  std::size_t at = 0;
  auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - first;
  };
  if (digits() == 4 && at < text.size() && text[at] == '-') {
    ++at;
    const std::size_t month = digits();
    if (month == 0 || month > 2 || at == text.size() || text[at] != '-') return false;
    ++at;
    const std::size_t day = digits();
    if (day == 0 || day > 2) return false;
    return at == text.size() || std::string_view("Tt ").find(text[at]) != std::string_view::npos;
  }
  // Base 60: 12:30:45.6
  at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (at == text.size() || !is_digit(text[at])) return false;
  while (at < text.size() && (is_digit(text[at]) || text[at] == '_')) ++at;
  std::size_t groups = 0;
  for (; at < text.size() && text[at] == ':'; ++groups) {
    ++at;
    const std::size_t first = at;
    const std::size_t count = digits();
    if (count == 0 || count > 2 || (count == 2 && text[first] > '5')) return false;
  }
  if (groups > 0 && at < text.size() && text[at] == '.') ++at, digits();
  return groups > 0 && at == text.size();
}

std::string number_key(const Value& number) {
  const double value = number.as_double();
  if (!std::isfinite(value)) return std::isnan(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
  if (number.is_int() || number.number_text().find_first_of(".eE") == std::string::npos) return number.number_text();
  const auto small = static_cast<float>(value);
  const bool scientific = small != 0 && (std::fabs(small) < 1e-4F || std::fabs(small) >= 1e6F);
  std::array<char, 64> text{};
  auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), small, format);
  return {text.data(), end};
}

}  // namespace slipway::json
