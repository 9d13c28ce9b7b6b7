// Watches: the state to start with, changes through selectors, bookmarks, time-outs. A watch holds a cursor into the store's
// history and pointers to values; nothing is copied or encoded per watcher.
#include <fmt/format.h>

#include <algorithm>

#include "base/turn.h"
#include "server/answered.h"
#include "server/list_options.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

using client::WatchEvent;

constexpr Duration kBookmarkEvery = std::chrono::minutes{1};
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds{2};
constexpr std::size_t kMostTombstones = 512;
/// Keys of the state to begin with that are looked at between two looks at the clock, and in one turn.
constexpr std::size_t kWatchKeysAtOnce = 16;
constexpr std::size_t kWatchKeysPerTurn = 512;
/// Changes that a watch with selectors looks at in one turn.
constexpr std::size_t kNarrowBatch = 100;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

Value with_revision(const Value& object, Revision revision) {
  return object.with_path({"metadata", "resourceVersion"}, std::to_string(revision));
}

class ServerWatch : public client::Watch {
 public:
  struct Start {
    std::shared_ptr<const Selection> selection;
    std::unique_ptr<store::Watcher> changes;
    std::unique_ptr<store::Pages> state;  // to begin with: what is selected of it; null: nothing
    Revision state_revision = 0;
    bool marks_end_of_state = false;
    bool has_bookmarks = false;
    Steady deadline;
  };

  ServerWatch(ServerContext& context, ServedPtr served, Start start)
      : context_(context),
        served_(std::move(served)),
        selection_(std::move(start.selection)),
        changes_(std::move(start.changes)),
        state_(std::move(start.state)),
        state_revision_(start.state_revision),
        owes_end_of_state_(start.marks_end_of_state),
        has_bookmarks_(start.has_bookmarks),
        deadline_(start.deadline),
        turn_(context.env, kWatchKeysPerTurn) {
    plan_bookmark(context_.env.clock.steady());
  }

  Task<Result<std::vector<WatchEvent>>> next() override {
    while (state_ != nullptr && !is_closed_) {
      if (turn_.spend(0)) {
        co_await turn_.pass();
        continue;
      }
      std::vector<WatchEvent> events;
      SLIPWAY_CO_TRY_VOID(take_of_state(events));
      if (!events.empty()) co_return events;
    }
    const std::size_t batch = selection_->is_narrow() ? kNarrowBatch : context_.options.watch_batch;
    while (!has_ended_ && !is_closed_) {
      // A batch that was full may have more behind it, which would come without a wait.
      if (std::exchange(was_batch_full_, false)) {
        co_await yield(context_.env);
        continue;
      }
      const Steady wake = has_bookmarks_ ? std::min(deadline_, next_bookmark_) : deadline_;
      auto changes = co_await changes_->next_until(batch, wake);
      if (!changes) co_return fail(ended_by(std::move(changes).error()));
      was_batch_full_ = changes->size() == batch;
      std::vector<WatchEvent> events;
      for (const store::Change& change : *changes) take(change, events);
      add_bookmark(events);
      if (!events.empty()) co_return events;
    }
    co_return std::vector<WatchEvent>{};
  }

  void close() override {
    is_closed_ = true;
    changes_->close();
  }

 private:
  /// Adds the next events of the state to begin with, as many as fit in what is left of the turn.
  Result<void> take_of_state(std::vector<WatchEvent>& events) {
    for (bool is_turn_over = false; state_ != nullptr && !is_turn_over && events.size() < context_.options.watch_batch;) {
      auto piece = state_->next(std::min(kWatchKeysAtOnce, context_.options.watch_batch - events.size()));
      if (!piece) return fail(ended_by(std::move(piece).error()));
      for (const auto& [key, entry] : piece->entries) {
        events.push_back({WatchEvent::Type::Added, served_->shown(entry.value, entry.modified)});
      }
      if (state_->is_over()) state_.reset();
      is_turn_over = turn_.spend(kWatchKeysAtOnce);
    }
    if (state_ == nullptr && std::exchange(owes_end_of_state_, false)) events.push_back(bookmark(state_revision_, true));
    return {};
  }

  void take(const store::Change& change, std::vector<WatchEvent>& events) {
    if (selection_->is_one_key && change.key.size() != selection_->prefix.size()) return;
    const bool is_plain = selection_->takes_everything();
    const auto is_selected = [&](const std::optional<Value>& object, Revision modified) {
      return object && (is_plain || selection_->matches(served_->matched(*object, modified)));
    };
    const bool was_in = is_selected(change.previous, change.previous_revision);
    const bool is_in = is_selected(change.value, change.revision);
    if (is_in) {
      const auto type = was_in ? WatchEvent::Type::Modified : WatchEvent::Type::Added;
      events.push_back({type, served_->shown(*change.value, change.revision)});
    } else if (was_in) {
      const Value& last = context_.tombstones.of(change.revision, *change.previous);
      events.push_back({WatchEvent::Type::Deleted, served_->shown(last, change.previous_revision)});
    }
  }

