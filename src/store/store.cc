#include "store/store.h"

#include <limits>
#include <utility>

#include "store/commit_queue.h"
#include "store/pages.h"
#include "store/state.h"
#include "store/watcher.h"

namespace slipway::store {
namespace {

class SqliteStore : public Store {
 public:
  SqliteStore(Env& env, std::shared_ptr<State> state, std::shared_ptr<LogFile> file)
      : env_(env), state_(std::move(state)), commits_(std::make_shared<CommitQueue>(env, state_, std::move(file))) {}

  Revision revision() const override { return state_->revision(); }
  Revision next_revision() const override { return commits_->next_revision(); }
  Revision compacted() const override { return state_->history().compacted(); }
  std::optional<Entry> get(std::string_view key) const override { return state_->get(key); }
  std::optional<Entry> get_head(std::string_view key) const override { return commits_->get_head(key); }
  Result<Range> range(const RangeQuery& query) const override {
    SLIPWAY_TRY(whole, pages(query));
    return whole->next(std::numeric_limits<std::size_t>::max());
  }
  Result<std::unique_ptr<Pages>> pages(RangeQuery query) const override {
    if (query.at != 0) SLIPWAY_TRY_VOID(state_->check_revision(query.at));
    return std::make_unique<RangePages>(state_, std::move(query));
  }
  std::size_t count(std::string_view prefix) const override { return state_->count(prefix); }

  Task<Result<Revision>> append(std::vector<Write> writes) override { return commits_->append(std::move(writes)); }

  std::unique_ptr<Following> follow(std::string prefix, Projection& projection, Sight sight) override {
    state_->each(prefix, [&](std::string_view key, Entry entry) {
      projection.apply({entry.modified, std::string(key), std::move(entry.value), std::nullopt, 0});
    });
    if (sight == Sight::Durable) return state_->followers().add(std::move(prefix), projection);
    commits_->each_head(prefix, [&](const Change& change) { projection.apply(change); });
    return commits_->followers().add(std::move(prefix), projection);
  }

  std::unique_ptr<Following> follow_from_now(std::string prefix, Projection& projection) override {
    return state_->followers().add(std::move(prefix), projection);
  }

  Result<std::unique_ptr<Watcher>> watch(std::string prefix, Revision from) override {
    if (state_->is_closed()) return fail(Reason::ServiceUnavailable, "the store is closed");
    SLIPWAY_TRY_VOID(state_->check_revision(from));
    return make_watcher(env_, state_, std::move(prefix), from);
  }

  Task<Result<void>> compact(Revision revision) override {
    if (revision > state_->revision()) co_return state_->check_revision(revision);
    state_->compact(revision);
    co_return co_await commits_->sweep();
  }

  Task<bool> wait_for(Revision revision, Steady deadline) override {
    const std::shared_ptr<State> state = state_;
    while (state->revision() < revision) {
      if (state->is_closed() || !co_await state->advanced().wait_until(deadline)) co_return state->revision() >= revision;
    }
    co_return true;
  }

  Task<> close() override {
    co_await commits_->close();
    state_->close();
  }

 private:
  Env& env_;
  std::shared_ptr<State> state_;
  std::shared_ptr<CommitQueue> commits_;
};

}  // namespace

Result<std::unique_ptr<Store>> Store::open(Env& env, Options options) {
  SLIPWAY_TRY(opened, LogFile::open({options.path, env.vfs, options.pid, options.is_read_only}));
  std::shared_ptr<LogFile> file = std::move(opened);
  auto state = std::make_shared<State>(env, options);
  SLIPWAY_TRY_VOID(state->load(*file));
  if (options.is_read_only) file->close();
  return std::make_unique<SqliteStore>(env, std::move(state), std::move(file));
}

}  // namespace slipway::store
