// Package net: addresses as texts or lists of bytes, names, and the escapes of URLs. Nothing is looked up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/count.h"
#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace net_package {
namespace {

using Args = std::span<const Value>;

/// An address of 4 or 16 bytes. `is_mapped`: an IPv4 address written as IPv6 (::ffff:1.2.3.4).
struct Address {
  std::array<std::uint8_t, 16> bytes{};
  bool is_v4 = false;
  std::string zone;

  std::size_t size() const { return is_v4 ? 4 : 16; }
  bool is_mapped() const {
    bool zeros = std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; });
    return !is_v4 && zeros && bytes[10] == 255 && bytes[11] == 255;
  }
};
struct Prefix {
  Address address;
  int bits = 0;
};

std::optional<Address> parse_v4(std::string_view text) {
  Address out;
  out.is_v4 = true;
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    if (size == 0 || size > 3 || (size > 1 && text[0] == '0')) return std::nullopt;
    int value = 0;
    for (char c : text.substr(0, size)) value = value * 10 + (c - '0');
    if (value > 255) return std::nullopt;
    out.bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(size);
    if (i < 3 && !text.starts_with('.')) return std::nullopt;
    if (i < 3) text.remove_prefix(1);
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

std::optional<Address> parse_v6(std::string_view text) {
  Address out;
  if (auto percent = text.find('%'); percent != std::string_view::npos) {
    out.zone = text.substr(percent + 1);
    if (out.zone.empty()) return std::nullopt;
    text = text.substr(0, percent);
  }
  std::size_t count = 0;
  std::size_t gap = 17;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    std::size_t size = std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size());
    if (size < text.size() && text[size] == '.') {
      auto tail = parse_v4(text);
      if (!tail || count > 12) return std::nullopt;
      std::copy_n(tail->bytes.begin(), 4, out.bytes.begin() + static_cast<std::ptrdiff_t>(count));
      count += 4;
      break;
    }
    if (size == 0 || size > 4 || count > 14) return std::nullopt;
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + size, value, 16);
    out.bytes[count++] = static_cast<std::uint8_t>(value >> 8);
    out.bytes[count++] = static_cast<std::uint8_t>(value);
    text.remove_prefix(size);
    if (text.empty()) break;
    if (!text.starts_with(':') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
    if (!text.starts_with(':')) continue;
    if (gap <= 16) return std::nullopt;
    gap = count;
    text.remove_prefix(1);
  }
  if (gap > 16) return count == 16 ? std::optional(out) : std::nullopt;
  if (count > 14) return std::nullopt;
  auto from = out.bytes.begin() + static_cast<std::ptrdiff_t>(gap);
  auto end = out.bytes.begin() + static_cast<std::ptrdiff_t>(count);
  std::rotate(from, end, out.bytes.end());
  std::fill(from, from + (16 - static_cast<std::ptrdiff_t>(count)), std::uint8_t{0});
  return out;
}

std::optional<Address> parse_text(std::string_view text) {
  return text.find(':') != std::string_view::npos ? parse_v6(text) : parse_v4(text);
}

std::string print(const Address& address) {
  const auto& b = address.bytes;
  if (address.is_v4) return fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
  std::string zone = address.zone.empty() ? "" : "%" + address.zone;
  if (address.is_mapped()) return fmt::format("::ffff:{}.{}.{}.{}{}", b[12], b[13], b[14], b[15], zone);
  // The longest run of at least two zero groups becomes "::".
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(b[2 * i] << 8 | b[2 * i + 1]);
  std::size_t best = 8;
  std::size_t best_size = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > best_size) {
      best = i;
      best_size = end - i;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += best_size - 1;
      continue;
    }
    if (!out.empty() && !out.ends_with(':')) out += ':';
    out += fmt::format("{:x}", groups[i]);
  }
  return out + zone;
}

// --- arguments

Value no_address(Calls& calls, std::string_view text) {
  return calls.fail(fmt::format("ParseAddr(\"{}\"): unable to parse IP", text));
}

