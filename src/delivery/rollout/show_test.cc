#include "delivery/rollout/show.h"

#include <gtest/gtest.h>

#include "delivery/rollout/approvals.h"
#include "delivery/rollout/explain.h"
#include "delivery/rollout/promotion.h"
#include "delivery/rollout/requests.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

/// A RolloutTrait with four batches whose second one has an approval and a metric; `status` in flow style.
kube::Object trait_with_status(const std::string& status, const std::string& plan = "") {
  return yaml(R"({apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait,
    metadata: {name: web, namespace: team, uid: u1, generation: 2},
    spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web-v2},
           sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: web-v1}],
           rolloutPlan: {)" +
              plan + R"(rolloutBatches: [{replicas: 1}, {replicas: 2, gates: [{name: go, approval: {}},
             {name: errors, metric: {query: q, max: 1}}]}, {replicas: 3}, {}]}},
    status: )" +
              status + "}");
}

/// In batch 1 of attempt 1, whose goals are 1, 3, 6 and 10.
std::string rolling(const std::string& more) {
  return "{observedGeneration: 2, attempt: 1, rollingState: rollingInBatches, batchRollingState: batchVerifying, currentBatch: "
         "1, "
         "rolloutTargetSize: 10, upgradedReplicas: 3, upgradedReadyReplicas: 2, lastTargetRevision: Deployment/web-v2, "
         "goals: [1, 3, 6, 10], target: {id: Deployment/web-v2, originalSize: 0, writtenSize: 3, claimed: true}, " +
         more + "}";
}

const char* const kAsked =
    "gates: [{key: 1/after/go, state: Asked, since: '2026-01-01T00:00:00Z', text: 0 of 1 approvals}], "
    "waits: [{\"on\": gate go, text: 0 of 1 approvals}]";

TEST(RolloutShow, says_how_it_ended) {
  const struct {
    const char* what;
    kube::Object rollout;
    std::optional<bool> success;
    std::string text;
  } cases[] = {
      {"no status", trait_with_status("{}"), {}, ""},
      {"under way", trait_with_status(rolling("")), {}, ""},
      {"success",
       trait_with_status("{observedGeneration: 2, rollingState: rolloutSucceed, rolloutTargetSize: 10, upgradedReplicas: 10, "
                         "upgradedReadyReplicas: 10}"),
       true, "rolloutSucceed: 10 of 10 pods are new, 10 ready"},
      {"a newer spec", trait_with_status("{observedGeneration: 1, rollingState: rolloutSucceed}"), {}, ""},
      {"failure", trait_with_status("{observedGeneration: 2, rollingState: rolloutFailed, failure: gate errors failed}"), false,
       "rolloutFailed: gate errors failed"},
      {"a revert", trait_with_status("{observedGeneration: 2, rollingState: rolloutFailed, failure: aborted, reverting: true}"),
       false, "rolloutFailed: aborted; what was done is undone"},
      {"a retry that was asked for",
       trait_with_status("{observedGeneration: 2, rollingState: rolloutFailed}")
           .with_path({"metadata", "annotations"}, json::object({{std::string(kRetryRequest), "r1"}})),
       {},
       ""},
      {"a retry that was heeded",
       trait_with_status("{observedGeneration: 2, rollingState: rolloutFailed, failure: again, heeded: {retry: r1}}")
           .with_path({"metadata", "annotations"}, json::object({{std::string(kRetryRequest), "r1"}})),
       false, "rolloutFailed: again"},
  };
  for (const auto& one : cases) {
    const auto verdict = rollout::verdict(one.rollout);
    EXPECT_EQ(verdict.has_value(), one.success.has_value()) << one.what;
    if (!verdict || !one.success) continue;
    EXPECT_EQ(verdict->is_success, *one.success) << one.what;
    EXPECT_EQ(verdict->text, one.text) << one.what;
  }
}

