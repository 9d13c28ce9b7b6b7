#include "server/field_index.h"

#include "kube/field_text.h"

namespace slipway::server {

FieldIndex::FieldIndex(store::Store& store, ServedPtr served, std::string field)
    : served_(std::move(served)), field_(std::move(field)) {
  following_ = store.follow(served_->prefix, *this, store::Sight::Durable);
}

void FieldIndex::apply(const store::Change& change) {
  const auto text = [&](const json::Value& value, kube::Revision modified) {
    return kube::field_text(served_->matched(value, modified), field_);
  };
  std::optional<std::string> before, after;
  if (change.previous) before = text(*change.previous, change.previous_revision);
  if (change.value) after = text(*change.value, change.revision);
  if (before == after) return;
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

std::optional<std::vector<std::string>> FieldIndexes::find(const ServedPtr& served, const Selection& selection) {
  if (!served->type.is_custom || selection.is_one_key) return std::nullopt;
  const std::set<std::string>* fewest = nullptr;
  for (const kube::FieldSelector::Requirement& one : selection.fields.requirements()) {
    // Names and namespaces are in the key.
    if (!one.is_equal || one.field.starts_with("metadata.")) continue;
    const std::set<std::string>& keys = index(served, one.field).keys(one.value);
    if (fewest == nullptr || keys.size() < fewest->size()) fewest = &keys;
  }
  if (fewest == nullptr || fewest->size() > kMostKeys) return std::nullopt;
  std::vector<std::string> found;
  for (auto at = fewest->lower_bound(selection.prefix); at != fewest->end() && at->starts_with(selection.prefix); ++at) {
    found.push_back(*at);
  }
  return found;
}

const FieldIndex& FieldIndexes::index(const ServedPtr& served, const std::string& field) {
  auto& made = indexes_[{served->type.resource, field}];
  if (!made || !made->is_about(served)) made = std::make_unique<FieldIndex>(store_, served, field);
  return *made;
}

}  // namespace slipway::server