/// A text, or a list of 4 or 16 bytes.
std::optional<Address> address_of(Calls& calls, const Value& value, Value& error) {
  if (value.tag == Value::Tag::String) {
    auto parsed = parse_text(value.str());
    if (!parsed) error = no_address(calls, value.str());
    return parsed;
  }
  if (value.tag == Value::Tag::Bytes && (value.size == 4 || value.size == 16)) {
    Address out;
    out.is_v4 = value.size == 4;
    for (std::size_t i = 0; i < value.size; ++i) out.bytes[i] = static_cast<std::uint8_t>(value.str()[i]);
    return out;
  }
  if (kinds_of(value) != kList) {
    error = calls.fail(fmt::format("invalid type {} for IP address", kind_name(value)));
    return std::nullopt;
  }
  std::vector<Value> items;
  if (!numbers_of(calls, value, items, error)) return std::nullopt;
  Address out;
  out.is_v4 = items.size() == 4;
  bool is_good = items.size() == 4 || items.size() == 16;
  for (std::size_t i = 0; is_good && i < items.size(); ++i) {
    std::int64_t byte = to_int(items[i]);
    is_good = !is_float(items[i]) && byte >= 0 && byte <= 255;
    out.bytes[i] = static_cast<std::uint8_t>(byte);
  }
  if (is_good) return out;
  error = calls.fail(fmt::format("invalid IP address {}", calls.show(value)));
  return std::nullopt;
}

std::optional<Prefix> prefix_of(Calls& calls, const Value& value, Value& error) {
  if (value.tag != Value::Tag::String) {
    error = calls.fail(fmt::format("invalid type {} for IP CIDR", kind_name(value)));
    return std::nullopt;
  }
  std::string_view text = value.str();
  std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) {
    error = calls.fail(fmt::format("netip.ParsePrefix(\"{}\"): no '/'", text));
    return std::nullopt;
  }
  auto address = parse_text(text.substr(0, slash));
  std::string_view digits = text.substr(slash + 1);
  bool are_digits = !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string_view::npos &&
                    (digits.size() == 1 || digits[0] != '0');
  if (!address || !address->zone.empty()) {
    error = calls.fail(
        fmt::format("netip.ParsePrefix(\"{}\"): ParseAddr(\"{}\"): unable to parse IP", text, text.substr(0, slash)));
    return std::nullopt;
  }
  int bits = are_digits ? static_cast<int>(leading_count(digits)) : -1;
  if (bits >= 0 && bits <= static_cast<int>(address->size() * 8)) return Prefix{*address, bits};
  // As upstream has it, only bits that are no number are repeated.
  error = calls.fail(bits < 0 ? fmt::format("netip.ParsePrefix(\"{}\"): bad bits after slash: \"{}\"", text, digits)
                              : fmt::format("netip.ParsePrefix(\"{}\"): prefix length out of range", text));
  return std::nullopt;
}

bool mask_bit(std::size_t index, int bits) { return index < static_cast<std::size_t>(bits); }

Address masked(const Prefix& prefix, bool fills_rest) {
  Address out = prefix.address;
  for (std::size_t i = 0; i < out.size() * 8; ++i) {
    if (mask_bit(i, prefix.bits)) continue;
    auto bit = static_cast<std::uint8_t>(1u << (7 - i % 8));
    out.bytes[i / 8] = static_cast<std::uint8_t>(fills_rest ? out.bytes[i / 8] | bit : out.bytes[i / 8] & ~bit);
  }
  return out;
}

Value bytes_of(Calls& calls, std::span<const std::uint8_t> bytes) {
  std::vector<Value> items;
  for (std::uint8_t byte : bytes) items.push_back(Value::of_int(byte));
  return calls.make_list(items);
}

// --- addresses

template <bool (*judge)(const Address&)>
Value judged(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  return Value::of(address && judge(*address));
}

/// The four bytes where there are four, also in a mapped address.
const std::uint8_t* v4_bytes(const Address& a) {
  return a.is_v4 ? a.bytes.data() : a.is_mapped() ? a.bytes.data() + 12 : nullptr;
}

