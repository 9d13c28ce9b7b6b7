#include "delivery/pipeline/choose.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

std::string said(const Result<PromotionPlan>& plan) {
  if (!plan) return plan.error().message;
  std::string text = fmt::format("{} {} into {}, attempt {}", json::enum_name(plan->spec.action), plan->spec.release,
                                 plan->spec.environment, plan->spec.attempt);
  if (plan->spec.skips_gates) text += ", gates skipped";
  if (plan->is_there) text += fmt::format(" ({} is there)", plan->name);
  for (const std::string& note : plan->notes) text += "; " + note;
  return text;
}

std::string promoted(const std::vector<kube::Object>& around, const Wish& wish, Gates gates = Gates::asked) {
  return said(plan_promotion(web_scene(around), wish, gates));
}

TEST(Choose, what_comes_before_has_settled_at_is_promoted) {
  EXPECT_EQ(promoted({}, {.environment = "prod"}), "promote web-2 into prod, attempt 1");
  EXPECT_EQ(plan_promotion(web_scene(), {.environment = "prod"}, Gates::asked)->name,
            promotion_name("web", "u-1", "prod", "web-2", 1));
  EXPECT_EQ(promoted({}, {.environment = "prod", .version = "1.1.0"}), "promote web-2 into prod, attempt 1");
  EXPECT_EQ(promoted({}, {.environment = "prod", .release = "web-2"}, Gates::skipped),
            "promote web-2 into prod, attempt 1, gates skipped");
}

TEST(Choose, wrong_wishes_are_refused_with_what_there_is) {
  EXPECT_EQ(promoted({}, {}), "pipeline/web: say which environment with --to: it has dev, staging, prod");
  EXPECT_EQ(promoted({}, {.environment = "production"}),
            "pipeline/web: it has no environment production: it has dev, staging, prod");
  EXPECT_EQ(promoted({}, {.environment = "prod", .release = "web-3"}),
            "pipeline/web: it has no release web-3: its releases are web-2 (1.1.0), web-1 (1.0.0)");
  EXPECT_EQ(promoted({}, {.environment = "prod", .version = "2.0.0"}),
            "pipeline/web: it has no release of version 2.0.0: its releases are web-2 (1.1.0), web-1 (1.0.0)");
  EXPECT_EQ(promoted({}, {.environment = "prod", .release = "web-2", .version = "1.1.0"}),
            "give one of --release and --version");
  EXPECT_EQ(
      promoted({}, {.environment = "dev"}),
      "pipeline/web: nothing comes before dev: say what with --release or --version; its releases are web-2 (1.1.0), web-1 "
      "(1.0.0)");
  EXPECT_EQ(promoted({}, {.environment = "staging"}), "pipeline/web: staging runs 1.1.0 already");
  EXPECT_EQ(
      promoted({}, {.environment = "staging", .release = "web-1"}),
      "pipeline/web: staging runs 1.1.0, which is newer than 1.0.0: to go back, slipway pipeline rollback web --environment "
      "staging --release web-1");
}

TEST(Choose, an_environment_before_that_has_not_settled_gives_no_candidate) {
  kube::Object pipeline = web_pipeline();
  pipeline = pipeline.without_path({"status", "environments", "staging", "version"})
                 .with_path({"status", "environments", "staging", "versions"}, yaml_object("{1.0.0: 1, 1.1.0: 1}"));
  EXPECT_EQ(
      said(plan_promotion(web_scene({}, pipeline), {.environment = "prod"}, Gates::asked)),
      "pipeline/web: staging has not settled at one version (1.0.0 on 1, 1.1.0 on 1): wait, or say what with --release or "
      "--version");
  const kube::Object two = web_pipeline().with_path(
      {"spec", "environments"},
      yaml_object("[{name: dev, targets: [{namespace: a}]}, {name: prod, dependsOn: [], targets: [{namespace: "
                  "b}]}, {name: last, dependsOn: [dev, prod], targets: [{namespace: c}]}]"));
  EXPECT_EQ(said(plan_promotion(web_scene({}, two), {.environment = "last"}, Gates::asked)),
            "pipeline/web: the environments before last run different versions (1.1.0 and 1.0.0): say which with --release or "
            "--version");
  const kube::Object unknown =
      web_pipeline().with_path({"status", "environments", "staging", "version"}, yaml_object("{version: 3.0.0}"));
  EXPECT_EQ(said(plan_promotion(web_scene({}, unknown), {.environment = "prod"}, Gates::asked)),
            "pipeline/web: staging runs 3.0.0, of which there is no release yet: see that the controller runs");
}

