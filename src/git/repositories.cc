#include "git/repositories.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "git/mirror.h"
#include "git/remote.h"

namespace slipway::git {
/// Who may change a mirror now.
struct Repositories::MirrorTurn {
  explicit MirrorTurn(Env& env) : freed(env) {}
  std::uint64_t next = 0;     // number of the next to come
  std::uint64_t serving = 0;  // whose turn it is
  std::vector<std::uint64_t> gone{};
  Signal freed;
};

/// A place in the queue of a mirror; given up when destroyed.
class Repositories::Hold {
 public:
  Hold(Repositories& owner, std::string mirror) : owner_(owner), mirror_(std::move(mirror)) {
    auto& slot = owner_.turns_[mirror_];
    if (!slot) slot = std::make_shared<MirrorTurn>(owner_.env_);
    turn_ = slot;
    number_ = turn_->next++;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    turn_->gone.push_back(number_);
    while (std::erase(turn_->gone, turn_->serving) > 0) ++turn_->serving;
    if (turn_->serving == turn_->next) {
      owner_.turns_.erase(mirror_);
    } else {
      turn_->freed.notify();
    }
  }
  bool is_first() const { return turn_->serving == number_; }
  Signal& freed() { return turn_->freed; }

 private:
  Repositories& owner_;
  std::string mirror_;
  std::shared_ptr<MirrorTurn> turn_;
  std::uint64_t number_ = 0;
};

/// A lane for one operation of a space, or a place among those who wait for one; given up when destroyed.
class Repositories::LaneTurn {
 public:
  LaneTurn(Repositories& owner, std::string space) : owner_(owner), space_(std::move(space)), given_(owner.env_) {
    owner_.waiting_.push_back(this);
    ++owner_.shares_[space_].waiting;
    owner_.give_lanes();
  }
  LaneTurn(const LaneTurn&) = delete;
  LaneTurn& operator=(const LaneTurn&) = delete;
  ~LaneTurn() {
    const auto share = owner_.shares_.find(space_);
    if (lane_ == nullptr) {
      owner_.waiting_.remove(this);
      --share->second.waiting;
    } else {
      lane_->is_busy = false;
      --share->second.under_way;
    }
    if (share->second.under_way + share->second.waiting == 0) owner_.shares_.erase(share);
    owner_.give_lanes();
  }

  const std::string& space() const { return space_; }
  void give(RemoteLane& lane) {
    lane_ = &lane;
    lane.is_busy = true;
    Share& share = owner_.shares_[space_];
    --share.waiting;
    ++share.under_way;
    share.last = ++owner_.given_;
    given_.notify();
  }
  /// Null when the deadline came first.
  Task<Lane*> wait(Steady deadline) {
    while (lane_ == nullptr) {
      if (!co_await given_.wait_until(deadline) && lane_ == nullptr) co_return nullptr;
    }
    co_return lane_->lane;
  }

