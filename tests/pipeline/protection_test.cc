// What protects a pipeline is protected (A18): who weakens it needs the right to create Approvals, hooks are people only where
// a gate names them, and a Freeze binds by what is delivered.
#include <fmt/format.h>

#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "promotion_fixture.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;

class PipelineProtection : public PromotionTest {
 public:
  void SetUp() override {
    PromotionTest::SetUp();
    apply(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: alice}, roleRef: {apiGroup: "
        "rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: User, apiGroup: "
        "rbac.authorization.k8s.io, name: alice}]}");
  }
  /// As alice, who may edit pipelines, and not approve. "" or the fault.
  std::string patch(std::string_view yaml, client::Verb verb = client::Verb::Patch) {
    client::Request request;
    request.verb = verb;
    request.resource = kPipelines;
    request.ns = "default";
    request.name = "web";
    if (verb == client::Verb::Patch) request.body = *json::parse_yaml(yaml);
    request.patch_type = client::PatchType::Merge;
    request.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = "alice", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
    const auto reply = env_->run(api_->server().call(std::move(request)));
    return reply ? "" : reply.error().message;
  }
  /// alice writes the spec.
  void become_author() {
    EXPECT_EQ(patch("{spec: {suspend: true}}"), "");
    EXPECT_EQ(patch("{spec: {suspend: false}}"), "");
  }
  static std::string environments(std::string_view prod, std::string_view more = "") {
    return fmt::format(
        "{{spec: {{environments: [{{name: dev, targets: [{{namespace: dev-eu}}, {{namespace: dev-us}}]}}, {{name: "
        "staging, targets: [{{namespace: staging-eu}}, {{namespace: staging-us}}]}}, {{name: prod, targets: "
        "[{{namespace: prod-eu}}, {{namespace: prod-us}}]{}}}{}]}}}}",
        prod.empty() ? "" : fmt::format(", {}", prod), more);
  }
};

constexpr const char* kLeads = "gates: [{name: leads, at: before, approval: {count: 2}}]";
constexpr std::string_view kRefused =
    "it protects what is delivered: to weaken it user \"alice\" needs the right to create "
    "approvals.pipelines.slipway.dev in namespace default";

TEST_F(PipelineProtection, an_editor_weakens_no_gate_and_goes_round_none) {
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/config.git', baseBranch: main}, secretRef: {name: hk}}}",
           kLeads);
  const std::pair<const char*, std::string> attacks[] = {
      {"the gates go", environments("")},
      {"fewer people", environments("gates: [{name: leads, at: before, approval: {count: 1}}]")},
      {"a hook counts",
       environments("gates: [{name: leads, at: before, approval: {count: 2, users: ['hook:hk1', 'hook:hk2']}}]")},
      {"another key", "{spec: {promotion: {strategy: {secretRef: {name: hk1}}}}}"},
      {"a target goes to an environment without gates",
       "{spec: {environments: [{name: dev, targets: [{namespace: dev-eu}]}, {name: prod, targets: [{namespace: prod-us}], "
       "gates: "
       "[{name: leads, at: before, approval: {count: 2}}]}, {name: prod2, targets: [{namespace: prod-eu}]}]}}"},
      {"a target leaves, to come back elsewhere",
       "{spec: {environments: [{name: dev, targets: [{namespace: dev-eu}]}, {name: prod, targets: [{namespace: prod-eu}], "
       "gates: "
       "[{name: leads, at: before, approval: {count: 2}}]}]}}"},
      {"the environment goes", "{spec: {environments: [{name: dev, targets: [{namespace: dev-eu}]}]}}"},
  };
  for (const auto& [what, attack] : attacks) {
    const std::string said = patch(attack);
    EXPECT_TRUE(said.contains(kRefused)) << what << ": " << said;
  }
  EXPECT_EQ(patch(environments("gates: [{name: leads, at: before, approval: {count: 3}}, {name: t, at: before, window: {rrule: "
                               "'FREQ=DAILY'}}]")),
            "")
      << "to ask for more takes no right";
}