TEST(Choose, promotions_that_are_there_decide_the_attempt) {
  const auto there = [](const std::string& status, const std::string& more = "") {
    return std::vector<kube::Object>{promotion_object("to-prod", "prod", "web-2", status, more)};
  };
  EXPECT_EQ(promoted(there("{phase: Waiting, reason: GatePending, message: slo has no data}"), {.environment = "prod"}),
            "pipeline/web: 1.1.0 is on its way into prod already (promotion/to-prod: Waiting, GatePending: slo has no data)");
  EXPECT_EQ(promoted(there("{phase: Waiting}"), {.environment = "prod"}, Gates::skipped),
            "promote web-2 into prod, attempt 1, gates skipped (to-prod is there)");
  EXPECT_EQ(
      promoted(there("{phase: Rejected, reason: GateFailed, message: slo is 93}"), {.environment = "prod"}),
      "pipeline/web: 1.1.0 was rejected in prod (Rejected, GateFailed: slo is 93): to try it again, slipway pipeline lift web "
      "--environment prod --release web-2");
  EXPECT_EQ(promoted(there("{phase: Rejected, lifted: true}"), {.environment = "prod"}), "promote web-2 into prod, attempt 2");
  EXPECT_EQ(promoted(there("{phase: Superseded}", ", attempt: 4"), {.environment = "prod"}),
            "promote web-2 into prod, attempt 5");
}

TEST(Choose, what_keeps_it_back_is_noted) {
  EXPECT_EQ(
      promoted({own_object("Hold", "h", "{pipeline: web, environments: [prod]}"),
                own_object("Hold", "past", "{pipeline: web, until: '2026-03-01T11:59:59Z'}"),
                own_object("Hold", "else", "{pipeline: web, environments: [dev]}"),
                own_object("Freeze", "f", "{until: '2026-03-02T00:00:00Z'}"),
                own_object("Freeze", "weekly", "{pipelines: [web], window: {rrule: FREQ=WEEKLY;BYDAY=FR}}"),
                own_object("Freeze", "api", "{pipelines: [api]}")},
               {.environment = "prod"}),
      "promote web-2 into prod, attempt 1; prod is held: it waits for the end of hold/h; prod is frozen at times: it waits for "
      "the end of freeze/weekly; prod is frozen: it waits for the end of freeze/f");
}

std::string rolled_back(const std::vector<kube::Object>& around, const Wish& wish) {
  return said(plan_rollback(web_scene(around), wish));
}

TEST(Choose, a_rollback_goes_to_what_ran_before) {
  const kube::Object first = promotion_object("one", "staging", "web-1", "{phase: Succeeded, ended: '2026-02-11T12:00:00Z'}",
                                              "", "2026-02-11T11:00:00Z");
  const kube::Object second = promotion_object("two", "staging", "web-2", "{phase: Succeeded, ended: '2026-03-01T10:30:00Z'}");
  EXPECT_EQ(rolled_back({first, second}, {.environment = "staging"}), "rollback web-1 into staging, attempt 2");
  EXPECT_EQ(
      rolled_back({second}, {.environment = "staging"}),
      "pipeline/web: no earlier release is known to have run in staging: say which with --release or --version; its releases "
      "are web-2 (1.1.0), web-1 (1.0.0)");
  EXPECT_EQ(rolled_back({}, {.environment = "staging", .version = "1.0.0"}), "rollback web-1 into staging, attempt 1");
  EXPECT_EQ(rolled_back({}, {.environment = "staging", .release = "web-2"}), "pipeline/web: staging runs 1.1.0 already");
  EXPECT_EQ(rolled_back({}, {}), "pipeline/web: say which environment with --environment: it has dev, staging, prod");
}

