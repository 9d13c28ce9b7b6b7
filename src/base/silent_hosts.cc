#include "base/silent_hosts.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway {
namespace {

constexpr int kMaxDoublings = 5;

}  // namespace

std::optional<SilentHosts::Silence> SilentHosts::find(const std::string& host) const {
  const auto found = silent_.find(host);
  if (found == silent_.end() || clock_.steady() >= found->second.until) return std::nullopt;
  return found->second;
}

std::string SilentHosts::text(const Silence& silence) const {
  const auto left = std::chrono::ceil<std::chrono::seconds>(silence.until - clock_.steady());
  return fmt::format("its host has not answered in time (attempts: {}); it is asked again in {}", silence.attempts,
                     to_string(left));
}

void SilentHosts::note(const std::string& host, bool is_silent) {
  if (!is_silent) {
    silent_.erase(host);
    return;
  }
  const Steady now = clock_.steady();
  if (silent_.size() >= kMax) std::erase_if(silent_, [&](const auto& one) { return one.second.until < now; });
  if (silent_.size() >= kMax && !silent_.contains(host)) return;
  Silence& silence = silent_[host];
  const int doublings = std::min(silence.attempts++, kMaxDoublings);
  silence.until = now + std::min<Duration>(kFirst * (1 << doublings), kLongest);
}

}  // namespace slipway
