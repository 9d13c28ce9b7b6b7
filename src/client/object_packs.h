// Lets caches hold many objects in little memory. An object that was read or changed lately is a JSON tree; of the others only
// their text is kept, compressed by a dictionary that is made of the first objects of that resource: objects of one resource
// are much alike, so that some hundred bytes are left of several KiB. What is read again is a tree again; its packed text
// stays, so that it costs nothing to drop the tree later. Packing happens only when there are more trees than may be: a small
// cache never packs. One bound holds for all informers that share it. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/zstd.h"
#include "client/client.h"
#include "kube/object.h"

namespace slipway::client {

struct KeptObject;

/// What the objects of one resource have in common.
struct AlikeObjects {
  std::string samples{};  // until there is a dictionary
  std::optional<ZstdDictionary> dictionary{};
};

/// An object that is there as a tree, too.
struct RecentObject {
  KeptObject* kept;
  AlikeObjects* alike;
  std::size_t tree_bytes;
};

/// An object in a cache: a tree, packed, or both. Does not move in memory as long as it is kept.
struct KeptObject {
  json::Value tree{};  // null while there is only the packed text
  std::unique_ptr<char[]> packed{};
  std::uint32_t packed_size = 0;
  bool is_packed_alike = false;               // by the dictionary
  std::list<RecentObject>::iterator place{};  // among the recent ones, while there is a tree
};

class ObjectPacks {
 public:
  /// The trees of recent objects take `tree_bytes` at most; the one that was used last is always there.
  explicit ObjectPacks(std::size_t tree_bytes) : tree_bytes_(tree_bytes) {}
  ObjectPacks(const ObjectPacks&) = delete;
  ObjectPacks& operator=(const ObjectPacks&) = delete;

  /// Valid as long as this.
  AlikeObjects& alike(const kube::Resource& resource, Form form) { return alike_[{resource, form}]; }
  /// Replaces what is kept. It is the latest now.
  void put(AlikeObjects& alike, KeptObject& kept, json::Value object);
  /// The object, which is the latest now.
  json::Value get(AlikeObjects& alike, KeptObject& kept);
  /// The object, for those who look at all of them: it is as recent as before.
  json::Value peek(const AlikeObjects& alike, const KeptObject& kept);
  /// Forgets the object, which must be done before its end.
  void drop(KeptObject& kept);

 private:
  void add(AlikeObjects& alike, KeptObject& kept, json::Value tree);
  void shrink();
  void pack(AlikeObjects& alike, KeptObject& kept);

  const std::size_t tree_bytes_;
  std::size_t used_bytes_ = 0;
  std::list<RecentObject> recent_{};  // the latest first
  std::map<std::pair<kube::Resource, Form>, AlikeObjects> alike_{};
  ZstdPacker packer_{};
  std::string text_{};
};

}  // namespace slipway::client
