// Package strconv. Whole numbers may be of any size; errors read as Go's.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "cue/number/integer.h"
#include "cue/std/packages.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

using Args = std::span<const Value>;

Value wrong(Calls& calls, const char* function, std::string_view text, std::string_view what) {
  return calls.fail(fmt::format("strconv.{}: parsing {}: {}", function, quote(text), what));
}

// The digits without prefix and underscores, when the base is to be told from the text.
int detect_base(std::string& digits) {
  std::string sign;
  if (digits.starts_with('-') || digits.starts_with('+')) {
    sign = digits.substr(0, 1);
    digits.erase(0, 1);
  }
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    digits.erase(0, kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  std::erase(digits, '_');
  digits.insert(0, sign);
  return base;
}

Value parse_whole(Calls& calls, const char* function, std::string_view text, std::int64_t base, std::int64_t bits,
                  bool is_signed) {
  if (base != 0 && (base < 2 || base > 62)) return wrong(calls, function, text, fmt::format("invalid base {}", base));
  std::string digits(text);
  if (base == 0) base = detect_base(digits);
  auto number = parse_integer(digits, static_cast<int>(base));
  if (!number) return wrong(calls, function, text, "invalid syntax");
  bool fits = bits >= 0;
  if (!is_signed && number->is_negative) fits = false;
  if (fits && bits > 0) {
    auto limit = static_cast<std::size_t>(is_signed ? bits - 1 : bits);
    std::size_t used = number->bit_count();
    // The smallest negative number has one bit more: -(1 << limit).
    bool is_smallest = number->is_negative && number->words == shift_left(Integer{{1}, false}, limit).words;
    fits = used <= limit || is_smallest;
  }
  if (!fits) return wrong(calls, function, text, "value out of range");
  return calls.make_number(to_decimal(*number), false);
}

Value atoi(Calls& calls, Args args) { return parse_whole(calls, "Atoi", args[0].str(), 10, 0, true); }
Value parse_int(Calls& calls, Args args) {
  return parse_whole(calls, "ParseInt", args[0].str(), to_int(args[1]), to_int(args[2]), true);
}
Value parse_uint(Calls& calls, Args args) {
  return parse_whole(calls, "ParseUint", args[0].str(), to_int(args[1]), to_int(args[2]), false);
}

Value format_int(Calls& calls, Args args) {
  std::int64_t base = to_int(args[1]);
  if (base < 2 || base > 62) return calls.fail("illegal base");
  return calls.make_string(print_integer(to_integer(to_decimal(args[0])), static_cast<int>(base)));
}
Value format_uint(Calls& calls, Args args) {
  if (to_decimal(args[0]).is_negative) return calls.fail("cannot use a negative number as uint");
  return format_int(calls, args);
}

Value parse_bool(Calls& calls, Args args) {
  for (std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (args[0].str() == yes) return Value::of(true);
  }
  for (std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (args[0].str() == no) return Value::of(false);
  }
  return wrong(calls, "ParseBool", args[0].str(), "invalid syntax");
}
Value format_bool(Calls& calls, Args args) { return calls.make_string(args[0].boolean ? "true" : "false"); }

Value parse_float(Calls& calls, Args args) {
  std::string text(args[0].str());
  char* end = nullptr;
  bool is_plain = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0;
  double number = std::strtod(text.c_str(), &end);
  if (!is_plain || end != text.c_str() + text.size()) return wrong(calls, "ParseFloat", text, "invalid syntax");
  if (to_int(args[1]) == 32) number = static_cast<double>(static_cast<float>(number));
  if (std::isinf(number) && text.find_first_of("iI") == std::string::npos)
    return wrong(calls, "ParseFloat", text, "value out of range");
  return make_double(calls, number);
}

// A number as the language writes it, multipliers and all.
Value parse_any(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  bool is_negative = text.starts_with('-');
  std::string_view rest = is_negative || text.starts_with('+') ? text.substr(1) : text;
  auto literal = parse_number(rest);
  if (!literal) return wrong(calls, "ParseNumber", text, literal.error().message);
  auto number = parse_decimal(literal->decimal);
  if (!number) return wrong(calls, "ParseNumber", text, "value out of range");
  number->is_negative = is_negative && !number->is_zero();
  return calls.make_number(*number, !literal->is_integer);
}

// The shortest digits that read back, in the asked form.
std::string shortest(double number, char form, bool is_single) {
  std::string exact = is_single ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  auto decimal = parse_decimal(exact);
  if (!decimal) return exact;
  while (decimal->digits.size() > 1 && decimal->digits.back() == '0') {
    decimal->digits.pop_back();
    ++decimal->exponent;
  }
  int power = decimal->is_zero() ? 0 : decimal->exponent + static_cast<int>(decimal->digits.size()) - 1;
  char kind = static_cast<char>(form | 0x20);
  bool is_scientific = kind == 'e' || (kind == 'g' && (power < -4 || power >= 6));
  std::string sign = std::signbit(number) ? "-" : "";
  if (!is_scientific) {
    Decimal magnitude = *decimal;
    magnitude.is_negative = false;
    return sign + format_plain(magnitude);
  }
  std::string out = sign + decimal->digits.substr(0, 1);
  if (decimal->digits.size() > 1) out += "." + decimal->digits.substr(1);
  return out + fmt::format("{}{}{:02}", form == 'E' || form == 'G' ? 'E' : 'e', power < 0 ? '-' : '+', std::abs(power));
}

Value format_float(Calls& calls, Args args) {
  double number = to_double(to_decimal(args[0]));
  char form = 0;
  if (args[1].tag == Value::Tag::String) {
    if (args[1].size != 1) return calls.fail(fmt::format("format {} must be a single character", calls.show(args[1])));
    form = args[1].str()[0];
  } else if (is_float(args[1])) {
    return calls.fail("unexpected kind float");
  } else {
    std::int64_t code = to_int(args[1]);
    if (code < 0 || code > 255) return calls.fail(fmt::format("format value {} out of range [0, 255]", code));
    form = static_cast<char>(code);
  }
  std::int64_t precision = to_int(args[2]);
  std::int64_t bits = to_int(args[3]);
  if (bits != 32 && bits != 64) return calls.fail("illegal AppendFloat/FormatFloat bitSize");
  if (std::string_view("eEfFgG").find(form) == std::string_view::npos)
    return calls.fail(fmt::format("format '{}' is not supported", form));
  if (bits == 32) number = static_cast<double>(static_cast<float>(number));
  if (precision < 0) return calls.make_string(shortest(number, form, bits == 32));
  if (precision > 2000) return calls.fail("precision is too large");
  char pattern[] = {'%', '.', '*', form, 0};
  std::string out(4096, '\0');
  int size = std::snprintf(out.data(), out.size(), pattern, static_cast<int>(precision), number);
  out.resize(static_cast<std::size_t>(std::max(size, 0)));
  return calls.make_string(out);
}

// --- quoting

enum class Allow : std::uint8_t { Printable, Ascii, Graphic };

bool is_printable(std::uint32_t code, Allow allow) {
  if (code < 0x20 || code == 0x7F) return false;
  if (code < 0x7F) return true;
  if (allow == Allow::Ascii || code < 0xA0) return false;
  if (is_space(code)) return allow == Allow::Graphic && code != 0x2028 && code != 0x2029;
  bool is_format = code == 0xAD || (code >= 0x200B && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
                   (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF0 && code <= 0xFFFB);
  bool is_private = (code >= 0xD800 && code <= 0xF8FF) || code >= 0xE0000;
  return !is_format && !is_private && (code & 0xFFFE) != 0xFFFE;
}

void append_escaped(std::string& out, const Rune& rune, std::string_view bytes, char delimiter, Allow allow) {
  std::uint32_t code = rune.code;
  if (code == kBadRune) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    return;
  }
  if (code == static_cast<unsigned char>(delimiter) || code == '\\') {
    out += '\\';
    out += static_cast<char>(code);
    return;
  }
  if (is_printable(code, allow)) {
    append_utf8(out, code);
    return;
  }
  static constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
  static constexpr std::string_view kLetters = "abfnrtv";
  std::size_t named = code < 0x80 ? kNamed.find(static_cast<char>(code)) : std::string_view::npos;
  if (named != std::string_view::npos) {
    out += '\\';
    out += kLetters[named];
  } else if (code < 0x20 || code == 0x7F) {
    out += fmt::format("\\x{:02x}", code);
  } else {
    out += code > 0xFFFF ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
  }
}

Value quoted(Calls& calls, std::string_view text, Allow allow) {
  std::string out = "\"";
  while (!text.empty()) {
    Rune rune = decode_rune(text);
    append_escaped(out, rune, text, '"', allow);
    text.remove_prefix(rune.bytes);
  }
  return calls.make_string(out + "\"");
}
Value quote_text(Calls& calls, Args args) { return quoted(calls, args[0].str(), Allow::Printable); }
Value quote_ascii(Calls& calls, Args args) { return quoted(calls, args[0].str(), Allow::Ascii); }
Value quote_graphic(Calls& calls, Args args) { return quoted(calls, args[0].str(), Allow::Graphic); }

std::uint32_t rune_of(const Value& value) {
  std::int64_t code = to_int(value);
  return code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0xFFFD : static_cast<std::uint32_t>(code);
}
Value quoted_rune(Calls& calls, Args args, Allow allow) {
  std::string out = "'";
  append_escaped(out, {rune_of(args[0]), 1}, "", '\'', allow);
  return calls.make_string(out + "'");
}
Value quote_rune(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Printable); }
Value quote_rune_ascii(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Ascii); }
Value quote_rune_graphic(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Graphic); }

