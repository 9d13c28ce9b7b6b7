// The controllers of the own families over HTTP and TLS, against a cluster that another "process" of this one serves, as
// `slipway controller --kubeconfig` runs them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "cli/remote_session.h"
#include "control/leader_election.h"
#include "json/text.h"
#include "remote_fixture.h"

namespace slipway::remote {
namespace {

using json::Value;

const kube::Resource kWorkflows{"batch.slipway.dev", "v1alpha1", "workflows"};

/// Where a manifest of examples/release.yaml goes to.
kube::Resource resource_of(std::string_view kind) {
  if (kind == "Workflow") return kWorkflows;
  return {"", "v1", kind == "ConfigMap" ? "configmaps" : "persistentvolumeclaims"};
}

Task<Result<void>> apply_release(Env& env, client::Client& client) {
  SLIPWAY_CO_TRY(text, env.files.read(std::string(SLIPWAY_SOURCE_DIR) + "/examples/release.yaml"));
  SLIPWAY_CO_TRY(documents, json::parse_yaml_all(text));
  const std::vector<json::YamlDocument> all = documents;
  for (const json::YamlDocument& document : all) {
    const kube::Object object = document.value.with_path({"metadata", "namespace"}, "default");
    SLIPWAY_CO_TRY(applied, co_await client::apply(client, resource_of(kube::kind(object)), object, "test"));
    static_cast<void>(applied);
  }
  co_return Result<void>{};
}

/// The Workflow's phase as its conditions say, when it has ended.
Task<std::string> ending(client::Client& client) {
  client::Request request;
  request.resource = kWorkflows;
  request.ns = "default";
  auto watch = co_await client.watch(request);
  if (!watch) co_return watch.error().message;
  for (;;) {
    const auto events = co_await (*watch)->next();
    if (!events) co_return events.error().message;
    if (events->empty()) co_return "the watch ended";
    for (const client::WatchEvent& event : *events) {
      for (const char* type : {"Complete", "Failed"}) {
        if (kube::is_true(event.object, type)) co_return type;
      }
    }
  }
}

TEST_F(RemoteTest, a_remote_controller_delivers_the_release_example) {
  serve([this]() -> Task<> {
    const auto client = connect();
    const auto version = co_await client->get_path("/version");
    EXPECT_TRUE(version) << version.error().message;
    const auto installed = co_await plane::install_definitions(env(), *client);
    EXPECT_TRUE(installed) << installed.error().message;
    plane::Controllers::Options options;
    options.pods = plane::PodRuntimeKind::None;
    options.makes_cluster = false;
    remote_controllers_ = std::make_unique<plane::Controllers>(env(), nullptr);
    remote_controllers_->add_remote("far", client, options);
    remote_controllers_->start();
    const auto user = connect();
    const auto applied = co_await apply_release(env(), *user);
    EXPECT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(co_await ending(*user), "Complete");
  });
}

TEST_F(RemoteTest, the_fleet_of_a_command_reaches_a_cluster_that_a_kubeconfig_names) {
  has_cluster_controllers_ = false;
  serve([this]() -> Task<> {
    remote_controllers_ = std::make_unique<plane::Controllers>(env(), cli::remote_factory(env()));
    fleet::Fleet& fleet = remote_controllers_->fleet();
    const auto added = fleet.add_remote("far", fleet::RemoteCluster{.kubeconfig = kubeconfig()});
    EXPECT_TRUE(added) << added.error().message;
    const auto client = fleet.find("far");
    EXPECT_TRUE(client);
    if (!client) co_return;
    const auto got = co_await client::get(*client, {"", "v1", "namespaces"}, {"", "default"});
    EXPECT_TRUE(got) << got.error().message;
    EXPECT_TRUE(fleet.reach("far").is_reachable);
    const auto refused = fleet.add_remote("files", fleet::RemoteCluster{.kubeconfig = R"({current-context: x,
      contexts: [{name: x, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "https://h"}}],
      users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}}}]})"});
    EXPECT_FALSE(refused);
    if (!refused) EXPECT_EQ(refused.error().reason, Reason::BadRequest) << refused.error().message;
    EXPECT_FALSE(fleet.find("files"));
  });
}

Value parsed(const char* yaml) {
  auto value = json::parse_yaml(yaml);
  SLIPWAY_CHECK(value.has_value(), value ? "" : value.error().message);
  return *value;
}

/// A role for everything but the kinds of group batch.
Task<Result<void>> grant_all_but_jobs(client::Client& admin, std::string user) {
  const kube::Resource roles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
  const kube::Resource bindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings"};
  const Value role = parsed(R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: half},
    rules: [{apiGroups: ["", apps, batch.slipway.dev, apiextensions.k8s.io], resources: ["*"], verbs: ["*"]}]})");
  const Value binding = parsed(R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: half},
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: half},
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: half}]})");
  SLIPWAY_CO_TRY(made, co_await client::create(admin, roles, role, "test"));
  SLIPWAY_CO_TRY(bound,
                 co_await client::create(
                     admin, bindings,
                     binding.with_path({"subjects"}, json::array({binding["subjects"].item(0).with("name", user)})), "test"));
  static_cast<void>(made);
  static_cast<void>(bound);
  co_return Result<void>{};
}

