#include "server/field_index.h"

#include "base/turn.h"
#include "kube/field_text.h"

namespace slipway::server {
namespace {

constexpr std::size_t kIndexKeysAtOnce = 16;
constexpr std::size_t kIndexKeysPerTurn = 512;

/// Names and namespaces are in the key.
bool is_looked_up(const kube::FieldSelector::Requirement& one) { return one.is_equal && !one.field.starts_with("metadata."); }

}  // namespace

FieldIndex::FieldIndex(store::Store& store, ServedPtr served, std::string field)
    : served_(std::move(served)), field_(std::move(field)) {
  following_ = store.follow_from_now(served_->prefix, *this);
}

Task<Result<void>> FieldIndex::fill(Env& env, const store::Store& store) {
  SLIPWAY_CO_TRY(pages, store.pages({.prefix = served_->prefix}));
  Turn turn(env, kIndexKeysPerTurn);
  while (!pages->is_over()) {
    SLIPWAY_CO_TRY(piece, pages->next(kIndexKeysAtOnce));
    for (const auto& [key, entry] : piece.entries) {
      if (changed_.contains(key)) continue;
      keys_[kube::field_text(served_->matched(entry.value, entry.modified), field_)].insert(key);
    }
    if (turn.spend(kIndexKeysAtOnce)) co_await turn.pass();
  }
  is_filled_ = true;
  changed_.clear();
  co_return Result<void>{};
}

void FieldIndex::apply(const store::Change& change) {
  const auto text = [&](const json::Value& value, kube::Revision modified) {
    return kube::field_text(served_->matched(value, modified), field_);
  };
  std::optional<std::string> before, after;
  if (change.previous) before = text(*change.previous, change.previous_revision);
  if (change.value) after = text(*change.value, change.revision);
  if (before == after) return;
  if (!is_filled_) changed_.insert(change.key);
  if (before) {
    const auto found = keys_.find(*before);
    if (found != keys_.end() && found->second.erase(change.key) > 0 && found->second.empty()) keys_.erase(found);
  }
  if (after) keys_[*after].insert(change.key);
}

const std::set<std::string>& FieldIndex::keys(const std::string& value) const {
  static const std::set<std::string> kNone;
  const auto found = keys_.find(value);
  return found == keys_.end() ? kNone : found->second;
}

Task<std::optional<std::vector<std::string>>> FieldIndexes::find(const ServedPtr& served, const Selection& selection) {
  if (!served->type.is_custom || selection.is_one_key) co_return std::nullopt;
  if (!co_await prepare(served, selection)) co_return std::nullopt;
  const std::set<std::string>* fewest = nullptr;
  for (const kube::FieldSelector::Requirement& one : selection.fields.requirements()) {
    if (!is_looked_up(one)) continue;
    const FieldIndex* index = ready(served, one.field);
    if (index == nullptr) co_return std::nullopt;  // another version took its place while the next one was read
    const std::set<std::string>& keys = index->keys(one.value);
    if (fewest == nullptr || keys.size() < fewest->size()) fewest = &keys;
  }
  if (fewest == nullptr || fewest->size() > kMostKeys) co_return std::nullopt;
  std::vector<std::string> found;
  for (auto at = fewest->lower_bound(selection.prefix); at != fewest->end() && at->starts_with(selection.prefix); ++at) {
    found.push_back(*at);
  }
  co_return found;
}

Task<bool> FieldIndexes::prepare(const ServedPtr& served, const Selection& selection) {
  for (const kube::FieldSelector::Requirement& one : selection.fields.requirements()) {
    if (!is_looked_up(one) || ready(served, one.field) != nullptr) continue;
    auto made = std::make_unique<FieldIndex>(store_, served, one.field);
    if (!co_await made->fill(env_, store_)) co_return false;
    indexes_[{served->type.resource, one.field}] = std::move(made);
  }
  co_return true;
}

FieldIndex* FieldIndexes::ready(const ServedPtr& served, const std::string& field) const {
  const auto found = indexes_.find({served->type.resource, field});
  return found != indexes_.end() && found->second->is_about(served) ? found->second.get() : nullptr;
}

}  // namespace slipway::server
