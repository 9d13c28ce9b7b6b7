#include "cel/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/time_text.h"

// Of the kinds only some matter in each place.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cel {
namespace {

std::string double_text(double value, const char* infinity) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : infinity;
  return fmt::format("{}", value);
}

// Nested and shared parts can make the text of a small value huge.
constexpr std::size_t kMostText = std::size_t{4} << 20;

/// What %s prints; false when the value has no such text.
bool append_text(std::string& out, const Value& value);

bool append_list(std::string& out, const Value& value) {
  out += '[';
  bool is_first = true;
  for (const Value& one : items_of(value)) {
    if (!std::exchange(is_first, false)) out += ", ";
    if (!append_text(out, one)) return false;
  }
  out += ']';
  return true;
}

bool append_map(std::string& out, const Value& value) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [key, one] : entries_of(value)) {
    auto& row = rows.emplace_back();
    if (!append_text(row.first, key) || !append_text(row.second, one)) return false;
  }
  std::ranges::sort(rows);
  out += '{';
  for (const auto& [key, one] : rows) out += fmt::format("{}{}: {}", key == rows.front().first ? "" : ", ", key, one);
  out += '}';
  return true;
}

bool append_text(std::string& out, const Value& value) {
  if (out.size() > kMostText) return false;
  switch (value.kind) {
    case Kind::Null:
      out += "null";
      return true;
    case Kind::Bool:
      out += value.truth ? "true" : "false";
      return true;
    case Kind::Int:
      out += fmt::format("{}", value.integer);
      return true;
    case Kind::Uint:
      out += fmt::format("{}", value.natural);
      return true;
    case Kind::Double:
      out += double_text(value.real, "Infinity");
      return true;
    case Kind::String:
    case Kind::Bytes:
      out += value.text();
      return true;
    case Kind::Timestamp:
      out += print_timestamp({value.integer, value.nanos});
      return true;
    case Kind::Duration:
      out += print_duration(value.integer);
      return true;
    case Kind::Type:
      out += value.type->kind == Kind::Null ? "null_type" : to_string(*value.type);
      return true;
    case Kind::List:
      return append_list(out, value);
    case Kind::Map:
    case Kind::Object:
      return append_map(out, value);
    default:
      return false;
  }
}

bool append_decimal(std::string& out, const Value& value) {
  if (value.is(Kind::Int) || value.is(Kind::Uint)) return append_text(out, value);
  if (!value.is(Kind::Double)) return false;
  out += double_text(value.real, "Infinity");
  return true;
}

/// 1.5e-07 as 1.5×10⁻⁰⁷.
std::string with_power(double real, int precision) {
  constexpr std::array<std::string_view, 10> kRaised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string plain = fmt::format("{:.{}e}", real, precision);
  const auto letter = plain.find('e');
  std::string out = plain.substr(0, letter) + "×10";
  for (const char c : std::string_view(plain).substr(letter + 1)) {
    if (c == '-') out += "⁻";
    if (c >= '0' && c <= '9') out += kRaised[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

bool append_real(std::string& out, const Value& value, char clause, int precision, Exponent exponent) {
  double real = 0;
  if (value.is(Kind::Int))
    real = static_cast<double>(value.integer);
  else if (value.is(Kind::Uint))
    real = static_cast<double>(value.natural);
  else if (value.is(Kind::Double))
    real = value.real;
  else
    return false;
  if (!std::isfinite(real))
    out += double_text(real, "Infinity");
  else if (clause == 'f')
    out += fmt::format("{:.{}f}", real, precision);
  else
    out += exponent == Exponent::Power ? with_power(real, precision) : fmt::format("{:.{}e}", real, precision);
  return true;
}

bool append_based(std::string& out, const Value& value, char clause) {
  std::uint64_t amount = 0;
  if (value.is(Kind::Int)) {
    if (value.integer < 0) out += '-';
    amount = value.integer < 0 ? 0 - static_cast<std::uint64_t>(value.integer) : static_cast<std::uint64_t>(value.integer);
  } else if (value.is(Kind::Uint)) {
    amount = value.natural;
  } else if (value.is(Kind::Bool) && clause == 'b') {
    amount = value.truth ? 1 : 0;
  } else if ((value.is(Kind::String) || value.is(Kind::Bytes)) && (clause == 'x' || clause == 'X')) {
    for (const char c : value.text()) {
      const auto byte = static_cast<unsigned char>(c);
      out += clause == 'x' ? fmt::format("{:02x}", byte) : fmt::format("{:02X}", byte);
    }
    return true;
  } else {
    return false;
  }
  if (clause == 'b')
    out += fmt::format("{:b}", amount);
  else if (clause == 'o')
    out += fmt::format("{:o}", amount);
  else if (clause == 'x')
    out += fmt::format("{:x}", amount);
  else
    out += fmt::format("{:X}", amount);
  return true;
}

/// Nothing when the clause is unknown.
std::optional<bool> append(std::string& out, const Value& value, char clause, int precision, Exponent exponent) {
  switch (clause) {
    case 's':
      return append_text(out, value);
    case 'd':
      return append_decimal(out, value);
    case 'f':
    case 'e':
      return append_real(out, value, clause, precision, exponent);
    case 'b':
    case 'o':
    case 'x':
    case 'X':
      return append_based(out, value, clause);
    default:
      return std::nullopt;
  }
}

}  // namespace

Value format_text(std::string_view pattern, const Items& args, Exponent exponent) {
  constexpr int kMostPrecision = 1000;
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      out += pattern[at];
      continue;
    }
    if (++at >= pattern.size()) return make_error("unexpected end of string");
    if (pattern[at] == '%') {
      out += '%';
      continue;
    }
    int precision = 6;
    if (pattern[at] == '.') {
      precision = 0;
      for (++at; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at) {
        precision = std::min(precision * 10 + (pattern[at] - '0'), kMostPrecision);
      }
      if (at >= pattern.size()) return make_error("could not find end of precision specifier");
    }
    if (next >= args.size()) return make_error(fmt::format("index {} out of range", next));
    const auto done = append(out, args[next], pattern[at], precision, exponent);
    if (!done)
      return make_error(fmt::format("could not parse formatting clause: unrecognized formatting clause \"{}\"", pattern[at]));
    if (!*done) {
      return make_error(fmt::format("error during formatting: clause %{} cannot be given a value of type {}", pattern[at],
                                    to_string(*runtime_type(args[next]))));
    }
    ++next;
  }
  return make_string(out);
}

}  // namespace slipway::cel
