#include "delivery/pipeline/own_kinds.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMostNameBytes = 63;
constexpr std::size_t kHashDigits = 10;

/// Each part with its length, so that no two lists give one text.
std::string hash_of(const std::vector<std::string_view>& parts) {
  std::string text;
  for (const std::string_view part : parts) text += fmt::format("{}:{},", part.size(), part);
  return sha256_hex(text).substr(0, kHashDigits);
}

std::string named(std::string prefix, const std::string& hash) {
  prefix.resize(std::min(prefix.size(), kMostNameBytes - kHashDigits - 1));
  while (!prefix.empty() && (prefix.back() == '-' || prefix.back() == '.')) prefix.pop_back();
  return fmt::format("{}-{}", prefix, hash);
}

}  // namespace

json::Value without_recorded_targets(const json::Value& spec) { return spec.without("recordedTargets"); }

std::string release_name(std::string_view pipeline, std::string_view pipeline_uid, const ReleaseSpec& release,
                         std::int64_t prunings) {
  std::vector<std::string_view> parts = {pipeline_uid, release.version, release.digest};
  if (release.digest.empty()) parts.insert(parts.end(), release.images.begin(), release.images.end());
  const std::string again = std::to_string(prunings);
  if (prunings > 0) parts.push_back(again);
  return named(std::string(pipeline), hash_of(parts));
}

std::string promotion_name(std::string_view pipeline, std::string_view pipeline_uid, std::string_view environment,
                           std::string_view release, std::int64_t attempt) {
  return named(fmt::format("{}-{}", pipeline, environment),
               hash_of({pipeline_uid, environment, release, std::to_string(attempt)}));
}

}  // namespace slipway::delivery::pipeline
