// What shift() writes, served by a real nginx: the split that clients see, and no request that fails while weights move.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <cstdlib>

#include "config.h"
#include "delivery/rollout/traffic.h"
#include "json/patch.h"
#include "json/text.h"
#include "net/client.h"
#include "net/stream.h"
#include "os/real_env.h"
#include "process.h"

namespace slipway {
namespace {

namespace rollout = delivery::rollout;
using namespace std::chrono_literals;

constexpr int kLanes = 16;                // requests at a time
constexpr Duration kBrokenSplit = 10min;  // ends only a broken run

/// SLIPWAY_SPLIT=full: 20,000 requests per weight, as `make test-split` runs it.
int requests() {
  const char* form = std::getenv("SLIPWAY_SPLIT");
  return form != nullptr && std::string_view(form) == "full" ? 20'000 : 2'000;
}

/// Two versions and the service of both, each on a port of its own, behind an nginx that serves what is written.
class Front {
 public:
  explicit Front(const std::string& object) {
    std::string backends;
    for (const char* service : {"web", "web-primary", "web-canary"}) {
      const unsigned short port = free_port();
      backends += nginx::backend_config(port, service, logs_ / service);
      site_.endpoints[service] = {fmt::format("127.0.0.1:{}", port)};
    }
    backends_ = std::make_unique<nginx::Process>(backends);
    port_ = free_port();
    const json::Value first = json::parse_yaml(object).value();
    objects_.emplace(first["kind"].str() + "/web", first);
    client_ = std::move(net::Client::make(real_.env(), {}).value());
    front_ = std::make_unique<nginx::Process>(config());
  }

  const rollout::Objects& objects() const { return objects_; }
  Env& env() { return real_.env(); }

  /// Writes the changes one by one, and serves what is then there; `each` is called after each of them.
  Task<> write(std::vector<rollout::Change> changes) {
    for (const rollout::Change& change : changes) {
      write_one(change);
      front_->reload(config());
      co_await serving();
    }
  }

  /// A fresh nginx, so that no worker of an older configuration answers.
  Task<> restart() {
    client_->close_idle();
    front_.reset();
    front_ = std::make_unique<nginx::Process>(config());
    co_await serving();
  }

  /// The text that answers; "" and a failed test when it is no 200.
  Task<std::string> get(http::Headers headers) {
    HttpCall call{.url = url("/"), .headers = std::move(headers), .timeout = kBrokenSplit};
    const auto answer = co_await client_->send(std::move(call));
    const bool is_good = answer && answer->status == 200;
    if (!is_good) ADD_FAILURE() << (answer ? std::to_string(answer->status) : answer.error().message) << front_->log();
    co_return is_good ? answer->body : "";
  }

  /// How many of `total` requests the target answered.
  Task<int> count(int total, http::Headers headers = {}) {
    int hits = 0;
    Tasks tasks(env());
    for (int lane = 0; lane < kLanes; ++lane) tasks.spawn(run_lane(lane, total, headers, &hits));
    co_await tasks.join();
    co_return hits;
  }

  /// Waits until the service was asked `least` times, and gives how often it was; a copy of a request may come after its
  /// answer.
  std::ptrdiff_t asked(const std::string& service, std::ptrdiff_t least) const {
    std::ptrdiff_t lines = 0;
    os::eventually([&] {
      const std::string log = logs_.text(service);
      lines = std::ranges::count(log, '\n');
      return lines >= least;
    });
    return lines;
  }

  void run(std::function<Task<>()> body) {
    boost::asio::co_spawn(env().executor, body(), [&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      real_.stop();
    });
    real_.run();
  }

 private:
  unsigned short free_port() { return net::Listener::open(env(), "127.0.0.1", 0).value().port(); }
  std::string url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }

  std::string config() {
    site_.objects.clear();
    for (const auto& [key, object] : objects_) site_.objects.push_back(object);
    const auto text = nginx::site_config(site_, port_, std::to_string(++version_));
    EXPECT_TRUE(text.has_value()) << text.error().message;
    return text.value_or("");
  }

  void write_one(const rollout::Change& change) {
    const std::string key = change.object_kind.kind + "/" + change.name;
    if (change.kind == rollout::Change::Kind::Delete) {
      objects_.erase(key);
    } else if (change.kind == rollout::Change::Kind::Create) {
      objects_[key] = change.body;
    } else {
      objects_[key] = json::apply_json_patch(objects_.at(key), change.body).value();
    }
  }

  Task<> serving() {
    const Steady deadline = env().clock.steady() + kBrokenSplit;
    while (env().clock.steady() < deadline) {
      HttpCall call{.url = url("/-/version"), .timeout = kBrokenSplit};
      const auto answer = co_await client_->send(std::move(call));
      if (answer && answer->body == std::to_string(version_)) co_return;
      co_await sleep_for(env(), 2ms);
    }
    ADD_FAILURE() << "nginx does not serve version " << version_ << "\n" << front_->log();
  }