TEST_F(RemoteTest, a_controller_whose_role_lacks_one_kind_runs_all_that_do_not_need_it_and_says_so) {
  has_access_ = true;
  has_cluster_controllers_ = false;
  serve([this]() -> Task<> {
    const kube::Resource deployments{"apps", "v1", "deployments"};
    const auto admin = connect();
    const auto granted = co_await grant_all_but_jobs(*admin, "half");
    EXPECT_TRUE(granted) << granted.error().message;
    remote_controllers_ = std::make_unique<plane::Controllers>(env(), nullptr);
    remote_controllers_->add_remote("far", connect("half"), plane::Controllers::Options{});
    remote_controllers_->start();
    const auto made = co_await client::create(*admin, deployments, parsed(R"({apiVersion: apps/v1, kind: Deployment,
      metadata: {name: web, namespace: default}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {
      metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web}]}}}})"),
                                              "test");
    EXPECT_TRUE(made) << made.error().message;
    Value seen;
    while (seen["status"]["availableReplicas"].as_int() < 2) {
      co_await sleep_for(env(), 50ms);
      auto got = co_await client::get(*admin, deployments, {"default", "web"});
      EXPECT_TRUE(got) << got.error().message;
      if (!got) co_return;
      seen = *got;
    }
    const auto names = [&](const std::string& start) {
      return std::ranges::any_of(remote_controllers_->hindrances("far"), [&](const std::string& each) {
        return each.starts_with(start) && each.find("is forbidden") != std::string::npos;
      });
    };
    for (const char* controller : {"job", "workflow"}) {
      const std::string told = fmt::format("controller {} waits for jobs.batch in cluster far: jobs.batch", controller);
      const Steady deadline = env().clock.steady() + 10min;
      while (!names(told) && env().clock.steady() < deadline) co_await sleep_for(env(), 50ms);
      EXPECT_TRUE(names(told)) << told << "\n" << fmt::format("{}", fmt::join(remote_controllers_->hindrances("far"), "\n"));
    }
    EXPECT_FALSE(names("controller deployment"));
  });
}

TEST_F(RemoteTest, a_cache_of_metadata_holds_no_more_than_that) {
  has_cluster_controllers_ = false;
  serve([this]() -> Task<> {
    const kube::Resource configs{"", "v1", "configmaps"};
    const auto admin = connect();
    for (int i = 0; i < 12; ++i) {
      const Value config = parsed("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default}, data: {big: text}}")
                               .with_path({"metadata", "name"}, fmt::format("c{}", i));
      EXPECT_TRUE(co_await client::create(*admin, configs, config, "test"));
    }
    client::Informer slim(env(), *admin, configs, {.form = client::Form::Metadata, .page_size = 5});
    Tasks tasks(env());
    tasks.spawn(slim.run());
    co_await slim.wait_synced();
    EXPECT_GE(slim.size(), 12U);
    const Value config =
        parsed("{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: default}, data: {big: text}}");
    const auto late = co_await client::create(*admin, configs, config, "test");
    EXPECT_TRUE(late) << late.error().message;
    if (late) EXPECT_TRUE(co_await slim.wait_for(kube::revision(*late)));
    for (const auto& [key, object] : slim.objects()) {
      EXPECT_FALSE(object.has("data")) << key.to_string();
      EXPECT_FALSE(object["metadata"].has("managedFields"));
      EXPECT_FALSE(object["metadata"]["uid"].as_string().empty());
    }
    slim.stop();
    co_await tasks.join();
  });
}

TEST_F(RemoteTest, a_credential_plugin_is_run_until_its_credential_ends) {
  serve([this]() -> Task<> {
    // Each run counts itself in a file; what it says to people is not taken for its answer.
    const std::string script = R"(echo run >>"$COUNT"; echo 'hello' >&2; test -n "$KUBERNETES_EXEC_INFO" || exit 1
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$(wc -l <"$COUNT")'","expirationTimestamp":"'$EXPIRES'"}}')";
    Connection connection;
    connection.server = "https://127.0.0.1:1";
    connection.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                                 .command = "sh",
                                 .args = {"-c", script},
                                 .env = {"COUNT=" + (folder_ / "count"), "EXPIRES=2001-01-01T00:00:00Z"}};
    CredentialSource::Options options;
    options.environment = {"PATH=/usr/bin:/bin"};
    options.scratch_folder = folder_.path();
    CredentialSource expired(env(), connection, options);
    const auto first = co_await expired.get();
    EXPECT_TRUE(first) << first.error().message;
    EXPECT_EQ(first ? first->token : "", "1");
    const auto second = co_await expired.get();
    EXPECT_EQ(second ? second->token : "", "2");
    connection.exec->env[1] = "EXPIRES=2999-01-01T00:00:00Z";
    CredentialSource lasting(env(), connection, options);
    const auto third = co_await lasting.get();
    const auto again = co_await lasting.get();
    EXPECT_EQ(third ? third->token : "", "3");
    EXPECT_EQ(again ? again->token : "", "3");
    connection.exec->command = "/no/such/plugin";
    CredentialSource missing(env(), connection, options);
    const auto none = co_await missing.get();
    EXPECT_FALSE(none);
    if (!none) EXPECT_EQ(none.error().reason, Reason::Unauthorized) << none.error().message;
  });
}

TEST_F(RemoteTest, one_of_two_controllers_leads_and_the_other_follows_when_it_lets_go) {
  serve([this]() -> Task<> {
    const auto client = connect();
    control::LeaderElection::Options first{.identity = "first", .retry = 100ms};
    control::LeaderElection::Options second{.identity = "second", .retry = 100ms};
    const auto a = std::make_shared<control::LeaderElection>(env(), *client, first);
    const auto b = std::make_shared<control::LeaderElection>(env(), *client, second);
    co_await a->acquire();
    EXPECT_TRUE(a->is_leader());
    co_await a->release();
    co_await b->acquire();
    EXPECT_TRUE(b->is_leader());
    EXPECT_EQ(b->holder(), "second");
  });
}

}  // namespace
}  // namespace slipway::remote
