// The kinds of packages behind an APIService: this test is the aggregator of a cluster that another "process" of this one
// serves, with the front proxy's certificate and headers.
#include "cli/porch_listener.h"

#include <fmt/ranges.h>

#include <cstdlib>

#include "delivery/package/kind.h"
#include "git/repositories.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "net/client.h"
#include "remote_fixture.h"

namespace slipway::remote {
namespace {

using namespace delivery::package;
using cli::PorchListener;
using json::Value;

constexpr const char* kRoot = "/apis/porch.kpt.dev/v1alpha1";
constexpr const char* kRevisionsPath = "/apis/porch.kpt.dev/v1alpha1/namespaces/default/packagerevisions";

/// A user as the front proxy tells of one.
struct Told {
  std::string name{};
  std::string group{};
};
const Told kAdmin{"root", "system:masters"};

class PorchListenerTest : public RemoteTest {
 protected:
  /// Serves the cluster and the listener before it, while `body` runs.
  void serve_packages(std::function<Task<>()> body) {
    has_access_ = true;
    has_cluster_controllers_ = false;
    families_ = {};  // another project's server
    git_ = std::make_unique<git::Repositories>(env(), std::vector<Lane*>{&env().compute}, std::vector<Lane*>{&env().compute},
                                               git::RepositoriesOptions{.folder = folder_ / "mirrors"});
    env().git = git_.get();
    serve([this, body = std::move(body)]() -> Task<> {
      co_await write_front_proxy();
      const auto cluster = connect();
      const auto installed = co_await plane::install_definitions(env(), *cluster);
      EXPECT_TRUE(installed) << installed.error().message;
      auto opened = co_await PorchListener::open(env(), *cluster, {.listen = "127.0.0.1:0", .folder = folder_ / "porch"});
      EXPECT_TRUE(opened) << opened.error().message;
      if (!opened) co_return;
      listener_ = std::move(*opened);
      Tasks tasks(env());
      tasks.spawn(listener_->run());
      remote_controllers_ = std::make_unique<plane::Controllers>(env(), nullptr);
      plane::Controllers::Options options;
      options.pods = plane::PodRuntimeKind::None;
      options.makes_cluster = false;
      remote_controllers_->add_remote("far", cluster, options);
      remote_controllers_->start();
      co_await body();
      listener_->stop(1s);
      co_await tasks.join();
    });
  }

  /// As kube-apiserver writes it.
  Task<> write_front_proxy() {
    const Value data = json::object({{"requestheader-client-ca-file", Value(authority_.certificate_pem)},
                                     {"requestheader-allowed-names", Value(R"(["front-proxy-client"])")},
                                     {"requestheader-username-headers", Value(R"(["X-Remote-User"])")},
                                     {"requestheader-group-headers", Value(R"(["X-Remote-Group"])")},
                                     {"requestheader-extra-headers-prefix", Value(R"(["X-Remote-Extra-"])")}});
    const Value metadata =
        json::object({{"name", Value(serve::kFrontProxyConfig.name)}, {"namespace", Value(serve::kFrontProxyConfig.ns)}});
    const Value object =
        json::object({{"apiVersion", Value("v1")}, {"kind", Value("ConfigMap")}, {"metadata", metadata}, {"data", data}});
    const auto made = co_await client::create(api_->server(), kube::kConfigMaps, object, "test");
    EXPECT_TRUE(made) << made.error().message;
  }

  /// Who calls: with a certificate of that common name; empty: without one.
  net::Client& caller(const std::string& common_name) {
    auto& made = callers_[common_name];
    if (made) return *made;
    net::ClientOptions options;
    options.tls.authority_pem = listener_->authority_pem();
    if (!common_name.empty()) {
      const auto issued = net::issue(
          authority_, {.common_name = common_name, .use = net::CertificateRequest::Use::client, .now = env().clock.now()});
      options.tls.certificate_pem = issued->certificate_pem;
      options.tls.key_pem = issued->key_pem;
    }
    made = std::move(*net::Client::make(env(), options));
    return *made;
  }
  struct Answer {
    int status = 0;
    Value object{};
    std::string text{};
  };
  Task<Answer> ask(std::string method, std::string path, Told user, Value body = {},
                   std::string common_name = "front-proxy-client", std::string accept = "application/json") {
    HttpCall call{.url = listener_->url() + path, .method = method};
    call.headers.add("X-Remote-User", user.name);
    call.headers.add("X-Remote-Group", user.group);
    call.headers.add("X-Remote-Group", "system:authenticated");
    call.headers.add("Accept", accept);
    if (!body.is_null()) {
      call.headers.add("Content-Type", "application/json");
      call.body = json::print(body);
    }
    auto response = co_await caller(common_name).send(std::move(call));
    EXPECT_TRUE(response) << response.error().message;
    if (!response) co_return Answer{};
    co_return Answer{response->status, json::parse(response->body).value_or(Value()), response->body};
  }

