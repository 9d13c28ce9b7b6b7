#include "store/watcher.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

namespace slipway::store {
namespace {

/// Changes of a resource, below the prefix or not, that a watcher looks at before others have their turn.
constexpr std::size_t kLooksAtOnce = 4096;

class HistoryWatcher : public Watcher {
 public:
  HistoryWatcher(Env& env, std::shared_ptr<State> state, std::string prefix, Revision from)
      : env_(env),
        state_(std::move(state)),
        prefix_(std::move(prefix)),
        bucket_(state_->history().bucket(prefix_)),
        changed_(env),
        seen_(from) {
    bucket_.add_listener(changed_);
  }
  ~HistoryWatcher() override { bucket_.remove_listener(changed_); }
  HistoryWatcher(const HistoryWatcher&) = delete;
  HistoryWatcher& operator=(const HistoryWatcher&) = delete;

  Task<Result<std::vector<Change>>> next(std::size_t limit) override {
    for (;;) {
      auto changes = take(limit);
      if (is_closed_ || !changes || !changes->empty()) co_return changes;
      if (is_behind_) {
        co_await yield(env_);
      } else {
        co_await changed_.wait();
      }
    }
  }

  Task<Result<std::vector<Change>>> next_until(std::size_t limit, Steady deadline) override {
    for (;;) {
      auto changes = take(limit);
      if (is_closed_ || !changes || !changes->empty()) co_return changes;
      if (is_behind_) {
        co_await yield(env_);
      } else if (!co_await changed_.wait_until(deadline)) {
        co_return take(limit);
      }
    }
  }

  void close() override {
    is_closed_ = true;
    changed_.notify();
  }

  Revision progress() const override {
    bool has_unseen = false;
    if (state_->is_closed() || bucket_.trimmed() > seen_) return seen_;
    state_->history().each_after(prefix_, seen_, [&](const Record&) {
      has_unseen = true;
      return false;
    });
    return has_unseen ? seen_ : state_->revision();
  }

 private:
  Result<std::vector<Change>> take(std::size_t limit) {
    SLIPWAY_CHECK(limit > 0);
    if (is_closed_) return std::vector<Change>{};
    if (state_->is_closed()) return fail(Reason::ServiceUnavailable, "the store is closed");
    if (bucket_.trimmed() > seen_)
      return fail(Reason::Expired, fmt::format("too old resource version: {} ({})", seen_, state_->history().compacted()));
    std::vector<Change> changes;
    Result<void> outcome;
    Revision seen = state_->revision();
    std::size_t looked = 0;
    is_behind_ = false;
    // Those of the resource that lie elsewhere are passed over here, so that they count.
    state_->history().each_after(bucket_of(prefix_), seen_, [&](const Record& record) {
      is_behind_ = changes.size() == limit || looked == kLooksAtOnce;
      if (is_behind_) {
        seen = record.revision - 1;
        return false;
      }
      ++looked;
      if (!record.key.starts_with(prefix_)) return true;
      auto value = record.value.get_optional();
      auto previous = record.previous.get_optional();
      if (!value || !previous) {
        outcome = fail((!value ? value : previous).error());
        return false;
      }
      changes.push_back({record.revision, record.key, std::move(*value), std::move(*previous), record.previous_revision});
      return true;
    });
    if (!outcome) return fail(std::move(outcome).error());
    seen_ = seen;
    return changes;
  }

  Env& env_;
  std::shared_ptr<State> state_;
  std::string prefix_;
  Bucket& bucket_;
  Signal changed_;
  bool is_closed_ = false;
  bool is_behind_ = false;  // take() looked at as much as it may at once
  Revision seen_;           // every change up to here has been given out
};

}  // namespace

std::unique_ptr<Watcher> make_watcher(Env& env, std::shared_ptr<State> state, std::string prefix, Revision from) {
  return std::make_unique<HistoryWatcher>(env, std::move(state), std::move(prefix), from);
}

}  // namespace slipway::store