bool any_address(const Address&) { return true; }
bool is_v4(const Address& a) { return a.is_v4; }
bool is_v6(const Address& a) { return !a.is_v4; }
bool is_unspecified(const Address& a) {
  return std::all_of(a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(a.size()),
                     [](std::uint8_t b) { return b == 0; });
}
bool is_loopback(const Address& a) {
  if (const std::uint8_t* v4 = v4_bytes(a)) return v4[0] == 127;
  return std::all_of(a.bytes.begin(), a.bytes.begin() + 15, [](std::uint8_t b) { return b == 0; }) && a.bytes[15] == 1;
}
bool is_multicast(const Address& a) {
  const std::uint8_t* v4 = v4_bytes(a);
  return v4 != nullptr ? (v4[0] & 0xF0) == 0xE0 : a.bytes[0] == 0xFF;
}
bool is_interface_multicast(const Address& a) {
  return v4_bytes(a) == nullptr && a.bytes[0] == 0xFF && (a.bytes[1] & 0x0F) == 1;
}
bool is_link_multicast(const Address& a) {
  const std::uint8_t* v4 = v4_bytes(a);
  return v4 != nullptr ? v4[0] == 224 && v4[1] == 0 && v4[2] == 0 : a.bytes[0] == 0xFF && (a.bytes[1] & 0x0F) == 2;
}
bool is_link_unicast(const Address& a) {
  const std::uint8_t* v4 = v4_bytes(a);
  return v4 != nullptr ? v4[0] == 169 && v4[1] == 254 : a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0) == 0x80;
}
bool is_global_unicast(const Address& a) {
  const std::uint8_t* v4 = v4_bytes(a);
  bool is_broadcast = v4 != nullptr && v4[0] == 255 && v4[1] == 255 && v4[2] == 255 && v4[3] == 255;
  return !is_broadcast && !is_unspecified(a) && !is_loopback(a) && !is_multicast(a) && !is_link_unicast(a);
}

Value is_cidr(Calls& calls, Args args) {
  Value error;
  return prefix_of(calls, args[0], error) ? Value::of(true) : error;
}

Value in_cidr(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  auto prefix = address ? prefix_of(calls, args[1], error) : std::nullopt;
  if (!prefix) return error;
  if (address->is_v4 != prefix->address.is_v4) return Value::of(false);
  return Value::of(masked({*address, prefix->bits}, false).bytes == masked(*prefix, false).bytes);
}

Value parse_ip(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  return address ? bytes_of(calls, std::span(address->bytes).first(address->size())) : error;
}

Value parse_cidr(Calls& calls, Args args) {
  Value error;
  auto prefix = prefix_of(calls, args[0], error);
  if (!prefix) return error;
  Address mask;
  mask.is_v4 = prefix->address.is_v4;
  std::fill(mask.bytes.begin(), mask.bytes.end(), std::uint8_t{255});
  std::vector<Calls::Member> members = {{"prefix_mask", calls.make_string(print(masked({mask, prefix->bits}, false)))},
                                        {"prefix_len", Value::of_int(prefix->bits)},
                                        {"prefix_addr", calls.make_string(print(masked(*prefix, false)))}};
  if (mask.is_v4) members.push_back({"broadcast_addr", calls.make_string(print(masked(*prefix, true)))});
  return calls.make_struct(members);
}

Value to_ip4(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  if (!address) return error;
  const std::uint8_t* v4 = v4_bytes(*address);
  return v4 != nullptr && !address->is_mapped() ? bytes_of(calls, {v4, 4})
                                                : calls.fail(fmt::format("cannot convert {} to IPv4", calls.show(args[0])));
}

Value to_ip16(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  if (!address) return error;
  if (!address->is_v4) return bytes_of(calls, address->bytes);
  std::array<std::uint8_t, 16> wide{};
  wide[10] = wide[11] = 255;
  std::copy_n(address->bytes.begin(), 4, wide.begin() + 12);
  return bytes_of(calls, wide);
}

