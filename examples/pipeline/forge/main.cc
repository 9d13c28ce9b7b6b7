// demo_forge FOLDER: a small GitHub over a real bare repository, for the demo and nothing else (tests/forge/forge_server.h),
// and a door for who plays the people: POST /merge merges the pull request that is open, POST /check answers as the gate's
// webhook, POST /check/bad makes it say no from then on, POST /check/good yes again. Where all that is it writes to
// FOLDER/forge.sh. Ends with SIGTERM.
#include <fmt/format.h>
#include <signal.h>

#include "forge_server.h"
#include "os/real_env.h"

using namespace slipway;

namespace {

class Door {
 public:
  Door(Env& env, test::ForgeServer& forge) : forge_(forge), server_(std::move(net::HttpServer::listen(env, {}).value())) {}

  Task<> run() {
    return server_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo>) -> Task<net::Answer> {
      co_return answer(request);
    });
  }
  std::string address() const { return server_->address(); }

 private:
  static http::Response text(int status, std::string body) {
    return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(body)};
  }

  http::Response answer(const http::Request& request) {
    if (request.target == "/merge") return merge();
    if (request.target == "/check/bad") is_good_ = false;
    if (request.target == "/check/good") is_good_ = true;
    if (request.target == "/check" && !is_good_) return text(403, "the smoke test failed\n");
    return text(200, "the smoke test passed\n");
  }

  http::Response merge() {
    for (const test::Pull& pull : forge_.pulls()) {
      if (pull.state != test::Pull::State::Open) continue;
      const std::string title = pull.title;
      if (!forge_.merge(pull.id)) return text(409, "a required check has not succeeded\n");
      return text(200, fmt::format("merged #{}: {}\n", pull.id, title));
    }
    return text(404, "no pull request is open\n");
  }

  test::ForgeServer& forge_;
  std::unique_ptr<net::HttpServer> server_;
  bool is_good_ = true;
};

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: demo_forge FOLDER\n");
    return 2;
  }
  os::RealEnv real({.log_level = LogLevel::Error});
  Env& env = real.env();
  const git::TestRepository repository;
  test::ForgeServer forge(env, repository, test::github_dialect());
  Door door(env, forge);
  const std::string told = fmt::format("repository={}\napi={}\ntoken={}\ndoor={}\n", repository.path(), forge.api_url(),
                                       test::ForgeServer::kToken, door.address());
  if (const auto written = env.files.write(std::string(words[1]) + "/forge.sh", told, 0600); !written) {
    fmt::print(stderr, "demo_forge: {}\n", written.error().message);
    return 1;
  }
  Tasks tasks(env);
  tasks.spawn(forge.run());
  tasks.spawn(door.run());
  real.on_signal({SIGTERM, SIGINT}, [&real](int) { real.stop(); });
  real.run();
  real.shut();
  return forge.faults().empty() ? 0 : 1;
}
