// Git over libgit2 (base/git.h). Mirrors live below one folder. What asks a remote runs on one of several lanes, each of which
// has one operation at a time; the next is of the space (GitRemote::space, a namespace) that has the fewest under way, and
// among equals was given a lane least recently. A space has at most three quarters of the lanes, so that a tenant whose
// remotes do not answer holds up itself. A host that did
// not answer a space in time is not asked for that space for a while (base/silent_hosts.h); meanwhile operations fail with
// Timeout at once. What asks a mirror runs on one of the lanes for mirrors, always the same one, in order
// of coming: those of other mirrors do not wait for its disk. One operation at a time changes a mirror; others of the same
// mirror wait their turn in order of coming.
//
// Time-outs count from the call, the wait for a lane included. When one strikes, the operation's sockets are shut down; only
// the resolving of a host's name cannot be cut short (the resolver has a time-out of its own).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/git.h"
#include "base/silent_hosts.h"
#include "git/socket_stream.h"

namespace slipway::git {

struct Url;

enum class LocalRemotes : bool { refuse, allow };

struct RepositoriesOptions {
  std::string folder;  // of the mirrors; made when needed, 0700
  /// Whether URLs may name repositories on this machine: whoever may write a URL then reads with this process's rights.
  LocalRemotes local_remotes = LocalRemotes::allow;
  std::uint64_t max_pack_bytes = std::uint64_t{64} << 20;  // received in one fetch
  Duration max_time = std::chrono::seconds{60};            // of one operation on a remote, whatever the caller allows
  AttemptLimits limits{};
};

class Repositories : public Git {
 public:
  /// REQUIRES: neither list is empty; all outlive this. A world that is dropped (RealEnv::shut()) has stopped its lanes.
  Repositories(Env& env, std::vector<Lane*> mirror_lanes, std::vector<Lane*> remote_lanes, RepositoriesOptions options);
  ~Repositories() override;

  Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) override;
  Task<Result<GitId>> fetch(GitRemote remote, std::string ref) override;
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) override;
  Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) override;

  Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) override;
  Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) override;
  Task<Result<GitCommitChanges>> read_commit(GitRemote remote, GitId id) override;
  Task<Result<GitCommits>> walk(GitRemote remote, GitWalk walk) override;
  Task<Result<bool>> is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) override;
  Task<Result<void>> forget(GitRemote remote) override;

  /// Ends the operations that ask remotes, and refuses new ones (ServiceUnavailable): before the lanes are joined.
  void stop();

 private:
  /// A lane and whether it has an operation.
  struct RemoteLane {
    Lane* lane;
    bool is_busy = false;
  };
  /// What a space has of the lanes.
  struct Share {
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::uint64_t last = 0;  // when it was given one: counts up
    bool operator<(const Share& other) const {
      return under_way != other.under_way ? under_way < other.under_way : last < other.last;
    }
  };
  struct MirrorTurn;
  class Hold;
  class LaneTurn;
  class Running;

  /// Runs `work(Place)` on a lane for remotes, with the mirror held and the clock watched.
  template <class T, class Work>
  Task<Result<T>> ask_remote(GitRemote remote, Work work);
  /// Runs `work(git_repository*)` on the mirror's lane.
  template <class T, class Work>
  Task<Result<T>> ask_mirror(GitRemote remote, Work work);

  Result<Url> url_of(const GitRemote& remote) const;
  /// How many lanes one space may have at once.
  std::size_t max_lanes() const;
  /// Gives free lanes to those who wait.
  void give_lanes();
  /// Whether the host may be asked for the space now: Timeout.
  Result<void> check_host(const std::string& host, const Url& url) const;
  Lane& lane_of(const std::string& mirror) const;
  Task<std::unique_ptr<Hold>> hold(std::string mirror);

  Env& env_;
  std::vector<Lane*> mirror_lanes_;
  std::vector<RemoteLane> remote_lanes_;
  RepositoriesOptions options_;
  std::map<std::string, std::shared_ptr<MirrorTurn>> turns_;
  std::list<LaneTurn*> waiting_;         // for a lane, in order of coming
  std::map<std::string, Share> shares_;  // of spaces with an operation under way or waiting
  std::uint64_t given_ = 0;              // lanes so far
  SilentHosts silent_;                   // by space and host
  std::set<Attempt*> attempts_;          // under way
  bool is_stopped_ = false;
};

}  // namespace slipway::git
