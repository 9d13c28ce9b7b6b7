// A whole rollout and a whole revert of processes under load, with a real control plane, a real nginx that serves what is
// written, and 200 requests a second, each over a connection of its own: none fails. The objects are those of examples/rollout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/text.h"
#include "json/text.h"
#include "net/client.h"
#include "net/stream.h"
#include "os/real_env.h"
#include "proxy.h"
#include "remote/remote_client.h"
#include "up_process.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using json::Value;

constexpr const char* kNamespace = "shop";
const kube::Resource kRollouts{"standard.oam.dev", "v1alpha1", "rollouttraits"};

/// The kinds of the objects, and where each is served.
const std::map<std::string, kube::Resource, std::less<>> kResources = {
    {"CustomResourceDefinition", {"apiextensions.k8s.io", "v1", "customresourcedefinitions"}},
    {"Namespace", {"", "v1", "namespaces"}},
    {"Service", {"", "v1", "services"}},
    {"Deployment", {"apps", "v1", "deployments"}},
    {"Ingress", {"networking.k8s.io", "v1", "ingresses"}},
    {"HTTPRoute", {"gateway.networking.k8s.io", "v1", "httproutes"}},
    {"RolloutTrait", kRollouts},
};

constexpr const char* kRouteKind = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httproutes.gateway.networking.k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: {kind: HTTPRoute, plural: httproutes}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

constexpr const char* kRoute = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: front}]
  rules:
    - matches: [{path: {type: PathPrefix, value: /}}]
      backendRefs: [{group: "", kind: Service, name: web, port: 80, weight: 1}]
)";

struct Form {
  std::int64_t pods;
  const char* batches;
  std::int64_t settle_seconds;
  std::int64_t drain_seconds;
};

/// SLIPWAY_SPLIT=full, as `make test-split` runs it.
Form form() {
  const char* said = std::getenv("SLIPWAY_SPLIT");
  const bool is_full = said != nullptr && std::string_view(said) == "full";
  return is_full ? Form{8, "[{replicas: 1}, {replicas: 25%}, {replicas: 25%}, {replicas: 25%}, {}]", 3, 3}
                 : Form{3, "[{replicas: 1}, {}]", 1, 1};
}

/// Ends only a broken run.
constexpr Duration kBroken = 10min;

/// What is different here: the program, and what depends on the speed of the machine. A pod is found ready however late it
/// answers, and serves until the proxy has surely heard of its end.
constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
    {"/opt/demo_service", SLIPWAY_BINARY_DIR "/demo_service"},
    {"periodSeconds: 1", "periodSeconds: 1\n            timeoutSeconds: 300"},
    {"terminationGracePeriodSeconds: 20", "terminationGracePeriodSeconds: 300"},
    {R"({name: DRAIN_SECONDS, value: "1"})", R"({name: DRAIN_SECONDS, value: "3"})"},
};

/// The documents of a file of examples/rollout.
std::vector<Value> example(const std::string& name) {
  std::string text = os::read_file(SLIPWAY_SOURCE_DIR "/examples/rollout/" + name).value();
  for (const auto& [from, to] : kChanges) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  }
  std::vector<Value> objects;
  for (json::YamlDocument& document : json::parse_yaml_all(text).value()) objects.push_back(std::move(document.value));
  return objects;
}

/// Ask 200 times a second until it is over; less often while kMostAtOnce wait for their answers.
class Visitors {
 public:
  Visitors(Env& env, unsigned short port) : env_(env), url_(fmt::format("http://127.0.0.1:{}/", port)), tasks_(env) {
    http_ = std::move(
        net::Client::make(env, {.connections = kMostAtOnce, .idle_connections = 0, .connect_timeout = kBroken}).value());
  }

  Task<> come() {
    for (Steady next = env_.clock.steady(); !is_over_; next += 5ms) {
      co_await sleep_until(env_, next);
      if (tasks_.running() < kMostAtOnce) tasks_.spawn(ask());
    }
    co_await tasks_.join();
  }
  void leave() { is_over_ = true; }

  /// From here on only answers to what is asked from here on are counted by version.
  void forget() {
    ++epoch_;
    seen_.clear();
  }
  /// Waits until `version` has answered.
  Task<> meet(std::string version) {
    const Steady deadline = env_.clock.steady() + kBroken;
    while (!seen_.contains(version)) {
      if (co_await answered_.wait_until(deadline)) continue;
      ADD_FAILURE() << version << " answers nobody";
      co_return;
    }
  }
  /// The versions that have answered.
  const std::set<std::string>& seen() const { return seen_; }

  int total = 0;
  std::vector<std::string> failures;

 private:
  static constexpr std::size_t kMostAtOnce = 128;