TEST(RolloutShow, holds_for_what_a_person_decides) {
  const auto held = [](const std::string& status) {
    const auto hold = rollout::hold(trait_with_status(status));
    return hold ? hold->action + ": " + hold->text : "";
  };
  EXPECT_EQ(held(rolling("waits: [{\"on\": pause, text: spec.paused is true}]")), "rollout resume: it is paused");
  EXPECT_EQ(held(rolling("waits: [{\"on\": partition 1, text: done}]")), "rollout promote: batches up to partition 1 are done");
  EXPECT_EQ(held(rolling(kAsked)), "rollout approve: gate 1/after/go waits for a person");
  EXPECT_EQ(held(rolling("waits: [{\"on\": pods of Deployment/web-v2, text: 2 of 3}]")), "");
  EXPECT_EQ(held(rolling("gates: [{key: 1/after/errors, state: Asked}], waits: [{\"on\": gate errors, text: no data}]")), "")
      << "a metric is nobody's decision";
  EXPECT_EQ(held("{rollingState: rolloutFailed, waits: [{\"on\": pause, text: x}]}"), "");
}

TEST(RolloutShow, tells_news_once) {
  const auto told = [](const std::string& before, const std::string& after) {
    std::vector<std::string> lines;
    for (const News& one : news(trait_with_status(before), trait_with_status(after)))
      lines.push_back(one.part + (one.part.empty() ? "" : ": ") + one.text);
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(told(rolling(""), rolling("")), Lines{});
  EXPECT_EQ(
      told("{rollingState: initializing}", rolling("")),
      (Lines{"attempt 1: Deployment/web-v2", "rollingInBatches", "batch 1: batchVerifying", "3 of 10 pods are new, 2 ready"}));
  EXPECT_EQ(told(rolling(""), rolling(kAsked)),
            (Lines{"batch 1: gate after/go: Asked", "waits for gate go: 0 of 1 approvals"}));
  EXPECT_EQ(told(rolling(kAsked), rolling("gates: [{key: 1/after/go, state: Passed, by: ann, text: fine}]")),
            Lines{"batch 1: gate after/go: Passed by ann: fine"});
  EXPECT_EQ(told(rolling(""), rolling("failure: batch 1 took too long, reverting: true, weight: 30")),
            (Lines{"fails: batch 1 took too long; what was done is undone", "30 % of the traffic goes to the new version"}));
}

TEST(RolloutShow, summarises_a_rollout_with_its_batches) {
  EXPECT_EQ(
      summary_text(trait_with_status(rolling(kAsked))),
      "rollouttrait/web  rollingInBatches/batchVerifying  batch 1 (2 of 4)  3 of 10 new, 2 ready  waits for gate go: 0 of 1 "
      "approvals\n"
      "BATCH  STATE           GOAL  GATES\n"
      "0      done            1     -\n"
      "1      batchVerifying  3     go Asked, errors\n"
      "2      -               6     -\n"
      "3      -               10    -\n");
  EXPECT_TRUE(summary_text(trait_with_status("{}")).starts_with("rollouttrait/web  Pending\n"));
}

class NoView : public control::View {
 public:
  Value find(const Value&) const override { return {}; }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return parse_rfc3339("2026-01-01T00:01:00Z").value(); }
};

TEST(RolloutShow, describes_workloads_gates_and_waits) {
  const std::string text = describe(trait_with_status(rolling(kAsked)), NoView(), {});
  for (const char* part : {"Status:     rollingInBatches/batchVerifying", "Target:     Deployment/web-v2",
                           "target  Deployment/web-v2  0       3        claimed", "1/after/go  Asked  0      60s    -   0 of 1",
                           "gate go    -      0 of 1 approvals"}) {
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
  }
}

