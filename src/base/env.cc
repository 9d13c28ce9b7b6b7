#include "base/env.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway {

std::string uuid(Random& random) {
  const std::uint64_t high = (random.next() & ~std::uint64_t{0xf000}) | 0x4000;
  const std::uint64_t low = (random.next() & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffff);
}

std::string name_suffix(Random& random) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random.next() % kAlphabet.size()];
  return suffix;
}

Duration jitter(Random& random, Duration base, double fraction) {
  const double share = static_cast<double>(random.next() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  return base + Duration{static_cast<std::int64_t>(static_cast<double>(base.count()) * fraction * share)};
}

}  // namespace slipway