Value ip_string(Calls& calls, Args args) {
  Value error;
  auto address = address_of(calls, args[0], error);
  return address ? calls.make_string(print(*address)) : error;
}

Value compare_ip(Calls& calls, Args args) {
  Value error;
  auto a = address_of(calls, args[0], error);
  auto b = a ? address_of(calls, args[1], error) : std::nullopt;
  if (!b) return error;
  if (a->is_v4 != b->is_v4) return Value::of_int(a->is_v4 ? -1 : 1);
  return Value::of_int(a->bytes < b->bytes ? -1 : a->bytes > b->bytes ? 1 : 0);
}

/// The number of the highest `bits` bits of the address, `by` added; false when it runs out of them.
bool add_to(Address& address, std::int64_t by, int bits, std::string& why) {
  __int128 carry = by;
  int shift = static_cast<int>(address.size()) * 8 - bits;
  auto unit = static_cast<std::size_t>(shift);
  // Bit by bit from the lowest that takes part.
  for (std::size_t i = unit; i < address.size() * 8; ++i) {
    std::size_t byte = address.size() - 1 - i / 8;
    auto mask = static_cast<std::uint8_t>(1u << (i % 8));
    __int128 sum = carry + ((address.bytes[byte] & mask) != 0 ? 1 : 0);
    bool bit = (sum & 1) != 0;
    address.bytes[byte] = static_cast<std::uint8_t>(bit ? address.bytes[byte] | mask : address.bytes[byte] & ~mask);
    carry = (sum - (bit ? 1 : 0)) / 2;
  }
  if (carry == 0) return true;
  why = fmt::format("IP address arithmetic resulted in out-of-range address ({})", carry < 0 ? "underflow" : "overflow");
  return false;
}

Value add_ip(Calls& calls, Args args) {
  Value error;
  std::string why;
  if (args[0].tag == Value::Tag::String && args[0].str().find('/') != std::string_view::npos) {
    auto prefix = prefix_of(calls, args[0], error);
    if (!prefix) return error;
    if (!add_to(prefix->address, to_int(args[1]), static_cast<int>(prefix->address.size()) * 8, why)) return calls.fail(why);
    return calls.make_string(fmt::format("{}/{}", print(prefix->address), prefix->bits));
  }
  auto address = address_of(calls, args[0], error);
  if (!address) return error;
  if (!add_to(*address, to_int(args[1]), static_cast<int>(address->size()) * 8, why)) return calls.fail(why);
  return calls.make_string(print(*address));
}

Value add_ip_cidr(Calls& calls, Args args) {
  Value error;
  std::string why;
  auto prefix = prefix_of(calls, args[0], error);
  if (!prefix) return error;
  if (!add_to(prefix->address, to_int(args[1]), prefix->bits, why)) return calls.fail(why);
  return calls.make_string(fmt::format("{}/{}", print(prefix->address), prefix->bits));
}

// --- hosts

Value split_host_port(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  auto wrong = [&](std::string_view why) { return calls.fail(fmt::format("address {}: {}", text, why)); };
  std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("missing port in address");
  std::string host(text.substr(0, colon));
  if (text.starts_with('[')) {
    std::size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("missing ']' in address");
    if (end + 1 == text.size()) return wrong("missing port in address");
    if (end + 1 != colon) return wrong(text[end + 1] == ':' ? "too many colons in address" : "missing port in address");
    host = text.substr(1, end - 1);
  } else if (host.find(':') != std::string::npos) {
    return wrong("too many colons in address");
  }
  if (host.find_first_of("[]") != std::string::npos) return wrong("unexpected '[' or ']' in address");
  return make_texts(calls, std::vector<std::string>{host, std::string(text.substr(colon + 1))});
}