TEST(RolloutShow, lists_attempts) {
  EXPECT_EQ(history(trait_with_status("{}"), Time{}), "no attempt has begun\n");
  EXPECT_EQ(
      history(trait_with_status(
                  "{attempts: [{attempt: 1, target: Deployment/web-v2, began: '2026-01-01T00:00:00Z', ended: "
                  "'2026-01-01T00:02:00Z', outcome: rolloutFailed, text: aborted}, {attempt: 2, target: Deployment/web-v3, "
                  "began: '2026-01-01T00:03:00Z'}]}"),
              parse_rfc3339("2026-01-01T00:03:30Z").value()),
      "ATTEMPT  TARGET             OUTCOME        BEGAN                 TOOK  MESSAGE\n"
      "1        Deployment/web-v2  rolloutFailed  2026-01-01T00:00:00Z  2m    aborted\n"
      "2        Deployment/web-v3  (under way)    2026-01-01T00:03:00Z  30s\n");
}

TEST(RolloutShow, has_its_batches_as_parts) {
  for (const char* part : {"0", "3"}) EXPECT_TRUE(has_part(trait_with_status("{}"), part)) << part;
  for (const char* part : {"4", "-1", "one", "1x", ""}) EXPECT_FALSE(has_part(trait_with_status("{}"), part)) << part;
}

/// The chain of `slipway why`, one "on (reason)" per line, nested waits follow.
std::string why(const kube::Object& rollout, const std::string& part = "") {
  std::string out;
  const auto print = [&](auto& self, const std::vector<control::Explanation>& all) -> void {
    for (const control::Explanation& one : all) {
      out += fmt::format("{}{} ({})", out.empty() ? "" : " <- ", one.wait.on, one.wait.reason);
      if (!one.wait.next.is_null() && one.wait.part.empty()) {
        out += fmt::format(" -> {}/{}", one.wait.next["kind"].as_string(), one.wait.next["name"].as_string());
      }
      self(self, one.because);
    }
  };
  struct OneView : NoView {
    explicit OneView(kube::Object made) : object(std::move(made)) {}
    Value find(const Value& reference) const override { return reference["kind"] == object["kind"] ? object : Value(); }
    kube::Object object;
  };
  print(print, control::explain(explain_rows(), rollout, part, OneView(rollout)));
  return out;
}

TEST(RolloutWhy, leads_from_the_rollout_over_the_batch_to_the_cause) {
  const struct {
    std::string status;
    std::string chain;
  } cases[] = {
      {"{}", "the rollout controller (Pending)"},
      {rolling("waits: [{\"on\": pods of Deployment/web-v2, text: 2 of 3}]"),
       "batch 1 (BatchVerifying) <- pods of Deployment/web-v2 (PodsNotReady) -> Deployment/web-v2"},
      {rolling(kAsked), "batch 1 (BatchVerifying) <- gate go (ApprovalPending)"},
      {rolling("gates: [{key: 1/after/errors, state: Asked}], waits: [{\"on\": gate errors, text: no data}]"),
       "batch 1 (BatchVerifying) <- gate errors (MetricPending)"},
      {rolling("waits: [{\"on\": partition 1, text: x}]"), "batch 1 (BatchVerifying) <- partition 1 (PartitionReached)"},
      {rolling("waits: [{\"on\": pause, text: x}]"), "batch 1 (BatchVerifying) <- pause (Paused)"},
      {rolling("waits: [{\"on\": traffic, text: not Accepted}]"), "batch 1 (BatchVerifying) <- traffic (TrafficNotShifted)"},
      {rolling("waits: [{\"on\": SizeContested, text: by ann}]"), "batch 1 (BatchVerifying) <- SizeContested (SizeContested)"},
      {"{attempt: 1, rollingState: initializing, waits: [{\"on\": owner of Deployment/web-v1, text: Rollout/first}]}",
       "owner of Deployment/web-v1 (OwnedByOther) -> Deployment/web-v1"},
      {"{attempt: 1, rollingState: rolloutFailed, goals: [1, 3], currentBatch: 1, failure: gate errors, gates: [{key: "
       "1/after/errors, state: Failed, text: 5 > 1}]}",
       "batch 1 (BatchRolloutFailed) <- gate 1/after/errors (GateFailed)"},
      {"{attempt: 1, rollingState: rolloutFailed, failure: batches do not add up}", "the rollout (RolloutFailed)"},
      {"{rollingState: rolloutFailed, failure: a-v2 delivers the component now}", "the rollout (RolloutFailed)"},
      {"{attempt: 1, rollingState: rolloutSucceed}", ""},
      {"{attempt: 1, rollingState: rolloutSucceed, waits: [{\"on\": owner, text: AppRollout/b}]}", "owner (OwnedByOther)"},
  };
  for (const auto& one : cases) EXPECT_EQ(why(trait_with_status(one.status)), one.chain) << one.status;
}

