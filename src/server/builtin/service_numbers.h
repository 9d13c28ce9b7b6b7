// Cluster IPs and node ports: numbers that two Services must not share. Which are taken is a projection of the store's head
// state: a Service has its numbers from the moment its write is appended, so the next one planned cannot get them, and gives
// them back when it is deleted, loses them or its write is undone. A dry run takes nothing. Choosing and appending happen in
// one go, without a suspension in between.
// (k8s.io/kubernetes pkg/registry/core/service/{ipallocator,portallocator})
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "store/store.h"

namespace slipway::server {

class ServiceNumbers : public store::Projection {
 public:
  static constexpr std::string_view kAddressRange = "10.96.0.0/16";
  static constexpr int kFirstPort = 30000;
  static constexpr int kLastPort = 32767;

  explicit ServiceNumbers(store::Store& store);

  void apply(const store::Change& change) override;

  /// A cluster IP that is free; nullopt when all are taken.
  std::optional<std::string> free_address();
  /// A node port that is free and not in `chosen`: what the Service in work has taken already.
  std::optional<int> free_port(const std::set<int>& chosen);
  /// Whether another Service than `key` has it.
  bool is_address_taken(std::string_view address, const std::string& key) const;
  bool is_port_taken(int port, const std::string& key) const;
  /// The node ports of a Service's spec, that of the health check included.
  static std::set<int> ports_of(const json::Value& spec);
  /// Whether an IPv4 address lies in kAddressRange and is no edge of it.
  static bool is_in_range(std::string_view address);
  static std::string key_of(std::string_view ns, std::string_view name);

 private:
  /// Keys of those who have a number: one, but for Services of older stores.
  using Holders = std::set<std::string>;

  void release(const std::string& key, const json::Value& spec);
  void take(const std::string& key, const json::Value& spec);

  std::map<std::string, Holders, std::less<>> addresses_;
  std::map<int, Holders> ports_;
  std::uint32_t next_address_ = 256;  // the lower ones are left to those who ask for one
  int next_port_ = kFirstPort + 86;
  std::unique_ptr<store::Following> following_;  // last: feeds the others
};

}  // namespace slipway::server
