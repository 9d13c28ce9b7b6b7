// An opened data directory: the real Env, the embedded API servers of its clusters and, when asked for, the controllers. One
// cluster is DIR/cluster.db; several are DIR/clusters/NAME/cluster.db, named in DIR/cluster-names. The first of them is the
// hub: the one that commands work on. One session per process; commands are coroutines run on its loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address_policy.h"
#include "base/http_client.h"
#include "base/outside_times.h"
#include "git/repositories.h"
#include "os/exit_timer.h"
#include "os/real_env.h"
#include "plane/plane.h"

namespace slipway::cli {

/// Exit codes of all commands.
enum ExitCode : int { kDelivered = 0, kFailed = 1, kBadInput = 2, kTimedOut = 3, kInterrupted = 130 };

struct SessionOptions {
  std::string data_dir;
  /// Another process may be writing the folder; nothing is written and no controllers run.
  bool is_read_only = false;
  /// False for a command that opens clusters itself: then server(), store() and controllers must not be used.
  bool opens_cluster = true;
  /// The first is the hub. Empty: those that the folder has, one without a name in a new folder.
  std::vector<std::string> clusters{};
  /// Of each cluster.
  std::size_t nodes = 1;
  /// Of what is delivered, where a family leaves the choice.
  delivery::OnFault on_fault = delivery::OnFault::Refuse;
  std::map<std::string, std::string> family_options{};
  plane::PodRuntimeKind pods = plane::PodRuntimeKind::None;
  /// Refused where others write the objects that name repositories: they would read and write with the rights of this process.
  git::LocalRemotes local_git = git::LocalRemotes::allow;
  /// Which servers are called because an object of a user says so. Nothing: any, where all objects are of one user.
  std::optional<AddressPolicy> addresses{};
  /// Bytes that one fetch may bring.
  std::uint64_t max_git_pack = std::uint64_t{2} << 30;
  /// How long a call for a user's object may take.
  OutsideTimes times = OutsideTimes::unlimited();
  /// The process ends that long after the first signal at the latest. Nothing: a stop takes as long as it takes.
  std::optional<Duration> stop_timeout{};
  LogLevel log_level = LogLevel::Warn;
  os::LogFormat log_format = os::LogFormat::Text;
};

/// For processes that go on running: a moment from now, when they have started, what only that needed is let go.
Task<> let_go_of_start(Env& env);

/// For processes that go on running, until the world is dropped: gives memory beyond kMaxHeapKept that was free for ten
/// seconds back to the system, in pieces that do not hold the logic thread up.
Task<> keep_heap_low(Env& env);

class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Env& env() { return real_.env(); }
  os::RealEnv& real() { return real_; }
  /// Absolute.
  const std::string& data_dir() const { return options_.data_dir; }
  /// Of the hub.
  server::Server& server() { return clusters_.front().api->server(); }
  store::Store& store() { return clusters_.front().api->store(); }
  /// Null when there is no such cluster; an empty name is the hub.
  server::Server* find_server(const std::string& cluster);
  /// Null before start_controllers().
  plane::Controllers* controllers() { return controllers_.get(); }

  /// Opens the folder, runs `command` to its end and closes everything. Prints the Status on standard error and returns
  /// kBadInput when the folder cannot be opened.
  int run(std::function<Task<int>(Session&)> command);
  void start_controllers();
  /// For steps that call foreign servers; made once. Null, with a warning, when it cannot be.
  HttpClient* http();
  /// What this process listens on is not called for users. Before anything is.
  void refuse_listener(const std::string& address, std::uint16_t port);
  /// Connects to TCP ports, for probes.
  cluster::Dial dial();
  /// Where logs of a cluster's pods are read, whether controllers run or not; null when pods are simulated.
  server::PodBackend* pod_logs(const std::string& cluster = "");
  /// Keeps what running tasks refer to until the loop has ended.
  void hold(std::shared_ptr<void> object) { held_.push_back(std::move(object)); }
  /// The first SIGINT, SIGTERM, SIGQUIT or SIGHUP (unless started with that ignored, as by nohup) wakes this; a second one ends
  /// the process at once.
  bool is_interrupted() const { return is_interrupted_; }
  const std::optional<Duration>& stop_timeout() const { return options_.stop_timeout; }
  Signal& interrupted() { return interrupted_; }

 private:
  struct Cluster {
    std::string name;  // empty: the only one
    std::string folder;
    std::unique_ptr<plane::ApiServer> api{};
  };
  void make_controllers();
  Result<void> name_clusters();
  std::string known_as(const std::string& cluster) const;
  Task<Result<void>> open(Cluster& cluster);
  Task<> open_and(std::function<Task<int>(Session&)> command);
  Task<int> attempt(std::function<Task<int>(Session&)> command);

  SessionOptions options_;
  os::ExitTimer exit_timer_;
  os::RealEnv real_;
  git::Repositories git_;
  std::unique_ptr<HttpClient> http_;
  std::vector<Cluster> clusters_;
  std::unique_ptr<plane::Controllers> controllers_;
  std::vector<std::shared_ptr<void>> held_;
  Signal interrupted_;
  bool is_interrupted_ = false;
  int exit_code_ = kFailed;
};

/// Supervisors run elsewhere, so a folder must not depend on where we stand. An empty path stays so.
std::string absolute(const std::string& path);
/// Below TMPDIR; empty when it cannot be made.
std::string make_temporary_folder();
/// The names of the clusters that a folder holds when it holds several; empty when it holds one, or nothing yet.
std::vector<std::string> known_clusters(Files& files, const std::string& data_dir);
/// Settles which clusters a folder has: `wanted`, or the known ones. BadRequest for names that are no DNS labels or given
/// twice, Conflict when the folder holds one without a name, or another hub. Remembers what is new.
Result<std::vector<std::string>> settle_clusters(Env& env, const std::string& data_dir, std::vector<std::string> wanted);

/// Refuses (StorageReadError) a cluster whose database is missing or empty though its keys, FOLDER/pki/sa.key, are there:
/// whoever makes those has made the database before. Nothing is changed; the message says what to do.
Result<void> check_database_is_there(Env& env, const std::string& folder);

/// As Files::write, but a file that has this content is left as it is: a full or read-only disk then does no harm.
Result<void> write_if_changed(Env& env, const std::string& path, const std::string& content, unsigned mode);

/// Only the owner may read an open database: it holds Secrets. SQLite gives later files beside it the same mode.
void make_private(const std::string& database);

/// "slipway: MESSAGE" on standard error, with the causes of an Invalid one below it. Gives the exit code that fits the reason.
int report(const Status& status, std::string_view where = "");

}  // namespace slipway::cli
