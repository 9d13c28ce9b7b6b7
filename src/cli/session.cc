#include "cli/session.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/remote_session.h"
#include "net/client.h"

namespace slipway::cli {
namespace {

bool is_ignored(int signal_number) {
  struct sigaction action = {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)), real_(os::RealEnvOptions{options_.log_level}), interrupted_(real_.env()) {
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) {
    if (number == SIGHUP && is_ignored(number)) continue;
    real_.on_signal({number}, [this](int) {
      if (std::exchange(is_interrupted_, true)) std::_Exit(kInterrupted);
      interrupted_.notify();
    });
  }
}

Session::~Session() {
  real_.shut();
  held_.clear();
  controllers_.reset();
  api_.reset();
}

int Session::run(std::function<Task<int>(Session&)> command) {
  Tasks tasks(real_.env());
  tasks.spawn(open_and(std::move(command)));
  real_.run();
  real_.shut();
  return exit_code_;
}

Task<> Session::open_and(std::function<Task<int>(Session&)> command) {
  exit_code_ = co_await attempt(std::move(command));
  if (api_) co_await api_->close();
  real_.stop();
}

Task<int> Session::attempt(std::function<Task<int>(Session&)> command) {
  Files& files = env().files;
  if (options_.is_read_only && !files.exists(options_.data_dir + "/cluster.db")) {
    Status missing;
    missing.reason = Reason::NotFound;
    missing.message =
        fmt::format("{} holds no Slipway data: give the --data-dir of an earlier `slipway run`", options_.data_dir);
    co_return report(missing);
  }
  if (!options_.is_read_only) {
    const bool is_new = !files.exists(options_.data_dir);
    if (const auto made = files.make_folders(options_.data_dir); !made) co_return report(made.error());
    if (is_new) chmod(options_.data_dir.c_str(), 0700);  // it will hold Secrets
  }
  if (!options_.opens_cluster) co_return co_await command(*this);
  if (const auto checked = check_database_is_there(env(), options_.data_dir); !checked) {
    report(checked.error());
    co_return kBadInput;
  }
  plane::ApiServer::Options options;
  options.store.path = options_.data_dir + "/cluster.db";
  options.store.is_read_only = options_.is_read_only;
  options.store.pid = getpid();
  options.writes_bootstrap = !options_.is_read_only;
  options.on_fault = options_.on_fault;
  auto api = co_await plane::ApiServer::open(env(), std::move(options));
  if (!api) {
    report(api.error());
    co_return kBadInput;
  }
  api_ = std::move(*api);
  if (!options_.is_read_only) make_private(options_.data_dir + "/cluster.db");
  co_return co_await command(*this);
}

HttpClient* Session::http() {
  if (http_) return http_.get();
  auto made = net::Client::make(env(), {});
  if (!made) {
    env().log.warn("steps cannot call foreign servers", {{"error", made.error().message}});
    return nullptr;
  }
  http_ = std::move(*made);
  return http_.get();
}

void Session::make_controllers() {
  if (controllers_) return;
  plane::Controllers::Options options;
  options.pods = options_.pods;
  options.data_dir = options_.data_dir;
  options.supervisor = {"/proc/self/exe", "pod-supervisor"};
  options.user = {.uid = geteuid(), .gid = getegid()};
  options.http = http();
  controllers_ = std::make_unique<plane::Controllers>(env(), server(), options, remote_factory(env()));
}

void Session::start_controllers() {
  make_controllers();
  controllers_->start();
}

server::PodBackend* Session::pod_logs() {
  make_controllers();
  return controllers_->logs();
}

Result<void> check_database_is_there(Env& env, const std::string& folder) {
  if (!env.files.exists(folder + "/pki/sa.key")) return {};
  const std::string database = folder + "/cluster.db";
  const bool is_missing = !env.files.exists(database);
  if (!is_missing) {
    SLIPWAY_TRY(first, env.files.read_from(database, 0, 1));
    if (!first.empty()) return {};
  }
  return fail(Reason::StorageReadError,
              fmt::format("{0} is damaged: it is {1}, but {2}/pki/sa.key says that there was a cluster here; put the database "
                          "back (with {0}-wal, if there is one), or move {2}/pki away to begin an empty cluster",
                          database, is_missing ? "missing" : "empty", folder));
}

Result<void> write_if_changed(Env& env, const std::string& path, const std::string& content, unsigned mode) {
  const auto known = env.files.read(path);
  if (known && *known == content) return {};
  return env.files.write(path, content, mode);
}

void make_private(const std::string& database) {
  for (const char* suffix : {"", "-wal", "-shm"}) chmod((database + suffix).c_str(), 0600);
}

int report(const Status& status, std::string_view where) {
  fmt::print(stderr, "slipway: {}{}{}\n", where, where.empty() ? "" : ": ", status.message);
  if (status.causes.size() > 1) {
    for (const Cause& cause : status.causes) fmt::print(stderr, "  - {}: {}\n", cause.field, cause.message);
  }
  // What the server or the machine could not do is a failure; everything else was asked wrongly.
  return http_code(status.reason) >= 500 && status.reason != Reason::NotImplemented ? kFailed : kBadInput;
}

}  // namespace slipway::cli
