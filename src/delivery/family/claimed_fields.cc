#include "delivery/family/claimed_fields.h"

#include <algorithm>

#include "base/text.h"

namespace slipway::delivery {
namespace {

/// The parts of `text`, empty ones left out.
std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (const std::string_view part : split(text, separator)) {
    if (!part.empty()) out.emplace_back(part);
  }
  return out;
}

std::vector<std::string_view> members(const std::vector<std::string>& path) { return {path.begin(), path.end()}; }

const json::Value& at(const json::Value& value, const std::vector<std::string>& path) {
  const json::Value* found = &value;
  for (const std::string& key : path) found = &(*found)[key];
  return *found;
}

/// Each member of `spec` is as in `live`, which may have more of them.
bool is_within(const json::Value& spec, const json::Value& live) {
  if (spec.is_array() && live.is_array() && spec.size() == live.size()) {
    for (std::size_t i = 0; i < spec.size(); ++i) {
      if (!is_within(spec.item(i), live.item(i))) return false;
    }
    return true;
  }
  if (!spec.is_object()) return spec == live;
  for (const auto& [key, value] : spec.members()) {
    if (!is_within(value, live[key])) return false;
  }
  return true;
}

/// Another manager than `manager` has written the field, or one below it.
bool is_others(const kube::Object& live, const std::vector<std::string>& path, std::string_view manager) {
  return std::ranges::any_of(live["metadata"]["managedFields"].items(), [&](const json::Value& entry) {
    if (entry["manager"].as_string() == manager) return false;
    const json::Value* found = &entry["fieldsV1"];
    for (const std::string& key : path) found = &(*found)["f:" + key];
    return !found->is_null();
  });
}

}  // namespace

std::vector<std::vector<std::string>> claimed_fields(const kube::Object& object) {
  std::vector<std::vector<std::string>> out;
  for (const std::string& path : parts(kube::annotation(object, kClaimedFields), ',')) out.push_back(parts(path, '.'));
  return out;
}

kube::Object without_claimed(kube::Object manifest, const kube::Object& live, std::string_view manager) {
  const std::vector<std::vector<std::string>> claimed = claimed_fields(live);
  kube::Object rest = manifest;
  for (const auto& path : claimed) {
    if (!path.empty()) rest = rest.without_path(members(path));
  }
  const bool gives_away = !kube::annotation(manifest, kClaimedFields).empty();
  if (gives_away && !claimed.empty() && !is_within(rest["spec"], live["spec"])) return manifest;
  for (const auto& path : claimed) {
    const json::Value& wanted = at(manifest, path);
    const json::Value& now = at(live, path);
    const bool is_sole = !wanted.is_null() && !now.is_null() && !is_others(live, path, manager);
    if (is_sole) rest = rest.with_path(members(path), now);
  }
  return rest;
}

}  // namespace slipway::delivery