/// The status is behind in counts of pods: the weight that follows them is the cause by then.
TEST(RolloutWhy, names_the_weight_that_follows_pods_which_are_ready_by_now) {
  struct ReadyView : NoView {
    Value find(const Value&) const override {
      return yaml(
          "{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, readyReplicas: 3, "
          "updatedReplicas: 3}}");
    }
  };
  const ReadyView view;
  const auto told = [&](const char* plan, const char* weight) {
    const kube::Object rollout =
        trait_with_status(rolling(fmt::format("{}waits: [{{\"on\": pods of Deployment/web-v2, text: 2 of 3}}]", weight)), plan);
    const auto all = explain_rows().front().open(rollout, view)("1");
    return all.size() == 1 ? fmt::format("{} ({}): {}", all[0].on, all[0].reason, all[0].message) : "";
  };
  const char* split = "traffic: {provider: nginx, ingressRef: {name: web}}, ";
  EXPECT_EQ(told(split, ""),
            "traffic (TrafficNotShifted): 3 of 3 pods are ready by now; 30 % of the traffic goes to them next, and what the "
            "router says is recorded within 5 seconds");
  EXPECT_TRUE(told(split, "weight: 30, ").starts_with("pods of Deployment/web-v2 (StatusBehind)"));
  EXPECT_TRUE(told("", "").starts_with("pods of Deployment/web-v2 (StatusBehind)"));
}

TEST(RolloutWhy, of_a_batch_tells_what_comes_before_it) {
  const kube::Object rollout = trait_with_status(rolling("waits: [{\"on\": pause, text: x}]"));
  EXPECT_EQ(why(rollout, "0"), "");
  EXPECT_EQ(why(rollout, "1"), "pause (Paused)");
  EXPECT_EQ(why(rollout, "3"), "batch 1 (BatchVerifying) <- pause (Paused)");
  EXPECT_EQ(why(rollout, "9"), "batch 9 (NoSuchBatch)");
}

TEST(RolloutPromotion, goes_forward_only) {
  const std::string held = "batchPartition: 1, ";
  const struct {
    const char* what;
    kube::Object rollout;
    std::map<std::string, std::string> options;
    std::string patch;  // or the refusal
  } cases[] = {
      {"the next batch", trait_with_status(rolling(""), held), {}, R"({"spec":{"rolloutPlan":{"batchPartition":2}}})"},
      {"by the older name",
       trait_with_status(rolling(""), "lastBatchToRollout: 1, "),
       {},
       R"({"spec":{"rolloutPlan":{"lastBatchToRollout":2}}})"},
      {"up to one", trait_with_status(rolling(""), held), {{"to", "3"}}, R"({"spec":{"rolloutPlan":{"batchPartition":3}}})"},
      {"all",
       trait_with_status(rolling(""), held + "paused: true, "),
       {{"full", "true"}},
       R"({"spec":{"rolloutPlan":{"batchPartition":null,"paused":false}}})"},
      {"all without a partition", trait_with_status(rolling("")), {{"full", "true"}}, "null"},
      {"back", trait_with_status(rolling(""), held), {{"to", "1"}}, "--to 1: batches up to 1 may run already"},
      {"nothing holds",
       trait_with_status(rolling(kAsked)),
       {},
       "no partition holds it; it waits for gate go: 0 of 1 approvals"},
      {"to where all may run", trait_with_status(rolling("")), {{"to", "2"}}, "--to 2: all batches may run already"},
      {"beyond the last", trait_with_status(rolling(""), held), {{"to", "99"}}, "--to 99: there are 4 batches, the last is 3"},
      {"no number", trait_with_status(rolling(""), held), {{"to", "x"}}, "--to x: must be the number of a batch, from 0"},
      {"both", trait_with_status(rolling("")), {{"to", "2"}, {"full", "true"}}, "--to and --full exclude each other"},
      {"gates alone", trait_with_status(rolling("")), {{"skip-gates", "true"}}, "--skip-gates goes with --full only"},
      {"ended", trait_with_status("{rollingState: rolloutSucceed}"), {}, "it has ended: give it a new target"},
  };
  for (const auto& one : cases) {
    const auto made = promotion(one.rollout, one.options);
    EXPECT_EQ(made ? json::print(made->spec_patch) : made.error().message, one.patch) << one.what;
  }
}

