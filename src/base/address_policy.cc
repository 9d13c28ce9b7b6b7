#include "base/address_policy.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"

namespace slipway {
namespace {

constexpr unsigned kMappedBits = 96;  // before the IPv4 address in a mapped one

bool is_mapped(const AddressBytes& address) {
  constexpr AddressBytes kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kPrefix.begin(), kPrefix.begin() + 12, address.begin());
}

AddressBytes last_four(const AddressBytes& address) {
  return mapped_ipv4({address[12], address[13], address[14], address[15]});
}

/// The IPv4 address that an IPv6 one stands for (mapped, compatible, NAT64 of RFC 6052, 6to4), else the address.
AddressBytes meant(const AddressBytes& address) {
  constexpr AddressBytes kNat64 = {0x00, 0x64, 0xff, 0x9b};
  if (is_mapped(address)) return address;
  if (std::equal(kNat64.begin(), kNat64.begin() + 12, address.begin())) return last_four(address);
  if (address[0] == 0x20 && address[1] == 0x02) return mapped_ipv4({address[2], address[3], address[4], address[5]});
  const bool is_compatible = std::all_of(address.begin(), address.begin() + 12, [](std::uint8_t byte) { return byte == 0; });
  const bool is_small = address[12] == 0 && address[13] == 0 && address[14] == 0;  // :: and ::1
  return is_compatible && !is_small ? last_four(address) : address;
}

std::string shown(const AddressBytes& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* from = is_mapped(address) ? address.data() + 12 : address.data();
  inet_ntop(is_mapped(address) ? AF_INET : AF_INET6, from, text, sizeof text);
  return text;
}

}  // namespace

std::optional<AddressBytes> parse_address(std::string_view text) {
  const std::string whole(text);
  std::array<std::uint8_t, 4> four{};
  if (inet_pton(AF_INET, whole.c_str(), four.data()) == 1) return mapped_ipv4(four);
  AddressBytes sixteen{};
  if (inet_pton(AF_INET6, whole.c_str(), sixteen.data()) == 1) return sixteen;
  return std::nullopt;
}

AddressBytes mapped_ipv4(const std::array<std::uint8_t, 4>& address) {
  AddressBytes mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::ranges::copy(address, mapped.begin() + 12);
  return mapped;
}

bool AddressPolicy::Range::holds(const AddressBytes& address, std::uint16_t at) const {
  if (port != 0 && port != at) return false;
  const unsigned whole = bits / 8;
  if (!std::equal(first.begin(), first.begin() + whole, address.begin())) return false;
  const unsigned left = bits % 8;
  return left == 0 || (first[whole] ^ address[whole]) >> (8 - left) == 0;
}

const std::vector<AddressPolicy::Named>& AddressPolicy::refused_ranges() {
  static const auto made = [] {
    const auto range = [](const char* address, unsigned bits, const char* what) {
      return Named{.range = {.first = *parse_address(address), .bits = bits}, .what = what};
    };
    return std::vector<Named>{
        range("0.0.0.0", kMappedBits + 8, "this machine (0.0.0.0/8)"),
        range("127.0.0.0", kMappedBits + 8, "loopback"),
        range("169.254.0.0", kMappedBits + 16, "link-local"),
        range("::", 128, "this machine (::)"),
        range("::1", 128, "loopback"),
        range("fe80::", 10, "link-local"),
        range("fd00:ec2::254", 128, "a metadata service"),
        range("100.100.100.200", 128, "a metadata service"),
    };
  }();
  return made;
}

Result<void> AddressPolicy::allow(std::string_view text) {
  const auto refuse = [&] {
    return fail(
        Reason::BadRequest,
        fmt::format("{:?}: give ADDRESS, ADDRESS/BITS or ADDRESS:PORT, such as 127.0.0.1:9090, [::1]:9090 or 10.0.0.0/8",
                    text));
  };
  std::string_view host = text;
  Range range;
  const auto colon = text.rfind(':');
  const bool is_bracketed = text.starts_with('[');
  const bool has_port = colon != std::string_view::npos && (is_bracketed ? text[colon - 1] == ']' : text.find(':') == colon);
  if (has_port) {
    const auto port = parse_count(text.substr(colon + 1));
    if (!port || *port == 0 || *port > 65535) return refuse();
    range.port = static_cast<std::uint16_t>(*port);
    host = text.substr(0, colon);
  }
  if (is_bracketed) {
    if (host.size() < 2 || host.back() != ']') return refuse();
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") {
    for (const auto& [address, bits] : {std::pair{"127.0.0.0", kMappedBits + 8}, std::pair{"::1", 128U}}) {
      allowed_.push_back({.first = *parse_address(address), .bits = bits, .port = range.port});
    }
    return {};
  }
  std::optional<unsigned> bits;
  if (const auto slash = host.find('/'); slash != std::string_view::npos) {
    const auto count = parse_count(host.substr(slash + 1));
    if (!count || *count > 128) return refuse();
    bits = static_cast<unsigned>(*count);
    host = host.substr(0, slash);
  }
  const auto address = parse_address(host);
  if (!address) return refuse();
  const bool is_ipv4 = host.find(':') == std::string_view::npos;
  if (is_ipv4 && bits.value_or(0) > 32) return refuse();
  range.first = *address;
  range.bits = bits ? *bits + (is_ipv4 ? kMappedBits : 0) : 128;
  allowed_.push_back(range);
  return {};
}

void AddressPolicy::refuse_listener(const AddressBytes& address, std::uint16_t port,
                                    const std::vector<AddressBytes>& addresses_of_machine) {
  const bool is_any = address == AddressBytes{} || address == mapped_ipv4({0, 0, 0, 0});
  for (const AddressBytes& own : is_any ? addresses_of_machine : std::vector{address}) {
    listeners_.push_back({.first = own, .port = port});
  }
}

Result<void> AddressPolicy::check(const AddressBytes& address, std::uint16_t port) const {
  const AddressBytes target = meant(address);
  const auto holds = [&](const Range& range) { return range.holds(target, port); };
  if (std::ranges::any_of(allowed_, holds)) return {};
  const auto refuse = [&](const char* what) {
    const bool is_ipv4 = is_mapped(target);
    const std::string where = fmt::format(fmt::runtime(is_ipv4 ? "{}:{}" : "[{}]:{}"), shown(target), port);
    return fail(Reason::Forbidden,
                fmt::format("{} is {}: not called for users. --allow-outgoing {} allows it", where, what, where));
  };
  if (std::ranges::any_of(listeners_, holds)) return refuse("a listener of this process");
  for (const Named& one : refused_ranges()) {
    if (holds(one.range)) return refuse(one.what);
  }
  return {};
}

}  // namespace slipway
