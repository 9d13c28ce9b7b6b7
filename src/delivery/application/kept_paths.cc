#include "delivery/application/kept_paths.h"

#include "base/count.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

std::vector<std::string> keys_of(const std::string& path) {
  std::vector<std::string> keys;
  std::string key;
  for (const char c : path) {
    if (c == '.' || c == '[') {
      if (!key.empty()) keys.push_back(std::move(key));
      key.clear();
    } else if (c != ']' && c != '"') {
      key += c;
    }
  }
  if (!key.empty()) keys.push_back(std::move(key));
  return keys;
}

Value with_live_at(const Value& manifest, const Value& live, const std::vector<std::string>& keys, std::size_t at) {
  if (at == keys.size()) return live.is_null() ? manifest : live;
  if (manifest.is_array()) {
    const auto number = parse_count(keys[at]);
    if (!number) return manifest;
    const auto index = static_cast<std::size_t>(*number);
    if (index >= manifest.size() || index >= live.size()) return manifest;
    return manifest.with_item(index, with_live_at(manifest.item(index), live.item(index), keys, at + 1));
  }
  if (!live.has(keys[at])) return manifest;
  return manifest.with(keys[at], with_live_at(manifest[keys[at]], live[keys[at]], keys, at + 1));
}

}  // namespace

json::Value with_live(json::Value manifest, const json::Value& live, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) manifest = with_live_at(manifest, live, keys_of(path), 0);
  return manifest;
}

bool has_other_value(const json::Value& manifest, const Value& live, const std::string& path) {
  const Value* ours = &manifest;
  const Value* theirs = &live;
  for (const std::string& key : keys_of(path)) {
    ours = &(*ours)[key];
    theirs = &(*theirs)[key];
  }
  return !ours->is_null() && !(*ours == *theirs);
}

}  // namespace slipway::delivery::application
