#include "cluster/pod_addresses.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/digest.h"

namespace slipway::cluster {

namespace {

constexpr std::uint32_t kFirstBlock = 128;
constexpr std::uint32_t kHosts = 254;  // .0 and .255 are left out
constexpr std::uint32_t kPlaces = (256 - kFirstBlock) * 256 * kHosts;

std::optional<std::array<std::uint32_t, 4>> parse(std::string_view address) {
  std::array<std::uint32_t, 4> parts{};
  const char* at = address.data();
  const char* const end = at + address.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc{} || parts[i] > 255) return std::nullopt;
    const bool is_last = i + 1 == parts.size();
    if (is_last ? next != end : next == end || *next != '.') return std::nullopt;
    at = is_last ? next : next + 1;
  }
  return parts;
}

}  // namespace

std::string PodAddresses::take(const std::string& uid) {
  if (const auto known = places_.find(uid); known != places_.end()) return text(known->second);
  std::uint32_t place = fnv1a_32(uid) % kPlaces;
  while (!taken_.insert(place).second) place = (place + 1) % kPlaces;
  places_.emplace(uid, place);
  return text(place);
}

void PodAddresses::keep(const std::string& uid, std::string_view address) {
  const auto parts = parse(address);
  if (!parts) return;
  const auto [network, block, middle, host] = *parts;
  if (network != network_ || block < kFirstBlock || host == 0 || host > kHosts) return;
  const std::uint32_t place = ((block - kFirstBlock) * 256 + middle) * kHosts + host - 1;
  release(uid);
  places_.emplace(uid, place);
  taken_.insert(place);
}

std::string PodAddresses::find(const std::string& uid) const {
  const auto known = places_.find(uid);
  return known == places_.end() ? "" : text(known->second);
}

void PodAddresses::release(const std::string& uid) {
  const auto known = places_.find(uid);
  if (known == places_.end()) return;
  taken_.erase(known->second);
  places_.erase(known);
}

std::string PodAddresses::text(std::uint32_t place) const {
  const std::uint32_t block = place / kHosts;
  return fmt::format("{}.{}.{}.{}", network_, kFirstBlock + block / 256, block % 256, place % kHosts + 1);
}

}  // namespace slipway::cluster
