// The value that a map has at a key, without exceptions: `at()` of the standard maps throws, and is refused by tests/house.
#pragma once

namespace slipway {

/// An empty value, which lives for ever, when the map lacks the key. The map must outlive what is returned.
template <class Map, class Key>
const typename Map::mapped_type& value_at(const Map& map, const Key& key) {
  static const typename Map::mapped_type kEmpty{};
  const auto found = map.find(key);
  return found == map.end() ? kEmpty : found->second;
}
template <class Map, class Key>
const typename Map::mapped_type& value_at(const Map&& map, const Key& key) = delete;

}  // namespace slipway