TEST_F(PipelineProtection, manual_is_protected_and_a_pipeline_without_people_is_its_authors) {
  pipeline("", "promotion: {manual: true, strategy: {notification: {}}}");
  EXPECT_TRUE(patch(environments("promotion: {manual: false, strategy: {notification: {}}}")).contains("promotion.manual"));
  EXPECT_TRUE(patch(environments("promotion: {manual: true, strategy: {notification: {}, secretRef: {name: mine}}}"))
                  .contains("secretRef"));
}

TEST_F(PipelineProtection, gates_that_ask_no_person_are_the_authors) {
  pipeline("", "gates: [{name: tests, at: before, webhook: {url: 'http://tests.test/run'}}]");
  EXPECT_EQ(patch(environments("")), "");
}

TEST_F(PipelineProtection, a_pipeline_is_not_deleted_while_an_approval_is_waited_for) {
  pipeline("", kLeads);
  auto now = env_->run(client::get(api_->server(), kPipelines, {"default", "web"}));
  ASSERT_TRUE(now);
  const Value waiting = now->with_path({"status", "environments", "prod", "waitingApproval", "revision"}, "1.1.0");
  ASSERT_TRUE(env_->run(client::update_status(api_->server(), kPipelines, waiting, "tester")));
  const std::string said = patch("", client::Verb::Delete);
  EXPECT_TRUE(said.starts_with("pipelines.pipelines.weave.works \"web\" is forbidden")) << said;
  ASSERT_TRUE(env_->run(client::update_status(api_->server(), kPipelines,
                                              env_->run(client::get(api_->server(), kPipelines, {"default", "web"}))
                                                  ->without_path({"status", "environments", "prod", "waitingApproval"}),
                                              "tester")));
  EXPECT_EQ(patch("", client::Verb::Delete), "");
}

TEST_F(PipelineProtection, an_editor_writes_no_status_that_promotions_believe) {
  pipeline();
  client::Request request;
  request.verb = client::Verb::Patch;
  request.resource = kPipelines;
  request.ns = "default";
  request.name = "web";
  request.subresource = "status";
  request.patch_type = client::PatchType::Merge;
  request.body = *json::parse_yaml(
      "{status: {environments: {dev: {version: {version: 9.9.9}, versions: {9.9.9: 2}, targetCount: 2, readyCount: 2}}}}");
  request.user = std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = "alice", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
  const Value before = env_->run(client::get(api_->server(), kPipelines, {"default", "web"})).value();
  const auto reply = env_->run(api_->server().call(std::move(request)));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->object["status"], before["status"]);
  run();
  EXPECT_EQ(release("9.9.9"), "") << "it runs nowhere";
}

TEST_F(PipelineProtection, a_signature_is_a_person_only_where_the_gate_names_its_hook) {
  const auto say = [&](const std::string& name, const std::string& gate) {
    apply(fmt::format(
        "{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Approval, metadata: {{name: {}}}, spec: {{pipeline: web, "
        "environment: prod, release: {}, gate: {}, by: {{user: 'hook:{}', time: '{}'}}}}}}",
        name, release("1.1.0"), gate, name, to_rfc3339(env_->now())));
  };
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/config.git', baseBranch: main}}}",
           "gates: [{name: leads, at: before, approval: {}}, {name: ci, at: before, approval: {users: ['hook:ci']}}]");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting ApprovalMissing");
  say("ci", "ci");
  say("mine", "leads");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting ApprovalMissing") << "nothing names hook:mine";
  const Value waiting = promotion("prod", "1.1.0");
  for (const Value& gate : waiting["status"]["gates"].items()) {
    EXPECT_EQ(gate["verdict"].as_string(), gate["name"].as_string() == "ci" ? "Pass" : "Wait") << gate["name"].as_string();
  }
}

