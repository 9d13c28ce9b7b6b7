#include "store/commit_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/check.h"

namespace slipway::store {
namespace {

constexpr std::size_t kGroupChanges = 4096;
constexpr std::size_t kGroupBytes = std::size_t{8} << 20;
constexpr std::size_t kPendingBytes = std::size_t{256} << 20;
/// Superseded rows deleted along with one group, at least; twice as many as it adds otherwise, so that the file keeps its size.
constexpr std::size_t kSweepBatch = 512;

std::optional<json::Value> value_of(std::optional<Entry> entry) {
  return entry ? std::optional(std::move(entry->value)) : std::nullopt;
}

}  // namespace

/// Changes that become durable together. While it is on the lane only the lane touches `writes` and `outcome`.
struct CommitQueue::Group {
  explicit Group(Env& env) : done(env) {}

  std::vector<PendingWrite> writes;
  std::size_t bytes = 0;
  std::vector<Revision> superseded;
  Revision compacted = 0;
  Result<void> outcome;
  bool wants_checkpoint = false;
  bool sweeps = false;
  bool is_done = false;
  Signal done;
};

std::optional<Entry> CommitQueue::get_head(std::string_view key) const {
  const auto at = head_.find(key);
  if (at == head_.end()) return state_->get(key);
  if (!at->second.value) return std::nullopt;
  return Entry{*at->second.value, at->second.revision};
}

Revision CommitQueue::head_revision(std::string_view key) const {
  const auto at = head_.find(key);
  if (at == head_.end()) return state_->modified(key);
  return at->second.value ? at->second.revision : 0;
}

Task<Result<Revision>> CommitQueue::append(std::vector<Write> writes) {
  if (writes.empty()) co_return state_->revision();
  auto joined = join(std::move(writes));
  if (!joined) co_return fail(std::move(joined).error());
  const std::shared_ptr<Group> group = std::move(*joined);
  const Revision last = next_ - 1;
  while (!group->is_done) co_await group->done.wait();
  if (!group->outcome) co_return fail(group->outcome.error());
  co_return last;
}

Result<void> CommitQueue::check_writable() const {
  if (file_->is_read_only()) return fail(Reason::Forbidden, fmt::format("{} is opened for reading only", file_->path()));
  if (is_closing_) return fail(Reason::ServiceUnavailable, fmt::format("{} is closed", file_->path()));
  return {};
}

Result<std::shared_ptr<CommitQueue::Group>> CommitQueue::join(std::vector<Write> writes) {
  SLIPWAY_TRY_VOID(check_writable());
  if (pending_bytes_ > kPendingBytes) {
    Status status{};
    status.reason = Reason::TooManyRequests;
    status.message = fmt::format("more than {} MiB wait to be written to {}", kPendingBytes >> 20, file_->path());
    status.retry_after_seconds = 1;
    return fail(std::move(status));
  }
  SLIPWAY_TRY_VOID(check_expectations(writes));
  std::size_t bytes = 0;
  std::vector<PendingWrite> pending;
  pending.reserve(writes.size());
  for (Write& write : writes) {
    const std::size_t size = write.key.size() + (write.value ? write.value->memory_bytes() : 0);
    bytes += size;
    auto before = followers_->has_any_for(write.key) ? get_head(write.key) : std::nullopt;
    head_.insert_or_assign(write.key, Head{next_, write.value});
    followers_->tell(write.key, [&] {
      const Revision revision = before ? before->modified : 0;
      return Change{next_, write.key, write.value, value_of(std::move(before)), revision};
    });
    pending.push_back({next_++, std::move(write.key), std::move(write.value), size});
  }
  Group& group = collecting_group(bytes);
  group.bytes += bytes;
  pending_bytes_ += bytes;
  std::ranges::move(pending, std::back_inserter(group.writes));
  schedule();
  return groups_.back();
}

Result<void> CommitQueue::check_expectations(const std::vector<Write>& writes) const {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const Write& write = writes[i];
    SLIPWAY_CHECK(!write.key.empty());
    Revision actual = head_revision(write.key);
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (writes[earlier].key == write.key) actual = writes[earlier].value ? next_ + static_cast<Revision>(earlier) : 0;
    }
    const bool deletes_nothing = !write.value && actual == 0;
    if (actual == write.expected && !deletes_nothing) continue;
    const auto as_text = [](Revision r) { return r == 0 ? std::string("nothing") : fmt::format("revision {}", r); };
    return fail(Reason::Conflict,
                fmt::format("{}: expected {}, found {}", write.key, as_text(write.expected), as_text(actual)));
  }
  return {};
}