Value join_host_port(Calls& calls, Args args) {
  std::string host;
  if (args[0].tag == Value::Tag::String || args[0].tag == Value::Tag::Bytes) {
    host = args[0].str();
  } else {
    Value error;
    auto address = address_of(calls, args[0], error);
    if (!address) return calls.fail(fmt::format("invalid host {}", calls.show(args[0])));
    host = print(*address);
  }
  if (args[1].tag == Value::Tag::Number) return calls.fail("value was rounded down");
  std::string port = args[1].tag == Value::Tag::Int ? std::to_string(args[1].integer) : std::string(args[1].str());
  bool needs_brackets = host.find(':') != std::string::npos || host.find('%') != std::string::npos;
  return calls.make_string((needs_brackets ? "[" + host + "]" : host) + ":" + port);
}

Value fqdn(Calls&, Args args) {
  std::string_view text = args[0].str();
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 253) return Value::of(false);
  while (true) {
    std::size_t size = std::min(text.find('.'), text.size());
    std::string_view label = text.substr(0, size);
    bool is_good = !label.empty() && label.size() <= 63 && !label.starts_with('-') && !label.ends_with('-') &&
                   label.substr(std::min<std::size_t>(label.size(), 2), 2) != "--";
    for (char c : label) {
      auto byte = static_cast<unsigned char>(c);
      is_good = is_good && (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-');
    }
    if (!is_good) return Value::of(false);
    if (size == text.size()) return Value::of(true);
    text.remove_prefix(size + 1);
  }
}

// --- URLs

enum class Where : std::uint8_t { Path, Query };

Value escaped(Calls& calls, std::string_view text, Where where) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool is_plain = std::isalnum(byte) != 0 || std::string_view("-_.~").find(c) != std::string_view::npos ||
                    (where == Where::Path && std::string_view("$&+=:@").find(c) != std::string_view::npos);
    if (byte < 0x80 && is_plain)
      out += c;
    else if (c == ' ' && where == Where::Query)
      out += '+';
    else
      out += fmt::format("%{:02X}", byte);
  }
  return calls.make_string(out);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The first "%" that no two hexadecimal digits follow, with what follows; empty when there is none.
std::string bad_escape(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    bool is_good = i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
    if (!is_good) return std::string(text.substr(i, 3));
  }
  return "";
}

Value unescaped(Calls& calls, std::string_view text, Where where) {
  if (std::string bad = bad_escape(text); !bad.empty()) return calls.fail(fmt::format("invalid URL escape \"{}\"", bad));
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' && where == Where::Query ? ' ' : text[i];
    }
  }
  return calls.make_string(out);
}
Value path_escape(Calls& calls, Args args) { return escaped(calls, args[0].str(), Where::Path); }
Value path_unescape(Calls& calls, Args args) { return unescaped(calls, args[0].str(), Where::Path); }
Value query_escape(Calls& calls, Args args) { return escaped(calls, args[0].str(), Where::Query); }
Value query_unescape(Calls& calls, Args args) { return unescaped(calls, args[0].str(), Where::Query); }