TEST_F(PipelineProtection, a_second_pipeline_into_the_same_target_goes_round_no_gate) {
  pipeline();
  apply(
      fmt::format("{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: guarded}}, spec: {{appRef: "
                  "{{kind: HelmRelease, name: web}}, environments: [{{name: prod, targets: [{{namespace: prod-us}}], {}}}]}}}}",
                  kLeads));
  become_author();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting ProtectedElsewhere") << "alice may not approve";
  const std::string text = promotion("prod", "1.1.0")["status"]["message"].str();
  EXPECT_TRUE(text.contains("pipeline default/guarded protects the target in namespace prod-us by leads")) << text;
  remove(kPipelines, "guarded");
  env_->advance(minutes{2});
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded") << "once the other pipeline is gone";
}

TEST_F(PipelineProtection, pipelines_of_other_applications_and_those_with_the_same_gates_are_free) {
  for (const auto& [app, gates] : std::map<std::string, std::string>{{"api", kLeads}, {"web", "gates: []"}}) {
    apply(
        fmt::format("{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: guarded-{0}}}, spec: "
                    "{{appRef: {{kind: HelmRelease, name: {0}}}, environments: [{{name: prod, targets: [{{namespace: "
                    "prod-us}}], {1}}}]}}}}",
                    app, gates));
  }
  pipeline();
  become_author();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  // The same gates as the other pipeline has: its own people are asked.
  EXPECT_EQ(patch(environments(kLeads)), "");
  apply(
      fmt::format("{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: guarded-web}}, spec: "
                  "{{appRef: {{kind: HelmRelease, name: web}}, environments: [{{name: prod, targets: [{{namespace: "
                  "prod-us}}], {}}}]}}}}",
                  kLeads));
  settle("dev", "1.2.0");
  run();
  EXPECT_EQ(state("prod", "1.2.0"), "Waiting ApprovalMissing");
}

TEST_F(PipelineProtection, a_freeze_binds_the_targets_whatever_the_pipeline_is_called) {
  apply(
      "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: shop2}, spec: {appRef: {kind: "
      "HelmRelease, "
      "name: web}, environments: [{name: dev, targets: [{namespace: dev-eu}]}, {name: prod, targets: [{namespace: "
      "prod-eu}]}]}}");
  apply_as("olga",
           "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: quiet}, spec: {pipelines: [shop2], "
           "environments: [prod]}}");
  EXPECT_EQ(json::print(list(kFreezes).at(0)["spec"]["targets"]), R"([{"namespace":"prod-eu"}])");
  remove(kPipelines, "shop2");
  pipeline();  // the same delivery under the name web
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Succeeded Succeeded") << "it is not bound";
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting Frozen");
  remove(kFreezes, "quiet");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(PipelineProtection, a_freeze_of_vela_system_binds_everybody) {
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: vela-system}}");
  apply(
      "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: all, namespace: vela-system}, spec: "
      "{environments: [prod]}}");
  pipeline();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting Frozen");
  EXPECT_TRUE(promotion("prod", "1.1.0")["status"]["message"].as_string().contains("vela-system/all"));
  remove_in("vela-system", kFreezes, "all");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

/// Environment prod of the pipeline "web" is called live from now on, and delivers into the same.
class RenamedEnvironment : public PipelineProtection {
 public:
  void rename_prod() {
    EXPECT_EQ(
        patch("{spec: {environments: [{name: dev, targets: [{namespace: dev-eu}, {namespace: dev-us}]}, {name: staging, "
              "targets: [{namespace: staging-eu}, {namespace: staging-us}]}, {name: live, targets: [{namespace: prod-eu}, "
              "{namespace: prod-us}]}]}}"),
        "");
    settle("live", "1.0.0");
  }
  std::string recorded() { return json::print(list(kFreezes).at(0)["spec"]["recordedTargets"]); }
};

constexpr const char* kProdTargets = R"([{"namespace":"prod-eu"},{"namespace":"prod-us"}])";

