// Which addresses a process calls because an object of a user says so: URLs of steps, gates, notifiers and git repositories.
// Looked at after a name was resolved, for every connection, so that a name that resolves to a refused address is refused too.
// Refused are addresses that mean this machine or its link: loopback, 0.0.0.0, link-local (where clouds serve the credentials
// of a machine), in each of their IPv6 forms, and the listeners of the process itself.
//
// check() may be called from any thread once nothing is added any more; allow() and refuse_listener() belong to the start.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace slipway {

/// An IPv6 address in network order; IPv4 ones are mapped (::ffff:a.b.c.d).
using AddressBytes = std::array<std::uint8_t, 16>;

AddressBytes mapped_ipv4(const std::array<std::uint8_t, 4>& address);
/// "10.0.0.1", "fe80::1"; nothing for other text.
std::optional<AddressBytes> parse_address(std::string_view text);

class AddressPolicy {
 public:
  /// Addresses of pods that run as processes of this machine (cluster/pod_addresses.h): a user who may run one reaches
  /// loopback anyway.
  static constexpr const char* kProcessPods = "127.128.0.0/9";

  /// Without exceptions.
  AddressPolicy() = default;

  /// Adds an exception: ADDRESS[/BITS] or ADDRESS:PORT, [IPV6]:PORT, or `localhost[:PORT]` (127.0.0.0/8 and ::1). BadRequest.
  Result<void> allow(std::string_view text);
  /// A listener of this process. For 0.0.0.0 and :: each of `addresses_of_machine` is meant.
  void refuse_listener(const AddressBytes& address, std::uint16_t port, const std::vector<AddressBytes>& addresses_of_machine);

  /// Forbidden, with what the address is and how it is allowed.
  Result<void> check(const AddressBytes& address, std::uint16_t port) const;

 private:
  struct Range {
    AddressBytes first{};
    unsigned bits = 128;     // of the mapped form
    std::uint16_t port = 0;  // 0: any
    bool holds(const AddressBytes& address, std::uint16_t at) const;
  };
  struct Named {
    Range range;
    const char* what;
  };
  static const std::vector<Named>& refused_ranges();

  std::vector<Range> allowed_;
  std::vector<Range> listeners_;
};

}  // namespace slipway
