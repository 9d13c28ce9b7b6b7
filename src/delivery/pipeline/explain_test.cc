#include "delivery/pipeline/explain.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

std::string why(const Scene& scene, const std::string& part = "") {
  return control::print(control::explain(explain_rows(), scene.object, part, scene), kNoon);
}

/// "on|reason|message|kind name", a line for each; what lies below is indented.
std::string chain(const std::vector<control::Explanation>& told, std::size_t depth = 0) {
  std::string out;
  for (const control::Explanation& one : told) {
    const json::Value& next = one.wait.next;
    out += std::string(depth * 2, ' ') + fmt::format("{} | {} | {}\n", one.wait.on, one.wait.reason, one.wait.message);
    EXPECT_TRUE(next.is_null() || !next["name"].as_string().empty());
    out += chain(one.because, depth + 1);
  }
  return out;
}

std::string chain_of(const Scene& scene, const std::string& part = "") {
  return chain(control::explain(explain_rows(), scene.object, part, scene));
}

TEST(Explain, a_pipeline_leads_to_the_gate_that_has_not_passed) {
  const Scene scene = web_scene({promotion_object("to-prod", "prod", "web-2",
                                                  "{phase: Waiting, reason: ApprovalMissing, gates: [{name: leads, at: before, "
                                                  "verdict: Wait, message: 1 of 2 (ann)}, {name: "
                                                  "hours, at: before, verdict: Pass}]}")});
  EXPECT_EQ(chain_of(scene),
            "environment prod | ApprovalMissing | 1.0.0 runs there\n"
            "  promotion of 1.1.0 into prod | ApprovalMissing | 0 of 2 people have approved\n"
            "    gate leads (before) | GateWait | 1 of 2 (ann)\n");
  EXPECT_EQ(chain_of(scene, "dev"), "the pipeline | ApprovalMissing | prod waits for 2 people\n");
  EXPECT_TRUE(why(scene).contains("root cause")) << why(scene);
}

TEST(Explain, a_hold_or_freeze_leads_to_who_made_it) {
  const kube::Object waits = promotion_object(
      "to-prod", "prod", "web-2",
      "{phase: Waiting, reason: Held, message: prod is held, waitsFor: [{kind: Hold, name: h}, {kind: Freeze, name: xmas}]}");
  const Scene scene = web_scene({waits, own_object("Hold", "h", "{pipeline: web, comment: not today, by: {user: ann}}"),
                                 own_object("Freeze", "xmas", "{until: '2026-03-02T00:00:00Z'}")});
  EXPECT_EQ(chain_of(scene, "prod"),
            "promotion of 1.1.0 into prod | ApprovalMissing | 0 of 2 people have approved\n"
            "  hold h | Held | prod is held\n"
            "    user ann | Held | not today; slipway pipeline resume web ends it\n"
            "  freeze xmas | Held | prod is held\n"
            "    whoever made it | Frozen | until 2026-03-02T00:00:00Z; slipway pipeline unfreeze xmas ends it\n");
}

TEST(Explain, what_settles_leads_to_the_targets_that_are_not_there) {
  kube::Object pipeline = web_pipeline();
  pipeline =
      pipeline
          .with_path({"status", "environments", "staging", "targets"},
                     yaml_object("[{clusterAppRef: {kind: HelmRelease, name: web, clusterRef: {kind: GitopsCluster, name: "
                                 "eu}}, namespace: web, "
                                 "state: unreachable, error: no answer for 5m}, {clusterAppRef: {kind: HelmRelease, name: "
                                 "web}, namespace: web, state: rolled back, "
                                 "message: tests failed}]"))
          .with_path(
              {"status", "environments", "staging", "promotion"},
              yaml_object("{name: to-staging, release: web-2, version: 1.1.0, phase: Settling, reason: TargetNotReady}"));
  const Scene scene =
      web_scene({promotion_object("to-staging", "staging", "web-2", "{phase: Settling, reason: TargetNotReady}")}, pipeline);
  EXPECT_EQ(chain_of(scene, "staging"),
            "promotion of 1.1.0 into staging | TargetNotReady | \n"
            "  target web of cluster eu | Unreachable | no answer for 5m\n"
            "  target web | RolledBack | tests failed\n");
}

/// staging: eu runs 1.0.0, us 1.1.0, both settled.
kube::Object torn_staging() {
  return web_pipeline()
      .without_path({"status", "environments", "staging", "version"})
      .with_path({"status", "environments", "staging", "versions"}, yaml_object("{1.0.0: 1, 1.1.0: 1}"))
      .with_path(
          {"status", "environments", "staging", "targets"},
          yaml_object("[{clusterAppRef: {kind: HelmRelease, name: web, clusterRef: {kind: GitopsCluster, name: eu}}, "
                      "namespace: web, ready: true, state: settled, running: {version: 1.0.0}}, {clusterAppRef: {kind: "
                      "HelmRelease, name: web, clusterRef: {kind: GitopsCluster, name: us}}, namespace: web, ready: true, "
                      "state: settled, running: {version: 1.1.0}}]"));
}

