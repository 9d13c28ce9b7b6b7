// An opened data directory: the real Env, the embedded API server over DIR/cluster.db and, when asked for, the controllers. One
// session per process; commands are coroutines run on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/http_client.h"
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
  /// Of what is delivered, where a family leaves the choice.
  delivery::OnFault on_fault = delivery::OnFault::Refuse;
  plane::PodRuntimeKind pods = plane::PodRuntimeKind::None;
  LogLevel log_level = LogLevel::Warn;
};

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
  server::Server& server() { return api_->server(); }
  store::Store& store() { return api_->store(); }
  /// Null before start_controllers().
  plane::Controllers* controllers() { return controllers_.get(); }

  /// Opens the folder, runs `command` to its end and closes everything. Prints the Status on standard error and returns
  /// kBadInput when the folder cannot be opened.
  int run(std::function<Task<int>(Session&)> command);
  void start_controllers();
  /// For steps that call foreign servers; made once. Null, with a warning, when it cannot be.
  HttpClient* http();
  /// Where logs are read, whether controllers run or not; null when pods are simulated.
  server::PodBackend* pod_logs();
  /// Keeps what running tasks refer to until the loop has ended.
  void hold(std::shared_ptr<void> object) { held_.push_back(std::move(object)); }
  /// The first SIGINT, SIGTERM, SIGQUIT or SIGHUP (unless started with that ignored, as by nohup) wakes this; a second one ends
  /// the process at once.
  bool is_interrupted() const { return is_interrupted_; }
  Signal& interrupted() { return interrupted_; }

 private:
  void make_controllers();
  Task<> open_and(std::function<Task<int>(Session&)> command);
  Task<int> attempt(std::function<Task<int>(Session&)> command);

  SessionOptions options_;
  os::RealEnv real_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
  std::vector<std::shared_ptr<void>> held_;
  Signal interrupted_;
  bool is_interrupted_ = false;
  int exit_code_ = kFailed;
};

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
