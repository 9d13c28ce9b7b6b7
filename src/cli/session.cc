#include "cli/session.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/remote_session.h"
#include "kube/names.h"
#include "net/outside.h"
#include "net/stream.h"
#include "os/addresses.h"
#include "os/heap.h"
#include "os/text.h"
#include "plane/authors.h"

namespace slipway::cli {
namespace {

bool is_ignored(int signal_number) {
  struct sigaction action = {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Task<Result<void>> connect_once(Env& env, std::string host, std::uint16_t port, Duration timeout) {
  const net::Deadline deadline = env.clock.steady() + timeout;
  SLIPWAY_CO_TRY(stream, co_await net::Stream::connect(env, std::move(host), std::to_string(port), deadline));
  stream->close();
  co_return Result<void>{};
}

/// After it caches are filled and definitions read.
constexpr Duration kStart = std::chrono::seconds{1};

constexpr Duration kHeapLook = std::chrono::seconds{10};
constexpr Duration kHeapPause = std::chrono::milliseconds{50};
constexpr std::size_t kMaxHeapKept = std::size_t{16} << 20;
constexpr std::size_t kHeapPiece = std::size_t{8} << 20;
/// So many remotes may keep silent before others wait for them. What is pushed is in the log already, so that answers come
/// first.
constexpr int kRemoteLanes = 8;
/// Commits wait for the disk several times, so that some more than there are processors are worth while.
constexpr int kMirrorLanes = 4;

std::vector<Lane*> lanes(os::RealEnv& real, int count, const std::string& name, os::ThreadLane::Share share) {
  std::vector<Lane*> opened;
  for (int i = 0; i < count; ++i) opened.push_back(&real.open_lane(name, share));
  return opened;
}

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      real_(os::RealEnvOptions{options_.log_level, options_.log_format, options_.times.program}),
      git_(real_.env(), lanes(real_, kMirrorLanes, "slipway-mirrors", os::ThreadLane::Share::Full),
           lanes(real_, kRemoteLanes, "slipway-git", os::ThreadLane::Share::Background),
           {.folder = options_.data_dir + "/git",
            .local_remotes = options_.local_git,
            .max_pack_bytes = options_.max_git_pack,
            .max_time = options_.times.git,
            .limits = {.connect = options_.times.connect, .addresses = options_.addresses ? &*options_.addresses : nullptr}}),
      interrupted_(real_.env()) {
  real_.env().git = &git_;
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) {
    if (number == SIGHUP && is_ignored(number)) continue;
    real_.on_signal({number}, [this](int) {
      if (std::exchange(is_interrupted_, true)) std::_Exit(kInterrupted);
      if (const auto& within = options_.stop_timeout) {
        exit_timer_.arm(*within, kFailed,
                        fmt::format("slipway: not ended within {} (--stop-timeout): ends now, what was answered is kept\n",
                                    to_string(*within)));
      }
      interrupted_.notify();
    });
  }
}

Session::~Session() {
  git_.stop();
  real_.shut();
  held_.clear();
  controllers_.reset();
  clusters_.clear();
}

int Session::run(std::function<Task<int>(Session&)> command) {
  Tasks tasks(real_.env());
  tasks.spawn(open_and(std::move(command)));
  real_.run();
  git_.stop();
  real_.shut();
  return exit_code_;
}

Task<> Session::open_and(std::function<Task<int>(Session&)> command) {
  exit_code_ = co_await attempt(std::move(command));
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i].api) co_await clusters_[i].api->close();
  }
  real_.stop();
}

Result<void> Session::name_clusters() {
  std::vector<std::string> names = known_clusters(env().files, options_.data_dir);
  if (!options_.is_read_only) {
    SLIPWAY_TRY(settled, settle_clusters(env(), options_.data_dir, options_.clusters));
    names = settled;
  }
  if (names.empty()) clusters_.push_back({.name = "", .folder = options_.data_dir});
  for (const std::string& name : names) {
    clusters_.push_back({.name = name, .folder = fmt::format("{}/clusters/{}", options_.data_dir, name)});
  }
  if (!options_.is_read_only || env().files.exists(clusters_.front().folder + "/cluster.db")) return {};
  return fail(Reason::NotFound,
              fmt::format("{} holds no Slipway data: give the --data-dir of an earlier `slipway run`", options_.data_dir));
}

Task<Result<void>> Session::open(Cluster& cluster) {
  SLIPWAY_CO_TRY_VOID(check_database_is_there(env(), cluster.folder));
  if (!options_.is_read_only) SLIPWAY_CO_TRY_VOID(env().files.make_folders(cluster.folder));
  plane::ApiServer::Options options;
  options.store.path = cluster.folder + "/cluster.db";
  options.store.is_read_only = options_.is_read_only;
  options.store.pid = getpid();
  options.writes_bootstrap = !options_.is_read_only;
  options.on_fault = options_.on_fault;
  options.family_options = options_.family_options;
  options.server.nodes = options_.nodes;
  const bool is_new = !options_.is_read_only && !env().files.exists(options.store.path);
  const bool is_hub = &cluster == &clusters_.front();
  SLIPWAY_CO_TRY(api, co_await plane::ApiServer::open(is_hub ? env() : real_.open_env(), std::move(options)));
  cluster.api = std::move(api);
  if (!options_.is_read_only) make_private(cluster.folder + "/cluster.db");
  if (is_new) SLIPWAY_CO_TRY_VOID(env().files.write(plane::authors_mark(cluster.folder), "", 0600));
  co_return Result<void>{};
}

