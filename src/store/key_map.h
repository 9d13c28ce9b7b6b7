// Keys in order with their newest values, in sorted blocks: prefix scans walk memory in order, and "how many keys lie between"
// costs a step per block instead of one per key. 400,000 keys are some 3,000 blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "store/lazy_value.h"

namespace slipway::store {

class KeyMap {
 public:
  struct Item {
    std::string key;
    LazyValue value;
    kube::Revision modified = 0;
  };

  /// A place between keys; any change of the map ends it.
  struct Position {
    std::size_t block = 0;
    std::size_t item = 0;

    auto operator<=>(const Position&) const = default;
  };

  KeyMap() = default;
  /// REQUIRES: sorted by key, each key once.
  explicit KeyMap(std::vector<Item> items);

  void put(std::string_view key, LazyValue value, kube::Revision modified);
  /// False when absent.
  bool erase(std::string_view key);

  /// nullptr when absent. Valid until the next change.
  const Item* find(std::string_view key) const;
  /// The first key not less than `key`.
  Position lower_bound(std::string_view key) const;
  /// After the last key with this prefix.
  Position end_of(std::string_view prefix) const;
  Position end() const { return {blocks_.size(), 0}; }
  const Item& at(Position position) const { return blocks_[position.block][position.item]; }
  Position next(Position position) const;
  /// Keys from `first` up to `last`.
  std::size_t distance(Position first, Position last) const;
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kBlock = 256;
  using Block = std::vector<Item>;  // sorted, never empty

  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

}  // namespace slipway::store
