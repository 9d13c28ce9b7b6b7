// Package strconv. Whole numbers may be of any size; errors read as Go's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cue/number/integer.h"
#include "cue/std/packages.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace strconv_package {
namespace {

using Args = std::span<const Value>;

// Whole numbers are read digit by digit, each of which touches those before.
std::uint64_t long_number_steps(std::string_view digits) { return digits.size() * digits.size() / 1024; }

Value wrong(Calls& calls, const char* function, std::string_view text, std::string_view what) {
  return calls.fail(fmt::format("strconv.{}: parsing {}: {}", function, quote(text), what));
}

// Underscores as Go allows them: between digits, or between a base prefix and a digit.
bool are_underscores_fine(std::string_view digits) {
  bool has_prefix = digits.size() > 1 && digits[0] == '0' && std::isalpha(static_cast<unsigned char>(digits[1])) != 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') continue;
    bool is_led = i > 0 && digits[i - 1] != '_' && (i > 1 || !has_prefix || i == 2);
    if (!is_led || i + 1 == digits.size() || digits[i + 1] == '_' || digits[i + 1] == '.') return false;
  }
  return true;
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
  if (text.empty()) return wrong(calls, function, text, "invalid syntax");
  if (!calls.spend(long_number_steps(text))) return calls.ended();
  if (base != 0 && (base < 2 || base > 62)) return wrong(calls, function, text, fmt::format("invalid base {}", base));
  if (bits < 0) return wrong(calls, function, text, fmt::format("invalid bit size {}", bits));
  bool has_sign = text[0] == '-' || text[0] == '+';
  bool is_fine = (is_signed || !has_sign) && (base != 0 || are_underscores_fine(text.substr(has_sign ? 1 : 0)));
  std::string digits(text);
  if (base == 0) base = detect_base(digits);
  auto number = is_fine ? parse_integer(digits, static_cast<int>(base)) : std::nullopt;
  if (!number) return wrong(calls, function, text, "invalid syntax");
  auto limit = static_cast<std::size_t>(std::max<std::int64_t>(bits - (is_signed ? 1 : 0), 0));
  // The smallest negative number has one bit more: -(1 << limit).
  bool is_smallest =
      number->is_negative && number->bit_count() == limit + 1 && number->words == shift_left(Integer{{1}, false}, limit).words;
  bool fits = bits == 0 || number->bit_count() <= limit || is_smallest;  // 0: of any size
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
  if (base < 2 || base > 62) return calls.fail("invalid base");
  return calls.make_string(print_integer(to_integer(to_decimal(args[0])), static_cast<int>(base)));
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
  std::size_t sign = text.find_first_of("+-") == 0 ? 1 : 0;
  is_plain = is_plain && are_underscores_fine(std::string_view(text).substr(sign));
  std::erase(text, '_');
  double number = std::strtod(text.c_str(), &end);
  bool is_hexadecimal = text.find_first_of("xX") != std::string::npos;
  if (is_hexadecimal && text.find_first_of("pP") == std::string::npos) is_plain = false;
  if (!is_plain || end != text.c_str() + text.size()) return wrong(calls, "ParseFloat", text, "invalid syntax");
  if (to_int(args[1]) == 32) number = static_cast<double>(static_cast<float>(number));
  if (std::isinf(number) && text.find_first_of("iI") == std::string::npos)
    return wrong(calls, "ParseFloat", text, "value out of range");
  return make_double(calls, number);
}