Task<int> Session::attempt(std::function<Task<int>(Session&)> command) {
  Files& files = env().files;
  if (!options_.is_read_only) {
    const bool is_new = !files.exists(options_.data_dir);
    if (const auto made = files.make_folders(options_.data_dir); !made) co_return report(made.error());
    if (is_new) chmod(options_.data_dir.c_str(), 0700);  // it will hold Secrets
  }
  if (!options_.opens_cluster) co_return co_await command(*this);
  if (const auto named = name_clusters(); !named) co_return report(named.error());
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (const auto opened = co_await open(clusters_[i]); !opened) {
      report(opened.error());
      co_return kBadInput;
    }
  }
  co_return co_await command(*this);
}

HttpClient* Session::http() {
  if (http_) return http_.get();
  auto made = net::Outside::make(env(), {.addresses = options_.addresses ? &*options_.addresses : nullptr}, options_.times);
  if (!made) {
    env().log.warn("steps cannot call foreign servers", {{"error", made.error().message}});
    return nullptr;
  }
  http_ = std::move(*made);
  return http_.get();
}

void Session::refuse_listener(const std::string& address, std::uint16_t port) {
  if (!options_.addresses) return;
  const auto bytes = parse_address(address);
  if (bytes) options_.addresses->refuse_listener(*bytes, port, os::addresses_of_machine());
}

cluster::Dial Session::dial() {
  return [this](std::string host, std::uint16_t port, Duration timeout) {
    return connect_once(env(), std::move(host), port, timeout);
  };
}

std::string Session::known_as(const std::string& cluster) const {
  const std::string& name = cluster.empty() ? clusters_.front().name : cluster;
  return name.empty() ? plane::Controllers::kLocal : name;
}

server::Server* Session::find_server(const std::string& cluster) {
  if (cluster.empty()) return &server();
  const auto at = std::ranges::find_if(clusters_, [&](const Cluster& one) { return known_as(one.name) == cluster; });
  return at == clusters_.end() ? nullptr : &at->api->server();
}

void Session::make_controllers() {
  if (controllers_) return;
  controllers_ = std::make_unique<plane::Controllers>(env(), remote_factory(env()));
  for (Cluster& cluster : clusters_) {
    plane::Controllers::Options options;
    options.pods = options_.pods;
    options.data_dir = cluster.folder;
    options.supervisor = {"/proc/self/exe", "pod-supervisor"};
    options.http = http();
    options.dial = dial();
    options.family_options = options_.family_options;
    options.user = {.uid = geteuid(), .gid = getegid()};
    controllers_->add(known_as(cluster.name), cluster.api->server(), options);
  }
}

void Session::start_controllers() {
  make_controllers();
  controllers_->start();
}

server::PodBackend* Session::pod_logs(const std::string& cluster) {
  make_controllers();
  return controllers_->logs(known_as(cluster));
}

std::vector<std::string> known_clusters(Files& files, const std::string& data_dir) {
  std::vector<std::string> names;
  const auto text = files.read(data_dir + "/cluster-names");
  std::string left = text ? *text : "";
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    if (end > 0) names.push_back(left.substr(0, end));
    left.erase(0, end + 1);
  }
  return names;
}

Result<std::vector<std::string>> settle_clusters(Env& env, const std::string& data_dir, std::vector<std::string> wanted) {
  const std::vector<std::string> known = known_clusters(env.files, data_dir);
  if (wanted.empty()) return known;
  std::string text;
  for (auto at = wanted.begin(); at != wanted.end(); ++at) {
    if (!kube::dns1123_label_faults(*at).empty())
      return fail(Reason::BadRequest, fmt::format("--clusters: {} is no DNS label", *at));
    if (std::find(wanted.begin(), at, *at) != at)
      return fail(Reason::BadRequest, fmt::format("--clusters: {} is named twice", *at));
    text += *at + "\n";
  }
  if (known.empty() && env.files.exists(data_dir + "/cluster.db")) {
    return fail(Reason::Conflict,
                fmt::format("{} holds one cluster without a name: leave --clusters out, or use another folder", data_dir));
  }
  if (!known.empty() && known.front() != wanted.front()) {
    return fail(Reason::Conflict,
                fmt::format("the first cluster of {} is {}: name it first in --clusters, or use another folder", data_dir,
                            known.front()));
  }
  SLIPWAY_TRY_VOID(write_if_changed(env, data_dir + "/cluster-names", text, 0644));
  return wanted;
}

std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  char here[4096];
  return getcwd(here, sizeof here) != nullptr ? std::string(here) + "/" + path : path;
}

std::string make_temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/slipway-XXXXXX";
  return mkdtemp(pattern.data()) != nullptr ? pattern : "";
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

Task<> keep_heap_low(Env& env) {
  std::size_t before = 0;
  while (true) {
    co_await sleep_for(env, kHeapLook);
    const std::size_t now = os::heap_kept();
    // What was free at both looks is not in use by turns.
    const std::size_t idle = std::min(std::exchange(before, now), now);
    for (std::size_t given = 0; given + kMaxHeapKept < idle; given += kHeapPiece) {
      os::give_heap_back(kHeapPiece);
      co_await sleep_for(env, kHeapPause);
    }
  }
}

Task<> let_go_of_start(Env& env) {
  co_await sleep_for(env, kStart);
  os::let_go_of_text();
}

}  // namespace slipway::cli
