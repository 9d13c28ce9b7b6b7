// The objects of an informer by key, with indexes. With ObjectPacks most of them are packed: then reading an object costs some
// ten microseconds, and looking at all objects that for each, so who needs only keys asks for keys().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/object_packs.h"

namespace slipway::client {

using kube::ObjectKey;

class ObjectCache {
  struct Entry : KeptObject {
    kube::Revision revision = 0;
    std::uint32_t list = 0;  // number of the last list that showed it
  };
  using Entries = std::map<ObjectKey, Entry>;

 public:
  /// Gives the keys under which an object is found by index(), e.g. its owner's uid.
  using Indexer = std::function<std::vector<std::string>(const json::Value& object)>;

  /// Without `packs` all objects are trees.
  ObjectCache(std::shared_ptr<ObjectPacks> packs, const kube::Resource& resource, Form form);
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;
  ~ObjectCache();

  template <class Item>
  class View;
  /// Pairs of key and object, by value, in the order of keys.
  using Objects = View<std::pair<const ObjectKey&, json::Value>>;
  using Keys = View<const ObjectKey&>;

  bool contains(const ObjectKey& key) const { return entries_.contains(key); }
  /// The object, or null.
  json::Value get(const ObjectKey& key) const;
  /// Valid while nothing is put or erased. Of a namespace, or of all.
  Objects objects() const;
  Objects objects(std::string_view ns) const;
  Keys keys() const;
  /// Only names that begin with `prefix`.
  Keys keys(std::string_view ns, std::string_view prefix = {}) const;
  std::size_t size() const { return entries_.size(); }

  /// An index of that name that exists already is replaced.
  void add_index(std::string name, Indexer indexer);
  /// Objects whose indexer gave `key`, by object key.
  std::vector<json::Value> index(const std::string& name, std::string_view key) const;
  std::vector<ObjectKey> index_keys(const std::string& name, std::string_view key) const;

  /// False when there is an object of that revision or a later one, which stays. Else `before` is what was there, or null.
  bool put(const ObjectKey& key, const json::Value& object, json::Value& before);
  /// What was there, or null.
  json::Value erase(const ObjectKey& key);
  /// From here on all objects are trees.
  void keep_trees();
  /// From here on put() marks what it is called for, be it taken or not.
  void begin_list() { ++list_; }
  /// What was not marked since.
  std::vector<ObjectKey> unlisted() const;

 private:
  /// An object under a key of an index.
  struct IndexEntry {
    std::string key;
    Entries::value_type* object;
  };
  struct ByKey {
    using is_transparent = void;
    bool operator()(const IndexEntry& a, const IndexEntry& b) const {
      return a.key != b.key ? a.key < b.key : a.object->first < b.object->first;
    }
    bool operator()(const IndexEntry& a, std::string_view b) const { return a.key < b; }
    bool operator()(std::string_view a, const IndexEntry& b) const { return a < b.key; }
  };
  struct Index {
    Indexer keys_of;
    std::set<IndexEntry, ByKey> entries;
  };

  std::pair<Entries::iterator, Entries::iterator> range(std::string_view ns, std::string_view prefix) const;
  auto indexed(const std::string& name, std::string_view key) const;
  json::Value get(Entry& entry) const;
  json::Value peek(const Entry& entry) const;

  std::shared_ptr<ObjectPacks> packs_;
  AlikeObjects* alike_ = nullptr;  // of packs_
  mutable Entries entries_;        // reading unpacks
  std::map<std::string, Index> indexes_;
  std::uint32_t list_ = 0;
};

/// A range of objects, or of their keys.
template <class Item>
class ObjectCache::View {
 public:
  class iterator {
   public:
    using value_type = std::remove_cvref_t<Item>;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    Item operator*() const {
      if constexpr (std::is_reference_v<Item>) {
        return at_->first;
      } else {
        return {at_->first, cache_->peek(at_->second)};
      }
    }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return {cache_, at_++}; }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend class View;
    iterator(const ObjectCache* cache, Entries::iterator at) : cache_(cache), at_(at) {}
    const ObjectCache* cache_ = nullptr;
    Entries::iterator at_{};
  };

  iterator begin() const { return begin_; }
  iterator end() const { return end_; }
  bool empty() const { return begin_ == end_; }

 private:
  friend class ObjectCache;
  View(const ObjectCache* cache, std::pair<Entries::iterator, Entries::iterator> range)
      : begin_(cache, range.first), end_(cache, range.second) {}
  iterator begin_;
  iterator end_;
};

}  // namespace slipway::client
