#include "cluster/index_set.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace slipway::cluster {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

IndexSet IndexSet::parse(std::string_view text, std::int64_t limit) {
  IndexSet set;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto first = number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
    if (first && last && *first <= *last && *first < limit) set.insert_range(*first, std::min(*last, limit - 1));
  }
  return set;
}

void IndexSet::insert(std::int64_t index) {
  if (!contains(index)) insert_range(index, index);
}

bool IndexSet::contains(std::int64_t index) const {
  auto above = ranges_.upper_bound(index);
  return above != ranges_.begin() && std::prev(above)->second >= index;
}

std::int64_t IndexSet::size() const {
  std::int64_t count = 0;
  for (const auto& [first, last] : ranges_) count += last - first + 1;
  return count;
}

std::string IndexSet::to_string() const {
  std::string text;
  for (const auto& [first, last] : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += (last == first + 1 ? ',' : '-') + std::to_string(last);
  }
  return text;
}

std::int64_t IndexSet::next_absent(std::int64_t from) const {
  auto above = ranges_.upper_bound(from);
  if (above == ranges_.begin()) return from;
  return std::max(from, std::prev(above)->second + 1);
}

void IndexSet::insert_range(std::int64_t first, std::int64_t last) {
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second >= first - 1) --at;
  while (at != ranges_.end() && at->first <= last + 1) {
    first = std::min(first, at->first);
    last = std::max(last, at->second);
    at = ranges_.erase(at);
  }
  ranges_.emplace(first, last);
}

}  // namespace slipway::cluster
