// Package uuid: RFC 4122 texts.
#include <openssl/evp.h>

#include <fmt/format.h>

#include "cue/number/integer.h"
#include "cue/std/packages.h"

namespace slipway::cue {
namespace uuid_package {
namespace {

using Args = std::span<const Value>;

// 32 hexadecimal digits of the canonical form, of one in braces, after "urn:uuid:", or without dashes; empty when it is none.
std::string digits_of(std::string_view text) {
  if (text.size() == 45 && text.starts_with("urn:uuid:")) text.remove_prefix(9);
  if (text.size() == 38 && text.front() == '{' && text.back() == '}') text = text.substr(1, 36);
  std::string digits;
  bool has_dashes = text.size() == 36;
  if (!has_dashes && text.size() != 32) return {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_dash = has_dashes && (i == 8 || i == 13 || i == 18 || i == 23);
    char c = text[i];
    bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (is_dash ? c != '-' : !is_digit) return {};
    if (!is_dash) digits += static_cast<char>(c >= 'A' && c <= 'F' ? c | 0x20 : c);
  }
  return digits;
}

std::string canonical(const std::string& d) {
  return d.substr(0, 8) + "-" + d.substr(8, 4) + "-" + d.substr(12, 4) + "-" + d.substr(16, 4) + "-" + d.substr(20);
}

int digit_value(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

Value invalid(Calls& calls, const Value& text) {
  if (text.size != 36 && text.size != 32 && text.size != 38 && text.size != 45)
    return calls.fail(fmt::format("invalid UUID length: {}", text.size));
  return calls.fail("invalid UUID format");
}

Value valid(Calls& calls, Args args) { return digits_of(args[0].str()).empty() ? invalid(calls, args[0]) : Value::of(true); }

Value parse(Calls& calls, Args args) {
  std::string digits = digits_of(args[0].str());
  return digits.empty() ? invalid(calls, args[0]) : calls.make_string(canonical(digits));
}

Value urn(Calls& calls, Args args) {
  std::string digits = digits_of(args[0].str());
  return digits.empty() ? invalid(calls, args[0]) : calls.make_string("urn:uuid:" + canonical(digits));
}

Value from_int(Calls& calls, Args args) {
  Integer number = to_integer(to_decimal(args[0]));
  if (number.is_negative || number.bit_count() > 128) return calls.fail("integer out of range");
  std::string digits = print_integer(number, 16);
  return calls.make_string(canonical(std::string(32 - digits.size(), '0') + digits));
}

Value to_integer_value(Calls& calls, Args args) {
  std::string digits = digits_of(args[0].str());
  if (digits.empty()) return invalid(calls, args[0]);
  return calls.make_number(to_decimal(*parse_integer(digits, 16)), false);
}

Value variant(Calls& calls, Args args) {
  std::string digits = digits_of(args[0].str());
  if (digits.empty()) return invalid(calls, args[0]);
  int bits = digit_value(digits[16]);
  return Value::of_int(bits < 8 ? 2 : bits < 12 ? 1 : bits < 14 ? 3 : 4);
}

Value version(Calls& calls, Args args) {
  std::string digits = digits_of(args[0].str());
  return digits.empty() ? invalid(calls, args[0]) : Value::of_int(digit_value(digits[12]));
}

Value from_name(Calls& calls, Args args, const EVP_MD* kind, int number) {
  std::string space = digits_of(args[0].str());
  if (space.empty()) return invalid(calls, args[0]);
  std::string bytes;
  for (std::size_t i = 0; i < 32; i += 2) bytes += static_cast<char>(digit_value(space[i]) * 16 + digit_value(space[i + 1]));
  bytes += args[1].str();
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash, &size, kind, nullptr) != 1) return calls.fail("digest is not available");
  hash[6] = static_cast<unsigned char>((hash[6] & 0x0F) | number << 4);
  hash[8] = static_cast<unsigned char>((hash[8] & 0x3F) | 0x80);
  std::string digits;
  for (int i = 0; i < 16; ++i) digits += fmt::format("{:02x}", hash[i]);
  return calls.make_string(canonical(digits));
}
Value md5(Calls& calls, Args args) { return from_name(calls, args, EVP_md5(), 3); }
Value sha1(Calls& calls, Args args) { return from_name(calls, args, EVP_sha1(), 5); }

constexpr auto& kText = kParams<kString>;
constexpr auto &kNamed = kParams < kString, kString | kBytes > ;

constexpr Builtin kRows[] = {
    {"uuid", "Valid", kText, 0, valid, false, true},
    {"uuid", "Parse", kText, kString, parse},
    {"uuid", "URN", kText, kString, urn},
    with_big({"uuid", "FromInt", kParams<kInt>, kString, from_int}, 1),
    {"uuid", "ToInt", kText, kInt, to_integer_value},
    {"uuid", "Variant", kText, kInt, variant},
    {"uuid", "Version", kText, kInt, version},
    {"uuid", "SHA1", kNamed, kString, sha1},
    {"uuid", "MD5", kNamed, kString, md5},
    {"uuid",
     "ns",
     {},
     kStruct,
     nullptr,
     false,
     false,
     "{DNS: \"6ba7b810-9dad-11d1-80b4-00c04fd430c8\", URL: \"6ba7b811-9dad-11d1-80b4-00c04fd430c8\", OID: "
     "\"6ba7b812-9dad-11d1-80b4-00c04fd430c8\", X500: \"6ba7b814-9dad-11d1-80b4-00c04fd430c8\", Nil: "
     "\"00000000-0000-0000-0000-000000000000\"}"},
};

}  // namespace
}  // namespace uuid_package

std::span<const Builtin> uuid_rows() { return uuid_package::kRows; }

}  // namespace slipway::cue
