#include "up_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/digest.h"
#include "json/text.h"

namespace slipway::up {
namespace {

using Instant = std::chrono::steady_clock::time_point;
double seconds_since(Instant start) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

std::string decoded(const json::Value& value) {
  std::string bytes;
  SLIPWAY_CHECK(base64_decode(value.as_string(), bytes), "kubeconfig: not base64");
  return bytes;
}

Access read_kubeconfig(const std::string& text) {
  const json::Value config = *json::parse_yaml(text);
  const json::Value cluster = config["clusters"].items().front()["cluster"];
  const json::Value user = config["users"].items().front()["user"];
  return {cluster["server"].str(),
          {.authority_pem = decoded(cluster["certificate-authority-data"]),
           .certificate_pem = decoded(user["client-certificate-data"]),
           .key_pem = decoded(user["client-key-data"])}};
}

}  // namespace

UpProcess::UpProcess(std::string binary, std::string folder, std::vector<std::string> more, std::string listen)
    : folder_(std::move(folder)) {
  std::vector<std::string> words{binary, "up", "--data-dir", folder_, "--listen", listen};
  words.insert(words.end(), more.begin(), more.end());
  const std::string kubeconfig = folder_ + "/kubeconfig";
  unlink(kubeconfig.c_str());
  const Instant start = std::chrono::steady_clock::now();
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(open((folder_ + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  while (!is_ready(kubeconfig)) {
    SLIPWAY_CHECK(seconds_since(start) < 300 && waitpid(pid_, nullptr, WNOHANG) == 0, "slipway up did not start");
    usleep(1000);
  }
  start_ms_ = seconds_since(start) * 1000;
}

bool UpProcess::is_ready(const std::string& kubeconfig) {
  std::ifstream in(kubeconfig);
  std::stringstream text;
  text << in.rdbuf();
  if (!text.str().ends_with("\n")) return false;
  access_ = read_kubeconfig(text.str());
  bool is_ok = false;
  User user(access_, 1);
  user.run([&is_ok](User& self) -> Task<> {
    const auto answer = co_await self.client().send(self.get("/readyz"));
    is_ok = answer.has_value() && answer->status == 200;
  });
  return is_ok;
}

int UpProcess::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int UpProcess::stop() {
  if (pid_ == 0) return 0;
  ::kill(pid_, SIGINT);
  return wait();
}

void UpProcess::kill() {
  ::kill(pid_, SIGKILL);
  wait();
}

bool is_full() {
  const char* said = std::getenv("SLIPWAY_LOAD");
  return said != nullptr && std::string_view(said) == "full";
}

std::string binary() {
  const char* said = std::getenv("SLIPWAY_BINARY");
  return said != nullptr ? said : SLIPWAY_BINARY_DIR "/slipway";
}

User::User(const Access& access, std::size_t connections) : real_({.log_level = LogLevel::Error}), url_(access.url) {
  auto made = net::Client::make(
      real_.env(),
      {.tls = access.tls, .connections = connections, .idle_connections = connections, .idle_timeout = std::chrono::hours{1}});
  SLIPWAY_CHECK(made.has_value(), made.error().message);
  client_ = std::move(*made);
}

User::~User() { real_.shut(); }

Task<> User::open_connections(std::size_t count) {
  std::vector<std::unique_ptr<http::BodyStream>> held;  // an answer that is not read has its connection to itself
  while (held.size() < count) {
    HttpCall call = get("/readyz");
    call.is_streaming = true;
    auto answer = co_await client_->send(std::move(call));
    SLIPWAY_CHECK(answer.has_value(), answer ? "" : answer.error().message);
    held.push_back(std::move(answer->stream));
  }
  for (const auto& stream : held) {
    for (auto piece = co_await stream->next(); piece && *piece;) piece = co_await stream->next();
  }
}

void User::run(std::function<Task<>(User&)> work) {
  auto and_stop = [](User& self, std::function<Task<>(User&)> inner) -> Task<> {
    co_await inner(self);
    self.real_.stop();
  };
  Tasks tasks(env());
  tasks.spawn(and_stop(*this, std::move(work)));
  real_.run();
}

HttpCall User::post(const std::string& path, std::string body) const {
  return {.url = url_ + path,
          .method = "POST",
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(body),
          .timeout = kBroken};
}

HttpCall User::create(const std::string& name, std::size_t bytes) const {
  return post("/api/v1/namespaces/default/configmaps?fieldManager=load",
              fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"text":"{}"}}}})", name,
                          std::string(bytes, 'x')));
}

}  // namespace slipway::up