TEST(Choose, a_rollback_out_of_a_promotion_that_settles_goes_to_what_ran_until_then) {
  kube::Object pipeline = web_pipeline().without_path({"status", "environments", "prod", "version"});
  const kube::Object first =
      promotion_object("one", "prod", "web-1", "{phase: Succeeded, ended: '2026-02-11T12:00:00Z'}", "", "2026-02-11T11:00:00Z");
  const kube::Object second = promotion_object("two", "prod", "web-2", "{phase: Settling, started: '2026-03-01T11:10:00Z'}");
  EXPECT_EQ(said(plan_rollback(web_scene({first, second}, pipeline), {.environment = "prod"})),
            "rollback web-1 into prod, attempt 2");
}

std::string approved(const std::vector<kube::Object>& around, const Wish& wish, const std::string& gate = "") {
  const auto spec = plan_approval(web_scene(around), wish, gate);
  return spec ? fmt::format("{} into {}{}", spec->release, spec->environment, spec->gate.empty() ? "" : " at " + spec->gate)
              : spec.error().message;
}

TEST(Choose, an_approval_is_about_what_waits) {
  const kube::Object waits = promotion_object("to-prod", "prod", "web-2", "{phase: Waiting, reason: ApprovalMissing}");
  EXPECT_EQ(approved({waits}, {.environment = "prod"}), "web-2 into prod");
  EXPECT_EQ(approved({waits}, {.environment = "prod"}, "leads"), "web-2 into prod at leads");
  EXPECT_EQ(approved({waits}, {.environment = "prod"}, "slo"), "pipeline/web: prod has no approval gate slo: it has leads");
  EXPECT_EQ(approved({waits}, {.environment = "dev"}, "leads"),
            "pipeline/web: dev has no approval gate leads: it has none, leave --gate out");
  EXPECT_EQ(approved({}, {.environment = "prod", .version = "1.1.0"}), "web-2 into prod") << "before it is asked for";
  EXPECT_EQ(approved({}, {.environment = "prod"}),
            "pipeline/web: no promotion into prod is under way: to approve one that may come, say which with --release or "
            "--version; its releases are web-2 (1.1.0), web-1 (1.0.0)");
}

TEST(Choose, only_a_rejection_is_lifted) {
  const auto lifted = [](const std::string& status, const Wish& wish) {
    const auto spec = plan_lift(web_scene({promotion_object("to-prod", "prod", "web-2", status)}), wish);
    return spec ? fmt::format("{} {} into {}", spec->decision, spec->release, spec->environment) : spec.error().message;
  };
  EXPECT_EQ(lifted("{phase: Rejected}", {.environment = "prod"}), "lift web-2 into prod");
  EXPECT_EQ(lifted("{phase: Rejected, lifted: true}", {.environment = "prod"}),
            "pipeline/web: nothing was rejected in prod: there is nothing to lift");
  EXPECT_EQ(lifted("{phase: Rejected}", {.environment = "prod", .version = "1.0.0"}),
            "pipeline/web: nothing was rejected in prod of 1.0.0: there is nothing to lift");
}

TEST(Choose, names_of_objects_are_labels) {
  EXPECT_EQ(object_name("web-prod-approve", "x7k2p"), "web-prod-approve-x7k2p");
  EXPECT_EQ(object_name(std::string(80, 'a'), "x7k2p").size(), 63U);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
