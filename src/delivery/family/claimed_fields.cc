#include "delivery/family/claimed_fields.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"

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

/// Of each field that the manifest gives away, as kClaimedValues has it.
std::string claimed_value(const kube::Object& manifest, const std::vector<std::string>& path) {
  constexpr std::size_t kDigits = 12;
  return joined(path, ".") + "=" + sha256_hex(json::print(at(manifest, path))).substr(0, kDigits);
}

/// What stands around the claimed fields: `spec.plan.paused` lies in `spec.plan`, whose other fields are not the rest.
kube::Object around(kube::Object manifest, const std::vector<std::vector<std::string>>& claimed) {
  for (std::vector<std::string> path : claimed) {
    if (path.size() > 2) path.pop_back();
    if (!path.empty()) manifest = manifest.without_path(members(path));
  }
  return manifest;
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

kube::Object with_claimed_values(kube::Object manifest) {
  std::vector<std::string> values;
  for (const auto& path : claimed_fields(manifest)) {
    if (!path.empty()) values.push_back(claimed_value(manifest, path));
  }
  return values.empty() ? manifest : manifest.with_path({"metadata", "annotations", kClaimedValues}, joined(values, ","));
}

bool is_claim_changed(const kube::Object& manifest, const kube::Object& live, const std::vector<std::string>& path) {
  const std::vector<std::string> before = parts(kube::annotation(live, kClaimedValues), ',');
  const std::string now = claimed_value(manifest, path);
  const std::string beginning = now.substr(0, now.find('=') + 1);
  return std::ranges::any_of(before, [&](const std::string& one) { return one.starts_with(beginning) && one != now; });
}

kube::Object without_claimed(kube::Object manifest, const kube::Object& live, std::string_view manager) {
  const std::vector<std::vector<std::string>> claimed = claimed_fields(live);
  kube::Object rest = manifest;
  for (const auto& path : claimed) {
    if (!path.empty()) rest = rest.without_path(members(path));
  }
  const bool gives_away = !kube::annotation(manifest, kClaimedFields).empty();
  const bool knows_values =
      gives_away && kube::annotation(manifest, kClaimedFields) == kube::annotation(live, kClaimedFields) &&
      !kube::annotation(live, kClaimedValues).empty() && !kube::annotation(manifest, kClaimedValues).empty();
  const kube::Object compared = knows_values ? around(manifest, claimed) : rest;
  if (gives_away && !claimed.empty() && !is_within(compared["spec"], live["spec"])) return manifest;
  for (const auto& path : claimed) {
    if (knows_values && is_claim_changed(manifest, live, path)) {
      if (!at(manifest, path).is_null()) rest = rest.with_path(members(path), at(manifest, path));
      continue;
    }
    const json::Value& wanted = at(manifest, path);
    const json::Value& now = at(live, path);
    const bool is_sole = !wanted.is_null() && !now.is_null() && !is_others(live, path, manager);
    if (is_sole) rest = rest.with_path(members(path), now);
  }
  return rest;
}

}  // namespace slipway::delivery
