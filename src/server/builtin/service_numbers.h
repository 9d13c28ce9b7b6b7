// Cluster IPs and node ports: numbers that two Services must not share. What is taken is looked up by a hint, number → key of
// the Service, which is believed only when that Service still has the number in head state. So nothing has to be given back: a
// write that failed, a dry run and a deleted Service leave hints that prove wrong.
// (k8s.io/kubernetes pkg/registry/core/service/{ipallocator,portallocator})
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace slipway::server {

class ServiceNumbers {
 public:
  static constexpr std::string_view kAddressRange = "10.96.0.0/16";
  static constexpr int kFirstPort = 30000;
  static constexpr int kLastPort = 32767;

  explicit ServiceNumbers(const store::Store& store) : store_(store) {}

  /// A cluster IP nobody has; nullopt when all are taken. `key`: of the Service that will have it.
  std::optional<std::string> free_address(const std::string& key);
  std::optional<int> free_port(const std::string& key);
  /// Whether another Service than `key` has it. Otherwise it is remembered as that one's.
  bool is_address_taken(std::string_view address, const std::string& key);
  bool is_port_taken(int port, const std::string& key);
  /// Whether an IPv4 address lies in kAddressRange and is no edge of it.
  static bool is_in_range(std::string_view address);
  static std::string key_of(std::string_view ns, std::string_view name);

 private:
  void load();
  bool has_address(const std::string& key, std::string_view address) const;
  bool has_port(const std::string& key, int port) const;

  const store::Store& store_;
  bool is_loaded_ = false;
  std::map<std::string, std::string, std::less<>> addresses_;
  std::map<int, std::string> ports_;
  std::uint32_t next_address_ = 256;  // the lower ones are left to those who ask for one
  int next_port_ = kFirstPort + 86;
};

}  // namespace slipway::server