  /// A Repository, made in the cluster.
  Task<> repository(std::string name) {
    const std::string bare = folder_ / (name + ".git");
    EXPECT_EQ(std::system(fmt::format("git init -q --bare -b main '{}'", bare).c_str()), 0);
    const Value git = json::object({{"repo", Value(bare)}, {"createBranch", Value(true)}});
    const Value object = Value()
                             .with("apiVersion", kRepositoryKind.api_version())
                             .with("kind", kRepositoryKind.kind)
                             .with_path({"metadata", "name"}, name)
                             .with_path({"metadata", "namespace"}, "default")
                             .with_path({"spec", "type"}, "git")
                             .with_path({"spec", "git"}, git);
    const auto made = co_await client::create(api_->server(), kRepositories, object, "test");
    EXPECT_TRUE(made) << made.error().message;
  }
  static Value revision(const std::string& package) {
    return Value()
        .with("apiVersion", kRevisionKind.api_version())
        .with("kind", kRevisionKind.kind)
        .with_path({"metadata", "namespace"}, "default")
        .with_path({"spec", "packageName"}, package)
        .with_path({"spec", "repository"}, "edge")
        .with_path({"spec", "workspaceName"}, "v1");
  }

  net::KeyPair authority_ = net::make_authority("front-proxy-ca", RealTime());
  std::unique_ptr<git::Repositories> git_;
  std::unique_ptr<PorchListener> listener_;
  std::map<std::string, std::unique_ptr<net::Client>> callers_;

