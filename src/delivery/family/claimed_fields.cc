#include "delivery/family/claimed_fields.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "json/members.h"
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

/// `path` as fieldsV1 has it.
std::vector<std::string> as_fields(std::vector<std::string> path) {
  for (std::string& key : path) key.insert(0, "f:");
  return path;
}

/// Without the field, and without what holds nothing else: an empty member would be one that is owned as a whole.
json::Value without_field(json::Value fields, std::vector<std::string> path) {
  while (!path.empty()) {
    fields = fields.without_path(members(path));
    path.pop_back();
    if (!path.empty() && !at(fields, path).empty()) break;
  }
  return fields;
}

/// Moves what others than `own` have written below `path` there. False: nothing.
bool move_fields(std::vector<json::Value>& entries, json::Value& own, const std::vector<std::string>& path) {
  bool has_moved = false;
  for (json::Value& entry : entries) {
    const json::Value written = at(entry["fieldsV1"], path);
    if (written.is_null() || !entry["subresource"].as_string().empty()) continue;
    own = own.with_path({"fieldsV1"},
                        own["fieldsV1"].with_path(members(path), json::field_union(at(own["fieldsV1"], path), written)));
    entry = entry.with("fieldsV1", without_field(entry["fieldsV1"], path));
    has_moved = true;
  }
  return has_moved;
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

std::optional<json::Value> taken_back_fields(const kube::Object& live, const kube::Object& manifest, std::string_view manager) {
  const std::vector<std::vector<std::string>> given = claimed_fields(manifest);
  json::Value own;
  std::vector<json::Value> others;
  for (const json::Value& entry : live["metadata"]["managedFields"].items()) {
    const bool is_own = entry["manager"].as_string() == manager && entry["operation"].as_string() == "Apply" &&
                        entry["subresource"].as_string().empty();
    if (is_own) {
      own = entry;
    } else {
      others.push_back(entry);
    }
  }
  if (own.is_null()) return std::nullopt;
  bool has_moved = false;
  for (const std::vector<std::string>& path : claimed_fields(live)) {
    const bool is_given = std::ranges::find(given, path) != given.end();
    if (path.empty() || is_given || !at(manifest, path).is_object()) continue;
    has_moved |= move_fields(others, own, as_fields(path));
  }
  if (!has_moved) return std::nullopt;
  std::erase_if(others, [](const json::Value& entry) { return entry["fieldsV1"].empty(); });
  others.push_back(own);
  return json::array(others);
}

}  // namespace slipway::delivery
