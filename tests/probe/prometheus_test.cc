// A metric gate on a real Prometheus that scrapes a real server. Skipped where there is no program `prometheus`.
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "../sockets/server_fixture.h"
#include "base/text.h"
#include "delivery/probe/probe.h"
#include "os/test_folder.h"

namespace slipway::net {
namespace {

using delivery::gate::Verdict;

/// Nothing is read from the cluster here.
class NoCluster : public client::Client {
 public:
  Task<Result<client::Reply>> call(client::Request) override { co_return fail(Reason::NotFound, "there is no cluster"); }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override {
    co_return fail(Reason::NotFound, "there is no cluster");
  }
};

std::string find_prometheus() {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    const std::string program = std::string(folder) + "/prometheus";
    if (!folder.empty() && std::filesystem::exists(program)) return program;
  }
  return "";
}

int free_port(Env& env) { return (*HttpServer::listen(env, {}))->port(); }

class PrometheusTest : public testing::Test {
 protected:
  /// Starts a Prometheus that scrapes the world's server every 200 ms.
  ProcessId start(const std::string& program) {
    port_ = free_port(world_.env());
    const std::string config = fmt::format(
        "global: {{scrape_interval: 200ms}}\nscrape_configs: [{{job_name: web, static_configs: [{{targets: "
        "['127.0.0.1:{}']}}]}}]",
        world_.server().port());
    EXPECT_TRUE(world_.env().files.write(folder_.path() + "/config.yaml", config, 0644));
    const auto process =
        world_.env().processes.start({.argv = {program, "--config.file=config.yaml", "--storage.tsdb.path=data",
                                               fmt::format("--web.listen-address=127.0.0.1:{}", port_)},
                                      .env = {"PATH=/usr/bin:/bin"},
                                      .folder = folder_.path(),
                                      .output = folder_.path() + "/log"});
    EXPECT_TRUE(process) << process.error().message;
    return process.value_or(ProcessId{});
  }

  /// Asks as a caller does until it is decided.
  Task<Verdict> decided(HttpClient& http) {
    delivery::probe::Question question{.key = "k", .name = "web", .ns = "shop"};
    question.gate.name = "rate";
    question.gate.metric = delivery::gate::MetricGate{.address = fmt::format("http://127.0.0.1:{}", port_),
                                                      .query = "min(success_rate{app=\"{{ target }}\"})",
                                                      .min = json::Value(99),
                                                      .interval = 300ms,
                                                      .count = 3,
                                                      .consecutive_error_limit = 1000};
    question.variables = {{"target", "web-v2"}};
    question.since = world_.env().clock.now();
    while (true) {
      const auto answer = co_await delivery::probe::ask({.env = world_.env(), .client = cluster_, .http = &http}, question);
      if (!answer.ask_again) co_return answer.verdict;
      question.samples = answer.samples;
      co_await sleep_for(world_.env(), *answer.ask_again);
    }
  }

  os::TestFolder folder_;
  World world_;
  NoCluster cluster_;
  int port_ = 0;
};

TEST_F(PrometheusTest, a_gate_passes_good_numbers_and_catches_bad_ones) {
  const std::string program = find_prometheus();
  if (program.empty()) GTEST_SKIP() << "there is no program prometheus";
  double rate = 99.7;
  int scrapes = 0;  // of this rate
  const Handler metrics = [&](http::Request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    http::Response response;
    response.headers.set("Content-Type", "text/plain; version=0.0.4");
    ++scrapes;
    response.body = fmt::format("# TYPE success_rate gauge\nsuccess_rate{{app=\"web-v2\"}} {}\n", rate);
    co_return response;
  };
  world_.run({}, metrics, [&]() -> Task<> {
    const ProcessId process = start(program);
    const auto http = world_.client();
    const Verdict good = co_await decided(*http);
    EXPECT_EQ(good.kind, Verdict::Kind::Pass) << good.text;
    rate = 50;
    scrapes = 0;
    co_await world_.until([&] { return scrapes == 2; });  // the first of them is stored then
    const Verdict bad = co_await decided(*http);
    EXPECT_EQ(bad.kind, Verdict::Kind::Fail) << bad.text;
    EXPECT_TRUE(bad.text.contains("50 is not at least 99")) << bad.text;
    EXPECT_TRUE(world_.env().processes.signal(process, SIGKILL));
    co_await world_.env().processes.wait_end(process);
  });
}

}  // namespace
}  // namespace slipway::net
