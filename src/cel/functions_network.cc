// Kubernetes' ip, cidr and url libraries (k8s.io/apiserver/pkg/cel/library).
#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "cel/library.h"
#include "cel/url.h"

namespace slipway::cel {
namespace {

constexpr std::string_view kIp = "net.IP";
constexpr std::string_view kCidr = "net.CIDR";
constexpr std::string_view kUrl = "kubernetes.URL";

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  int bits = 32;  // 32 or 128
  bool operator==(const Address&) const = default;
};

std::expected<Address, std::string> parse_address(std::string_view text) {
  const std::string whole(text);
  Address out;
  if (whole.find('%') != std::string::npos)
    return std::unexpected(fmt::format("IP address \"{}\" with zone value is not allowed", text));
  if (inet_pton(AF_INET, whole.c_str(), out.bytes.data()) == 1 && whole.size() == std::strlen(whole.c_str())) return out;
  out.bits = 128;
  if (inet_pton(AF_INET6, whole.c_str(), out.bytes.data()) != 1 || whole.size() != std::strlen(whole.c_str()))
    return std::unexpected(fmt::format(
        "IP Address \"{0}\" parse error during conversion from string: ParseAddr(\"{0}\"): unable to parse IP", text));
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (std::equal(kMapped.begin(), kMapped.end(), out.bytes.begin()))
    return std::unexpected(fmt::format("IPv4-mapped IPv6 address \"{}\" is not allowed", text));
  return out;
}

std::string print_address(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.bits == 32 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

class Ip final : public Opaque {
 public:
  explicit Ip(Address value) : address(value) {}
  std::string_view type_name() const override { return kIp; }
  bool equals(const Opaque& other) const override { return address == static_cast<const Ip&>(other).address; }
  const Address address;
};

class Cidr final : public Opaque {
 public:
  Cidr(Address value, int length) : address(value), prefix(length) {}
  std::string_view type_name() const override { return kCidr; }
  bool equals(const Opaque& other) const override {
    const auto& that = static_cast<const Cidr&>(other);
    return address == that.address && prefix == that.prefix;
  }
  /// The address with only the bits of the network.
  Address masked(const Address& of) const {
    Address out = of;
    for (int bit = prefix; bit < out.bits; ++bit)
      out.bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80 >> (bit % 8)));
    return out;
  }
  bool contains(const Address& other) const { return other.bits == address.bits && masked(other) == masked(address); }
  const Address address;
  const int prefix;
};

std::expected<std::shared_ptr<const Cidr>, std::string> parse_cidr(std::string_view text) {
  const auto slash = text.rfind('/');
  const auto refuse = [&] {
    return std::unexpected(
        fmt::format("network address parse error during conversion from string: netip.ParsePrefix(\"{}\")", text));
  };
  if (slash == std::string_view::npos) return refuse();
  const auto address = parse_address(text.substr(0, slash));
  const std::string_view length = text.substr(slash + 1);
  int prefix = -1;
  const auto [end, code] = std::from_chars(length.data(), length.data() + length.size(), prefix);
  const bool is_number =
      code == std::errc() && end == length.data() + length.size() && (length.size() == 1 || length[0] != '0');
  if (!address || !is_number || prefix < 0 || prefix > address->bits || length[0] == '-') return refuse();
  return std::make_shared<const Cidr>(*address, prefix);
}

const Address& address_of(const Value& value) { return static_cast<const Ip&>(*value.opaque).address; }
const Cidr& cidr_of(const Value& value) { return static_cast<const Cidr&>(*value.opaque); }

Value ip(const Call& call) {
  const auto address = parse_address(call[0].text());
  return address ? make_opaque(std::make_shared<const Ip>(*address)) : make_error(address.error());
}
Value is_ip(const Call& call) { return make_bool(parse_address(call[0].text()).has_value()); }
Value is_canonical(const Call& call) {
  const auto address = parse_address(call[0].text());
  return address ? make_bool(print_address(*address) == call[0].text()) : make_error(address.error());
}
Value family(const Call& call) { return make_int(address_of(call[0]).bits == 32 ? 4 : 6); }
Value ip_text(const Call& call) { return make_string(print_address(address_of(call[0]))); }

bool is_unspecified(const Address& a) { return a.bytes == std::array<std::uint8_t, 16>{}; }
bool is_loopback(const Address& a) {
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return a.bits == 32 ? a.bytes[0] == 127 : a.bytes == one;
}
bool is_multicast(const Address& a) { return a.bits == 32 ? (a.bytes[0] & 0xF0) == 0xE0 : a.bytes[0] == 0xFF; }
bool is_link_local_multicast(const Address& a) {
  if (a.bits == 32) return a.bytes[0] == 224 && a.bytes[1] == 0 && a.bytes[2] == 0;
  return a.bytes[0] == 0xFF && (a.bytes[1] & 0x0F) == 0x02;
}
bool is_link_local_unicast(const Address& a) {
  return a.bits == 32 ? a.bytes[0] == 169 && a.bytes[1] == 254 : a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0) == 0x80;
}
bool is_global_unicast(const Address& a) {
  const bool is_broadcast = a.bits == 32 && a.bytes[0] == 255 && a.bytes[1] == 255 && a.bytes[2] == 255 && a.bytes[3] == 255;
  return !is_broadcast && !is_unspecified(a) && !is_loopback(a) && !is_multicast(a) && !is_link_local_unicast(a);
}
template <bool (*kHolds)(const Address&)>
Value address_is(const Call& call) {
  return make_bool(kHolds(address_of(call[0])));
}

