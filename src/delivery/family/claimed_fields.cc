#include "delivery/family/claimed_fields.h"

namespace slipway::delivery {
namespace {

/// The parts of `text` between separators, empty ones left out.
std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

json::Value without(const json::Value& value, const std::vector<std::string>& path, std::size_t at) {
  if (!value.has(path[at])) return value;
  if (at + 1 == path.size()) return value.without(path[at]);
  return value.with(path[at], without(value[path[at]], path, at + 1));
}

}  // namespace

std::vector<std::vector<std::string>> claimed_fields(const kube::Object& object) {
  std::vector<std::vector<std::string>> out;
  for (const std::string& path : parts(kube::annotation(object, kClaimedFields), ',')) out.push_back(parts(path, '.'));
  return out;
}

kube::Object without_claimed(kube::Object manifest, const kube::Object& live) {
  for (const auto& path : claimed_fields(live)) {
    if (!path.empty()) manifest = without(manifest, path, 0);
  }
  return manifest;
}

}  // namespace slipway::delivery
