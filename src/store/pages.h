// A range of keys read in pieces, all of one revision, however much is written between two pieces. Nothing is copied ahead: a
// piece is the newest state of its keys, taken back by what history has recorded since that revision. Each change is looked at
// once per reading, not once per piece.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "store/history.h"
#include "store/key_map.h"
#include "store/store.h"

namespace slipway::store {

class State;

class RangePages : public Pages {
 public:
  /// REQUIRES: state.check_revision(query.at) is fine.
  RangePages(std::shared_ptr<const State> state, RangeQuery query);

  Result<Range> next(std::size_t keys) override;
  bool is_over() const override { return is_over_; }

 private:
  /// By key its first change after the revision, which says what was before.
  using Changed = std::map<std::string_view, const Record*>;
  class Scan;

  /// Takes note of what has changed since the last piece, and forgets what lies before the next.
  void follow_changes();

  const std::shared_ptr<const State> state_;
  const RangeQuery query_;
  const Revision at_;
  Changed changed_;    // of keys from next_key_ on; its records are in history as long as at_ can be read
  Revision followed_;  // changes up to here are in changed_
  std::string next_key_;
  std::size_t given_ = 0;
  bool is_over_ = false;
};

}  // namespace slipway::store