TEST_F(RenamedEnvironment, a_freeze_of_environments_goes_on_binding_their_targets) {
  pipeline();
  apply_as("olga",
           "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: quiet}, spec: {environments: [prod], "
           "recordedTargets: [{namespace: mine}]}}");
  run();
  EXPECT_EQ(recorded(), kProdTargets) << "users write none of it";
  EXPECT_EQ(list(kFreezes).at(0)["spec"]["by"]["user"].as_string(), "olga");
  rename_prod();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Succeeded Succeeded") << "it is not bound";
  EXPECT_EQ(state("live", "1.1.0"), "Waiting Frozen");
  remove(kFreezes, "quiet");
  run();
  EXPECT_EQ(state("live", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(RenamedEnvironment, a_freeze_of_vela_system_goes_on_binding_what_it_named) {
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: vela-system}}");
  pipeline();
  apply(
      "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: all, namespace: vela-system}, spec: "
      "{pipelines: [web], environments: [prod]}}");
  run();
  rename_prod();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("live", "1.1.0"), "Waiting Frozen");
}

TEST_F(RenamedEnvironment, a_freeze_keeps_what_it_recorded_until_it_names_something_else) {
  pipeline();
  const auto write = [&](const std::string& spec) {
    client::Request request;
    request.verb = client::Verb::Update;
    request.resource = kFreezes;
    request.ns = "default";
    request.name = "quiet";
    const Value now = list(kFreezes).at(0);
    request.body = now.with("spec", *json::parse_yaml(spec));
    request.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = "olga", .uid = "", .groups = {"system:masters"}, .extra = {}});
    const auto reply = env_->run(api_->server().call(std::move(request)));
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? json::print(reply->object["spec"]["recordedTargets"]) : "";
  };
  apply("{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: quiet}, spec: {environments: [prod]}}");
  run();
  EXPECT_EQ(write("{environments: [prod], comment: audit}"), kProdTargets);
  EXPECT_EQ(write("{environments: [dev]}"), "null");
  run();
  EXPECT_EQ(recorded(), R"([{"namespace":"dev-eu"},{"namespace":"dev-us"}])");
}

TEST_F(RenamedEnvironment, a_hold_goes_on_holding_the_targets) {
  pipeline();
  apply_as("olga",
           "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Hold, metadata: {name: pause}, spec: {pipeline: web, "
           "environments: [prod], app: none, targets: [{namespace: mine}]}}");
  EXPECT_EQ(json::print(list(kHolds).at(0)["spec"]["targets"]), kProdTargets) << "users write none of it";
  EXPECT_EQ(list(kHolds).at(0)["spec"]["app"].as_string(), "HelmRelease/web");
  rename_prod();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Succeeded Succeeded") << "it is not held";
  EXPECT_EQ(state("live", "1.1.0"), "Waiting Held");
  remove(kHolds, "pause");
  run();
  EXPECT_EQ(state("live", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(PipelineProtection, a_hold_holds_other_pipelines_of_the_application_into_the_same_target) {
  for (const char* app : {"web", "api"}) {
    apply(
        fmt::format("{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: {0}2}}, spec: {{appRef: "
                    "{{kind: HelmRelease, name: {0}}}, environments: [{{name: dev, targets: [{{namespace: dev-eu}}]}}, {{name: "
                    "last, targets: [{{namespace: prod-eu}}]}}]}}}}",
                    app));
    apply(fmt::format(
        "{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Hold, metadata: {{name: {0}-pause}}, spec: {{pipeline: "
        "{0}2, environments: [last]}}}}",
        app));
  }
  pipeline();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting Held");
  EXPECT_EQ(promotion("prod", "1.1.0")["status"]["message"].as_string(), "Hold web-pause");
  remove(kHolds, "web-pause");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded") << "the Hold of another application";
}

}  // namespace
}  // namespace slipway::pipeline_test
