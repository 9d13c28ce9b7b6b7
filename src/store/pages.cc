#include "store/pages.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/state.h"

namespace slipway::store {

/// Walks keys in order as they were at a past revision: the newest state, where a key has not changed since.
class RangePages::Scan {
 public:
  Scan(const KeyMap& newest, const Changed& changed, std::string_view first, std::string_view prefix)
      : newest_(newest), changed_(changed), now_(newest.lower_bound(first)), end_(newest.end_of(prefix)) {}

  /// Moves on to a key that existed then; false at the end.
  bool find() {
    for (;; step()) {
      is_past_ = then_ != changed_.end() && (now_ >= end_ || then_->first <= newest_.at(now_).key);
      if (!is_past_) return now_ < end_;
      if (then_->second->previous.has_value()) return true;
    }
  }
  /// Valid until the next step.
  std::string_view key() const { return is_past_ ? then_->first : std::string_view(newest_.at(now_).key); }
  Result<Entry> entry() const {
    SLIPWAY_TRY(value, (is_past_ ? then_->second->previous : newest_.at(now_).value).get());
    return Entry{std::move(value), is_past_ ? then_->second->previous_revision : newest_.at(now_).modified};
  }
  void step() {
    if (!is_past_ || (now_ < end_ && newest_.at(now_).key == then_->first)) now_ = newest_.next(now_);
    if (is_past_) ++then_;
  }
  /// Keys from here on.
  std::int64_t remaining() const {
    auto count = static_cast<std::int64_t>(newest_.distance(now_, end_));
    for (auto at = then_; at != changed_.end(); ++at)
      count += (at->second->previous.has_value() ? 1 : 0) - (newest_.find(at->first) != nullptr ? 1 : 0);
    return count;
  }

 private:
  const KeyMap& newest_;
  const Changed& changed_;
  KeyMap::Position now_;
  const KeyMap::Position end_;
  Changed::const_iterator then_ = changed_.begin();
  bool is_past_ = false;  // the key is at `then_`, else at `now_`
};

RangePages::RangePages(std::shared_ptr<const State> state, RangeQuery query)
    : state_(std::move(state)),
      query_(std::move(query)),
      at_(query_.at == 0 ? state_->revision() : query_.at),
      followed_(at_),
      next_key_(std::max(query_.prefix, query_.start)) {}

Result<Range> RangePages::next(std::size_t keys) {
  SLIPWAY_CHECK(keys > 0 && !is_over_);
  SLIPWAY_TRY_VOID(state_->check_revision(at_));
  follow_changes();
  Scan scan(state_->newest(), changed_, next_key_, query_.prefix);
  Range page;
  page.revision = at_;
  for (std::size_t looked = 0; scan.find(); scan.step(), ++looked) {
    if (query_.limit > 0 && given_ == query_.limit) {
      page.has_more = true;
      page.remaining = scan.remaining();
      break;
    }
    if (looked == keys) {
      next_key_ = scan.key();
      return page;
    }
    SLIPWAY_TRY(entry, scan.entry());
    if (query_.wants && !query_.wants(scan.key(), entry)) continue;
    page.entries.emplace_back(std::string(scan.key()), std::move(entry));
    ++given_;
  }
  is_over_ = true;
  return page;
}

void RangePages::follow_changes() {
  changed_.erase(changed_.begin(), changed_.lower_bound(next_key_));
  state_->history().each_after(query_.prefix, followed_, [&](const Record& record) {
    if (record.key >= next_key_) changed_.emplace(record.key, &record);
    return true;
  });
  followed_ = state_->revision();
}

}  // namespace slipway::store
