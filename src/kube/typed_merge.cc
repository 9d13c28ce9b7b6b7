#include "kube/typed_merge.h"

#include <algorithm>
#include <utility>

#include "kube/typed_shape.h"

namespace slipway::kube::typed {
namespace {

using json::Value;

Value merge_values(const SchemaNode* node, const Value& live, const Value& config);

Value merge_maps(const SchemaNode* node, const Value& live, const Value& config) {
  std::optional<json::ObjectBuilder> changed;
  Beside lives(live);
  for (auto [name, value] : config.members()) {
    const Value* before = lives.find(name);
    Value after = before == nullptr ? value : merge_values(member_node(node, name).node, *before, value);
    if (before != nullptr && after.is_same(*before)) continue;
    if (!changed) changed.emplace(live);
    changed->set(name, std::move(after));
  }
  return changed ? changed->build() : live;
}

/// Walks two lists at once. Items of both are taken in the order of the configuration; before each of them come the live-only
/// items that stand before it in the live list.
class ListMerge {
 public:
  ListMerge(const SchemaNode& node, const Value& live, const Value& config)
      : node_(node), live_(node, live.items()), config_(node, config.items()), is_taken_(config_.size()) {
    for (std::size_t r = 0; r < config_.size(); ++r) {
      if (live_.match(config_, r) != ItemIndex::kNone) shared_.push_back(r);
    }
    while (l_ < live_.size() || r_ < config_.size()) step();
  }
  json::ArrayBuilder& out() { return out_; }

 private:
  void step() {
    if (l_ < live_.size()) {
      const std::size_t partner = config_.match(live_, l_);
      if (partner == ItemIndex::kNone) {
        out_.add(live_.item(l_++));
        return;
      }
      if (r_ < config_.size() && partner != r_ && next_ < shared_.size() && shared_[next_] != partner) {
        ++l_;  // shared, but another one comes first
        return;
      }
      if (partner == r_ || is_taken_[partner]) ++l_;
    }
    if (r_ < config_.size()) take_configured();
  }

  void take_configured() {
    const std::size_t partner = live_.match(config_, r_);
    const Value& item = config_.item(r_);
    // Live items with equal keys are replaced as if there were none.
    const bool is_merged = partner != ItemIndex::kNone && live_.count(partner) == 1;
    out_.add(is_merged ? merge_values(item_node(&node_), live_.item(partner), item) : item);
    is_taken_[r_] = true;
    if (next_ < shared_.size() && shared_[next_] == r_) ++next_;
    ++r_;
  }

  const SchemaNode& node_;
  ItemIndex live_;
  ItemIndex config_;
  std::vector<std::size_t> shared_;  // positions in the configuration of items both have
  std::vector<bool> is_taken_;       // by position in the configuration
  std::size_t next_ = 0;             // into shared_
  std::size_t l_ = 0;
  std::size_t r_ = 0;
  json::ArrayBuilder out_;
};

Value merge_lists(const SchemaNode& node, const Value& live, const Value& config) {
  Value merged = ListMerge(node, live, config).out().build();
  auto is_same = [](const Value& left, const Value& right) { return left.is_same(right); };
  return std::ranges::equal(merged.items(), live.items(), is_same) ? live : merged;
}

Value merge_values(const SchemaNode* node, const Value& live, const Value& config) {
  if (live.is_same(config)) return live;
  const Shape before = shape_of(node, live);
  const Shape after = shape_of(node, config);
  const bool is_kept = (before == Shape::Map || before == Shape::List) && !live.empty();
  if (is_kept && (after == Shape::Null || (after == before && config.empty()))) return live;
  if (is_kept && after == before) {
    return before == Shape::Map ? merge_maps(node, live, config) : merge_lists(*node, live, config);
  }
  return before == after && live == config ? live : config;
}

}  // namespace

Value merge(const SchemaNode* node, const Value& live, const Value& config) { return merge_values(node, live, config); }

}  // namespace slipway::kube::typed
