#include "os/addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace slipway::os {

std::vector<AddressBytes> addresses_of_machine() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  std::vector<AddressBytes> addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    if (at->ifa_addr->sa_family == AF_INET) {
      sockaddr_in four{};
      std::memcpy(&four, at->ifa_addr, sizeof four);
      std::array<std::uint8_t, 4> parts{};
      std::memcpy(parts.data(), &four.sin_addr, parts.size());
      addresses.push_back(mapped_ipv4(parts));
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 six{};
      std::memcpy(&six, at->ifa_addr, sizeof six);
      AddressBytes bytes{};
      std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
      addresses.push_back(bytes);
    }
  }
  return addresses;
}

}  // namespace slipway::os
