// JSON text of values.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ostream>

#include "json/layout.h"
#include "json/text.h"
#include "json/utf8.h"

namespace slipway::json {

namespace {

// 0: as it is; 1: needs care (quote, backslash, control, any byte of a longer character).
constexpr auto kNeedsCare = [] {
  std::array<bool, 256> care{};
  for (std::size_t c = 0; c < 256; ++c) care[c] = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
  return care;
}();

/// How many bytes from the start go out as they are: eight at a time, as most text is long and plain.
std::size_t plain_length(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t backslash = word ^ (kOnes * '\\');
    const std::uint64_t found =
        (word | ((word - kOnes * 0x20) & ~word) | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash)) & kHigh;
    if (found != 0) break;  // one of the eight; which one, is said below
  }
  while (at < text.size() && !kNeedsCare[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  out += '\\';
  if (const std::size_t named = kNamed.find(static_cast<char>(c)); named != std::string_view::npos) {
    out += kLetters[named];
    return;
  }
  out += "u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (!kNeedsCare[c]) {
      at += plain_length(text.substr(at));
      continue;
    }
    const std::size_t bytes = c < 0x80 ? 1 : utf8_character(text.substr(at));
    const std::string_view character = text.substr(at, bytes);
    const bool separator = character == "\u2028" || character == "\u2029";
    if (bytes > 1 && !separator) {
      at += bytes;
      continue;
    }
    out.append(text, plain, at - plain);
    if (bytes == 0) {
      out += "\uFFFD";
    } else if (separator) {
      out += character == "\u2028" ? "\\u2028" : "\\u2029";
    } else {
      append_escaped(out, c);
    }
    at += std::max<std::size_t>(bytes, 1);
    plain = at;
  }
  out.append(text, plain);
  out += '"';
}

void append_scalar(std::string& out, const Value& value) {
  switch (value.type()) {
    case Type::Null:
      out += "null";
      return;
    case Type::Bool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Type::Int: {
      std::array<char, 24> digits{};
      auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value.as_int());
      out.append(digits.data(), end);
      return;
    }
    case Type::Double:
    case Type::Number:
      out += value.number_text();
      return;
    case Type::String:
      append_string(out, value.as_string());
      return;
    case Type::Array:
    case Type::Object:
      return;
  }
}

void append_pretty(std::string& out, const Value& value, int indent, std::size_t level) {
  const bool is_object = value.is_object();
  if (!is_object && !value.is_array()) return append_scalar(out, value);
  if (value.empty()) {
    out += is_object ? "{}" : "[]";
    return;
  }
  bool first = true;
  auto line = [&](std::size_t depth) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(depth * static_cast<std::size_t>(indent), ' ');
  };
  out += is_object ? '{' : '[';
  for (auto [key, member] : value.members()) {
    line(level + 1);
    append_string(out, key);
    out += ": ";
    append_pretty(out, member, indent, level + 1);
  }
  for (const Value& item : value.items()) {
    line(level + 1);
    append_pretty(out, item, indent, level + 1);
  }
  first = true;
  line(level);
  out += is_object ? '}' : ']';
}

}  // namespace

void print_to(std::string& out, const Value& value) {
  if (value.is_object()) {
    out += '{';
    bool first = true;
    for (auto [key, member] : value.members()) {
      if (!first) out += ',';
      first = false;
      append_string(out, key);
      out += ':';
      print_to(out, member);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) out += ',';
      first = false;
      print_to(out, item);
    }
    out += ']';
  } else {
    append_scalar(out, value);
  }
}

std::string print(const Value& value) {
  std::string out;
  print_to(out, value);
  return out;
}

void PrintTo(const Value& value, std::ostream* out) { *out << print(value); }

std::string print_pretty(const Value& value, int indent) {
  std::string out;
  append_pretty(out, value, indent, 0);
  return out;
}

}  // namespace slipway::json
