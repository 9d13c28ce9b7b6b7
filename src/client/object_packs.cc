#include "client/object_packs.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "json/text.h"

namespace slipway::client {

namespace {

using json::Value;

/// A dictionary holds some objects; what is beyond that of a large one is not taken.
constexpr std::size_t kDictionaryBytes = std::size_t{48} << 10U;
constexpr std::size_t kSampleBytes = std::size_t{12} << 10U;
/// Space for texts that is kept from one to the next.
constexpr std::size_t kKeptSpace = std::size_t{256} << 10U;

Value parse_packed(std::string_view text) {
  auto read = json::parse(text, {.max_bytes = std::numeric_limits<std::size_t>::max()});
  SLIPWAY_CHECK(read.has_value(), read.error().message);
  return *std::move(read);
}

}  // namespace

void ObjectPacks::put(AlikeObjects& alike, KeptObject& kept, Value object) {
  drop(kept);
  add(alike, kept, std::move(object));
}

Value ObjectPacks::get(AlikeObjects& alike, KeptObject& kept) {
  if (kept.tree.is_null()) {
    add(alike, kept, peek(alike, kept));
  } else {
    recent_.splice(recent_.begin(), recent_, kept.place);
  }
  return kept.tree;
}

Value ObjectPacks::peek(const AlikeObjects& alike, const KeptObject& kept) {
  if (!kept.tree.is_null()) return kept.tree;
  return parse_packed(
      packer_.unpack({kept.packed.get(), kept.packed_size}, kept.is_packed_alike ? &*alike.dictionary : nullptr));
}

void ObjectPacks::drop(KeptObject& kept) {
  kept.packed.reset();
  if (kept.tree.is_null()) return;
  used_bytes_ -= kept.place->tree_bytes;
  recent_.erase(kept.place);
  kept.tree = Value();
}

void ObjectPacks::add(AlikeObjects& alike, KeptObject& kept, Value tree) {
  kept.tree = std::move(tree);
  kept.place = recent_.insert(recent_.begin(), {&kept, &alike, kept.tree.memory_bytes()});
  used_bytes_ += kept.place->tree_bytes;
  shrink();
}

void ObjectPacks::shrink() {
  while (used_bytes_ > tree_bytes_ && recent_.size() > 1) {
    const RecentObject oldest = recent_.back();
    if (oldest.kept->packed == nullptr) pack(*oldest.alike, *oldest.kept);
    oldest.kept->tree = Value();
    used_bytes_ -= oldest.tree_bytes;
    recent_.pop_back();
  }
}

/// The first objects go without a dictionary, which is made of them.
void ObjectPacks::pack(AlikeObjects& alike, KeptObject& kept) {
  if (text_.capacity() > kKeptSpace) text_ = {};
  text_.clear();
  json::print_to(text_, kept.tree);
  kept.is_packed_alike = alike.dictionary.has_value();
  const std::string_view frame = packer_.pack(text_, kept.is_packed_alike ? &*alike.dictionary : nullptr);
  kept.packed = std::make_unique_for_overwrite<char[]>(frame.size());
  kept.packed_size = static_cast<std::uint32_t>(frame.size());
  std::ranges::copy(frame, kept.packed.get());
  if (kept.is_packed_alike) return;
  alike.samples.append(text_, 0, kSampleBytes);
  if (alike.samples.size() < kDictionaryBytes) return;
  alike.dictionary.emplace(alike.samples);
  alike.samples = {};
}

}  // namespace slipway::client