// A number as the language writes it, multipliers and all.
Value parse_any(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  if (!calls.spend(long_number_steps(text))) return calls.ended();
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

// 'b': the mantissa as a whole number and the power of two, "6755399441055744p-52".
std::string binary_exponent_form(double number, bool is_single) {
  int digits = is_single ? 24 : 53;
  int exponent = 0;
  double fraction = std::frexp(number, &exponent);
  if (number == 0) exponent = is_single ? -125 : -1021;
  return fmt::format("{}p{:+}", static_cast<std::int64_t>(std::ldexp(fraction, digits)), exponent - digits);
}

// 'x': Go writes at least two digits of the exponent, and zero with the exponent zero.
std::string hexadecimal_form(double number, char form, std::int64_t precision) {
  char pattern[] = {'%', '.', '*', 'a', 0};
  char shortest_pattern[] = {'%', 'a', 0};
  std::string out(512, '\0');
  int places = static_cast<int>(std::min<std::int64_t>(precision, 400));
  int size = precision < 0 ? std::snprintf(out.data(), out.size(), shortest_pattern, number)
                           : std::snprintf(out.data(), out.size(), pattern, places, number);
  out.resize(static_cast<std::size_t>(std::max(size, 0)));
  std::size_t power = out.find('p');
  if (power != std::string::npos && out.size() - power == 3) out.insert(power + 2, "0");
  if (form == 'X')
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return out;
}

Value format_float(Calls& calls, Args args) {
  Value error;
  double number = to_double(calls, args[0], 0, error);
  if (error.is_bottom()) return error;
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
  if (bits != 32 && bits != 64) return calls.fail("strconv: illegal AppendFloat/FormatFloat bitSize");
  if (bits == 32) number = static_cast<double>(static_cast<float>(number));
  if (form == 'b') return calls.make_string(binary_exponent_form(number, bits == 32));
  if (form == 'x' || form == 'X') return calls.make_string(hexadecimal_form(number, form, precision));
  if (std::string_view("eEfgG").find(form) == std::string_view::npos) return calls.make_string(fmt::format("%{}", form));
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

bool is_shown(std::uint32_t code, Allow allow) {
  if (allow == Allow::Ascii) return code >= 0x20 && code < 0x7F;
  bool is_blank = is_space(code) && code >= 0xA0 && code != 0x2028 && code != 0x2029;
  return is_printable(code) || (allow == Allow::Graphic && is_blank);
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
  if (is_shown(code, allow)) {
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
  constexpr std::uint64_t kMostBytes = 12;  // \x00 to \U0001f600, while the text grows
  if (!calls.has_room(kMostBytes * text.size())) return calls.ended();
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

std::uint32_t rune_of(Calls& calls, const Value& value, Value& error) {
  std::int64_t code = to_int(calls, value, 0, "rune", INT32_MIN, INT32_MAX, error);
  return code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0xFFFD : static_cast<std::uint32_t>(code);
}
Value quoted_rune(Calls& calls, Args args, Allow allow) {
  Value error;
  std::string out = "'";
  append_escaped(out, {rune_of(calls, args[0], error), 1}, "", '\'', allow);
  return error.is_bottom() ? error : calls.make_string(out + "'");
}
Value quote_rune(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Printable); }
Value quote_rune_ascii(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Ascii); }
Value quote_rune_graphic(Calls& calls, Args args) { return quoted_rune(calls, args, Allow::Graphic); }

Value shown_rune(Calls& calls, Args args, Allow allow) {
  Value error;
  std::uint32_t code = rune_of(calls, args[0], error);
  bool is_fine = is_shown(code, allow) && (code != 0xFFFD || to_int(args[0]) == 0xFFFD);
  return error.is_bottom() ? error : Value::of(is_fine);
}
Value is_print(Calls& calls, Args args) { return shown_rune(calls, args, Allow::Printable); }
Value is_graphic(Calls& calls, Args args) { return shown_rune(calls, args, Allow::Graphic); }

// A literal of the language.
Value unquote_text(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  bool is_open = !text.empty() && (text.front() == '"' || text.front() == '\'' || text.front() == '#');
  if (!is_open) return calls.fail("invalid syntax");
  auto value = unquote(text);
  return value ? calls.make_string(value->value) : calls.fail(value.error().message);
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
    with_big({"strconv", "FormatInt", kTwoInts, kString, format_int}, 1),
    with_big({"strconv", "FormatUint", kTwoInts, kString, format_int}, 1),
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
}  // namespace strconv_package

std::span<const Builtin> strconv_rows() { return strconv_package::kRows; }

}  // namespace slipway::cue