 private:
  static Time RealTime() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }
};

TEST_F(PorchListenerTest, serves_the_life_of_a_revision_over_records_of_the_cluster) {
  serve_packages([this]() -> Task<> {
    co_await repository("edge");
    const Answer made = co_await ask("POST", kRevisionsPath, kAdmin, revision("web"));
    EXPECT_EQ(made.status, 201) << made.text;
    const auto record = co_await client::get(api_->server(), kRecords, {"default", "edge.web.v1"});
    EXPECT_TRUE(record) << "the cluster has one object for it";
    const std::string path = std::string(kRevisionsPath) + "/edge.web.v1";
    const Answer proposed = co_await ask("PUT", path, kAdmin, made.object.with_path({"spec", "lifecycle"}, "Proposed"));
    EXPECT_EQ(proposed.status, 200) << proposed.text;
    const Answer approved =
        co_await ask("PUT", path + "/approval", kAdmin, proposed.object.with_path({"spec", "lifecycle"}, "Published"));
    EXPECT_EQ(approved.status, 200) << approved.text;
    EXPECT_EQ(approved.object["spec"]["revision"].as_int(), 1) << approved.text;
    EXPECT_EQ(approved.object["status"]["publishedBy"].as_string(), "root");
    const Answer files =
        co_await ask("GET", std::string(kRoot) + "/namespaces/default/packagerevisionresources/edge.web.v1", kAdmin);
    EXPECT_TRUE(files.object["spec"]["resources"].has("Kptfile")) << files.text;
    const Answer table = co_await ask("GET", std::string(kRevisionsPath) + "?fieldSelector=spec.packageName%3Dweb", kAdmin, {},
                                      "front-proxy-client", "application/json;as=Table;v=v1;g=meta.k8s.io");
    EXPECT_EQ(table.object["kind"].as_string(), "Table") << table.text;
    EXPECT_GE(table.object["rows"].size(), 1U);
    const Answer watched = co_await ask("GET", std::string(kRevisionsPath) + "?watch=1&timeoutSeconds=1", kAdmin);
    EXPECT_TRUE(watched.text.contains(R"("type":"ADDED")") && watched.text.contains("edge.web.v1")) << watched.text;
  });
}

TEST_F(PorchListenerTest, believes_only_the_front_proxy_and_lets_users_do_what_the_cluster_allows_them) {
  serve_packages([this]() -> Task<> {
    EXPECT_EQ((co_await ask("GET", kRevisionsPath, kAdmin, {}, "")).status, 401);
    EXPECT_EQ((co_await ask("GET", kRevisionsPath, kAdmin, {}, "somebody")).status, 401);
    EXPECT_EQ((co_await ask("GET", kRevisionsPath, Told{})).status, 401);
    EXPECT_EQ((co_await ask("GET", "/healthz", Told{}, {}, "")).status, 200);
    const Answer refused = co_await ask("GET", kRevisionsPath, {"bob", "staff"});
    EXPECT_EQ(refused.status, 403);
    EXPECT_TRUE(refused.object["message"].as_string().contains(
        R"(User "bob" cannot list resource "packagerevisions" in API group "porch.kpt.dev" in the namespace "default")"))
        << refused.text;
    const std::string head = "{apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: drafts, namespace: default}, kind: ";
    const Value role = json::parse_yaml(head +
                                        "Role, rules: [{apiGroups: [porch.kpt.dev], resources: [packagerevisions], verbs: "
                                        "[list, create, update]}]}")
                           .value();
    const Value binding = json::parse_yaml(head +
                                           "RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "
                                           "drafts}, subjects: [{kind: User, name: bob, apiGroup: "
                                           "rbac.authorization.k8s.io}]}")
                              .value();
    const kube::Resource roles{"rbac.authorization.k8s.io", "v1", "roles"};
    const kube::Resource bindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};
    EXPECT_TRUE(co_await client::create(api_->server(), roles, role, "test"));
    EXPECT_TRUE(co_await client::create(api_->server(), bindings, binding, "test"));
    EXPECT_EQ((co_await ask("GET", kRevisionsPath, {"bob", "staff"})).status, 200);
    co_await repository("edge");
    const Answer made = co_await ask("POST", kRevisionsPath, {"bob", "staff"}, revision("web"));
    EXPECT_EQ(made.status, 201) << made.text;
    const std::string path = std::string(kRevisionsPath) + "/edge.web.v1";
    const Answer proposed =
        co_await ask("PUT", path, {"bob", "staff"}, made.object.with_path({"spec", "lifecycle"}, "Proposed"));
    EXPECT_EQ(proposed.status, 200) << proposed.text;
    const Value published = proposed.object.with_path({"spec", "lifecycle"}, "Published");
    EXPECT_EQ((co_await ask("PUT", path + "/approval", {"bob", "staff"}, published)).status, 403);
    EXPECT_EQ((co_await ask("PUT", path + "/approval", kAdmin, published)).status, 200);
    const Answer now = co_await ask("GET", path, kAdmin);
    const Value away = now.object.with_path({"spec", "lifecycle"}, "DeletionProposed");
    EXPECT_EQ((co_await ask("PUT", path, {"bob", "staff"}, away)).status, 403) << "needs the right to approve";
    EXPECT_EQ((co_await ask("PUT", path, kAdmin, away)).status, 200);
  });
}

