// Conversions between types, type() and dyn() (cel-spec, "Type conversions").
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "cel/library.h"
#include "cel/time_text.h"

namespace slipway::cel {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

Value same(const Call& call) { return call[0]; }
Value type_of_value(const Call& call) { return make_type(runtime_type(call[0])); }

Value int_of_uint(const Call& call) {
  return call[0].natural > INT64_MAX ? make_error("integer overflow") : make_int(static_cast<std::int64_t>(call[0].natural));
}
Value int_of_double(const Call& call) {
  const double value = call[0].real;
  if (!(value > -kTwoTo63 && value < kTwoTo63)) return make_error("integer overflow");
  return make_int(static_cast<std::int64_t>(value));
}
Value int_of_string(const Call& call) {
  std::string_view text = call[0].text();
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return make_error(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  return make_int(value);
}
Value int_of_time(const Call& call) { return make_int(call[0].integer); }

Value uint_of_int(const Call& call) {
  return call[0].integer < 0 ? make_error("unsigned integer overflow") : make_uint(static_cast<std::uint64_t>(call[0].integer));
}
Value uint_of_double(const Call& call) {
  const double value = call[0].real;
  if (!(value > -1 && value < 2 * kTwoTo63) || value < 0) return make_error("unsigned integer overflow");
  return make_uint(static_cast<std::uint64_t>(value));
}
Value uint_of_string(const Call& call) {
  const std::string_view text = call[0].text();
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return make_error(fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", text));
  return make_uint(value);
}

Value double_of_int(const Call& call) { return make_double(static_cast<double>(call[0].integer)); }
Value double_of_uint(const Call& call) { return make_double(static_cast<double>(call[0].natural)); }
Value double_of_string(const Call& call) {
  const std::string text(call[0].text());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || text.front() == ' ' || end != text.c_str() + text.size())
    return make_error(fmt::format("strconv.ParseFloat: parsing \"{}\": invalid syntax", text));
  return make_double(value);
}

Value string_of_int(const Call& call) { return make_string(fmt::format("{}", call[0].integer)); }
Value string_of_uint(const Call& call) { return make_string(fmt::format("{}", call[0].natural)); }
Value string_of_bool(const Call& call) { return make_string(call[0].truth ? "true" : "false"); }
/// Go's 'g' with the fewest digits: exponents below -4 and from 21 on.
Value string_of_double(const Call& call) {
  const double value = call[0].real;
  if (std::isnan(value)) return make_string("NaN");
  if (std::isinf(value)) return make_string(value < 0 ? "-Inf" : "+Inf");
  const double size = std::abs(value);
  char text[64];
  const bool is_short = size == 0 || (size >= 1e-4 && size < 1e21);
  const auto format = is_short ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, code] = std::to_chars(text, text + sizeof text, value, format);
  return make_string(std::string_view(text, static_cast<std::size_t>(end - text)));
}
bool is_utf8(std::string_view text) {
  for (const std::string_view one : characters(text)) {
    if (one.size() == 1 && static_cast<unsigned char>(one[0]) >= 0x80) return false;
  }
  return true;
}
Value string_of_bytes(const Call& call) {
  if (!is_utf8(call[0].text())) return make_error("invalid UTF-8 in bytes, cannot convert to string");
  return make_string(call[0].text());
}
Value string_of_timestamp(const Call& call) { return make_string(print_timestamp({call[0].integer, call[0].nanos})); }
Value string_of_duration(const Call& call) { return make_string(print_duration(call[0].integer)); }
Value bytes_of_string(const Call& call) { return make_bytes(call[0].text()); }

Value bool_of_string(const Call& call) {
  const std::string_view text = call[0].text();
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return make_bool(true);
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return make_bool(false);
  }
  return make_error(fmt::format("strconv.ParseBool: parsing \"{}\": invalid syntax", text));
}

Value timestamp_of_string(const Call& call) {
  const auto time = call[0].text().size() > 10 ? parse_timestamp(call[0].text()) : std::nullopt;
  if (!time)
    return make_error(fmt::format("parsing time \"{}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse", call[0].text()));
  return make_timestamp(time->seconds, time->nanos);
}
Value timestamp_of_int(const Call& call) {
  if (call[0].integer < kFirstSecond || call[0].integer > kLastSecond) return make_error("timestamp overflow");
  return make_timestamp(call[0].integer, 0);
}
Value duration_of_string(const Call& call) {
  const auto nanos = parse_go_duration(call[0].text());
  return nanos ? make_duration(*nanos) : make_error(fmt::format("time: invalid duration \"{}\"", call[0].text()));
}
Value duration_of_int(const Call& call) {
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(call[0].integer, std::int64_t{1'000'000'000}, &nanos)) return make_error("duration overflow");
  return make_duration(nanos);
}

constexpr Row kConversionRows[] = {
    {"type", "(A) -> type(A)", type_of_value},
    {"dyn", "(A) -> dyn", same},
    {"int", "(int) -> int", same},
    {"int", "(uint) -> int", int_of_uint},
    {"int", "(double) -> int", int_of_double},
    {"int", "(string) -> int", int_of_string},
    {"int", "(timestamp) -> int", int_of_time},
    {"uint", "(uint) -> uint", same},
    {"uint", "(int) -> uint", uint_of_int},
    {"uint", "(double) -> uint", uint_of_double},
    {"uint", "(string) -> uint", uint_of_string},
    {"double", "(double) -> double", same},
    {"double", "(int) -> double", double_of_int},
    {"double", "(uint) -> double", double_of_uint},
    {"double", "(string) -> double", double_of_string},
    {"string", "(string) -> string", same},
    {"string", "(int) -> string", string_of_int},
    {"string", "(uint) -> string", string_of_uint},
    {"string", "(double) -> string", string_of_double},
    {"string", "(bool) -> string", string_of_bool},
    {"string", "(bytes) -> string", string_of_bytes},
    {"string", "(timestamp) -> string", string_of_timestamp},
    {"string", "(duration) -> string", string_of_duration},
    {"bytes", "(bytes) -> bytes", same},
    {"bytes", "(string) -> bytes", bytes_of_string},
    {"bool", "(bool) -> bool", same},
    {"bool", "(string) -> bool", bool_of_string},
    {"timestamp", "(timestamp) -> timestamp", same},
    {"timestamp", "(string) -> timestamp", timestamp_of_string},
    {"timestamp", "(int) -> timestamp", timestamp_of_int},
    {"duration", "(duration) -> duration", same},
    {"duration", "(string) -> duration", duration_of_string},
    {"duration", "(int) -> duration", duration_of_int},
};

}  // namespace

std::span<const Row> conversion_rows() { return kConversionRows; }

}  // namespace slipway::cel
