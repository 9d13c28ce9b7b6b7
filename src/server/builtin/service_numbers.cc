#include "server/builtin/service_numbers.h"

#include <fmt/format.h>

#include <charconv>

namespace slipway::server {

namespace {

constexpr std::string_view kServicesPrefix = "/registry/core/services/";
constexpr std::string_view kHead = "10.96.";
constexpr std::uint32_t kAddresses = 1U << 16;

std::string address_at(std::uint32_t offset) { return fmt::format("{}{}.{}", kHead, offset >> 8, offset & 0xff); }

/// One part of an address, without leading zeros.
std::optional<std::uint32_t> byte_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || value > 255 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return value;
}

}  // namespace

std::string ServiceNumbers::key_of(std::string_view ns, std::string_view name) {
  return fmt::format("{}{}/{}", kServicesPrefix, ns, name);
}

bool ServiceNumbers::is_in_range(std::string_view address) {
  if (!address.starts_with(kHead)) return false;
  const std::string_view rest = address.substr(kHead.size());
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return false;
  const auto high = byte_of(rest.substr(0, dot));
  const auto low = byte_of(rest.substr(dot + 1));
  if (!high || !low) return false;
  const std::uint32_t offset = *high * 256 + *low;
  return offset != 0 && offset != kAddresses - 1;
}

ServiceNumbers::ServiceNumbers(store::Store& store)
    : following_(store.follow(std::string(kServicesPrefix), *this, store::Sight::Head)) {}

void ServiceNumbers::apply(const store::Change& change) {
  if (change.previous) release(change.key, (*change.previous)["spec"]);
  if (change.value) take(change.key, (*change.value)["spec"]);
}

void ServiceNumbers::take(const std::string& key, const json::Value& spec) {
  if (const std::string_view address = spec["clusterIP"].as_string(); is_in_range(address)) {
    addresses_[std::string(address)].insert(key);
  }
  for (const int port : ports_of(spec)) ports_[port].insert(key);
}

void ServiceNumbers::release(const std::string& key, const json::Value& spec) {
  const auto give_back = [&](auto& numbers, const auto& number) {
    const auto at = numbers.find(number);
    if (at == numbers.end()) return;
    at->second.erase(key);
    if (at->second.empty()) numbers.erase(at);
  };
  give_back(addresses_, spec["clusterIP"].as_string());
  for (const int port : ports_of(spec)) give_back(ports_, port);
}

std::set<int> ServiceNumbers::ports_of(const json::Value& spec) {
  std::set<int> ports;
  for (const json::Value& port : spec["ports"].items()) ports.insert(static_cast<int>(port["nodePort"].as_int()));
  ports.insert(static_cast<int>(spec["healthCheckNodePort"].as_int()));
  ports.erase(0);  // absent
  return ports;
}

bool ServiceNumbers::is_address_taken(std::string_view address, const std::string& key) const {
  const auto at = addresses_.find(address);
  return at != addresses_.end() && (at->second.size() > 1 || !at->second.contains(key));
}

bool ServiceNumbers::is_port_taken(int port, const std::string& key) const {
  const auto at = ports_.find(port);
  return at != ports_.end() && (at->second.size() > 1 || !at->second.contains(key));
}

std::optional<std::string> ServiceNumbers::free_address() {
  for (std::uint32_t i = 0; i < kAddresses; ++i) {
    const std::uint32_t offset = next_address_;
    next_address_ = (next_address_ + 1) % kAddresses;
    if (offset <= 1 || offset == kAddresses - 1) continue;  // the edges, and default/kubernetes
    std::string address = address_at(offset);
    if (!addresses_.contains(address)) return address;
  }
  return std::nullopt;
}

std::optional<int> ServiceNumbers::free_port(const std::set<int>& chosen) {
  for (int i = kFirstPort; i <= kLastPort; ++i) {
    const int port = next_port_;
    next_port_ = next_port_ == kLastPort ? kFirstPort : next_port_ + 1;
    if (!ports_.contains(port) && !chosen.contains(port)) return port;
  }
  return std::nullopt;
}

}  // namespace slipway::server