  Task<> ask() {
    const int epoch = epoch_;
    HttpCall call{.url = url_, .timeout = kBroken};
    const auto answer = co_await http_->send(std::move(call));
    ++total;
    if (!answer || answer->status != 200) {
      failures.push_back(answer ? fmt::format("{} {}", answer->status, answer->body) : answer.error().message);
    } else if (epoch == epoch_) {
      seen_.emplace(trimmed(answer->body.substr(answer->body.rfind(' ') + 1)));
      answered_.notify();
    }
  }

  Env& env_;
  std::string url_;
  std::unique_ptr<net::Client> http_;
  Tasks tasks_;
  Signal answered_{env_};
  std::set<std::string> seen_;
  int epoch_ = 0;
  bool is_over_ = false;
};

class Shop {
 public:
  explicit Shop(nginx::Routes routes)
      : up_(up::binary(), folder_ / "up", {"--pod-runtime", "process", "--allow-outgoing", "localhost"}), routes_(routes) {
    Env& env = real_.env();
    const std::string kubeconfig = os::read_file(folder_ / "up/kubeconfig").value();
    const remote::Connection connection = remote::read_kubeconfig(env.files, kubeconfig, ".", "").value();
    client_ = std::make_unique<remote::RemoteClient>(env, connection, remote::CredentialSource::Options{},
                                                     remote::RemoteClient::over_sockets(env, connection));
    http_ = std::move(net::Client::make(env, {}).value());
    port_ = net::Listener::open(env, "127.0.0.1", 0).value().port();
    proxy_ = std::make_unique<nginx::Proxy>(env, *client_, *http_, routes, kNamespace, port_);
    visitors_ = std::make_unique<Visitors>(env, port_);
    rollouts_ = std::make_unique<client::Informer>(env, *client_, kRollouts);
    rollouts_->add_handler([this](const Value&, const Value&) { changed_.notify(); });
  }
  ~Shop() { real_.shut(); }

  Visitors& visitors() { return *visitors_; }
  std::string log() const { return proxy_->log(); }

  void run(std::function<Task<>()> body) {
    boost::asio::co_spawn(real_.env().executor, body(), [&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      real_.stop();
    });
    real_.run();
  }

  /// Version 1 runs, is served and is visited.
  Task<> open() {
    std::vector<Value> objects = example("shop.yaml");
    if (routes_ == nginx::Routes::HttpRoutes) {
      objects.back() = json::parse_yaml(kRoute).value();
      objects.insert(objects.begin(), json::parse_yaml(kRouteKind).value());
    }
    for (Value object : objects) {
      const bool is_deployment = kube::kind(object) == "Deployment";
      co_await create(is_deployment ? object.with_path({"spec", "replicas"}, form().pods) : object);
    }
    tasks_.spawn(proxy_->run());
    tasks_.spawn(rollouts_->run());
    const kube::ObjectKey web{kNamespace, "web-v1"};
    Value deployment;
    while (deployment["status"]["readyReplicas"].as_int() < form().pods) {
      co_await sleep_for(real_.env(), 20ms);
      deployment = (co_await client::get(*client_, kResources.at("Deployment"), web)).value_or(Value());
    }
    while (!proxy_->is_serving() || !co_await is_served()) co_await sleep_for(real_.env(), 20ms);
    tasks_.spawn(visitors_->come());
  }

  /// web-v`to` takes the place of web-v`from`; the first one is created, later ones are another target. With a partition it
  /// stands after that batch.
  Task<> roll(int from, int to, std::optional<int> partition = std::nullopt) {
    for (Value object : example(fmt::format("v{}.yaml", to))) co_await create(without_errors(object));
    Value rollout = example("rollout.yaml").front();
    Value plan =
        rollout["spec"]["rolloutPlan"].without("gates").with("rolloutBatches", json::parse_yaml(form().batches).value());
    Value traffic = plan["traffic"].with("settleSeconds", form().settle_seconds).with("drainSeconds", form().drain_seconds);
    if (routes_ == nginx::Routes::HttpRoutes) traffic = traffic.with("provider", "gatewayapi").without("ingressRef");
    if (partition) plan = plan.with("batchPartition", *partition);
    const auto deployment = [](int version) {
      return json::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", fmt::format("web-v{}", version)}});
    };
    const Value spec = json::object({{"targetRef", deployment(to)},
                                     {"sourceRef", json::array({deployment(from)})},
                                     {"rolloutPlan", plan.with("traffic", traffic)}});
    if (rollouts_->keys().empty()) {
      co_await create(rollout.with("spec", spec));
    } else {
      co_await patch(json::object({{"spec", spec}}));
    }
  }

  Task<> patch(Value body) {
    const auto patched = co_await client::merge_patch(*client_, kRollouts, {kNamespace, "web"}, std::move(body), "test");
    EXPECT_TRUE(patched.has_value()) << patched.error().message;
  }

  /// Waits until the rollout's status is so; only a broken run takes so long that it is given up.
  Task<bool> until(std::function<bool(const Value& status)> is_so) {
    const Steady deadline = real_.env().clock.steady() + kBroken;
    const auto status = [&] { return rollouts_->get({kNamespace, "web"})["status"]; };
    while (!is_so(status())) {
      if (co_await changed_.wait_until(deadline)) continue;
      ADD_FAILURE() << "the rollout is stuck: " << json::print(status());
      co_return false;
    }
    co_return true;
  }