  /// Ids are the same in every run, so the split is too.
  Task<> run_lane(int lane, int total, http::Headers headers, int* hits) {
    for (int i = lane; i < total; i += kLanes) {
      http::Headers own = headers;
      own.add("X-Request-ID", fmt::format("request-{}", i));
      if (co_await get(own) == "web-canary") ++*hits;
    }
  }

  os::RealEnv real_{{.log_level = LogLevel::Error}};
  std::unique_ptr<net::Client> client_;
  os::TestFolder logs_;
  nginx::Site site_;
  rollout::Objects objects_;
  std::unique_ptr<nginx::Process> backends_;
  std::unique_ptr<nginx::Process> front_;
  unsigned short port_ = 0;
  int version_ = 0;
};

constexpr const char* kIngress = R"(
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
    - http:
        paths:
          - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
)";

constexpr const char* kSplitRoute = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  rules:
    - matches: [{path: {type: PathPrefix, value: /}}]
      backendRefs: [{group: "", kind: Service, name: web, port: 80, weight: 1}]
)";

struct Provider {
  const char* name;
  const char* object;
};

class Split : public ::testing::TestWithParam<Provider> {
 protected:
  void SetUp() override {
    if (nginx::program()) return;
    fmt::print("skipped: the split by a real nginx: there is none (Debian package nginx-light)\n");
    GTEST_SKIP();
  }
  rollout::Route route() const {
    return {.provider = GetParam().name,
            .ns = "shop",
            .ingress = "",
            .service = "web",
            .source_service = "web-primary",
            .target_service = "web-canary",
            .port = std::nullopt};
  }
  std::vector<rollout::Change> shifted(const Front& front, const rollout::Split& split) const {
    return rollout::shift(route(), front.objects(), split).value();
  }
};

INSTANTIATE_TEST_SUITE_P(Providers, Split, ::testing::Values(Provider{"nginx", kIngress}, Provider{"gatewayapi", kSplitRoute}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Split, clients_see_the_weight_within_two_points_and_0_and_100_exactly) {
  Front front(GetParam().object);
  front.run([&]() -> Task<> {
    for (const int weight : {0, 1, 10, 50, 100}) {
      co_await front.write(shifted(front, {.weight = weight}));
      co_await front.restart();
      const int hits = co_await front.count(requests());
      const double percent = 100.0 * hits / requests();
      fmt::print("split {} weight {}: {} of {} requests, {:.2f} %\n", GetParam().name, weight, hits, requests(), percent);
      EXPECT_NEAR(percent, weight, weight % 100 == 0 ? 0 : 2);
    }
  });
}

TEST_P(Split, requests_that_match_go_to_the_target_whatever_the_weight) {
  Front front(GetParam().object);
  front.run([&]() -> Task<> {
    rollout::Split split;
    split.matches = {json::parse(R"({"headers":[{"name":"X-Lane","value":"new"}]})").value()};
    co_await front.write(shifted(front, split));
    co_await front.restart();
    EXPECT_EQ(co_await front.count(200, {{"X-Lane", "new"}}), 200);
    EXPECT_EQ(co_await front.count(200, {{"X-Lane", "old"}}), 0);
    EXPECT_EQ(co_await front.count(200), 0);
  });
}

TEST_P(Split, a_mirror_gets_its_share_and_answers_nobody) {
  if (GetParam().name != std::string_view("gatewayapi")) return;  // canary Ingresses have no mirror
  Front front(GetParam().object);
  front.run([&]() -> Task<> {
    co_await front.write(shifted(front, {.weight = 0, .matches = {}, .mirror_percent = 30}));
    co_await front.restart();
    EXPECT_EQ(co_await front.count(2'000), 0);
    EXPECT_EQ(front.asked("web-primary", 2'000), 2'000);
    const double percent = static_cast<double>(front.asked("web-canary", 560)) / 20;
    fmt::print("mirror 30: {:.2f} % of 2000 requests\n", percent);
    EXPECT_NEAR(percent, 30, 2);
  });
}

TEST_P(Split, no_request_fails_while_weights_move_and_are_taken_back) {
  Front front(GetParam().object);
  front.run([&]() -> Task<> {
    bool is_over = false;
    int sent = 0;
    Tasks clients(front.env());
    for (int lane = 0; lane < 4; ++lane) {
      clients.spawn([](Front* asked, const bool* over, int* total) -> Task<> {
        while (!*over) {
          co_await asked->get({});
          ++*total;
        }
      }(&front, &is_over, &sent));
    }
    for (const int weight : {0, 10, 50, 100, 30}) {
      co_await front.write(shifted(front, {.weight = weight}));
      const int before = sent;
      while (sent < before + 20) co_await sleep_for(front.env(), 1ms);
    }
    co_await front.write(rollout::restore(route(), front.objects(), true).value());
    is_over = true;
    co_await clients.join();
    co_await front.restart();
    EXPECT_EQ(co_await front.get({}), "web");
    EXPECT_GE(sent, 100);
  });
}

}  // namespace
}  // namespace slipway