Value is_print(Calls&, Args args) { return Value::of(is_printable(rune_of(args[0]), Allow::Printable)); }
Value is_graphic(Calls&, Args args) { return Value::of(is_printable(rune_of(args[0]), Allow::Graphic)); }

// A Go literal: interpreted, raw or a character.
Value unquote_text(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  bool is_closed = text.size() >= 2 && text.front() == text.back();
  if (is_closed && text.front() == '`') {
    std::string_view body = text.substr(1, text.size() - 2);
    return body.find('`') == std::string_view::npos ? calls.make_string(body) : calls.fail("invalid syntax");
  }
  if (!is_closed || (text.front() != '"' && text.front() != '\'') || text.find('\n') != std::string_view::npos)
    return calls.fail("invalid syntax");
  // The language's bytes have Go's escapes.
  std::string body = "'";
  for (char c : text.substr(1, text.size() - 2)) {
    if (c == '\'' && text.front() == '"') body += '\\';
    body += c;
  }
  bool has_interpolation = body.find("\\(") != std::string::npos || body.find("\\/") != std::string::npos;
  auto value = unquote(body + "'");
  if (!value || has_interpolation) return calls.fail("invalid syntax");
  if (text.front() == '\'' && count_runes(value->value) != 1) return calls.fail("invalid syntax");
  return calls.make_string(value->value);
}

