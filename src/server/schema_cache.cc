#include "server/schema_cache.h"

#include <algorithm>
#include <iterator>

#include "base/digest.h"
#include "json/text.h"

namespace slipway::server {

SchemaCache& SchemaCache::shared() {
  static SchemaCache cache;
  return cache;
}

CompiledSchemaPtr SchemaCache::compile(const json::Value& open_api, const std::string& path, std::vector<Cause>& causes) {
  const std::string text = json::print(open_api);
  const std::string digest = sha256_hex(text);
  if (CompiledSchemaPtr known = find(digest); known != nullptr && known->is_judged) return known;
  count_miss();
  const std::size_t before = causes.size();
  auto schema = kube::Schema::compile(open_api, path);
  if (!schema) {
    Status& error = schema.error();
    if (error.causes.empty()) causes.push_back(field::invalid(path, "{}", error.message));
    std::ranges::move(error.causes, std::back_inserter(causes));
    return nullptr;
  }
  RulesPtr rules = compile_rules(**schema, open_api, path, causes);
  const bool is_good = causes.size() == before;
  auto made = std::make_shared<const CompiledSchema>(
      CompiledSchema{.schema = std::move(*schema), .rules = std::move(rules), .is_judged = is_good});
  if (is_good) keep(digest, made, text.size());
  return made;
}

CompiledSchemaPtr SchemaCache::judged(const json::Value& open_api) {
  const std::string text = json::print(open_api);
  const std::string digest = sha256_hex(text);
  if (CompiledSchemaPtr known = find(digest)) return known;
  count_miss();
  auto made = std::make_shared<const CompiledSchema>(
      CompiledSchema{.schema = kube::Schema::deferred(open_api), .rules = deferred_rules(open_api)});
  keep(digest, made, text.size());
  return made;
}

std::uint64_t SchemaCache::misses() const {
  const std::lock_guard lock(mutex_);
  return misses_;
}

void SchemaCache::count_miss() {
  const std::lock_guard lock(mutex_);
  ++misses_;
}

std::size_t SchemaCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

CompiledSchemaPtr SchemaCache::find(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(digest);
  if (found == entries_.end()) return nullptr;
  found->second.last_use = ++uses_;
  return found->second.compiled;
}

void SchemaCache::keep(const std::string& digest, CompiledSchemaPtr compiled, std::size_t text_bytes) {
  const std::lock_guard lock(mutex_);
  if (text_bytes > limits_.text_bytes) return;
  const auto [place, is_new] = entries_.try_emplace(digest);
  place->second = {.compiled = std::move(compiled), .text_bytes = text_bytes, .last_use = ++uses_};
  if (is_new) text_bytes_ += text_bytes;
  while (entries_.size() > limits_.schemas || text_bytes_ > limits_.text_bytes) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.last_use; });
    text_bytes_ -= oldest->second.text_bytes;
    entries_.erase(oldest);
  }
}

}  // namespace slipway::server
