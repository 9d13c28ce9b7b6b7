// A rollout reads and writes as its author: what an editor of one namespace may not do, no rollout does for that editor.
#include <algorithm>
#include <memory>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

using delivery::rollout::kAppRollouts;
using User = std::shared_ptr<const kube::UserInfo>;

const kube::Resource kBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings"};
const kube::Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

User user(const std::string& name, std::vector<std::string> groups) {
  groups.emplace_back("system:authenticated");
  return std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = name, .uid = "", .groups = std::move(groups), .extra = {}});
}
const User kAlice = user("alice", {"dev"});
const User kDave = user("dave", {"delivery"});
const User kAdmin = user("root", {"system:masters"});

/// alice may edit the namespace; dave may write rollouts and ConfigMaps of it, and nothing else.
constexpr const char* kRights[] = {
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: alice}, roleRef: {apiGroup: "
    "rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, "
    "name: alice}]}",
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: delivery}, rules: [{apiGroups: [standard.oam.dev, "
    "core.oam.dev], resources: ['*'], verbs: ['*']}, {apiGroups: [''], resources: [configmaps], verbs: ['*']}]}",
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: dave}, roleRef: {apiGroup: "
    "rbac.authorization.k8s.io, kind: Role, name: delivery}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, "
    "name: "
    "dave}]}",
};

/// Rendered resources as someone who wants to be cluster administrator writes them.
constexpr std::string_view kForgedResources =
    R"({apiVersion: v1, kind: ConfigMap, metadata: {name: evil-v1}, data: {web: '[
      {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app.oam.dev/resourceType": "WORKLOAD",
       "app.oam.dev/name": "evil"}}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata":
       {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}},
      {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "pwn"}, "roleRef":
       {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}, "subjects": [{"apiGroup":
       "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}]}]'}})";
constexpr std::string_view kForgedRollout =
    "{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {name: evil}, spec: {targetAppRevisionName: evil-v1, "
    "componentList: [web], rolloutPlan: {numBatches: 1}}}";

class RolloutAuthor : public RolloutTest {
 public:
  void open() override {
    RolloutTest::open();
    for (const char* right : kRights) apply(right);
  }

  Result<client::Reply> send(const User& as, client::Verb verb, const kube::Resource& resource, const std::string& name,
                             std::string_view yaml, const std::string& subresource = "") {
    auto body = json::parse_yaml(yaml);
    EXPECT_TRUE(body) << (body ? "" : body.error().message);
    client::Request request;
    request.verb = verb;
    request.resource = resource;
    request.ns = "default";
    request.name = name;
    request.subresource = subresource;
    request.body = *body;
    if (verb == client::Verb::Patch) request.patch_type = client::PatchType::Merge;
    request.user = as;
    return env_->run(api_->server().call(std::move(request)));
  }
  void create(const User& as, const kube::Resource& resource, std::string_view yaml) {
    auto made = send(as, client::Verb::Create, resource, "", yaml);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
  }
  void create_rollout(const User& as, std::string_view plan) {
    create(as, kTraits,
           fmt::format("{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r}}, spec: {{targetRef: "
                       "{{apiVersion: apps/v1, kind: Deployment, name: web-v2}}, sourceRef: [{{apiVersion: apps/v1, kind: "
                       "Deployment, name: web-v1}}], rolloutPlan: {}}}}}",
                       plan));
  }
  std::string wait_of(const kube::Resource& resource, const std::string& name) {
    return get(resource, name)["status"]["waits"].item(0)["on"].str();
  }
};

TEST_F(RolloutAuthor, rolls_out_for_an_editor_of_the_namespace) {
  deployment("web-v1", 4);
  deployment("web-v2", 0, {"web:2"});
  create_rollout(kAlice, "{rolloutBatches: [{replicas: 1}, {}]}");
  EXPECT_EQ(kube::annotation(get(kTraits, "r"), "rollout.slipway.dev/author"), "alice");
  EXPECT_EQ(kube::annotation(get(kTraits, "r"), "rollout.slipway.dev/author-groups"), "dev,system:authenticated");
  EXPECT_TRUE(until_state("rolloutSucceed")) << json::print_pretty(status());
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
}

TEST_F(RolloutAuthor, applies_nothing_of_rendered_resources_that_its_author_may_not_apply) {
  for (const User& attacker : {kAlice, kDave}) {
    create(attacker, kube::kConfigMaps, kForgedResources);
    create(attacker, kAppRollouts, kForgedRollout);
    advance(minutes{2});
    EXPECT_TRUE(get_in("", kBindings, "pwn").is_null()) << attacker->name;
    EXPECT_EQ(wait_of(kAppRollouts, "evil"), "AuthorLacksRight");
    EXPECT_TRUE(list(kDeployments).empty());
    remove(kAppRollouts, "evil");
    remove(kube::kConfigMaps, "evil-v1");
    advance(minutes{1});
    EXPECT_TRUE(get(kAppRollouts, "evil").is_null()) << "a rollout that has done nothing can be deleted";
  }
}

TEST_F(RolloutAuthor, applies_nothing_cluster_scoped_for_an_administrator_that_an_editor_has_written) {
  create(kAlice, kube::kConfigMaps, kForgedResources);
  create(kAdmin, kAppRollouts, kForgedRollout);
  advance(minutes{2});
  EXPECT_TRUE(get_in("", kBindings, "pwn").is_null());
  const std::string text = get(kAppRollouts, "evil")["status"]["waits"].item(0)["text"].str();
  EXPECT_TRUE(text.contains("ClusterRoleBinding pwn")) << text;
}

TEST_F(RolloutAuthor, applies_what_an_editor_has_written_with_the_rights_of_both) {
  // Whatever the ConfigMap is called, and also what an Application of alice has rendered.
  const std::pair<const char*, const char*> kinds[] = {
      {"\"kind\": \"RoleBinding\", \"metadata\": {\"name\": \"pwn\"}", "evil-v1"},
      {"\"kind\": \"RoleBinding\", \"metadata\": {\"name\": \"pwn\"}", "plain"},
      {"\"kind\": \"RoleBinding\", \"metadata\": {\"name\": \"pwn\"}", "rendered-v1"}};
  for (const auto& [binding, name] : kinds) {
    std::string forged(kForgedResources);
    const std::string was = "\"kind\": \"ClusterRoleBinding\", \"metadata\": {\"name\": \"pwn\"}";
    forged.replace(forged.find(was), was.size(), binding);
    forged.replace(forged.find("evil-v1"), 7, name);
    if (std::string_view(name) == "rendered-v1") {
      auto map = *json::parse_yaml(forged);
      map = map.with_path({"metadata", "annotations"},
                          json::object({{"slipway.dev/rendered", "true"},
                                        {"slipway.dev/content-authors", R"([{"user":"alice","groups":["dev"]}])"}}));
      apply(json::print(map));  // as the process
    } else {
      create(kAlice, kube::kConfigMaps, forged);
    }
    std::string rollout(kForgedRollout);
    rollout.replace(rollout.find("evil-v1"), 7, name);
    create(kAdmin, kAppRollouts, rollout);
    advance(minutes{2});
    EXPECT_TRUE(get(kRoleBindings, "pwn").is_null()) << name;
    EXPECT_TRUE(wait_of(kAppRollouts, "evil").starts_with("Author"))
        << name << json::print(get(kAppRollouts, "evil")["status"]);
    remove(kAppRollouts, "evil");
    remove(kube::kConfigMaps, name);
    for (const Value& made : list(kDeployments)) remove(kDeployments, std::string(kube::name(made)));
    advance(minutes{1});
  }
}

TEST_F(RolloutAuthor, reads_no_secret_for_an_author_who_may_not_read_it) {
  apply("{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {token: SUPERSECRET}}");
  deployment("web-v1", 2);
  deployment("web-v2", 0, {"web:2"});
  web_.replies = {{200, "{\"value\": 1}"}};
  // The Deployments' part is done by alice, who may read Secrets: the control of this test.
  create_rollout(kAlice,
                 "{rolloutBatches: [{replicas: 1}, {}], gates: [{name: m, at: before, metric: {provider: web, address: "
                 "'http://peer.example/', secretRef: {name: db}, settings: {jsonPath: '{$.value}'}, min: 1}}]}");
  ASSERT_TRUE(until([&] { return !web_.calls.empty(); }));
  const auto has_secret = [](const HttpCall& call) {
    return std::ranges::any_of(call.headers, [](const auto& one) { return one.second.contains("SUPERSECRET"); });
  };
  EXPECT_TRUE(has_secret(web_.calls.front()));
  remove(kTraits, "r");
  advance(minutes{1});
  web_.calls.clear();
  create_rollout(kDave,
                 "{rolloutBatches: [{replicas: 1}, {}], gates: [{name: m, at: initialize, metric: {provider: web, address: "
                 "'http://peer.example/', secretRef: {name: db}, settings: {jsonPath: '{$.value}'}, min: 1}}]}");
  advance(minutes{2});
  EXPECT_TRUE(std::ranges::none_of(web_.calls, has_secret));
}

TEST_F(RolloutAuthor, holds_while_its_author_lacks_a_right_and_goes_on_when_it_returns) {
  deployment("web-v1", 4);
  deployment("web-v2", 0, {"web:2"});
  create_rollout(kAlice, "{rolloutBatches: [{replicas: 1}, {replicas: 1}, {}]}");
  ASSERT_TRUE(until([&] { return peek_size("web-v2") == 1; }));
  remove(kRoleBindings, "alice");
  int turns = 0;
  std::string last;
  always_ = [&]() -> std::string {
    const auto& holding = kube::condition(peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r"), "Holding");
    const std::string now = holding["status"].str() + holding["reason"].str();
    if (now != std::exchange(last, now)) ++turns;
    return "";
  };
  EXPECT_FALSE(until([] { return false; }, minutes{20}));
  always_ = {};
  EXPECT_LE(turns, 3) << "it does not say every half minute that it goes on";
  EXPECT_EQ(wait_of(kTraits, "r"), "AuthorLacksRight") << json::print_pretty(status());
  EXPECT_EQ(condition("Holding"), "True AuthorLacksRight");
  apply(kRights[0]);
  const Time returned = env_->now();
  ASSERT_TRUE(until([&] { return peek_size("web-v2") > 1; }, seconds{60}));
  EXPECT_LE(env_->now() - returned, seconds{60});
  EXPECT_TRUE(until_state("rolloutSucceed"));
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
}

TEST_F(RolloutAuthor, keeps_a_gate_closed_when_an_editor_writes_into_the_status_that_it_passed) {
  deployment("web-v1", 2);
  deployment("web-v2", 0, {"web:2"});
  create_rollout(kAdmin, "{rolloutBatches: [{replicas: 1}, {}], gates: [{name: leads, at: before, approval: {}}]}");
  ASSERT_TRUE(until([&] { return peek_status()["pause"].as_bool(); }));
  for (const char* forged :
       {"{status: {gates: [{key: 0/before/leads, state: Passed}]}}", "{status: {gates: []}}",
        "{status: {gates: [], batchRollingState: batchInRolling}}", "{status: {rollingState: finalising}}"}) {
    send(kAlice, client::Verb::Patch, kTraits, "r", forged, "status");
    advance(minutes{1});
    EXPECT_EQ(size("web-v2"), 0) << forged;
  }
  EXPECT_EQ(state(), "rollingInBatches");
  const auto resumed = send(kAlice, client::Verb::Patch, kTraits, "r", "{status: {pause: false}}", "status");
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().reason, Reason::Forbidden);
}

TEST_F(RolloutAuthor, an_editor_begins_no_attempt_with_fewer_gates_and_deletes_none_in_mid_flight) {
  deployment("web-v1", 2);
  deployment("web-v2", 0, {"web:2"});
  deployment("web-v3", 0, {"web:3"});
  create_rollout(kAdmin, "{rolloutBatches: [{replicas: 1}, {}], gates: [{name: leads, at: before, approval: {}}]}");
  ASSERT_TRUE(until([&] { return peek_status()["pause"].as_bool(); }));
  for (const char* weaker :
       {"{spec: {targetRef: {name: web-v3}, rolloutPlan: {gates: []}}}",
        "{spec: {targetRef: {name: web-v3}, rolloutPlan: {gates: [{name: leads, at: before, approval: {users: "
        "['hook:x']}}]}}}"}) {
    const auto patched = send(kAlice, client::Verb::Patch, kTraits, "r", weaker);
    ASSERT_FALSE(patched) << weaker;
    EXPECT_TRUE(patched.error().message.contains("it protects what is delivered")) << patched.error().message;
  }
  const auto deleted = send(kAlice, client::Verb::Delete, kTraits, "r", "{}");
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().reason, Reason::Forbidden);
  EXPECT_TRUE(deleted.error().message.contains("the right to approve rollouttraits.standard.oam.dev"))
      << deleted.error().message;
  // Nor is it given to an owner whose deletion would take it along.
  const auto owned = send(kAlice, client::Verb::Patch, kTraits, "r",
                          "{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: bait, uid: u}]}}");
  ASSERT_FALSE(owned);
  EXPECT_TRUE(owned.error().message.contains("deleted together with its owners")) << owned.error().message;
  // Another target with the same gates takes no right, nor does another gate.
  EXPECT_TRUE(
      send(kAlice, client::Verb::Patch, kTraits, "r",
           "{spec: {targetRef: {name: web-v3}, rolloutPlan: {gates: [{name: leads, at: before, approval: {count: 2}}, {name: "
           "w, at: before, window: {rrule: 'FREQ=DAILY'}}]}}}"));
  apply(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: approver}, rules: [{apiGroups: "
      "[standard.oam.dev], "
      "resources: [rollouttraits], verbs: [approve]}]}");
  apply(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: approver}, roleRef: {apiGroup: "
      "rbac.authorization.k8s.io, kind: Role, name: approver}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, "
      "name: "
      "alice}]}");
  EXPECT_TRUE(send(kAlice, client::Verb::Delete, kTraits, "r", "{}"));
}

TEST_F(RolloutAuthor, takes_no_workload_row_from_the_namespace_of_a_tenant_and_none_over_a_built_in_one) {
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: vela-system}}");
  for (const char* ns : {"default", "vela-system"}) {
    apply(fmt::format(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: row, namespace: {}, labels: "
        "{{rollout.slipway.dev/workload-row: 'true'}}}}, data: {{row: \"{{apiVersion: apps/v1, kind: Deployment, ready: "
        "spec.replicas, present: spec.replicas}}\"}}}}",
        ns));
  }
  deployment("web-v1", 2);
  deployment("web-v2", 0, kBad);
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 1}, {}], batchDeadlineSeconds: 3000}");
  advance(minutes{5});
  EXPECT_EQ(status()["currentBatch"].as_int(), 0);
  EXPECT_EQ(size("web-v1"), 2) << "no old pod goes for a new one that is not ready";
}

}  // namespace
}  // namespace slipway::rollout_test
