#include "server/builtin/service_numbers.h"

#include <fmt/format.h>

#include <charconv>

namespace slipway::server {

namespace {

constexpr std::string_view kPrefix = "/registry/core/services/";
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
  return fmt::format("{}{}/{}", kPrefix, ns, name);
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

void ServiceNumbers::load() {
  if (is_loaded_) return;
  is_loaded_ = true;
  const auto range = store_.range({.prefix = std::string(kPrefix)});
  if (!range) return;
  for (const auto& [key, entry] : range->entries) {
    const json::Value& spec = entry.value["spec"];
    if (!spec["clusterIP"].as_string().empty()) addresses_[spec["clusterIP"].str()] = key;
    for (const json::Value& port : spec["ports"].items()) {
      if (const auto number = port["nodePort"].as_int(); number != 0) ports_[static_cast<int>(number)] = key;
    }
    if (const auto number = spec["healthCheckNodePort"].as_int(); number != 0) ports_[static_cast<int>(number)] = key;
  }
}

bool ServiceNumbers::has_address(const std::string& key, std::string_view address) const {
  const auto entry = store_.get_head(key);
  return entry && entry->value["spec"]["clusterIP"].as_string() == address;
}

bool ServiceNumbers::has_port(const std::string& key, int port) const {
  const auto entry = store_.get_head(key);
  if (!entry) return false;
  const json::Value& spec = entry->value["spec"];
  for (const json::Value& one : spec["ports"].items()) {
    if (one["nodePort"].as_int() == port) return true;
  }
  return spec["healthCheckNodePort"].as_int() == port;
}

bool ServiceNumbers::is_address_taken(std::string_view address, const std::string& key) {
  load();
  const auto at = addresses_.find(address);
  if (at != addresses_.end() && at->second != key && has_address(at->second, address)) return true;
  addresses_.insert_or_assign(std::string(address), key);
  return false;
}

bool ServiceNumbers::is_port_taken(int port, const std::string& key) {
  load();
  const auto at = ports_.find(port);
  if (at != ports_.end() && at->second != key && has_port(at->second, port)) return true;
  ports_.insert_or_assign(port, key);
  return false;
}

std::optional<std::string> ServiceNumbers::free_address(const std::string& key) {
  for (std::uint32_t i = 0; i < kAddresses; ++i) {
    const std::uint32_t offset = next_address_;
    next_address_ = (next_address_ + 1) % kAddresses;
    if (offset <= 1 || offset == kAddresses - 1) continue;  // the edges, and default/kubernetes
    std::string address = address_at(offset);
    if (!is_address_taken(address, key)) return address;
  }
  return std::nullopt;
}

std::optional<int> ServiceNumbers::free_port(const std::string& key) {
  load();
  for (int i = kFirstPort; i <= kLastPort; ++i) {
    const int port = next_port_;
    next_port_ = next_port_ == kLastPort ? kFirstPort : next_port_ + 1;
    const auto at = ports_.find(port);
    // A port the same Service holds for another of its ports is taken too.
    if (at != ports_.end() && at->second == key) continue;
    if (!is_port_taken(port, key)) return port;
  }
  return std::nullopt;
}

}  // namespace slipway::server
