#include "store/key_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slipway::store {

KeyMap::KeyMap(std::vector<Item> items) : size_(items.size()) {
  blocks_.reserve(items.size() / (kBlock / 2) + 1);
  for (std::size_t first = 0; first < items.size(); first += kBlock / 2) {
    const std::size_t last = std::min(first + kBlock / 2, items.size());
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
    blocks_.emplace_back(std::make_move_iterator(begin),
                         std::make_move_iterator(items.begin() + static_cast<std::ptrdiff_t>(last)));
  }
}

KeyMap::Position KeyMap::lower_bound(std::string_view key) const {
  const auto block = std::ranges::lower_bound(blocks_, key, {}, [](const Block& b) { return std::string_view(b.back().key); });
  if (block == blocks_.end()) return end();
  const auto item = std::ranges::lower_bound(*block, key, {}, [](const Item& i) { return std::string_view(i.key); });
  return {static_cast<std::size_t>(block - blocks_.begin()), static_cast<std::size_t>(item - block->begin())};
}

KeyMap::Position KeyMap::end_of(std::string_view prefix) const {
  // The least text above all that begin with the prefix: its last byte that can be, one higher.
  std::string above(prefix);
  while (!above.empty() && static_cast<unsigned char>(above.back()) == 0xff) above.pop_back();
  if (above.empty()) return end();
  above.back() = static_cast<char>(static_cast<unsigned char>(above.back()) + 1);
  return lower_bound(above);
}

KeyMap::Position KeyMap::next(Position position) const {
  if (++position.item < blocks_[position.block].size()) return position;
  return {position.block + 1, 0};
}

std::size_t KeyMap::distance(Position first, Position last) const {
  if (last <= first) return 0;
  if (first.block == last.block) return last.item - first.item;
  std::size_t count = blocks_[first.block].size() - first.item + last.item;
  for (std::size_t block = first.block + 1; block < last.block; ++block) count += blocks_[block].size();
  return count;
}

const KeyMap::Item* KeyMap::find(std::string_view key) const {
  const Position position = lower_bound(key);
  if (position == end()) return nullptr;
  const Item& item = at(position);
  return item.key == key ? &item : nullptr;
}

void KeyMap::put(std::string_view key, LazyValue value, kube::Revision modified) {
  Position position = lower_bound(key);
  if (position != end()) {
    Item& item = blocks_[position.block][position.item];
    if (item.key == key) {
      item.value = std::move(value);
      item.modified = modified;
      return;
    }
  } else if (blocks_.empty()) {
    blocks_.emplace_back();
    position = {0, 0};
  } else {
    position = {blocks_.size() - 1, blocks_.back().size()};
  }
  Block& block = blocks_[position.block];
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(position.item), Item{std::string(key), std::move(value), modified});
  ++size_;
  if (block.size() < kBlock) return;
  // Keys that arrive in order leave full blocks behind, be they the last of all or of their kind; others leave halves.
  const bool is_in_order = position.item >= block.size() * 3 / 4;
  const auto middle = block.begin() + static_cast<std::ptrdiff_t>(is_in_order ? std::min(position.item + 1, block.size() - 1)
                                                                              : block.size() / 2);
  Block upper(std::make_move_iterator(middle), std::make_move_iterator(block.end()));
  block.erase(middle, block.end());
  block.shrink_to_fit();
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block) + 1, std::move(upper));
}

bool KeyMap::erase(std::string_view key) {
  const Position position = lower_bound(key);
  if (position == end() || at(position).key != key) return false;
  Block& block = blocks_[position.block];
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(position.item));
  if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block));
  --size_;
  return true;
}

}  // namespace slipway::store