  void add_bookmark(std::vector<WatchEvent>& events) {
    const Steady now = context_.env.clock.steady();
    const bool is_over = now >= deadline_ || !context_.registry.served(served_->type.resource);
    if (has_bookmarks_ && (now >= next_bookmark_ || is_over)) {
      events.push_back(bookmark(changes_->progress(), false));
      plan_bookmark(now);
    }
    has_ended_ = is_over;
  }

  void plan_bookmark(Steady now) {
    next_bookmark_ = now + kBookmarkEvery;
    if (now < deadline_ - kBookmarkBeforeEnd) next_bookmark_ = std::min(next_bookmark_, deadline_ - kBookmarkBeforeEnd);
  }

  WatchEvent bookmark(Revision revision, bool ends_state) const {
    json::ObjectBuilder meta;
    meta.add("resourceVersion", std::to_string(revision));
    if (ends_state) meta.add("annotations", json::object({{kInitialEventsEnd, "true"}}));
    return {
        WatchEvent::Type::Bookmark,
        json::object({{"kind", served_->type.kind.kind}, {"apiVersion", served_->api_version}, {"metadata", meta.build()}})};
  }

  Status ended_by(Status status) const {
    if (status.reason == Reason::Expired) return too_old_revision(changes_->progress(), context_.store.compacted());
    return status;
  }

  ServerContext& context_;
  ServedPtr served_;
  std::shared_ptr<const Selection> selection_;
  std::unique_ptr<store::Watcher> changes_;
  std::unique_ptr<store::Pages> state_;
  Revision state_revision_ = 0;
  bool owes_end_of_state_ = false;
  bool has_bookmarks_ = false;
  bool has_ended_ = false;
  bool was_batch_full_ = false;
  bool is_closed_ = false;
  Steady deadline_;
  Steady next_bookmark_;
  Turn turn_;
};

}  // namespace

const Value& Tombstones::of(Revision revision, const Value& last_state) {
  const auto found = std::find_if(recent_.rbegin(), recent_.rend(), [&](const auto& one) { return one.first == revision; });
  if (found != recent_.rend()) return found->second;
  if (recent_.size() == kMostTombstones) recent_.pop_front();
  return recent_.emplace_back(revision, with_revision(last_state, revision)).second;
}

Task<Result<std::unique_ptr<client::Watch>>> Verbs::watch(Request request) {
  request.verb = client::Verb::Watch;
  SLIPWAY_CO_TRY_VOID(authorize(request));
  SLIPWAY_CO_TRY(served, context_.registry.served(request.resource));
  if (served->answers) {
    if (!served->answers->watch) co_return fail(not_allowed());
    co_return co_await served->answers->watch({context_.env, context_.server}, std::move(request));
  }
  SLIPWAY_CO_TRY(plan, WatchPlan::of(request));
  ServerWatch::Start start;
  SLIPWAY_CO_TRY(parsed, Selection::of(request, *served));
  const auto selection = std::make_shared<const Selection>(std::move(parsed));
  start.selection = selection;
  SLIPWAY_CO_TRY_VOID(co_await reach(std::max(plan.not_older_than, plan.from)));

  // From here to the cursor nothing suspends, so no change falls between state and cursor.
  Revision from = plan.from;
  if (plan.starts_with_state) {
    from = start.state_revision = context_.store.revision();
    store::RangeQuery query{.prefix = selection->prefix, .start = {}, .limit = 0, .at = from};
    if (selection->is_narrow()) {
      query.wants = [selection, served](std::string_view key, const store::Entry& entry) {
        return selection->takes(key, served->matched(entry.value, entry.modified));
      };
    }
    SLIPWAY_CO_TRY(state, context_.store.pages(std::move(query)));
    start.state = std::move(state);
  } else if (plan.starts_now) {
    from = context_.store.revision();
  }
  auto changes = context_.store.watch(selection->prefix, from);
  if (!changes && changes.error().reason == Reason::Expired) {
    co_return fail(too_old_revision(from, context_.store.compacted()));
  }
  if (!changes) co_return fail(std::move(changes).error());
  start.changes = std::move(*changes);
  start.marks_end_of_state = plan.marks_end_of_state;
  start.has_bookmarks = request.allow_watch_bookmarks;
  const Duration timeout = request.timeout_seconds.value_or(0) > 0
                               ? seconds_saturating(*request.timeout_seconds)
                               : jitter(context_.env.random, context_.options.min_watch_timeout, 1.0);
  start.deadline = context_.env.clock.steady() + timeout;
  co_return std::make_unique<ServerWatch>(context_, std::move(served), std::move(start));
}

}  // namespace slipway::server
