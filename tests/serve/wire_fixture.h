// One cluster on the loopback over TLS, with the client that its kubeconfig would give: what the tests of room serve stand on.
// Waiting is for events; no test sleeps.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>

#include "base/check.h"
#include "json/text.h"
#include "net/client.h"
#include "os/real_env.h"
#include "os/test_folder.h"
#include "plane/plane.h"
#include "serve/credentials.h"
#include "serve/gateway.h"
#include "store/memory_vfs.h"

/// ASSERT_TRUE for coroutines.
#define CO_ASSERT(condition)     \
  if (!(condition)) {            \
    ADD_FAILURE() << #condition; \
    co_return;                   \
  }                              \
  static_assert(true)

namespace slipway::serve {

using json::Value;
using namespace std::chrono_literals;

/// Ends only a broken run.
constexpr Duration kBroken = 10min;

inline Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  if (!value) ADD_FAILURE() << value.error().message << "\n" << text;
  return value ? *value : Value();
}

/// What came back.
struct Heard {
  int status = 0;
  http::Headers headers;
  std::string body;

  Value json() const {
    auto value = json::parse(body, {.max_bytes = std::size_t{64} << 20});
    if (!value) ADD_FAILURE() << value.error().message << "\n" << body.substr(0, 1000);
    return value ? *value : Value();
  }
  std::string header(std::string_view name) const { return std::string(headers.get(name)); }
};

/// The events of a watch, one after the other.
class Events {
 public:
  explicit Events(std::unique_ptr<http::BodyStream> stream) : stream_(std::move(stream)) {}

  /// Null at the clean end; a string when it was cut.
  Task<Value> next() {
    while (!rest_.contains('\n')) {
      auto piece = co_await stream_->next();
      if (!piece) co_return Value("cut: " + piece.error().message);
      if (!*piece) co_return Value();
      rest_ += **piece;
    }
    const std::string line = rest_.substr(0, rest_.find('\n'));
    rest_.erase(0, line.size() + 1);
    co_return yaml(line);
  }
  void close() { stream_->close(); }

 private:
  std::unique_ptr<http::BodyStream> stream_;
  std::string rest_;
};

/// A pod runtime that prints what a test writes, and ends when it says so.
class PaperPods : public server::PodBackend {
 public:
  explicit PaperPods(Env& env) : changed(env) {}

  Task<Result<std::string>> logs(kube::Object, server::LogQuery query) override {
    co_return query.offset >= log.size() ? std::string() : log.substr(query.offset, query.limit);
  }
  bool runs_commands() const override { return true; }
  Task<Result<std::unique_ptr<server::PodExec>>> exec(kube::Object, server::ExecQuery query) override {
    commands.push_back(std::move(query));
    co_return std::make_unique<Command>(*this);
  }

  Task<Result<std::unique_ptr<server::PodExec>>> attach(kube::Object pod, server::ExecQuery query) override {
    return exec(std::move(pod), std::move(query));
  }
  Task<Result<std::string>> log_times(kube::Object, server::LogQuery query) override {
    co_return query.offset >= times.size() ? std::string() : times.substr(query.offset, query.limit);
  }

  std::string log;
  std::string times;
  std::vector<std::string> inputs;  // as they came, "" for their end; "80x24" for a window
  std::vector<server::ExecQuery> commands;
  std::vector<server::ExecOutput> outputs;  // of the next command; without an exit code it runs until it is closed
  bool is_closed = false;
  Signal changed;

 private:
  class Command : public server::PodExec {
   public:
    explicit Command(PaperPods& pods) : pods_(pods) {}
    Task<Result<server::ExecOutput>> next() override {
      if (next_ < pods_.outputs.size()) co_return pods_.outputs[next_++];
      while (!pods_.is_closed) co_await pods_.changed.wait();
      co_return fail(Reason::ServiceUnavailable, "closed");
    }
    Task<Result<void>> write(std::string bytes) override {
      pods_.inputs.push_back(std::move(bytes));
      pods_.changed.notify();
      co_return Result<void>{};
    }
    void resize(unsigned columns, unsigned rows) override {
      pods_.inputs.push_back(fmt::format("{}x{}", columns, rows));
      pods_.changed.notify();
    }
    void close() override {
      pods_.is_closed = true;
      pods_.changed.notify();
    }

   private:
    PaperPods& pods_;
    std::size_t next_ = 0;
  };
};

class WireTest : public testing::Test {
 public:
  /// Serves while `body` runs, then stops; both must end.
  void serve(std::function<Task<>()> body) {
    env().vfs = vfs_.vfs();
    bool has_ended = false;
    boost::asio::co_spawn(env().executor, all(std::move(body)), [&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      has_ended = true;
      real_.stop();
    });
    real_.run();
    EXPECT_TRUE(has_ended);
    real_.shut();
  }

  Env& env() { return real_.env(); }
  plane::ApiServer& plane() { return *plane_; }
  PaperPods& pods() { return *pods_; }
  std::string url(const std::string& path) const { return fmt::format("https://127.0.0.1:{}{}", http_->port(), path); }