TEST(Explain, targets_at_different_versions_lead_to_the_one_that_is_behind) {
  EXPECT_EQ(chain_of(web_scene({}, torn_staging()), "staging"),
            "target web of cluster eu | OtherVersion | runs 1.0.0, not 1.1.0\n");
  const kube::Object back = torn_staging().with_path(
      {"status", "environments", "staging", "promotion"},
      yaml_object("{name: to-staging, release: web-1, version: 1.0.0, phase: Settling, reason: TargetNotReady}"));
  EXPECT_EQ(
      chain_of(
          web_scene({promotion_object("to-staging", "staging", "web-1", "{phase: Settling, reason: TargetNotReady}")}, back),
          "staging"),
      "promotion of 1.0.0 into staging | TargetNotReady | \n"
      "  target web of cluster us | OtherVersion | runs 1.1.0, not 1.0.0\n")
      << "a rollback settles at its own version";
}

TEST(Explain, a_rejected_promotion_is_told_as_long_as_its_version_is_the_candidate) {
  const auto rejected = [](const std::string& version) {
    return web_pipeline().with_path(
        {"status", "environments", "prod", "promotion"},
        yaml_object(fmt::format("{{name: old, release: web-x, version: {}, phase: Rejected, reason: "
                                "GateFailed, message: slo failed}}",
                                version)));
  };
  EXPECT_EQ(chain_of(web_scene({}, rejected("1.1.0")), "prod"), "promotion of 1.1.0 into prod | GateFailed | slo failed\n");
  EXPECT_EQ(chain_of(web_scene({}, rejected("1.0.5")), "prod"), "the pipeline | ApprovalMissing | prod waits for 2 people\n");
}

TEST(Explain, a_cluster_is_explained_by_its_conditions) {
  const kube::Object cluster = yaml_object(
      "{apiVersion: gitops.weave.works/v1alpha1, kind: GitopsCluster, metadata: {name: eu, namespace: shop}, status: "
      "{conditions: "
      "[{type: Ready, status: 'True'}, {type: ClusterConnectivity, status: 'False', reason: Timeout, message: no answer}]}}");
  EXPECT_EQ(chain(control::explain(explain_rows(), cluster, "", web_scene())), "cluster eu | Timeout | no answer\n");
}

struct PromotionCase {
  std::string status;
  std::string told;
};

TEST(Explain, a_promotion_tells_its_cause) {
  const PromotionCase cases[] = {
      {"null",
       "the pipeline controller | Pending | it has not taken the promotion up yet: see that slipway up or slipway controller "
       "runs\n"},
      {"{phase: Succeeded}", ""},
      {"{phase: Running, reason: PushFailed, message: no route to host}", "it | PushFailed | no route to host\n"},
      {"{phase: Running, pullRequest: 'https://git.example/1', pullRequestState: open}",
       "pull request https://git.example/1 | PullRequestOpen | somebody has to merge it\n"},
      {"{phase: Rejected, reason: GateFailed, message: slo failed, gates: [{name: slo, at: after, verdict: Fail, message: "
       "at 93}]}",
       "somebody who lifts the rejection | GateFailed | slo failed\ngate slo (after) | GateFail | at 93\n"},
      {"{phase: Superseded, reason: NewerRelease, message: 1.2.0 came}", "it | NewerRelease | 1.2.0 came\n"}};
  for (const PromotionCase& one : cases) {
    const kube::Object promotion = promotion_object("p", "prod", "web-2", one.status);
    EXPECT_EQ(chain(control::explain(explain_rows(), promotion, "", web_scene())), one.told) << one.status;
  }
}

TEST(Explain, a_pipeline_without_a_status_waits_for_the_controller) {
  const Scene fresh = Scene::of(web_pipeline(kWebSpec, ""), {}, kNoon);
  EXPECT_EQ(chain_of(fresh),
            "the pipeline controller | Pending | it has not looked at the pipeline yet: see that slipway up or slipway "
            "controller runs\n");
  EXPECT_EQ(chain_of(web_scene(), "qa"), "environment qa | NoSuchEnvironment | web has dev, staging, prod\n");
  const Scene suspended = web_scene({}, web_pipeline().with_path({"spec", "suspend"}, true));
  EXPECT_TRUE(chain_of(suspended).starts_with("whoever suspended it | Suspended | spec.suspend is true"))
      << chain_of(suspended);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