  /// Waits until web-v`version` has no pods: what is asked from then on it does not answer.
  Task<> gone(int version) {
    const client::ListQuery pods{kNamespace, fmt::format("release=web-v{}", version), ""};
    const Steady deadline = real_.env().clock.steady() + kBroken;
    while (true) {
      const auto listed = co_await client::list(*client_, {"", "v1", "pods"}, pods);
      EXPECT_TRUE(listed.has_value()) << listed.error().message;
      if (!listed || (*listed)["items"].empty()) co_return;
      if (real_.env().clock.steady() > deadline) break;
      co_await sleep_for(real_.env(), 50ms);
    }
    ADD_FAILURE() << "there are still pods of version " << version;
  }

  Task<> close() {
    visitors_->leave();
    co_await visitors_left();
  }

 private:
  static Value without_errors(const Value& object) {
    std::string text = json::print(object);
    const std::string errors = R"("ERRORS_PERCENT","value":"50")";
    if (const auto at = text.find(errors); at != std::string::npos)
      text.replace(at, errors.size(), R"("ERRORS_PERCENT","value":"0")");
    return json::parse(text).value();
  }

  /// A kind that was just defined is served a little later.
  Task<> create(Value object) {
    const kube::Resource resource = kResources.at(std::string(kube::kind(object)));
    for (;;) {
      const auto made = co_await client::create(*client_, resource, object, "test");
      if (made || made.error().reason != Reason::NotFound) {
        EXPECT_TRUE(made.has_value()) << made.error().message;
        co_return;
      }
      co_await sleep_for(real_.env(), 20ms);
    }
  }

  Task<bool> is_served() {
    HttpCall call{.url = fmt::format("http://127.0.0.1:{}/", port_)};
    const auto answer = co_await http_->send(std::move(call));
    co_return answer && answer->status == 200;
  }

  Task<> visitors_left() {
    while (tasks_.running() > 2) co_await sleep_for(real_.env(), 5ms);  // the proxy and the informer stay
  }

  os::TestFolder folder_;
  up::UpProcess up_;
  const nginx::Routes routes_;
  os::RealEnv real_{{.log_level = LogLevel::Error}};
  Signal changed_{real_.env()};
  Tasks tasks_{real_.env()};
  unsigned short port_ = 0;
  std::unique_ptr<remote::RemoteClient> client_;
  std::unique_ptr<net::Client> http_;
  std::unique_ptr<nginx::Proxy> proxy_;
  std::unique_ptr<Visitors> visitors_;
  std::unique_ptr<client::Informer> rollouts_;
};

class RolloutUnderLoad : public ::testing::TestWithParam<nginx::Routes> {
 protected:
  void SetUp() override {
    if (nginx::program()) return;
    fmt::print("skipped: a rollout behind a real nginx: there is none (Debian package nginx-light)\n");
    GTEST_SKIP();
  }
};

INSTANTIATE_TEST_SUITE_P(Routes, RolloutUnderLoad, ::testing::Values(nginx::Routes::Ingresses, nginx::Routes::HttpRoutes),
                         [](const auto& info) { return info.param == nginx::Routes::Ingresses ? "Ingress" : "HTTPRoute"; });

TEST_P(RolloutUnderLoad, no_request_fails_in_a_whole_rollout_and_a_whole_revert) {
  Shop shop(GetParam());
  const auto is_in = [](std::string_view state, std::int64_t attempt) {
    return [=](const Value& status) {
      return status["rollingState"].as_string() == state && status["attempt"].as_int() == attempt;
    };
  };
  shop.run([&]() -> Task<> {
    co_await shop.open();
    co_await shop.roll(1, 2);
    if (co_await shop.until(is_in("rolloutSucceed", 1))) {
      co_await shop.gone(1);
      shop.visitors().forget();
      co_await shop.roll(2, 3, 0);
      co_await shop.visitors().meet("v3");
      co_await shop.visitors().meet("v2");
      co_await shop.patch(json::parse(R"({"metadata":{"annotations":{"rollout.slipway.dev/revert":"now"}}})").value());
      co_await shop.until(is_in("rolloutFailed", 2));
      EXPECT_EQ(shop.visitors().seen(), (std::set<std::string>{"v2", "v3"}));
      co_await shop.gone(3);
      shop.visitors().forget();
      co_await shop.visitors().meet("v2");
      EXPECT_EQ(shop.visitors().seen(), std::set<std::string>{"v2"});
    }
    co_await shop.close();
  });
  const Visitors& visitors = shop.visitors();
  fmt::print("{} requests, {} failed\n", visitors.total, visitors.failures.size());
  EXPECT_EQ(visitors.failures, std::vector<std::string>{}) << shop.log();
}

}  // namespace
}  // namespace slipway