TEST_F(PorchListenerTest, tells_of_its_own_group_alone) {
  serve_packages([this]() -> Task<> {
    const Answer group = co_await ask("GET", kRoot, kAdmin);
    EXPECT_TRUE(group.text.contains("packagerevisions/approval")) << group.text;
    const Answer groups = co_await ask("GET", "/apis", kAdmin);
    EXPECT_EQ(groups.object["groups"].size(), 1U) << groups.text;
    EXPECT_TRUE((co_await ask("GET", "/openapi/v2", kAdmin)).text.contains("PackageRevision"));
    EXPECT_EQ((co_await ask("GET", "/api/v1/namespaces/default/secrets", kAdmin)).status, 404);
    EXPECT_EQ((co_await ask("GET", "/metrics", kAdmin)).status, 404);
    const Value review = json::parse_yaml("{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {}}").value();
    EXPECT_EQ((co_await ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", kAdmin, review)).status, 404);
  });
}

/// A cluster that has these two objects alone.
struct TwoObjects : client::Client {
  Value api_service{};
  Value config{};

  Task<Result<client::Reply>> call(client::Request request) override {
    const Value& found = request.resource == serve::kApiServices ? api_service : config;
    if (found.is_null()) co_return fail(kube::not_found(request.resource, request.name));
    co_return client::Reply{found, {}, 200};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request /*request*/) override {
    co_return fail(Reason::InternalError, "nothing to watch");
  }
};

TEST_F(PorchListenerTest, refuses_to_start_beside_porch_and_without_a_front_proxy) {
  serve([this]() -> Task<> {
    const auto own =
        co_await PorchListener::open(env(), api_->server(), {.listen = "127.0.0.1:0", .folder = folder_ / "porch"});
    EXPECT_TRUE(!own && own.error().message.contains("the cluster itself serves porch.kpt.dev"));
    TwoObjects cluster;
    const auto fault = [&](std::string service) -> Task<std::string> {
      const auto opened = co_await PorchListener::open(
          env(), cluster, {.listen = "127.0.0.1:0", .service = std::move(service), .folder = folder_ / "porch"});
      co_return opened ? "none" : fmt::format("{}: {}", to_string(opened.error().reason), opened.error().message);
    };
    EXPECT_TRUE((co_await fault("")).starts_with("BadRequest: ConfigMap kube-system/extension-apiserver-authentication"));
    EXPECT_TRUE((co_await fault("a")).contains("--porch-service is NAMESPACE/NAME"));
    cluster.api_service =
        json::parse_yaml("{metadata: {name: v1alpha1.porch.kpt.dev}, spec: {service: {namespace: porch-system, name: api}}}")
            .value();
    const std::string told = co_await fault("");
    EXPECT_TRUE(told.starts_with("Conflict: APIService v1alpha1.porch.kpt.dev is answered by Service porch-system/api"))
        << told;
    EXPECT_TRUE((co_await fault("slipway/controller")).starts_with("Conflict: "));
    // Another process of ours, or one that was there before.
    EXPECT_TRUE((co_await fault("porch-system/api:8443")).starts_with("BadRequest: ConfigMap"));
    cluster.api_service = cluster.api_service.with_path({"metadata", "labels", "app.kubernetes.io/managed-by"}, "slipway");
    EXPECT_TRUE((co_await fault("")).starts_with("BadRequest: ConfigMap"));
  });
}

TEST(ApiService, leads_to_the_service_and_trusts_our_authority) {
  serve::ApiServiceTarget target{.group = "porch.kpt.dev", .version = "v1alpha1", .authority_pem = "pem"};
  EXPECT_TRUE(serve::read_service(target, "--porch-service", "slipway/controller:8443"));
  const Value made = serve::api_service(target);
  EXPECT_EQ(json::print(made["spec"]),
            R"({"group":"porch.kpt.dev","version":"v1alpha1","groupPriorityMinimum":1000,"versionPriority":15,)"
            R"("caBundle":"cGVt","service":{"namespace":"slipway","name":"controller","port":8443}})");
  EXPECT_TRUE(serve::check_owner(made, target));
  for (const char* bad : {"", "a", "/b", "a/", "a/:1", "a/b:", "a/b:x", "a/b:0"}) {
    EXPECT_FALSE(serve::read_service(target, "--porch-service", bad)) << bad;
  }
}

TEST(FrontProxy, names_users_their_groups_and_more) {
  const Value config = json::parse_yaml(
                           "{data: {requestheader-client-ca-file: pem, requestheader-username-headers: "
                           "'[\"X-Remote-User\"]', requestheader-group-headers: '[\"X-Remote-Group\"]', "
                           "requestheader-extra-headers-prefix: '[\"X-Remote-Extra-\"]'}}")
                           .value();
  const auto proxy = serve::read_front_proxy(config);
  ASSERT_TRUE(proxy) << proxy.error().message;
  net::ConnectionInfo connection;
  connection.certificate = {.common_name = "any", .organizations = {}, .sha256 = "ab", .is_verified = true, .problem = ""};
  const http::Headers headers{{"x-remote-user", "ann"},
                              {"X-Remote-Group", "a"},
                              {"X-Remote-Group", "b"},
                              {"X-Remote-Extra-Example.org%2FScopes", "read"}};
  const auto user = serve::user_of(*proxy, connection, headers);
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ((*user)->name, "ann");
  EXPECT_EQ((*user)->groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*user)->extra.at("example.org/scopes"), std::vector<std::string>{"read"});
  connection.certificate.is_verified = false;
  EXPECT_FALSE(serve::user_of(*proxy, connection, headers));
  const Value broken = config.with_path({"data", "requestheader-group-headers"}, "X-Remote-Group");
  EXPECT_FALSE(serve::read_front_proxy(broken));
}

}  // namespace
}  // namespace slipway::remote