TEST(RolloutPromotion, in_full_approves_what_is_left_and_skips_gates_only_when_told_to) {
  const auto made = promotion(trait_with_status(rolling(kAsked)), {{"full", "true"}, {"skip-gates", "true"}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->approvals, std::vector<std::string>{"1/after/go"});
  EXPECT_TRUE(made->skips_gates);
  EXPECT_FALSE(promotion(trait_with_status(rolling(kAsked)), {{"full", "true"}})->skips_gates);
  EXPECT_EQ(approvals_left(trait_with_status(rolling("gates: [{key: 1/after/go, state: Passed}]"))),
            std::vector<std::string>{});
}

TEST(RolloutApprovals, count_for_their_gate_batch_and_attempt_where_admission_knows_who_gave_them) {
  const auto judged = [](const std::string& approval, ActsAs acts_as) {
    const kube::Object rollout = trait_with_status(rolling("approvals: [" + approval + "]"));
    return judge_approvals({}, rollout, "1/after/go", acts_as).kind;
  };
  using Kind = gate::Verdict::Kind;
  const std::string ann = ", user: ann, time: '2026-01-01T00:00:00Z'}";
  EXPECT_EQ(judged("{attempt: 1, batch: 1, gate: go, decision: approve" + ann, ActsAs::User), Kind::Pass);
  EXPECT_EQ(judged("{attempt: 1, batch: 1, gate: go, decision: reject" + ann, ActsAs::User), Kind::Fail);
  EXPECT_EQ(judged("{attempt: 2, batch: 1, gate: go, decision: approve" + ann, ActsAs::User), Kind::Wait);
  EXPECT_EQ(judged("{attempt: 1, batch: 2, gate: go, decision: approve" + ann, ActsAs::User), Kind::Wait);
  EXPECT_EQ(judged("{attempt: 1, batch: 1, gate: other, decision: approve" + ann, ActsAs::User), Kind::Wait);
  EXPECT_EQ(judged("{attempt: 1, batch: 1, gate: go, decision: approve" + ann, ActsAs::Controller), Kind::Unknown);
  EXPECT_EQ(judged("{attempt: 1, batch: 1, gate: go, decision: approve}", ActsAs::User), Kind::Unknown);
}

TEST(RolloutApprovals, are_about_the_gate_that_a_key_means) {
  const auto of_batch = approvable("12/pre-traffic/go", 3);
  EXPECT_EQ(of_batch.gate, "go");
  EXPECT_EQ(of_batch.batch, 12);
  EXPECT_EQ(of_batch.attempt, 3);
  EXPECT_EQ(approvable("-/initialize/go", 1).batch, -1);
  EXPECT_EQ(log_key(2, "12/pre-traffic/go"), "2/12/pre-traffic/go");
}

}  // namespace
}  // namespace slipway::delivery::rollout
