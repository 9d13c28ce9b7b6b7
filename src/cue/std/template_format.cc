#include "cue/std/template_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cue/syntax/unicode.h"

namespace slipway::cue::text_template {
namespace {

constexpr std::size_t kMaxSize = 1000;

std::size_t read_size(std::string_view text, std::size_t& at) {
  std::size_t out = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    out = std::min(out * 10 + static_cast<std::size_t>(text[at] - '0'), kMaxSize);
  return out;
}

std::size_t rune_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode_rune(text).bytes);
  return count;
}

std::string padded(const FormatVerb& verb, std::string text, bool is_number) {
  std::size_t size = rune_count(text);
  if (size >= verb.width) return text;
  std::size_t missing = verb.width - size;
  if (verb.is_left) return text + std::string(missing, ' ');
  if (!verb.has_zeros) return std::string(missing, ' ') + text;
  bool has_sign = is_number && (text[0] == '-' || text[0] == '+' || text[0] == ' ');
  return text.insert(has_sign ? 1 : 0, missing, '0');
}

std::string with_sign(const FormatVerb& verb, bool is_negative, const std::string& magnitude) {
  return (is_negative ? "-" : verb.has_plus ? "+" : verb.has_blank ? " " : "") + magnitude;
}

std::optional<std::string> format_whole(const FormatVerb& verb, std::int64_t value) {
  bool is_negative = value < 0;
  std::uint64_t size = is_negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  std::string digits;
  switch (verb.letter) {
    case 'v':
    case 'd':
      digits = fmt::format("{}", size);
      break;
    case 'x':
      digits = fmt::format("{}{:x}", verb.has_marks ? "0x" : "", size);
      break;
    case 'X':
      digits = fmt::format("{}{:X}", verb.has_marks ? "0X" : "", size);
      break;
    case 'o':
      digits = fmt::format("{}{:o}", verb.has_marks ? "0" : "", size);
      break;
    case 'b':
      digits = fmt::format("{}{:b}", verb.has_marks ? "0b" : "", size);
      break;
    case 'c':
      append_utf8(digits, value >= 0 && value <= 0x10FFFF ? static_cast<std::uint32_t>(value) : 0xFFFD);
      return padded(verb, digits, false);
    case 'U':
      return padded(verb, fmt::format("U+{:04X}", size), false);
    default:
      return std::nullopt;
  }
  bool has_short_precision = verb.precision && digits.size() < static_cast<std::size_t>(*verb.precision);
  if (has_short_precision) digits.insert(0, static_cast<std::size_t>(*verb.precision) - digits.size(), '0');
  FormatVerb padding = verb;
  if (verb.precision) padding.has_zeros = false;
  return padded(padding, with_sign(verb, is_negative, digits), true);
}

std::optional<std::string> format_real(const FormatVerb& verb, double value, const std::string& plain) {
  bool has_letter = std::string_view("eEfFgG").find(verb.letter) != std::string_view::npos;
  if (!has_letter && verb.letter != 'v') return std::nullopt;
  std::string text = plain;
  if (verb.letter != 'v' && !(verb.precision == std::nullopt && (verb.letter == 'g' || verb.letter == 'G'))) {
    char pattern[] = {'%', '.', '*', verb.letter == 'F' ? 'f' : verb.letter, '\0'};
    text.assign(2000, '\0');
    int size = std::snprintf(text.data(), text.size(), pattern, verb.precision.value_or(6), value);
    text.resize(std::min(text.size(), static_cast<std::size_t>(std::max(size, 0))));
  }
  bool is_negative = text.starts_with('-');
  return padded(verb, with_sign(verb, is_negative, is_negative ? text.substr(1) : text), true);
}

std::optional<std::string> format_text(const FormatVerb& verb, std::string_view text) {
  if (verb.precision) {
    std::string_view rest = text;
    for (int i = 0; i < *verb.precision && !rest.empty(); ++i) rest.remove_prefix(decode_rune(rest).bytes);
    text = text.substr(0, text.size() - rest.size());
  }
  switch (verb.letter) {
    case 'v':
    case 's':
      return padded(verb, std::string(text), false);
    case 'q':
      return padded(verb, go_quoted(text), false);
    case 'x':
    case 'X': {
      std::string out;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && verb.has_blank) out += ' ';
        if (verb.has_marks && (i == 0 || verb.has_blank)) out += verb.letter == 'x' ? "0x" : "0X";
        auto byte = static_cast<unsigned char>(text[i]);
        out += verb.letter == 'x' ? fmt::format("{:02x}", byte) : fmt::format("{:02X}", byte);
      }
      return padded(verb, out, false);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

FormatVerb read_format_verb(std::string_view text, std::size_t& at) {
  FormatVerb verb;
  for (++at; at < text.size(); ++at) {
    bool* flag = text[at] == '+'   ? &verb.has_plus
                 : text[at] == '-' ? &verb.is_left
                 : text[at] == '#' ? &verb.has_marks
                 : text[at] == ' ' ? &verb.has_blank
                 : text[at] == '0' ? &verb.has_zeros
                                   : nullptr;
    if (flag == nullptr) break;
    *flag = true;
  }
  verb.width = read_size(text, at);
  if (at < text.size() && text[at] == '.') {
    ++at;
    verb.precision = static_cast<int>(read_size(text, at));
  }
  if (at < text.size()) verb.letter = text[at++];
  return verb;
}

std::optional<std::string> format_one(const FormatVerb& verb, const Data& value, const std::string& plain) {
  if (verb.has_marks && verb.letter == 'v') return std::nullopt;  // Go syntax
  if (value.is_string()) return format_text(verb, value.as_string());
  if (value.is_bool())
    return verb.letter == 't' || verb.letter == 'v' ? std::optional(padded(verb, plain, false)) : std::nullopt;
  if (value.is_int()) return format_whole(verb, value.as_int());
  if (value.is_number()) return format_real(verb, value.as_double(), plain);
  bool is_bare = verb.width == 0 && !verb.precision;  // Go pads every item
  return verb.letter == 'v' && is_bare ? std::optional(plain) : std::nullopt;
}

}  // namespace slipway::cue::text_template