CommitQueue::Group& CommitQueue::collecting_group(std::size_t bytes) {
  const bool is_on_lane = is_committing_ && groups_.size() == 1;
  const bool has_room = !groups_.empty() && !is_on_lane &&
                        (groups_.back()->writes.empty() ||
                         (groups_.back()->writes.size() < kGroupChanges && groups_.back()->bytes + bytes <= kGroupBytes));
  if (!has_room) groups_.push_back(std::make_shared<Group>(env_));
  return *groups_.back();
}

void CommitQueue::schedule() {
  if (is_scheduled_ || is_committing_) return;
  is_scheduled_ = true;
  boost::asio::post(env_.executor, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->is_scheduled_ = false;
    self->start();
  });
}

void CommitQueue::start() {
  if (is_committing_ || groups_.empty()) return;
  is_committing_ = true;
  const std::shared_ptr<Group> group = groups_.front();
  take_superseded(*group);
  env_.commits.submit(
      [file = file_, group] {
        group->outcome = file->commit(group->writes, group->superseded, group->compacted);
        group->wants_checkpoint = file->wants_checkpoint();
      },
      [weak = weak_from_this(), group] {
        if (const auto self = weak.lock()) self->finish(group);
      });
}

void CommitQueue::take_superseded(Group& group) {
  auto& rows = state_->superseded();
  group.compacted = state_->history().compacted();
  if (!group.sweeps && rows.size() < kSweepBatch) return;
  const std::size_t count = std::min(rows.size(), std::max(kSweepBatch, 2 * group.writes.size()));
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(count);
  group.superseded.assign(rows.begin(), end);
  rows.erase(rows.begin(), end);
}

void CommitQueue::finish(const std::shared_ptr<Group>& group) {
  is_committing_ = false;
  groups_.pop_front();
  if (!group->outcome) {
    auto& rows = state_->superseded();
    rows.insert(rows.begin(), group->superseded.begin(), group->superseded.end());
    groups_.push_front(group);
    fail_all(group->outcome.error());
  } else {
    if (group->wants_checkpoint) env_.commits.submit([file = file_] { file->checkpoint(); }, [] {});
    start();
    succeed(*group);
  }
  if (groups_.empty()) idle_.notify();
}

void CommitQueue::succeed(Group& group) {
  for (const PendingWrite& write : group.writes) {
    const auto at = head_.find(write.key);
    if (at != head_.end() && at->second.revision == write.revision) head_.erase(at);
  }
  pending_bytes_ -= group.bytes;
  if (!group.writes.empty()) state_->apply(std::move(group.writes));
  group.is_done = true;
  group.done.notify();
}

void CommitQueue::fail_all(const Status& failure) {
  env_.log.error("a commit failed; its writes and those after them are undone", {{"error", failure.message}});
  next_ = state_->revision() + 1;
  undo_head();
  pending_bytes_ = 0;
  for (const auto& group : std::exchange(groups_, {})) {
    group->outcome = fail(failure);
    group->is_done = true;
    group->done.notify();
  }
}

void CommitQueue::undo_head() {
  for (auto& [key, undone] : std::exchange(head_, {})) {
    followers_->tell(key, [&] {
      auto durable = state_->get(key);
      const Revision revision = durable ? durable->modified : 0;
      return Change{revision, key, value_of(std::move(durable)), std::move(undone.value), undone.revision};
    });
  }
}

void CommitQueue::each_head(std::string_view prefix, const std::function<void(const Change&)>& visit) const {
  for (auto at = head_.lower_bound(prefix); at != head_.end() && at->first.starts_with(prefix); ++at) {
    auto durable = state_->get(at->first);
    const Revision revision = durable ? durable->modified : 0;
    visit({at->second.revision, at->first, at->second.value, value_of(std::move(durable)), revision});
  }
}

Task<Result<void>> CommitQueue::sweep() {
  const auto self = shared_from_this();
  SLIPWAY_CO_TRY_VOID(check_writable());
  while (!state_->superseded().empty()) {
    collecting_group(0).sweeps = true;
    const std::shared_ptr<Group> group = groups_.back();
    schedule();
    while (!group->is_done) co_await group->done.wait();
    if (!group->outcome) co_return fail(group->outcome.error());
  }
  co_return Result<void>{};
}

Task<> CommitQueue::close() {
  const auto self = shared_from_this();
  is_closing_ = true;
  while (!groups_.empty()) co_await idle_.wait();
  co_await run_on(env_, env_.commits, [file = file_] { file->close(); });
}

}  // namespace slipway::store
