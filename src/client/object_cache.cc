#include "client/object_cache.h"

#include <ranges>
#include <utility>

#include "base/check.h"

namespace slipway::client {

using json::Value;

ObjectCache::ObjectCache(std::shared_ptr<ObjectPacks> packs, const kube::Resource& resource, Form form)
    : packs_(std::move(packs)), alike_(packs_ == nullptr ? nullptr : &packs_->alike(resource, form)) {}

ObjectCache::~ObjectCache() {
  if (packs_ == nullptr) return;
  for (auto& [key, entry] : entries_) packs_->drop(entry);
}

Value ObjectCache::get(Entry& entry) const { return packs_ == nullptr ? entry.tree : packs_->get(*alike_, entry); }

Value ObjectCache::peek(const Entry& entry) const { return packs_ == nullptr ? entry.tree : packs_->peek(*alike_, entry); }

Value ObjectCache::get(const ObjectKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? Value() : get(found->second);
}

std::pair<ObjectCache::Entries::iterator, ObjectCache::Entries::iterator> ObjectCache::range(std::string_view ns,
                                                                                             std::string_view prefix) const {
  // Names are ASCII.
  return {entries_.lower_bound({std::string(ns), std::string(prefix)}),
          entries_.lower_bound({std::string(ns), std::string(prefix) + '\xff'})};
}

ObjectCache::Objects ObjectCache::objects() const { return {this, {entries_.begin(), entries_.end()}}; }
ObjectCache::Objects ObjectCache::objects(std::string_view ns) const { return {this, range(ns, "")}; }
ObjectCache::Keys ObjectCache::keys() const { return {this, {entries_.begin(), entries_.end()}}; }
ObjectCache::Keys ObjectCache::keys(std::string_view ns, std::string_view prefix) const { return {this, range(ns, prefix)}; }

void ObjectCache::add_index(std::string name, Indexer indexer) {
  Index index{std::move(indexer), {}};
  for (auto& one : entries_) {
    for (std::string& key : index.keys_of(peek(one.second))) index.entries.insert({std::move(key), &one});
  }
  indexes_.insert_or_assign(std::move(name), std::move(index));
}

auto ObjectCache::indexed(const std::string& name, std::string_view key) const {
  const auto index = indexes_.find(name);
  SLIPWAY_CHECK(index != indexes_.end(), name);
  const auto [first, last] = index->second.entries.equal_range(key);
  return std::ranges::subrange(first, last);
}

std::vector<Value> ObjectCache::index(const std::string& name, std::string_view key) const {
  std::vector<Value> found;
  for (const IndexEntry& one : indexed(name, key)) found.push_back(get(one.object->second));
  return found;
}

std::vector<ObjectKey> ObjectCache::index_keys(const std::string& name, std::string_view key) const {
  std::vector<ObjectKey> found;
  for (const IndexEntry& one : indexed(name, key)) found.push_back(one.object->first);
  return found;
}

bool ObjectCache::put(const ObjectKey& key, const Value& object, Value& before) {
  const auto [at, is_new] = entries_.try_emplace(key);
  Entry& entry = at->second;
  entry.list = list_;
  if (!is_new && entry.revision >= kube::revision(object)) return false;
  before = is_new ? Value() : peek(entry);
  entry.revision = kube::revision(object);
  if (packs_ == nullptr) {
    entry.tree = object;
  } else {
    packs_->put(*alike_, entry, object);
  }
  for (auto& [name, index] : indexes_) {
    auto old_keys = is_new ? std::vector<std::string>() : index.keys_of(before);
    auto new_keys = index.keys_of(object);
    if (old_keys == new_keys) continue;
    for (std::string& one : old_keys) index.entries.erase({std::move(one), &*at});
    for (std::string& one : new_keys) index.entries.insert({std::move(one), &*at});
  }
  return true;
}

void ObjectCache::keep_trees() {
  const std::shared_ptr<ObjectPacks> packs = std::exchange(packs_, nullptr);
  if (packs == nullptr) return;
  for (auto& [key, entry] : entries_) {
    Value tree = packs->peek(*alike_, entry);
    packs->drop(entry);
    entry.tree = std::move(tree);
  }
}

Value ObjectCache::erase(const ObjectKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return {};
  Value before = peek(at->second);
  for (auto& [name, index] : indexes_) {
    for (std::string& one : index.keys_of(before)) index.entries.erase({std::move(one), &*at});
  }
  if (packs_ != nullptr) packs_->drop(at->second);
  entries_.erase(at);
  return before;
}

std::vector<ObjectKey> ObjectCache::unlisted() const {
  std::vector<ObjectKey> keys;
  for (const auto& [key, entry] : entries_) {
    if (entry.list != list_) keys.push_back(key);
  }
  return keys;
}

}  // namespace slipway::client
