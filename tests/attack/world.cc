#include "world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "json/text.h"

namespace slipway::attack {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// token,user,uid,"groups" of all users but admin and anonymous.
constexpr const char* kTokens =
    "token-of-editor,editor,,\"dev\"\n"
    "token-of-twoverbs,twoverbs,,\"delivery\"\n"
    "token-of-owner,owner,,\"packagers\"\n"
    "token-of-neighbour,neighbour,,\"others\"\n";

/// Sends `piece` again and again, and counts.
class Endless : public http::BodyStream {
 public:
  Endless(std::string piece, std::shared_ptr<std::uint64_t> sent, std::shared_ptr<bool> is_stopped)
      : piece_(std::move(piece)), sent_(std::move(sent)), is_stopped_(std::move(is_stopped)) {}
  Task<Result<std::optional<std::string>>> next() override {
    if (*is_stopped_) co_return std::optional<std::string>{};
    *sent_ += piece_.size();
    co_return std::optional(piece_);
  }
  void close() override {}

 private:
  std::string piece_;
  std::shared_ptr<std::uint64_t> sent_;
  std::shared_ptr<bool> is_stopped_;
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// 64 KiB of references as git's protocol sends them.
std::string references() {
  std::string text;
  for (int i = 0; i < 900; ++i) {
    const std::string line = fmt::format("{:040x} refs/heads/branch-{:08}\n", i + 1, i);
    text += fmt::format("{:04x}{}", line.size() + 4, line);
  }
  return text;
}

}  // namespace

Peer::Peer(Env& env) : env_(env) {
  auto listening = net::HttpServer::listen(env, {});
  SLIPWAY_CHECK(listening.has_value(), listening ? "" : listening.error().message);
  server_ = std::move(*listening);
}

Task<> Peer::serve() {
  return server_->run(
      [this](http::Request request, std::shared_ptr<const net::ConnectionInfo>) { return answer(std::move(request)); });
}

void Peer::stop() {
  *is_stopped_ = true;
  server_->stop(0ms);
}

Task<net::Answer> Peer::answer(http::Request request) {
  std::string line = request.method + " " + request.target;
  for (const auto& [name, value] : request.headers) line += "\n" + name + ": " + value;
  requests_.push_back(line + "\n" + request.body);
  http::Response response;
  response.status = 200;
  const std::string& target = request.target;
  if (target.starts_with("/hang")) {
    while (!*is_stopped_) co_await sleep_for(env_, 50ms);
  } else if (target.starts_with("/endless-git")) {
    response.headers.add("Content-Type", "application/x-git-upload-pack-advertisement");
    response.stream = std::make_unique<Endless>("001e# service=git-upload-pack\n0000" + references(), sent_, is_stopped_);
  } else if (target.starts_with("/endless")) {
    response.stream = std::make_unique<Endless>(std::string(64 << 10, '1'), sent_, is_stopped_);
  } else if (target.starts_with("/asks/")) {
    response.status = 401;
    response.headers.add("WWW-Authenticate", "Basic realm=\"peer\"");
  } else if (target.starts_with("/redirect/")) {
    response.status = 302;
    response.headers.add("Location", "http://" + target.substr(10));
  } else if (target.starts_with("/say/")) {
    response.body = target.substr(5);
  } else {
    response.headers.add("Content-Type", "application/json");
    response.body = R"({"value": 1})";
  }
  co_return response;
}

World::World() : real_({.log_level = LogLevel::Error}) {
  peer_ = std::make_unique<Peer>(env());
  victim_ = std::make_unique<Peer>(env());
  for (Peer* one : {peer_.get(), victim_.get()}) {
    boost::asio::co_spawn(env().executor, one->serve(), [](std::exception_ptr) {});
  }
  const std::string data = folder_ / "data";
  fs::create_directories(data);
  std::ofstream(data + "/tokens.csv") << kTokens;
  up_ = std::make_unique<up::UpProcess>(
      up::binary(), data,
      std::vector<std::string>{"--simulated-flux", "--allow-local-git", "--allow-outgoing", peer_->address()});
  net::ClientOptions options;
  options.tls = up_->access().tls;
  options.connections = 8;
  admin_ = std::move(*net::Client::make(env(), options));
  options.tls.certificate_pem.clear();
  options.tls.key_pem.clear();
  others_ = std::move(*net::Client::make(env(), options));
}

World::~World() { real_.shut(); }

void World::run(std::function<Task<>()> work) {
  auto and_stop = [](os::RealEnv& real, std::function<Task<>()> inner) -> Task<> {
    co_await inner();
    real.stop();
  };
  Tasks tasks(env());
  tasks.spawn(and_stop(real_, std::move(work)));
  real_.run();
}

std::string World::own_address() const { return up_->access().url.substr(std::string_view("https://").size()); }

std::string World::make_repository(const std::string& name) {
  const std::string path = folder_ / (name + ".git");
  if (fs::exists(path)) return path;
  const std::string work = folder_ / (name + "-work");
  fs::create_directories(work + "/web");
  std::ofstream(work + "/web/Kptfile") << "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n";
  const std::string in = "cd '" + work + "' && git -c init.defaultBranch=main init -q && git add -A && ";
  const std::string commit =
      in + "git -c user.name=t -c user.email=t@example.com commit -qm begin && git clone -q --bare . '" + path + "'";
  SLIPWAY_CHECK(std::system(commit.c_str()) == 0, "git");
  return path;
}

Task<Answer> World::send(std::string user, std::string method, std::string path, std::string body, std::string type,
                         http::Headers headers) {
  HttpCall call;
  call.url = up_->access().url + path;
  call.method = std::move(method);
  call.body = std::move(body);
  call.headers = std::move(headers);
  call.timeout = 1min;
  if (!call.body.empty()) call.headers.add("Content-Type", std::move(type));
  if (user != "admin" && user != "anonymous") call.headers.add("Authorization", "Bearer token-of-" + user);
  auto response = co_await (user == "admin" ? *admin_ : *others_).send(std::move(call));
  if (!response) co_return Answer{.status = 0, .body = response.error().message};
  co_return Answer{.status = response->status, .body = std::move(response->body)};
}

Task<> World::discover() {
  served_.clear();
  std::vector<std::pair<std::string, std::string>> versions{{"/api/v1", "v1"}};
  const Value groups = json::parse((co_await send("admin", "GET", "/apis")).body).value_or(Value());
  for (const Value& group : groups["groups"].items()) {
    for (const Value& version : group["versions"].items()) {
      versions.emplace_back("/apis/" + version["groupVersion"].str(), version["groupVersion"].str());
    }
  }
  for (const auto& [root, version] : versions) {
    const Value list = json::parse((co_await send("admin", "GET", root)).body).value_or(Value());
    for (const Value& row : list["resources"].items()) {
      const std::string name = row["name"].str();
      if (name.contains('/')) continue;
      served_[{version, row["kind"].str()}] = {.root = root,
                                               .plural = name,
                                               .is_namespaced = row["namespaced"].as_bool(),
                                               .is_listed = json::print(row["verbs"]).contains("\"list\"")};
    }
  }
}

const Served* World::find(const std::string& api_version, const std::string& kind) const {
  const auto found = served_.find({api_version, kind});
  return found == served_.end() ? nullptr : &found->second;
}

Task<double> World::long_turns(std::string above) {
  const std::string text = "\n" + (co_await send("admin", "GET", "/metrics")).body;
  const auto value = [&text](const std::string& series) {
    const std::size_t at = text.find("\nslipway_logic_turn_seconds_" + series + " ");
    EXPECT_NE(at, std::string::npos) << series;
    return at == std::string::npos ? 0 : std::atof(text.c_str() + text.find(' ', at));
  };
  co_return value("count") - value(fmt::format("bucket{{le=\"{}\"}}", above));
}

std::string World::log() const { return text_of(folder_ / "data.log"); }

std::string World::command_lines() const {
  std::string text;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = text_of(entry.path() / "stat");
    const std::size_t end = stat.rfind(')');
    const bool is_ours =
        name == std::to_string(pid()) || (end != std::string::npos && std::atoi(stat.c_str() + end + 4) == pid());
    if (is_ours) text += text_of(entry.path() / "cmdline");
  }
  return text;
}

std::int64_t World::resident_bytes() const {
  std::ifstream in(fmt::format("/proc/{}/statm", pid()));
  std::int64_t size = 0;
  std::int64_t resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::vector<std::string> World::loose_files(const std::string& text) const {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "data")) {
    struct stat state{};
    if (!entry.is_regular_file() || stat(entry.path().c_str(), &state) != 0 || (state.st_mode & 077) == 0) continue;
    const std::string name = entry.path().filename().string();
    const bool is_secret_by_kind =
        name.ends_with(".db") || name.ends_with(".key") || name == "tokens.csv" || name == "kubeconfig";
    if (is_secret_by_kind || text_of(entry.path()).contains(text)) found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace slipway::attack
