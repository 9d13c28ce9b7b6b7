#include "delivery/pipeline/used_nonces.h"

#include <fmt/format.h>

#include <charconv>

#include "base/digest.h"
#include "base/text.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kDigits = 16;

std::string digest_of(std::string_view nonce) { return sha256_hex(nonce).substr(0, kDigits); }

}  // namespace

UsedNonces::UsedNonces(std::string_view annotation, Time now) {
  for (const std::string_view one : split(annotation, ' ')) {
    const auto at = one.find('@');
    if (at != kDigits) continue;
    std::int64_t seconds = 0;
    const auto [stop, error] = std::from_chars(one.data() + at + 1, one.data() + one.size(), seconds);
    if (error != std::errc{} || stop != one.data() + one.size()) continue;
    const Time until{seconds_saturating(seconds)};
    if (until >= now) kept_.emplace(one.substr(0, at), until);
  }
}

bool UsedNonces::contains(std::string_view nonce) const { return kept_.contains(digest_of(nonce)); }

bool UsedNonces::add(std::string_view nonce, Time until) {
  if (kept_.size() >= kMost) return false;
  kept_.emplace(digest_of(nonce), until);
  return true;
}

std::string UsedNonces::to_string() const {
  std::string text;
  for (const auto& [digest, until] : kept_) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(until.time_since_epoch()).count();
    text += fmt::format("{}{}@{}", text.empty() ? "" : " ", digest, seconds);
  }
  return text;
}

}  // namespace slipway::delivery::pipeline
