#include "wire_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/digest.h"
#include "json/text.h"

namespace slipway::bench {
namespace {

std::string decoded(const json::Value& value) {
  std::string bytes;
  SLIPWAY_CHECK(base64_decode(value.as_string(), bytes), "kubeconfig: not base64");
  return bytes;
}

Access read_kubeconfig(const std::string& text) {
  const json::Value config = *json::parse_yaml(text);
  const json::Value cluster = config["clusters"][0]["cluster"];
  const json::Value user = config["users"][0]["user"];
  return {cluster["server"].str(),
          {.authority_pem = decoded(cluster["certificate-authority-data"]),
           .certificate_pem = decoded(user["client-certificate-data"]),
           .key_pem = decoded(user["client-key-data"])}};
}

}  // namespace

WireProcess::WireProcess(const Settings& settings, std::string folder, std::vector<std::string> more)
    : folder_(std::move(folder)) {
  std::vector<std::string> words{settings.slipway, "up", "--data-dir", folder_, "--listen", "127.0.0.1:0"};
  words.insert(words.end(), more.begin(), more.end());
  const std::string kubeconfig = folder_ + "/kubeconfig";
  unlink(kubeconfig.c_str());
  const Instant start = tick();
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
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

bool WireProcess::is_ready(const std::string& kubeconfig) {
  std::ifstream in(kubeconfig);
  std::stringstream text;
  text << in.rdbuf();
  if (!text.str().ends_with("\n")) return false;
  access_ = read_kubeconfig(text.str());
  bool is_ok = false;
  WireLoad load(access_, 1);
  load.run([&is_ok](WireLoad& in_load) -> Task<> {
    const auto answer = co_await in_load.client().send(in_load.get("/readyz"));
    is_ok = answer.has_value() && answer->status == 200;
  });
  return is_ok;
}

void WireProcess::stop() {
  if (pid_ == 0) return;
  kill(pid_, SIGINT);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

WireLoad::WireLoad(const Access& access, std::size_t connections) : real_({.log_level = LogLevel::Error}), url_(access.url) {
  auto made = net::Client::make(real_.env(), {.tls = access.tls, .connections = connections, .idle_connections = connections});
  SLIPWAY_CHECK(made.has_value(), made.error().message);
  client_ = std::move(*made);
}

WireLoad::~WireLoad() { real_.shut(); }

void WireLoad::run(std::function<Task<>(WireLoad&)> work) {
  auto and_stop = [](WireLoad& self, std::function<Task<>(WireLoad&)> inner) -> Task<> {
    co_await inner(self);
    self.real_.stop();
  };
  Tasks tasks(env());
  tasks.spawn(and_stop(*this, std::move(work)));
  real_.run();
}

std::vector<double> WireLoad::measure(int workers, int calls, std::function<HttpCall(int)> make) {
  std::vector<double> seconds;
  int next = 0;
  auto worker = [](WireLoad& self, int& number, int end, const std::function<HttpCall(int)>& call_of,
                   std::vector<double>& times) -> Task<> {
    while (number < end) {
      HttpCall call = call_of(number++);
      call.timeout = std::chrono::seconds{120};
      const Instant start = tick();
      const auto answer = co_await self.client().send(std::move(call));
      SLIPWAY_CHECK(answer.has_value(), answer.error().message);
      SLIPWAY_CHECK(answer->status < 300, answer->body);
      times.push_back(seconds_since(start));
    }
  };
  run([&](WireLoad& self) -> Task<> {
    Tasks tasks(self.env());
    for (int i = 0; i < workers; ++i) tasks.spawn(worker(self, next, calls, make, seconds));
    co_await tasks.join();
  });
  return seconds;
}

HttpCall WireLoad::create(const std::string& name, std::size_t bytes) const {
  return {.url = url_ + "/api/v1/namespaces/default/configmaps?fieldManager=bench",
          .method = "POST",
          .headers = {{"Content-Type", "application/json"}},
          .body = fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"text":"{}"}}}})",
                              name, std::string(bytes, 'x'))};
}

}  // namespace slipway::bench