Value cidr(const Call& call) {
  auto parsed = parse_cidr(call[0].text());
  return parsed ? make_opaque(*parsed) : make_error(parsed.error());
}
Value is_cidr(const Call& call) { return make_bool(parse_cidr(call[0].text()).has_value()); }
Value contains_ip(const Call& call) {
  if (call[1].is(Kind::Opaque)) return make_bool(cidr_of(call[0]).contains(address_of(call[1])));
  const auto address = parse_address(call[1].text());
  return address ? make_bool(cidr_of(call[0]).contains(*address)) : make_error(address.error());
}
Value contains_cidr(const Call& call) {
  std::shared_ptr<const Cidr> parsed;
  if (call[1].is(Kind::String)) {
    auto other = parse_cidr(call[1].text());
    if (!other) return make_error(other.error());
    parsed = *other;
  }
  const Cidr& inner = parsed != nullptr ? *parsed : cidr_of(call[1]);
  const Cidr& outer = cidr_of(call[0]);
  return make_bool(outer.prefix <= inner.prefix && outer.contains(inner.address));
}
Value cidr_ip(const Call& call) { return make_opaque(std::make_shared<const Ip>(cidr_of(call[0]).address)); }
Value masked(const Call& call) {
  const Cidr& cidr = cidr_of(call[0]);
  return make_opaque(std::make_shared<const Cidr>(cidr.masked(cidr.address), cidr.prefix));
}
Value prefix_length(const Call& call) { return make_int(cidr_of(call[0]).prefix); }
Value cidr_text(const Call& call) {
  return make_string(fmt::format("{}/{}", print_address(cidr_of(call[0]).address), cidr_of(call[0]).prefix));
}

class UrlValue final : public Opaque {
 public:
  explicit UrlValue(Url value) : url(std::move(value)) {}
  std::string_view type_name() const override { return kUrl; }
  bool equals(const Opaque& other) const override { return url.text == static_cast<const UrlValue&>(other).url.text; }
  const Url url;
};
const Url& url_of(const Value& value) { return static_cast<const UrlValue&>(*value.opaque).url; }

Value url(const Call& call) {
  auto parsed = parse_url(call[0].text());
  if (!parsed) return make_error("URL parse error during conversion from string: " + parsed.error());
  return make_opaque(std::make_shared<const UrlValue>(std::move(*parsed)));
}
Value is_url(const Call& call) { return make_bool(parse_url(call[0].text()).has_value()); }
Value get_scheme(const Call& call) { return make_string(url_of(call[0]).scheme); }
Value get_host(const Call& call) { return make_string(url_of(call[0]).host); }
Value get_hostname(const Call& call) { return make_string(url_of(call[0]).hostname()); }
Value get_port(const Call& call) { return make_string(url_of(call[0]).port()); }
Value get_path(const Call& call) { return make_string(url_of(call[0]).escaped_path); }
Value get_query(const Call& call) {
  Entries entries;
  for (const auto& [key, values] : url_of(call[0]).query_values()) {
    Items items;
    for (const std::string& value : values) items.push_back(make_string(value));
    entries.emplace_back(make_string(key), make_list(std::move(items)));
  }
  return make_map(std::move(entries));
}

constexpr Row kNetworkRows[] = {
    {"ip", "(string) -> net.IP", ip},
    {"ip", "net.CIDR.() -> net.IP", cidr_ip},
    {"isIP", "(string) -> bool", is_ip},
    {"ip.isCanonical", "(string) -> bool", is_canonical},
    {"family", "net.IP.() -> int", family},
    {"string", "(net.IP) -> string", ip_text},
    {"isUnspecified", "net.IP.() -> bool", address_is<is_unspecified>},
    {"isLoopback", "net.IP.() -> bool", address_is<is_loopback>},
    {"isLinkLocalMulticast", "net.IP.() -> bool", address_is<is_link_local_multicast>},
    {"isLinkLocalUnicast", "net.IP.() -> bool", address_is<is_link_local_unicast>},
    {"isGlobalUnicast", "net.IP.() -> bool", address_is<is_global_unicast>},
    {"cidr", "(string) -> net.CIDR", cidr},
    {"isCIDR", "(string) -> bool", is_cidr},
    {"containsIP", "net.CIDR.(string) -> bool", contains_ip},
    {"containsIP", "net.CIDR.(net.IP) -> bool", contains_ip},
    {"containsCIDR", "net.CIDR.(string) -> bool", contains_cidr},
    {"containsCIDR", "net.CIDR.(net.CIDR) -> bool", contains_cidr},
    {"masked", "net.CIDR.() -> net.CIDR", masked},
    {"prefixLength", "net.CIDR.() -> int", prefix_length},
    {"string", "(net.CIDR) -> string", cidr_text},
    {"url", "(string) -> kubernetes.URL", url},
    {"isURL", "(string) -> bool", is_url},
    {"getScheme", "kubernetes.URL.() -> string", get_scheme},
    {"getHost", "kubernetes.URL.() -> string", get_host},
    {"getHostname", "kubernetes.URL.() -> string", get_hostname},
    {"getPort", "kubernetes.URL.() -> string", get_port},
    {"getEscapedPath", "kubernetes.URL.() -> string", get_path},
    {"getQuery", "kubernetes.URL.() -> map(string, list(string))", get_query},
};

}  // namespace

std::span<const Row> network_rows() { return kNetworkRows; }

}  // namespace slipway::cel