/// What is wrong with a URL, as Go's url.Parse tells it; empty when nothing is. `has_scheme` tells whether it is absolute.
std::string url_error(std::string_view text, bool& has_scheme) {
  std::string_view before_fragment = text.substr(0, text.find('#'));
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "net/url: invalid control character in URL";
  }
  std::size_t scheme = 0;
  has_scheme = false;
  for (; scheme < before_fragment.size(); ++scheme) {
    char c = before_fragment[scheme];
    bool is_letter_byte = std::isalpha(static_cast<unsigned char>(c)) != 0;
    bool is_other = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
    if (c == ':') {
      if (scheme == 0) return "missing protocol scheme";
      has_scheme = true;
      break;
    }
    if (!is_letter_byte && !(is_other && scheme > 0)) break;
  }
  std::string_view rest = has_scheme ? before_fragment.substr(scheme + 1) : before_fragment;
  rest = rest.substr(0, rest.find('?'));
  std::string_view host;
  if (rest.starts_with("//")) {
    std::size_t end = std::min(rest.find('/', 2), rest.size());
    host = rest.substr(2, end - 2);
    rest = rest.substr(end);
  } else if (!has_scheme && rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
    return "first path segment in URL cannot contain colon";
  }
  if (std::string bad = bad_escape(rest); !bad.empty()) return fmt::format("invalid URL escape \"{}\"", bad);
  if (auto at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (host.find_first_of(" <>\"{}|\\^`") != std::string_view::npos) return "invalid character in host name";
  std::size_t colon = host.starts_with('[') ? host.find(':', std::min(host.find(']'), host.size())) : host.rfind(':');
  if (host.starts_with('[') && host.find(']') == std::string_view::npos) return "missing ']' in host";
  if (colon != std::string_view::npos && host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
    return fmt::format("invalid port \"{}\" after host", host.substr(colon));
  return "";
}

Value url(Calls& calls, Args args) {
  bool has_scheme = false;
  std::string why = url_error(args[0].str(), has_scheme);
  return why.empty() ? Value::of(true) : calls.fail(fmt::format("parse {}: {}", calls.show(args[0]), why));
}
Value absolute_url(Calls& calls, Args args) {
  bool has_scheme = false;
  std::string why = url_error(args[0].str(), has_scheme);
  if (!why.empty()) return calls.fail(fmt::format("parse {}: {}", calls.show(args[0]), why));
  return has_scheme ? Value::of(true) : calls.fail("URL is not absolute");
}

constexpr auto& kAny = kParams<kTop>;
constexpr auto& kText = kParams<kString>;
constexpr auto& kAnyInt = kParams<kTop, kInt>;

constexpr Builtin validator(std::string_view name, Value (*call)(Calls&, Args)) {
  return {"net", name, kAny, kBool, call, false, true};
}

constexpr Builtin kRows[] = {
    validator("IP", judged<any_address>),
    validator("IPv4", judged<is_v4>),
    validator("IPv6", judged<is_v6>),
    validator("LoopbackIP", judged<is_loopback>),
    validator("MulticastIP", judged<is_multicast>),
    validator("InterfaceLocalMulticastIP", judged<is_interface_multicast>),
    validator("LinkLocalMulticastIP", judged<is_link_multicast>),
    validator("LinkLocalUnicastIP", judged<is_link_unicast>),
    validator("GlobalUnicastIP", judged<is_global_unicast>),
    validator("UnspecifiedIP", judged<is_unspecified>),
    validator("IPCIDR", is_cidr),
    {"net", "InCIDR", kParams<kTop, kString>, kBool, in_cidr, false, true},
    {"net", "ParseIP", kText, kList, parse_ip},
    {"net", "ParseCIDR", kText, kStruct, parse_cidr},
    {"net", "ToIP4", kAny, kList, to_ip4},
    {"net", "ToIP16", kAny, kList, to_ip16},
    {"net", "IPString", kAny, kString, ip_string},
    {"net", "CompareIP", kParams<kTop, kTop>, kInt, compare_ip},
    with_big({"net", "AddIP", kAnyInt, kString, add_ip}, 2),
    with_big({"net", "AddIPCIDR", kAnyInt, kString, add_ip_cidr}, 2),
    {"net", "SplitHostPort", kText, kList, split_host_port},
    {"net", "JoinHostPort", kParams<kString | kBytes | kList, kInt | kString | kBytes>, kString, join_host_port},
    {"net", "FQDN", kText, kBool, fqdn, false, true},
    {"net", "PathEscape", kText, kString, path_escape},
    {"net", "PathUnescape", kText, kString, path_unescape},
    {"net", "QueryEscape", kText, kString, query_escape},
    {"net", "QueryUnescape", kText, kString, query_unescape},
    {"net", "URL", kText, kBool, url, false, true},
    {"net", "AbsURL", kText, kBool, absolute_url, false, true},
    {"net", "IPv4len", {}, kInt, nullptr, false, false, "4"},
    {"net", "IPv6len", {}, kInt, nullptr, false, false, "16"},
};

}  // namespace
}  // namespace net_package

std::span<const Builtin> net_rows() { return net_package::kRows; }

}  // namespace slipway::cue
