// Grouped commits. Writes join the group that collects; one group at a time is made durable on the commit lane while the next
// one collects. Until then writes are "head": only writers see them. When a group fails, it and all that was appended after it
// (and may rest on it) is undone.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "store/log_file.h"
#include "store/state.h"
#include "store/store.h"

namespace slipway::store {

class CommitQueue : public std::enable_shared_from_this<CommitQueue> {
 public:
  CommitQueue(Env& env, std::shared_ptr<State> state, std::shared_ptr<LogFile> file)
      : env_(env), state_(std::move(state)), file_(std::move(file)), next_(state_->revision() + 1), idle_(env) {}

  Revision next_revision() const { return next_; }
  std::optional<Entry> get_head(std::string_view key) const;
  /// Told of each write when it is appended, and of its undoing.
  Followers& followers() { return *followers_; }
  /// What is appended below a prefix and not durable yet, as one change per key from what is durable.
  void each_head(std::string_view prefix, const std::function<void(const Change&)>& visit) const;
  /// As Store::append.
  Task<Result<Revision>> append(std::vector<Write> writes);
  /// Deletes what the state no longer needs from the file, in batches that go with the groups.
  Task<Result<void>> sweep();
  /// Refuses further writes, waits for those appended, closes the file on the lane.
  Task<> close();

 private:
  struct Group;
  struct Head {
    Revision revision = 0;
    std::optional<json::Value> value;  // nullopt: deleted
  };

  Result<void> check_writable() const;
  /// Checks the writes and puts them into head state; the group they are in.
  Result<std::shared_ptr<Group>> join(std::vector<Write> writes);
  Result<void> check_expectations(const std::vector<Write>& writes) const;
  Revision head_revision(std::string_view key) const;
  Group& collecting_group(std::size_t bytes);
  /// Starts a commit from the executor, so that all who are ready now can join it.
  void schedule();
  void start();
  void finish(const std::shared_ptr<Group>& group);
  void take_superseded(Group& group);
  void succeed(Group& group);
  void fail_all(const Status& failure);
  /// Back to what is durable.
  void undo_head();

  Env& env_;
  std::shared_ptr<State> state_;
  std::shared_ptr<LogFile> file_;
  Revision next_;
  std::map<std::string, Head, std::less<>> head_;  // of keys with writes that are not durable
  std::shared_ptr<Followers> followers_ = std::make_shared<Followers>();
  std::deque<std::shared_ptr<Group>> groups_;  // the first may be on the lane
  std::size_t pending_bytes_ = 0;
  Signal idle_;
  bool is_committing_ = false;
  bool is_scheduled_ = false;
  bool is_closing_ = false;
};

}  // namespace slipway::store