  Task<Heard> send(std::string method, std::string path, std::string body = "", http::Headers headers = {}) {
    return send_by(*client_, std::move(method), std::move(path), std::move(body), std::move(headers));
  }
  /// The same through a client of the test's own.
  Task<Heard> send_by(net::Client& by, std::string method, std::string path, std::string body = "",
                      http::Headers headers = {}) {
    HttpCall call;
    call.url = url(path);
    call.method = std::move(method);
    call.body = std::move(body);
    call.headers = std::move(headers);
    call.timeout = kBroken;
    if (!call.body.empty() && !call.headers.contains("Content-Type")) call.headers.add("Content-Type", "application/json");
    auto response = co_await by.send(std::move(call));
    if (!response) co_return Heard{.status = 0, .headers = {}, .body = response.error().message};
    co_return Heard{.status = response->status, .headers = response->headers, .body = std::move(response->body)};
  }
  Task<Heard> get(std::string path, std::string accept = "application/json") {
    return send("GET", std::move(path), "", accepting(std::move(accept)));
  }
  static http::Headers accepting(std::string accept) { return {{"Accept", std::move(accept)}}; }

  Task<std::unique_ptr<Events>> watch(std::string path, std::string accept = "application/json") {
    HttpCall call;
    call.url = url(path);
    call.headers = accepting(std::move(accept));
    call.timeout = kBroken;
    call.is_streaming = true;
    auto response = co_await client_->send(std::move(call));
    SLIPWAY_CHECK(response.has_value());
    EXPECT_EQ(response->status, 200);
    co_return std::make_unique<Events>(std::move(response->stream));
  }

  static std::string config_map(std::string_view name, std::string_view value = "1") {
    return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"k":"{}"}}}})", name,
                       value);
  }
  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
  static constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

  /// Defines widgets.example.com with a column Size and a status.
  Task<Heard> define_widgets() {
    return send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json::print(yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)")));
  }

 private:
  Task<> all(std::function<Task<>()> body) {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    options.server.access.static_tokens["token-of-nobody"] = std::make_shared<kube::UserInfo>(
        kube::UserInfo{.name = "nobody", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
    options.families = families_;
    listen();
    if (publishes_itself_) {
      options.server.authority_pem = credentials_.authority_pem;
      options.server.address = "127.0.0.1";
      options.server.port = http_->port();
    }
    auto opened = co_await plane::ApiServer::open(env(), options);
    SLIPWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message);
    plane_ = std::move(*opened);
    gateway_ = std::make_unique<Gateway>(env());
    ApiOptions api = api_options_;
    api.pods = pods_.get();
    api.paths = plane::http_paths(families_);
    api.metrics = [this] { return real_.metrics_stream(); };
    gateway_->add("", std::make_shared<Api>(env(), plane_->server(), api));
    Tasks tasks(env());
    tasks.spawn(http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
      return gateway_->answer(std::move(request), std::move(connection));
    }));
    co_await body();
    http_->stop(kBroken);
    co_await tasks.join();
    co_await plane_->close();
  }

  void listen() {
    auto credentials = open_credentials(env(), folder_ / "pki", {});
    SLIPWAY_CHECK(credentials.has_value(), credentials ? "" : credentials.error().message);
    credentials_ = *credentials;
    net::ServerOptions options;
    options.limits.header_timeout = options.limits.body_timeout = options.limits.write_stall = kBroken;
    options.tls = *net::TlsContext::server({.certificate_pem = credentials_.server.certificate_pem,
                                            .key_pem = credentials_.server.key_pem,
                                            .client_authority_pem = credentials_.authority_pem});
    http_ = std::move(*net::HttpServer::listen(env(), std::move(options)));
    net::ClientOptions client;
    client.tls.authority_pem = credentials_.authority_pem;
    client.tls.certificate_pem = credentials_.admin.certificate_pem;
    client.tls.key_pem = credentials_.admin.key_pem;
    client_ = std::move(*net::Client::make(env(), std::move(client)));
  }

  // What uses the Env goes before it.
  os::TestFolder folder_;
  store::MemoryVfs vfs_;
  os::RealEnv real_{{.log_level = LogLevel::Error}};
  std::unique_ptr<PaperPods> pods_ = std::make_unique<PaperPods>(real_.env());
  std::unique_ptr<plane::ApiServer> plane_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<net::HttpServer> http_;

 protected:
  /// A client without a certificate: system:anonymous.
  std::unique_ptr<net::Client> stranger() {
    net::ClientOptions options;
    options.tls.authority_pem = credentials_.authority_pem;
    return std::move(*net::Client::make(env(), std::move(options)));
  }

  /// Headers of the user "nobody", to whom nothing is bound beyond what all users may.
  static http::Headers nobody() { return {{"Authorization", "Bearer token-of-nobody"}}; }

  /// The value of a series on /metrics, whole line but the value; -1 when it is not there.
  Task<double> metric(std::string series) {
    const std::string text = (co_await get("/metrics", "*/*")).body;
    const std::size_t at = ("\n" + text).find("\n" + series + " ");
    co_return at == std::string::npos ? -1 : std::atof(text.c_str() + at + series.size() + 1);
  }

  /// As `slipway up` does: with ConfigMap kube-root-ca.crt in each namespace and Endpoints of Service kubernetes.
  bool publishes_itself_ = false;
  std::unique_ptr<net::Client> client_;
  Credentials credentials_;
  /// A test may add one before it serves.
  std::vector<const delivery::Family*> families_{plane::families().begin(), plane::families().end()};
  ApiOptions api_options_;  // of the server; pods and metrics are the fixture's
};

}  // namespace slipway::serve
