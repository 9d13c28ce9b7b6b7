#include "delivery/pipeline/show.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

TEST(Show, a_list_has_the_version_of_each_environment) {
  const std::vector<kube::Object> all = {web_pipeline(), web_pipeline(kWebSpec, "")};
  EXPECT_EQ(
      list_table(all, Namespaces::several, kNoon),
      "NAMESPACE  NAME  APPLICATION      VERSIONS                                READY    PENDING                  AGE\n"
      "shop       web   HelmRelease web  dev 1.1.0 → staging 1.1.0 → prod 1.0.0  True     prod waits for 2 people  28d\n"
      "shop       web   HelmRelease web  dev - → staging - → prod -              Unknown  -                        28d\n");
}

TEST(Show, an_overview_tells_what_is_further_and_what_keeps_the_rest_back) {
  const Scene scene =
      web_scene({own_object("Hold", "h", "{pipeline: web, environments: [prod], comment: not today, by: {user: ann}}"),
                 own_object("Freeze", "xmas", "{until: '2026-03-02T00:00:00Z', by: {user: bob}}")});
  EXPECT_EQ(overview(scene),
            "pipeline/web  HelmRelease web  dev 1.1.0 → staging 1.1.0 → prod 1.0.0\n"
            "Pending: ApprovalMissing: prod waits for 2 people\n"
            "Frozen: all environments (freeze xmas by bob, until 2026-03-02T00:00:00Z)\n"
            "Held: prod (hold h by ann): not today\n"
            "\n"
            "ENVIRONMENT  VERSION  READY  TARGETS    PROMOTION\n"
            "dev          1.1.0    1/1    1 settled  -\n"
            "staging      1.1.0    2/2    2 settled  -\n"
            "prod         1.0.0    1/1    1 settled  1.1.0 Waiting ApprovalMissing 30m\n"
            "\n"
            "RELEASE  VERSION  SEEN IN  AGE\n"
            "web-2    1.1.0    dev      120m\n"
            "web-1    1.0.0    dev      19d\n");
}

TEST(Show, targets_are_a_row_each_as_the_script_of_the_rfc_prints_them) {
  EXPECT_EQ(target_table(web_scene(), Width::narrow),
            "ENVIRONMENT  CLUSTER  NAMESPACE  NAME  READY  VERSION  STATE    AGE   STATUS\n"
            "dev          -        web-dev    web   True   1.1.0    settled  120m  -\n"
            "staging      eu       web        web   True   1.1.0    settled  -     -\n"
            "staging      us       web        web   True   1.1.0    settled  -     -\n"
            "prod         -        web-prod   web   True   1.0.0    settled  -     -\n");
  const std::string wide = target_table(web_scene(), Width::wide);
  EXPECT_TRUE(wide.contains("SPECIFIED  ATTEMPTED  IMAGES                       RELATED                        STATUS\n"))
      << wide;
  EXPECT_TRUE(wide.contains("1.1.0      1.1.0      web:1.1.0@sha256:b1,proxy:2  HelmChart web-dev/web-dev-web  -\n")) << wide;
}

TEST(Show, targets_that_nobody_has_looked_at_are_not_called_absent) {
  const Scene scene = Scene::of(web_pipeline(kWebSpec, ""), {}, kNoon);
  EXPECT_EQ(target_table(scene, Width::narrow),
            "ENVIRONMENT  CLUSTER  NAMESPACE  NAME  READY    VERSION  STATE  AGE  STATUS\n"
            "dev          -        web-dev    web   Unknown  -        -      -    not looked at yet\n"
            "staging      eu       web        web   Unknown  -        -      -    not looked at yet\n"
            "staging      us       web        web   Unknown  -        -      -    not looked at yet\n"
            "prod         -        web-prod   web   Unknown  -        -      -    not looked at yet\n");
}

TEST(Show, what_is_not_listed_is_counted) {
  const kube::Object pipeline = web_pipeline().with_path({"status", "targetsLeftOut"}, 190);
  EXPECT_TRUE(target_table(web_scene({}, pipeline), Width::narrow).ends_with("and 190 settled targets that are not listed\n"));
}

TEST(Show, environments_whose_targets_differ_show_how_many_run_what) {
  EnvironmentStatus status;
  EXPECT_EQ(versions_text(status), "-");
  status.versions = {{"1.0.0", 1}, {"1.1.0", 2}, {"", 1}};
  EXPECT_EQ(versions_text(status), "unknown (1), 1.0.0 (1), 1.1.0 (2)");
}

