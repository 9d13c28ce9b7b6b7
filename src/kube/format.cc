#include "kube/format.h"

#include <arpa/inet.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.h"
#include "base/time.h"
#include "kube/names.h"

namespace slipway::kube {
namespace {

bool is_ip(std::string_view text, int family) {
  std::array<unsigned char, 16> address;
  // Zone suffixes and embedded NULs are no part of an address.
  return text.size() < INET6_ADDRSTRLEN && text.find('\0') == std::string_view::npos &&
         inet_pton(family, std::string(text).c_str(), address.data()) == 1;
}
bool is_ipv4(std::string_view text) { return is_ip(text, AF_INET); }
bool is_ipv6(std::string_view text) { return is_ip(text, AF_INET6); }

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view bits = text.substr(slash + 1);
  int size = -1;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), size);
  if (error != std::errc() || end != bits.data() + bits.size() || size < 0) return false;
  return (is_ipv4(text.substr(0, slash)) && size <= 32) || (is_ipv6(text.substr(0, slash)) && size <= 128);
}

bool is_mac(std::string_view text) {
  static const RE2 kPattern(
      R"((?i)(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{2}(?::[0-9a-f]{2}){7}|[0-9a-f]{2}(?:-[0-9a-f]{2}){7}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){3}))");
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), kPattern);
}

bool matches(const RE2& pattern, std::string_view text) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool is_uri(std::string_view text) {
  // As Go's url.ParseRequestURI: an absolute path, or a scheme with something after it.
  static const RE2 kPattern(R"((?:/|[A-Za-z][A-Za-z0-9+.-]*:)[^\x00-\x20\x7f]*)");
  return matches(kPattern, text);
}

bool is_email(std::string_view text) {
  static const RE2 kPattern(R"([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)");
  return matches(kPattern, text) && text.find("..") == std::string_view::npos && !text.starts_with('.') &&
         text.find(".@") == std::string_view::npos;
}

/// Labels of letters, digits and inner hyphens; letters beyond ASCII are taken as they are (RFC 1123, internationalised).
bool is_hostname(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 255) return false;
  const auto is_letter = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  };
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    if (!std::ranges::all_of(label, [&](char c) { return is_letter(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_uuid(std::string_view text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  return matches(kPattern, text);
}
bool is_uuid3(std::string_view text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  return matches(kPattern, text);
}
bool is_uuid4(std::string_view text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}");
  return matches(kPattern, text);
}
bool is_uuid5(std::string_view text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}");
  return matches(kPattern, text);
}

std::string without_separators(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '-' && c != ' ') out += c;
  }
  return out;
}

bool is_isbn10(std::string_view text) {
  const std::string digits = without_separators(text);
  if (digits.size() != 10) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const char c = digits[static_cast<std::size_t>(i)];
    if (!is_digit(c) && !(i == 9 && (c == 'X' || c == 'x'))) return false;
    sum += (10 - i) * (is_digit(c) ? c - '0' : 10);
  }
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view text) {
  const std::string digits = without_separators(text);
  if (digits.size() != 13 || !std::ranges::all_of(digits, is_digit)) return false;
  int sum = 0;
  for (int i = 0; i < 13; ++i) sum += (digits[static_cast<std::size_t>(i)] - '0') * (i % 2 == 0 ? 1 : 3);
  return sum % 10 == 0;
}

bool is_isbn(std::string_view text) { return is_isbn10(text) || is_isbn13(text); }

/// The Luhn sum over 13 to 19 digits.
bool is_credit_card(std::string_view text) {
  const std::string digits = without_separators(text);
  if (digits.size() < 13 || digits.size() > 19 || !std::ranges::all_of(digits, is_digit)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

bool is_ssn(std::string_view text) {
  static const RE2 kPattern(R"([0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4})");
  return matches(kPattern, text);
}

bool is_hex_color(std::string_view text) {
  static const RE2 kPattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})");
  return matches(kPattern, text);
}

bool is_rgb_color(std::string_view text) {
  static const RE2 kPattern(
      R"(rgb\(\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*,\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*,\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*\))");
  return matches(kPattern, text);
}

bool is_object_id(std::string_view text) {
  static const RE2 kPattern("[0-9a-fA-F]{24}");
  return matches(kPattern, text);
}

bool is_base64(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    if (c != '\n' && c != '\r') bare += c;
  }
  if (bare.size() % 4 != 0) return false;
  const std::size_t padding = bare.ends_with("==") ? 2 : bare.ends_with("=") ? 1 : 0;
  return std::ranges::all_of(std::string_view(bare).substr(0, bare.size() - padding), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
  });
}

bool is_date_time(std::string_view text) { return parse_rfc3339(text).has_value(); }
bool is_date(std::string_view text) { return text.size() == 10 && is_date_time(std::string(text) + "T00:00:00Z"); }

bool is_duration(std::string_view text) {
  static const RE2 kWords(
      R"((?i)(?:\d+\s*(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\s*)+)");
  return parse_duration(text).has_value() || matches(kWords, text);
}

bool is_anything(std::string_view) { return true; }
bool is_short_name(std::string_view text) { return dns1123_label_faults(text).empty(); }
bool is_long_name(std::string_view text) { return dns1123_subdomain_faults(text).empty(); }

struct Row {
  std::string_view name;
  bool (*holds)(std::string_view text);
};
constexpr std::array kFormats{
    Row{"bsonobjectid", is_object_id},
    Row{"uri", is_uri},
    Row{"email", is_email},
    Row{"hostname", is_hostname},
    Row{"ipv4", is_ipv4},
    Row{"ipv6", is_ipv6},
    Row{"cidr", is_cidr},
    Row{"mac", is_mac},
    Row{"uuid", is_uuid},
    Row{"uuid3", is_uuid3},
    Row{"uuid4", is_uuid4},
    Row{"uuid5", is_uuid5},
    Row{"isbn", is_isbn},
    Row{"isbn10", is_isbn10},
    Row{"isbn13", is_isbn13},
    Row{"creditcard", is_credit_card},
    Row{"ssn", is_ssn},
    Row{"hexcolor", is_hex_color},
    Row{"rgbcolor", is_rgb_color},
    Row{"byte", is_base64},
    Row{"password", is_anything},
    Row{"date", is_date},
    Row{"duration", is_duration},
    Row{"datetime", is_date_time},
    Row{"date-time", is_date_time},
    Row{"k8s-short-name", is_short_name},
    Row{"k8s-long-name", is_long_name},
    Row{"int32", is_anything},
    Row{"int64", is_anything},
    Row{"float", is_anything},
    Row{"double", is_anything},
};

}  // namespace

bool is_known_format(std::string_view format) {
  return std::ranges::any_of(kFormats, [&](const Row& row) { return row.name == format; });
}

bool has_format(std::string_view format, std::string_view text) {
  const auto row = std::ranges::find(kFormats, format, &Row::name);
  return row == kFormats.end() || row->holds(text);
}

}  // namespace slipway::kube