 private:
  Repositories& owner_;
  std::string space_;
  Signal given_;
  RemoteLane* lane_ = nullptr;
};

/// An attempt while stop() may end it.
class Repositories::Running {
 public:
  Running(Repositories& owner, std::shared_ptr<Attempt> attempt) : owner_(owner), attempt_(std::move(attempt)) {
    owner_.attempts_.insert(attempt_.get());
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { owner_.attempts_.erase(attempt_.get()); }

 private:
  Repositories& owner_;
  std::shared_ptr<Attempt> attempt_;
};

Repositories::Repositories(Env& env, std::vector<Lane*> mirror_lanes, std::vector<Lane*> remote_lanes,
                           RepositoriesOptions options)
    : env_(env), mirror_lanes_(std::move(mirror_lanes)), options_(std::move(options)), silent_(env.clock) {
  SLIPWAY_CHECK(!mirror_lanes_.empty() && !remote_lanes.empty(), "git needs lanes");
  for (Lane* lane : remote_lanes) remote_lanes_.push_back({lane});
}

Repositories::~Repositories() = default;

Result<Url> Repositories::url_of(const GitRemote& remote) const {
  SLIPWAY_TRY(url, Url::parse(remote.url));
  if (url.is_local() && options_.local_remotes == LocalRemotes::refuse) {
    return fail(Reason::Forbidden,
                fmt::format("git: {} is a path on the machine of this process, and such repositories are refused here: give an "
                            "https or ssh URL (slipway up and slipway controller take paths with --allow-local-git)",
                            url.shown()));
  }
  return url;
}

/// A quarter of the lanes stays free for those who have none: an operation that hangs does not give its lane back.
std::size_t Repositories::max_lanes() const { return std::max<std::size_t>(1, remote_lanes_.size() * 3 / 4); }

void Repositories::give_lanes() {
  for (RemoteLane& lane : remote_lanes_) {
    if (waiting_.empty()) return;
    if (lane.is_busy) continue;
    const auto share_of = [this](const LaneTurn* turn) { return shares_[turn->space()]; };
    const auto next = std::ranges::min_element(waiting_, std::less(), share_of);  // the first of equals: who waits longest
    LaneTurn* turn = *next;
    if (share_of(turn).under_way >= max_lanes()) return;
    waiting_.erase(next);
    turn->give(lane);
  }
}

Result<void> Repositories::check_host(const std::string& host, const Url& url) const {
  if (is_stopped_) return fail(Reason::ServiceUnavailable, fmt::format("git: {}: this process is stopping", url.shown()));
  const auto silence = silent_.find(host);
  if (!silence) return {};
  return fail(Reason::Timeout, fmt::format("git: {}: {}", url.shown(), silent_.text(*silence)));
}

void Repositories::stop() {
  is_stopped_ = true;
  for (Attempt* attempt : attempts_) attempt->expire();
}

Lane& Repositories::lane_of(const std::string& mirror) const {
  return *mirror_lanes_[std::hash<std::string>{}(mirror) % mirror_lanes_.size()];
}

Task<std::unique_ptr<Repositories::Hold>> Repositories::hold(std::string mirror) {
  auto place = std::make_unique<Hold>(*this, std::move(mirror));
  while (!place->is_first()) co_await place->freed().wait();
  co_return place;
}

template <class T, class Work>
Task<Result<T>> Repositories::ask_remote(GitRemote remote, Work work) {
  struct Job {
    GitRemote remote;
    Url url;
    std::string folder;
    std::uint64_t max_pack_bytes;
    std::shared_ptr<Attempt> attempt;
    Work work;
    Result<T> answer = fail(Reason::InternalError, "git: not run");
  };
  SLIPWAY_CO_TRY(url, url_of(remote));
  const std::string host = fmt::format("{} {}:{}", remote.space, url.host, url.port);
  SLIPWAY_CO_TRY_VOID(check_host(host, url));
  const std::string folder = mirror_folder(options_.folder, remote, url);
  const auto attempt = std::make_shared<Attempt>(options_.limits);
  const Running running(*this, attempt);
  const std::string space = remote.space;
  const Steady deadline = env_.clock.steady() + std::min(remote.timeout, options_.max_time);
  auto job = std::make_shared<Job>(std::move(remote), url, folder, options_.max_pack_bytes, attempt, std::move(work));
  const auto timer = env_.clock.call_at(deadline, [attempt] { attempt->expire(); });
  const auto held = co_await hold(folder);
  LaneTurn turn(*this, space);
  Lane* lane = co_await turn.wait(deadline);
  if (lane == nullptr || attempt->is_expired()) {
    co_return fail(Reason::Timeout, fmt::format("git: {}: no turn within the time-out", url.shown()));
  }
  co_await run_on(env_, *lane, [job] {
    const Attempt::Scope scope(*job->attempt);
    auto mirror = open_or_make_mirror(job->folder);
    job->answer = mirror ? job->work(Place{mirror->get(), job->remote, job->url, *job->attempt, job->max_pack_bytes})
                         : Result<T>(fail(std::move(mirror).error()));
  });
  const bool is_late = !job->answer && job->answer.error().reason == Reason::Timeout;
  if (!url.is_local() && !is_stopped_) silent_.note(host, is_late);
  co_return std::move(job->answer);
}

template <class T, class Work>
Task<Result<T>> Repositories::ask_mirror(GitRemote remote, Work work) {
  struct Job {
    Url url;
    std::string folder;
    Work work;
    Result<T> answer = fail(Reason::InternalError, "git: not run");
  };
  SLIPWAY_CO_TRY(url, url_of(remote));
  const std::string folder = mirror_folder(options_.folder, remote, url);
  auto job = std::make_shared<Job>(url, folder, std::move(work));
  co_await run_on(env_, lane_of(folder), [job] {
    auto mirror = open_mirror(job->folder, job->url);
    job->answer = mirror ? job->work(mirror->get()) : Result<T>(fail(std::move(mirror).error()));
  });
  co_return std::move(job->answer);
}

Task<Result<GitRefs>> Repositories::list_refs(GitRemote remote, std::string prefix) {
  co_return co_await ask_remote<GitRefs>(
      std::move(remote), [prefix = std::move(prefix)](const Place& place) { return git::list_refs(place, prefix); });
}

Task<Result<GitId>> Repositories::fetch(GitRemote remote, std::string ref) {
  co_return co_await ask_remote<GitId>(std::move(remote),
                                       [ref = std::move(ref)](const Place& place) { return git::fetch(place, ref); });
}

Task<Result<std::map<std::string, GitId>>> Repositories::fetch_all(GitRemote remote, std::string prefix) {
  co_return co_await ask_remote<std::map<std::string, GitId>>(
      std::move(remote), [prefix = std::move(prefix)](const Place& place) { return git::fetch_all(place, prefix); });
}

Task<Result<void>> Repositories::update_ref(GitRemote remote, GitRefUpdate update) {
  co_return co_await ask_remote<void>(
      std::move(remote), [update = std::move(update)](const Place& place) { return git::update_ref(place, update); });
}

Task<Result<std::vector<GitFile>>> Repositories::read_tree(GitRemote remote, GitId commit, GitTreeQuery query) {
  co_return co_await ask_mirror<std::vector<GitFile>>(
      std::move(remote), [commit = std::move(commit), query = std::move(query)](git_repository* mirror) {
        return git::read_tree(mirror, commit, query);
      });
}

Task<Result<GitId>> Repositories::commit(GitRemote remote, GitNewCommit commit) {
  // A first commit may be made before anything was fetched, into an empty repository.
  SLIPWAY_CO_TRY(url, url_of(remote));
  const std::string folder = mirror_folder(options_.folder, remote, url);
  auto answer = std::make_shared<Result<GitId>>(fail(Reason::InternalError, "git: not run"));
  co_await run_on(env_, lane_of(folder), [folder, commit = std::move(commit), answer] {
    auto mirror = open_or_make_mirror(folder);
    *answer = mirror ? make_commit(mirror->get(), commit) : Result<GitId>(fail(std::move(mirror).error()));
  });
  co_return std::move(*answer);
}

Task<Result<GitCommitChanges>> Repositories::read_commit(GitRemote remote, GitId id) {
  co_return co_await ask_mirror<GitCommitChanges>(
      std::move(remote), [id = std::move(id)](git_repository* mirror) { return git::read_commit(mirror, id); });
}

Task<Result<GitCommits>> Repositories::walk(GitRemote remote, GitWalk walk) {
  co_return co_await ask_mirror<GitCommits>(
      std::move(remote), [walk = std::move(walk)](git_repository* mirror) { return git::walk(mirror, walk); });
}

Task<Result<bool>> Repositories::is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) {
  co_return co_await ask_mirror<bool>(
      std::move(remote), [ancestor = std::move(ancestor), descendant = std::move(descendant)](git_repository* mirror) {
        return git::is_ancestor(mirror, ancestor, descendant);
      });
}

Task<Result<void>> Repositories::forget(GitRemote remote) {
  SLIPWAY_CO_TRY(url, url_of(remote));
  const std::string folder = mirror_folder(options_.folder, remote, url);
  const auto held = co_await hold(folder);
  auto answer = std::make_shared<Result<void>>();
  co_await run_on(env_, lane_of(folder), [folder, answer] { *answer = remove_mirror(folder); });
  co_return std::move(*answer);
}

}  // namespace slipway::git