TEST(Show, problems_are_listed_with_what_to_do) {
  PipelineStatus status;
  EXPECT_EQ(problem_table(status), "no problems\n");
  status.problems = {{.kind = "DanglingEnvironment", .object = "HelmRelease eu:web/web", .text = "names environment qa"}};
  EXPECT_EQ(problem_table(status),
            "PROBLEM              OBJECT                  MESSAGE\n"
            "DanglingEnvironment  HelmRelease eu:web/web  names environment qa\n");
}

TEST(Show, names_from_objects_cannot_steer_a_terminal) {
  kube::Object pipeline = web_pipeline().with_path({"status", "line"}, "dev \x1b[2J");
  EXPECT_FALSE(overview(web_scene({}, pipeline)).contains('\x1b'));
  EXPECT_FALSE(list_table({pipeline}, Namespaces::one, kNoon).contains('\x1b'));
}

TEST(Show, a_pipeline_is_described_with_all_that_its_status_has) {
  const kube::Object pipeline = web_pipeline().with_path(
      {"status", "triggers"}, yaml_object("[{kind: VersionRange, object: HelmRelease web-dev/web, message: '>=1.0.0', last: "
                                          "'2026-03-01T09:00:00Z'}]"));
  const std::string text = describe_pipeline(pipeline, web_scene(), {});
  for (const char* part : {"Application:  HelmRelease web", "VersionRange  HelmRelease web-dev/web  3h", "RELATED"}) {
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
  }
}

TEST(Show, a_promotion_ends_and_waits_for_people) {
  const auto with = [](const std::string& status) { return promotion_object("to-prod", "prod", "web-2", status); };
  EXPECT_FALSE(promotion_verdict(with("null")));
  EXPECT_FALSE(promotion_verdict(with("{phase: Settling}")));
  EXPECT_EQ(promotion_verdict(with("{phase: Succeeded}"))->text, "Succeeded");
  EXPECT_TRUE(promotion_verdict(with("{phase: Succeeded}"))->is_success);
  EXPECT_EQ(promotion_verdict(with("{phase: Rejected, reason: GateFailed, message: slo is 93}"))->text,
            "Rejected (GateFailed): slo is 93");
  EXPECT_FALSE(promotion_verdict(with("{phase: Superseded, reason: NewerRelease}"))->is_success);

  EXPECT_FALSE(promotion_hold(with("{phase: Waiting, reason: Held}")));
  EXPECT_EQ(promotion_hold(with("{phase: Waiting, reason: ApprovalMissing, message: 0 of 2}"))->action, "pipeline approve");

  EXPECT_EQ(promotion_news(with("null"), with("{phase: Waiting, reason: Held}")).front().text, "Waiting (Held)");
  EXPECT_TRUE(
      promotion_news(with("{phase: Waiting, reason: Held}"), with("{phase: Waiting, reason: Held, message: new}")).empty());
  EXPECT_TRUE(promotion_news(with("{phase: Settling}"), with("{phase: Succeeded}")).empty()) << "the verdict tells it";

  const Scene scene = web_scene();
  EXPECT_EQ(promotion_summary(with("{phase: Running, reason: PullRequestOpen}"), scene),
            "promotion/to-prod  1.1.0 into prod  Running (PullRequestOpen)\n");
}

TEST(Show, a_promotion_is_described_with_its_gates_and_its_change) {
  const kube::Object promotion = promotion_object(
      "to-prod", "prod", "web-2",
      "{phase: Running, reason: PullRequestOpen, strategy: pull-request, pullRequest: 'https://git.example/1', "
      "pullRequestState: "
      "open, gates: [{name: leads, at: before, verdict: Pass, tries: 1, since: '2026-03-01T11:00:00Z', message: ann and bob}], "
      "waitsFor: [{kind: Freeze, name: xmas}]}",
      ", action: rollback, comment: broken, by: {user: ann}");
  EXPECT_EQ(describe_promotion(promotion, web_scene(), {}),
            "Name:          to-prod\n"
            "Namespace:     shop\n"
            "Kind:          Promotion\n"
            "Pipeline:      web\n"
            "Promotes:      1.1.0 back into prod\n"
            "Release:       web-2\n"
            "Attempt:       1\n"
            "By:            ann\n"
            "Comment:       broken\n"
            "Phase:         Running (PullRequestOpen)\n"
            "Strategy:      pull-request\n"
            "Pull request:  https://git.example/1 (open)\n"
            "Waits for:     freeze/xmas\n"
            "\n"
            "GATE   AT      VERDICT  TRIES  SINCE  MESSAGE\n"
            "leads  before  Pass     1      60m    ann and bob\n");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