constexpr auto& kText = kParams<kString>;
constexpr auto& kTextInt = kParams<kString, kInt>;
constexpr auto& kTextTwoInts = kParams<kString, kInt, kInt>;
constexpr auto& kRune = kParams<kInt>;
constexpr auto& kTwoInts = kParams<kInt, kInt>;
constexpr auto &kFloatForm = kParams < kNumber, kNumber | kString, kInt, kInt > ;

constexpr Builtin kRows[] = {
    {"strconv", "Atoi", kText, kInt, atoi},
    {"strconv", "ParseInt", kTextTwoInts, kInt, parse_int},
    {"strconv", "ParseUint", kTextTwoInts, kInt, parse_uint},
    {"strconv", "ParseFloat", kTextInt, kNumber, parse_float},
    {"strconv", "ParseNumber", kText, kNumber, parse_any},
    {"strconv", "ParseBool", kText, kBool, parse_bool},
    {"strconv", "FormatInt", kTwoInts, kString, format_int},
    {"strconv", "FormatUint", kTwoInts, kString, format_uint},
    {"strconv", "FormatFloat", kFloatForm, kString, format_float},
    {"strconv", "FormatBool", kParams<kBool>, kString, format_bool},
    {"strconv", "Quote", kText, kString, quote_text},
    {"strconv", "QuoteToASCII", kText, kString, quote_ascii},
    {"strconv", "QuoteToGraphic", kText, kString, quote_graphic},
    {"strconv", "QuoteRune", kRune, kString, quote_rune},
    {"strconv", "QuoteRuneToASCII", kRune, kString, quote_rune_ascii},
    {"strconv", "QuoteRuneToGraphic", kRune, kString, quote_rune_graphic},
    {"strconv", "Unquote", kText, kString, unquote_text},
    {"strconv", "IsPrint", kRune, kBool, is_print},
    {"strconv", "IsGraphic", kRune, kBool, is_graphic},
    {"strconv", "IntSize", {}, kInt, nullptr, false, false, "64"},
};

}  // namespace

std::span<const Builtin> strconv_rows() { return kRows; }

}  // namespace slipway::cue
