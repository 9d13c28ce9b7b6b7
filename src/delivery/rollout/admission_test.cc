#include "delivery/rollout/admission.h"

#include <gtest/gtest.h>

#include "delivery/rollout/requests.h"
#include "json/text.h"
#include "json/text_test.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

/// A RolloutTrait from web-v1 to web-v2 with the plan given as YAML in flow style.
kube::Object trait(const std::string& plan, const std::string& more = "") {
  return yaml(
      "{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: web, namespace: team, uid: u1}, "
      "spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web-v2}, "
      "sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: web-v1}], rolloutPlan: " +
      plan + "}" + more + "}");
}

/// The same in the middle of its attempt.
kube::Object running(const std::string& plan, int batch) {
  return trait(plan,
               ", status: {rollingState: rollingInBatches, batchRollingState: batchInRolling, attempt: 1, currentBatch: " +
                   std::to_string(batch) + "}");
}

/// "field: message" of each violation.
std::vector<std::string> texts(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  for (const Cause& cause : causes) out.push_back(cause.field + ": " + cause.message);
  return out;
}

/// Whether exactly one violation is told, whose text has all of `parts`.
testing::AssertionResult tells(const std::vector<Cause>& causes, const std::vector<std::string>& parts) {
  if (causes.size() != 1) return testing::AssertionFailure() << testing::PrintToString(texts(causes));
  const std::string text = texts(causes).front();
  for (const std::string& part : parts) {
    if (!text.contains(part)) return testing::AssertionFailure() << text << " has no " << part;
  }
  return testing::AssertionSuccess();
}

TEST(RolloutAdmission, takes_manifests_of_the_seed_and_of_upstream) {
  const char* plans[] = {
      "{}",
      "{numBatches: 5, targetSize: 10}",
      "{rolloutBatches: [{replicas: 20%}, {replicas: 30%}, {replicas: 50%}], lastBatchToRollout: 1}",
      "{rolloutStrategy: DecreaseFirst, targetSize: 5, rolloutBatches: [{replicas: 2}, {replicas: 3}]}",
      "{targetSize: 5, numBatches: 2, rolloutBatches: [{replicas: 2}, {replicas: 3}], batchPartition: 0, paused: true}",
      "{rolloutBatches: [{replicas: \"20\"}, {podList: [a, b]}, {}], batchPartition: 9}",
      "{rolloutWebhooks: [{type: initialize-rollout, name: a, url: 'http://a'}, {type: finalize-rollout, name: a, url: "
      "'http://a', "
      "method: PUT}], rolloutBatches: [{replicas: 1, batchRolloutWebhooks: [{type: pre-batch-rollout, name: b, url: "
      "'http://b', "
      "expectedStatus: [200]}]}, {}]}",
      "{canaryMetric: [{name: success-rate, interval: 30s, metricsRange: {min: 99, max: \"100\"}, templateRef: {name: m}}]}",
      "{batchPartition: 1, lastBatchToRollout: 1, numBatches: 4}",
  };
  for (const char* plan : plans) EXPECT_EQ(texts(validate(trait(plan), {})), std::vector<std::string>{}) << plan;
}

TEST(RolloutAdmission, refuses_a_spec_that_cannot_be_carried_out) {
  const struct {
    const char* what;
    std::string plan;
    std::vector<std::string> told;
  } cases[] = {
      {"two spellings",
       "{batchPartition: 1, lastBatchToRollout: 2}",
       {"lastBatchToRollout", "batchPartition by its older name"}},
      {"counts that differ", "{numBatches: 3, rolloutBatches: [{replicas: 1}, {}]}", {"rolloutPlan.numBatches: ", "2 batches"}},
      {"no amount", "{rolloutBatches: [{replicas: many}, {}]}", {"rolloutBatches[0].replicas: "}},
      {"both ways to say which", "{rolloutBatches: [{replicas: 1, podList: [a]}, {}]}", {"rolloutBatches[0].podList: "}},
      {"a pod twice", "{rolloutBatches: [{podList: [a, a]}, {}]}", {"rolloutBatches[0].podList: ", "twice"}},
      {"whole numbers that do not add up",
       "{targetSize: 5, rolloutBatches: [{replicas: 2}, {replicas: 2}]}",
       {"rolloutBatches"}},
      {"a rest before the last batch",
       "{rolloutBatches: [{}, {replicas: 1}, {}]}",
       {"rolloutBatches[0].replicas: Required value: only the last batch"}},
      {"a metric that asks and judges nothing",
       "{canaryMetric: [{name: x}]}",
       {"canaryMetric[0].templateRef: Required value: it says what is asked", "gates: [{name: x, metric: {provider,"}},
      {"a metric with a range only, of a batch",
       "{rolloutBatches: [{canaryMetric: [{name: x, metricsRange: {min: 1}}]}]}",
       {"rolloutBatches[0].canaryMetric[0].templateRef: Required value"}},
      {"a range of no numbers",
       "{canaryMetric: [{name: x, templateRef: {name: m}, metricsRange: {min: many}}]}",
       {"canaryMetric[0].metricsRange.min: Invalid value: \"many\": must be a number"}},
      {"matches that are none",
       "{traffic: {provider: nginx}, rolloutBatches: [{traffic: {matches: [{headers: [{nam: x}]}]}}]}",
       {"rolloutBatches[0].traffic.matches[0].headers[0].name: Required value"}},
      {"a hook of a batch on the plan",
       "{rolloutWebhooks: [{type: pre-batch-rollout, name: a, url: u}]}",
       {"rolloutWebhooks[0].type: ", "batchRolloutWebhooks"}},
      {"a hook of the end on a batch",
       "{rolloutBatches: [{batchRolloutWebhooks: [{type: finalize-rollout, name: a, url: u}]}]}",
       {"batchRolloutWebhooks[0].type: ", "rolloutWebhooks"}},
      {"a gate of the end on a batch",
       "{rolloutBatches: [{gates: [{name: a, at: finalize, approval: {}}]}]}",
       {"rolloutBatches[0].gates[0].at: "}},
      {"an interval that is none", "{canaryMetric: [{name: a, interval: soon}]}", {"canaryMetric[0].interval: ", "30s"}},
      {"a split without a provider",
       "{rolloutBatches: [{traffic: {weight: 10}}]}",
       {"spec.rolloutPlan.traffic.provider: ", "rolloutBatches[0].traffic"}},
      {"a provider that nobody knows",
       "{traffic: {provider: carrier-pigeon}}",
       {"spec.rolloutPlan.traffic.provider: Unsupported value: \"carrier-pigeon\"", "\"nginx\""}},
      {"an ingress elsewhere",
       "{traffic: {provider: nginx, ingressRef: {name: web, namespace: other}}}",
       {"ingressRef.namespace: ", "own namespace"}},
  };
  for (const auto& one : cases) EXPECT_TRUE(tells(validate(trait(one.plan), {}), one.told)) << one.what;
}

TEST(RolloutAdmission, refuses_references_to_other_namespaces_and_doubled_ones) {
  kube::Object away = trait("{}").with_path({"spec", "targetRef", "namespace"}, "other");
  EXPECT_TRUE(tells(validate(away, {}), {"spec.targetRef.namespace: ", "\"team\" only"}));
  EXPECT_TRUE(validate(away.with_path({"spec", "targetRef", "namespace"}, "team"), {}).empty());
  const Value source = yaml("{apiVersion: apps/v1, kind: Deployment, name: web-v1}");
  EXPECT_TRUE(tells(validate(trait("{}").with_path({"spec", "sourceRef"}, json::array({source, source})), {}),
                    {"spec.sourceRef[1]: ", "Duplicate"}));
  const Value itself = trait("{}")["spec"]["targetRef"];
  EXPECT_TRUE(tells(validate(trait("{}").with_path({"spec", "sourceRef"}, json::array({itself})), {}),
                    {"spec.sourceRef[0]: ", "\"Deployment/web-v2\"", "is the target"}));
}

TEST(RolloutAdmission, takes_the_two_places_of_revert_on_delete_only_when_they_agree) {
  const auto app_rollout = [](const std::string& own, const std::string& of_plan) {
    return yaml(
        "{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {name: a, namespace: team}, spec: "
        "{targetAppRevisionName: a-v2, sourceAppRevisionName: a-v1, componentList: [web], rolloutPlan: {numBatches: 2" +
        of_plan + "}" + own + "}}");
  };
  EXPECT_TRUE(validate(app_rollout(", revertOnDelete: true", ""), {}).empty());
  EXPECT_TRUE(validate(app_rollout(", revertOnDelete: true", ", revertOnDelete: true"), {}).empty());
  EXPECT_TRUE(tells(validate(app_rollout(", revertOnDelete: true", ", revertOnDelete: false"), {}), {"spec.revertOnDelete: "}));
}

struct UpdateCase {
  const char* what;
  std::string before;
  int batch;
  std::string after;
  std::string rule;  // empty: accepted
};

TEST(RolloutAdmission, of_a_running_rollout_lets_the_partition_grow_only) {
  const UpdateCase cases[] = {
      {"greater", "{numBatches: 5, batchPartition: 1}", 0, "{numBatches: 5, batchPartition: 3}", ""},
      {"the same", "{numBatches: 5, batchPartition: 1}", 0, "{numBatches: 5, batchPartition: 1}", ""},
      {"all", "{numBatches: 5, batchPartition: 1}", 0, "{numBatches: 5}", ""},
      {"the same by its older name", "{numBatches: 5, batchPartition: 1}", 0, "{numBatches: 5, lastBatchToRollout: 1}", ""},
      {"smaller", "{numBatches: 5, batchPartition: 3}", 0, "{numBatches: 5, batchPartition: 2}", "PartitionOnlyGrows"},
      {"smaller by its older name", "{numBatches: 5, batchPartition: 3}", 0, "{numBatches: 5, lastBatchToRollout: 2}",
       "PartitionOnlyGrows"},
      {"one after all", "{numBatches: 5}", 0, "{numBatches: 5, batchPartition: 4}", "PartitionOnlyGrows"},
  };
  for (const UpdateCase& one : cases) {
    const auto causes = validate(trait(one.after), running(one.before, one.batch));
    if (one.rule.empty()) EXPECT_EQ(texts(causes), std::vector<std::string>{}) << one.what;
    if (!one.rule.empty()) EXPECT_TRUE(tells(causes, {"spec.rolloutPlan.batchPartition: ", one.rule})) << one.what;
  }
}

TEST(RolloutAdmission, of_a_running_rollout_keeps_the_batches_that_were_released) {
  const std::string abc = "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {replicas: 3}, {}], batchPartition: 1}";
  const std::string gated =
      "{rolloutBatches: [{replicas: 1, gates: [{name: g, approval: {}, deadlineSeconds: 5}]}, {}], batchPartition: 0}";
  const UpdateCase cases[] = {
      {"a later one", abc, 0, "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {replicas: 4}, {}], batchPartition: 1}", ""},
      {"more later ones", abc, 0,
       "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {replicas: 1}, {replicas: 1}, {}], "
       "batchPartition: 1}",
       ""},
      {"fewer later ones", abc, 0, "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {}], batchPartition: 1}", ""},
      {"its metrics", abc, 0,
       "{rolloutBatches: [{replicas: 1, canaryMetric: [{name: m, templateRef: {name: t}}]}, {replicas: 2}, {replicas: 3}, {}], "
       "batchPartition: 1}",
       ""},
      {"its deadlines", gated, 0,
       "{rolloutBatches: [{replicas: 1, gates: [{name: g, approval: {}, deadlineSeconds: 9, onDeadline: fail}]}, {}], "
       "batchPartition: 0}",
       ""},
      {"the current one", abc, 1, "{rolloutBatches: [{replicas: 1}, {replicas: 3}, {replicas: 3}, {}], batchPartition: 1}",
       "ReleasedBatchesAreFixed"},
      {"one below the partition that has not begun", abc, 0,
       "{rolloutBatches: [{replicas: 1}, {replicas: 3}, {replicas: 3}, {}], batchPartition: 1}", "ReleasedBatchesAreFixed"},
      {"the current one, beyond the partition", abc, 2,
       "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {replicas: 4}, {}], batchPartition: 1}", "ReleasedBatchesAreFixed"},
      {"its gates", gated, 0, "{rolloutBatches: [{replicas: 1}, {}], batchPartition: 0}", "ReleasedBatchesAreFixed"},
      {"one that would become the last", abc, 0, "{rolloutBatches: [{replicas: 1}, {replicas: 2}], batchPartition: 1}",
       "ReleasedBatchesAreFixed"},
      {"any, when all are released", "{rolloutBatches: [{replicas: 1}, {}]}", 0, "{rolloutBatches: [{replicas: 2}, {}]}",
       "ReleasedBatchesAreFixed"},
      {"one after the last", "{rolloutBatches: [{replicas: 1}, {replicas: 2}]}", 0,
       "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {}]}", "ReleasedBatchesAreFixed"},
  };
  for (const UpdateCase& one : cases) {
    const auto causes = validate(trait(one.after), running(one.before, one.batch));
    if (one.rule.empty()) EXPECT_EQ(texts(causes), std::vector<std::string>{}) << one.what;
    if (!one.rule.empty()) EXPECT_TRUE(tells(causes, {"spec.rolloutPlan.rolloutBatches[", one.rule})) << one.what;
  }
}

TEST(RolloutAdmission, refuses_a_mail_to_no_address) {
  EXPECT_TRUE(
      tells(validate(trait("{numBatches: 5, notifications: [{type: email, url: 'smtp://mail.test', from: me@a.test}]}"), {}),
            {"spec.rolloutPlan.notifications[0].to: "}));
}

TEST(RolloutAdmission, of_a_running_rollout_takes_everything_else_only_with_a_new_target) {
  const kube::Object old = running("{numBatches: 5, targetSize: 10}", 2);
  const char* free[] = {"{numBatches: 5, targetSize: 10, paused: true}",
                        "{numBatches: 5, targetSize: 10, revertOnDelete: true}",
                        "{numBatches: 5, targetSize: 10, canaryMetric: [{name: m, templateRef: {name: t}}]}",
                        "{numBatches: 5, targetSize: 10, onFailure: Revert, batchDeadlineSeconds: 9}",
                        "{numBatches: 5, targetSize: 10, notifications: [{type: slack, url: 'http://chat.example/hook'}]}",
                        "{numBatches: 5, targetSize: 10, rolloutStrategy: IncreaseFirst}"};
  for (const char* plan : free) EXPECT_EQ(texts(validate(trait(plan), old)), std::vector<std::string>{}) << plan;
  const std::pair<const char*, const char*> bound[] = {
      {"rolloutStrategy", "{numBatches: 5, targetSize: 10, rolloutStrategy: DecreaseFirst}"},
      {"numBatches", "{numBatches: 4, targetSize: 10}"},
      {"targetSize", "{numBatches: 5, targetSize: 11}"},
      {"rolloutBatches",
       "{numBatches: 5, targetSize: 10, rolloutBatches: [{replicas: 2}, {replicas: 2}, {replicas: 2}, {replicas: 2}, {}]}"},
      {"rolloutWebhooks", "{numBatches: 5, targetSize: 10, rolloutWebhooks: [{type: finalize-rollout, name: a, url: u}]}"},
      {"gates", "{numBatches: 5, targetSize: 10, gates: [{name: a, approval: {}}]}"},
  };
  for (const auto& [name, plan] : bound) {
    EXPECT_TRUE(tells(validate(trait(plan), old), {std::string("spec.rolloutPlan.") + name + ": ", "OnlyWithNewTarget"}))
        << plan;
    const kube::Object retargeted = trait(plan).with_path({"spec", "targetRef", "name"}, "web-v3");
    EXPECT_EQ(texts(validate(retargeted, old)), std::vector<std::string>{}) << plan;
  }
  EXPECT_TRUE(tells(validate(trait("{numBatches: 5, targetSize: 10}").without_path({"spec", "sourceRef"}), old),
                    {"spec.sourceRef: ", "OnlyWithNewTarget"}));
}

TEST(RolloutAdmission, takes_a_new_size_of_a_pure_scale_as_a_new_target) {
  const kube::Object old = running("{numBatches: 5, targetSize: 10}", 2).without_path({"spec", "sourceRef"});
  EXPECT_TRUE(validate(trait("{numBatches: 2, targetSize: 20}").without_path({"spec", "sourceRef"}), old).empty());
  EXPECT_FALSE(validate(trait("{numBatches: 2, targetSize: 10}").without_path({"spec", "sourceRef"}), old).empty());
}

TEST(RolloutAdmission, of_a_finished_rollout_takes_a_plan_only_with_a_new_target_source_or_size) {
  for (const char* state : {"rolloutSucceed", "rolloutFailed"}) {
    const kube::Object old = trait("{numBatches: 5}", std::string(", status: {rollingState: ") + state + "}");
    EXPECT_TRUE(tells(validate(trait("{numBatches: 4}"), old), {"spec.rolloutPlan.numBatches: ", "FinishedNeedsNewTarget"}));
    EXPECT_TRUE(tells(validate(trait("{numBatches: 5, batchPartition: 2}"), old), {"FinishedNeedsNewTarget"}));
    EXPECT_TRUE(validate(trait("{numBatches: 5, revertOnDelete: true, paused: true}"), old).empty());
    EXPECT_TRUE(validate(trait("{numBatches: 4, targetSize: 3}"), old).empty());
    EXPECT_TRUE(validate(trait("{numBatches: 4}").with_path({"spec", "targetRef", "name"}, "web-v3"), old).empty());
    EXPECT_TRUE(validate(trait("{numBatches: 4}").without_path({"spec", "sourceRef"}), old).empty());
  }
}

TEST(RolloutAdmission, binds_nothing_before_an_attempt_has_begun_or_when_it_is_deleted) {
  const kube::Object waiting = trait("{numBatches: 5}", ", status: {rollingState: locatingTargetApp}");
  EXPECT_TRUE(validate(trait("{numBatches: 4, batchPartition: 1}"), waiting).empty());
  EXPECT_TRUE(validate(trait("{numBatches: 4, batchPartition: 1}"), trait("{numBatches: 5}")).empty());
  const kube::Object going =
      trait("{batchPartition: 1, lastBatchToRollout: 2}").with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_TRUE(validate(going, running("{}", 1)).empty());
}

TEST(RolloutAdmission, fills_in_the_strategy) {
  EXPECT_EQ(mutate(trait("{}"), {})["spec"]["rolloutPlan"]["rolloutStrategy"], Value("IncreaseFirst"));
  const kube::Object other = trait("{rolloutStrategy: DecreaseFirst}");
  EXPECT_EQ(mutate(other, {}), other);
}

const kube::UserInfo kAnn{.name = "ann", .uid = "", .groups = {"ops", "dev"}, .extra = {}};

kube::Asker asker(const kube::UserInfo* user, bool may) {
  const auto allows = [may](std::string_view verb, const kube::Resource& resource, std::string_view ns, std::string_view name) {
    EXPECT_EQ(verb, "approve");
    EXPECT_EQ(resource.group_resource(), "rollouttraits.standard.oam.dev");
    EXPECT_EQ(std::string(ns) + "/" + std::string(name), "team/web");
    return may;
  };
  return {user, allows, parse_rfc3339("2026-03-01T10:00:00Z").value()};
}

TEST(RolloutAdmission, records_who_wrote_what_is_rolled_out) {
  const auto author = [](const kube::Object& object) { return std::string(kube::annotation(object, kAuthor.user)); };
  const kube::Object forged =
      trait("{}").with_path({"metadata", "annotations"}, json::object({{std::string(kAuthor.user), "root"}}));
  const kube::Object by_bob =
      trait("{}").with_path({"metadata", "annotations"}, json::object({{std::string(kAuthor.user), "bob"}}));
  EXPECT_EQ(author(stamp_author(forged, {}, asker(&kAnn, true))), "ann");
  EXPECT_EQ(author(stamp_author(forged, by_bob, asker(&kAnn, true))), "bob") << "nothing else changes";
  EXPECT_EQ(author(stamp_author(trait("{numBatches: 2}"), by_bob, asker(&kAnn, true))), "ann");
  EXPECT_EQ(author(stamp_author(trait("{paused: true, batchPartition: 3}"), by_bob, asker(&kAnn, true))), "bob");
  EXPECT_EQ(author(stamp_author(by_bob, {}, asker(nullptr, true))), "bob") << "the process itself";
}

TEST(RolloutAdmission, lets_gates_be_skipped_by_those_who_may_approve) {
  const kube::Object asked =
      trait("{}").with_path({"metadata", "annotations"}, json::object({{std::string(kSkipGatesRequest), "1"}}));
  EXPECT_TRUE(check_asker(asked, trait("{}"), asker(&kAnn, true)).empty());
  EXPECT_TRUE(tells(check_asker(asked, trait("{}"), asker(&kAnn, false)), {std::string(kSkipGatesRequest), "approve"}));
  EXPECT_TRUE(check_asker(asked, asked, asker(&kAnn, false)).empty()) << "it was asked before";
}

/// What is refused of the change from one plan to another, with a new target, by a user who may not approve; empty: nothing.
std::string refused_without_approve(const std::string& before, const std::string& after) {
  const kube::Object changed = trait(after).with_path({"spec", "targetRef", "name"}, "web-v3");
  const auto causes = check_asker(changed, running(before, 0), asker(&kAnn, false));
  return causes.empty() ? "" : causes.front().field;
}

TEST(RolloutAdmission, empties_no_approval_gate_for_who_may_not_approve) {
  const std::string leads = "gates: [{name: leads, at: before, approval: {count: 2}}]";
  const std::string own = "{rolloutBatches: [{replicas: 1}, {replicas: 3, " + leads + "}]}";
  const std::string of_plan = "{numBatches: 4, " + leads + "}";
  const std::string sized = "{targetSize: 4, rolloutBatches: [{replicas: 25%}, {" + leads + "}]}";
  const std::string held = "{rolloutBatches: [{replicas: 1}, {replicas: 1}, {" + leads + "}], batchPartition: 0}";
  const std::string at_one = "spec.rolloutPlan.gates[1/before/leads]";
  const std::string size = "spec.rolloutPlan.targetSize";
  struct Case {
    const char* what;
    std::string before;
    std::string after;
    std::string field;  // empty: accepted
  };
  const Case cases[] = {
      {"all pods before it", own, "{rolloutBatches: [{replicas: 4}, {replicas: 0, " + leads + "}]}", at_one},
      {"one more pod before it", own, "{rolloutBatches: [{replicas: 2}, {replicas: 2, " + leads + "}]}", at_one},
      {"a share that is more at some size", own, "{rolloutBatches: [{replicas: 25%}, {" + leads + "}]}", at_one},
      {"a later batch has it", own, "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {" + leads + "}]}", at_one},
      {"its batch is gone", own, "{rolloutBatches: [{replicas: 4}]}", at_one},
      {"fewer batches", of_plan, "{numBatches: 2, " + leads + "}", "spec.rolloutPlan.gates[2/before/leads]"},
      {"one batch", of_plan, "{numBatches: 1, " + leads + "}", at_one},
      {"a greater size", sized, "{targetSize: 40, rolloutBatches: [{replicas: 25%}, {" + leads + "}]}", size},
      {"a size where there was none", own, "{targetSize: 8, rolloutBatches: [{replicas: 1}, {" + leads + "}]}", size},
      {"a greater partition", held, "{rolloutBatches: [{replicas: 1}, {replicas: 1}, {" + leads + "}], batchPartition: 1}",
       "spec.rolloutPlan.gates[2/before/leads]"},
      {"the same", own, own, ""},
      {"a pause", own, "{paused: true, rolloutBatches: [{replicas: 1}, {replicas: 3, " + leads + "}]}", ""},
      {"a smaller share", own, "{rolloutBatches: [{replicas: 0}, {replicas: 4, " + leads + "}]}", ""},
      {"more batches", of_plan, "{numBatches: 8, " + leads + "}", ""},
      {"a smaller size", sized, "{targetSize: 2, rolloutBatches: [{replicas: 25%}, {" + leads + "}]}", ""},
      {"a partition", own, "{rolloutBatches: [{replicas: 1}, {replicas: 3, " + leads + "}], batchPartition: 0}", ""},
      {"a partition at the gate", "{rolloutBatches: [{replicas: 1}, {" + leads + "}], batchPartition: 0}",
       "{rolloutBatches: [{replicas: 1}, {" + leads + "}]}", ""},
      {"the steps blue-green-rollout and rollout-promotion",
       "{rolloutBatches: [{replicas: 50%}, {replicas: 0}, {" + leads + "}], batchPartition: 0}",
       "{rolloutBatches: [{replicas: 50%}, {replicas: 0}, {" + leads + "}], batchPartition: 2}", ""},
      {"no approval gate", "{rolloutBatches: [{replicas: 1}, {replicas: 3}]}", "{rolloutBatches: [{replicas: 4}]}", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(refused_without_approve(one.before, one.after), one.field) << one.what;
  const kube::Object emptied = trait("{rolloutBatches: [{replicas: 4}, {replicas: 0, " + leads + "}]}");
  EXPECT_TRUE(check_asker(emptied, running(own, 0), asker(&kAnn, true)).empty()) << "who may approve may do so";
}

kube::Object with_approvals(const kube::Object& rollout, const std::string& list) {
  return rollout.with_path({"status", "approvals"}, yaml(list));
}

const std::string kGated = "{rolloutBatches: [{gates: [{name: ok, approval: {}}, {name: ask, webhook: {url: u}}]}, {}]}";

TEST(RolloutAdmission, stamps_approvals_with_user_groups_and_time) {
  const kube::Object old =
      with_approvals(running(kGated, 0), "[{attempt: 1, decision: approve, gate: ok, batch: 0, user: bob}]");
  const kube::Object wanted = with_approvals(old,
                                             "[{attempt: 1, decision: approve, gate: ok, batch: 0, user: bob}, {attempt: 1, "
                                             "decision: approve, gate: ok, batch: 0, user: root, groups: [system:masters], "
                                             "time: '2020-01-01T00:00:00Z', comment: fine}]");
  const auto stamped = stamp_approvals(wanted, old, asker(&kAnn, true));
  ASSERT_TRUE(stamped) << stamped.error().message;
  EXPECT_EQ((*stamped)["status"]["approvals"],
            yaml("[{attempt: 1, decision: approve, gate: ok, batch: 0, user: bob}, {attempt: 1, decision: approve, gate: ok, "
                 "batch: 0, comment: fine, user: ann, groups: "
                 "[ops, dev], time: '2026-03-01T10:00:00Z'}]"));
  EXPECT_EQ(stamp_approvals(wanted, old, asker(nullptr, true)).value(), wanted) << "the process itself";
  EXPECT_EQ(stamp_approvals(old, old, asker(&kAnn, false)).value(), old) << "nothing changes";
}

TEST(RolloutAdmission, refuses_approvals_that_are_not_allowed_or_about_nothing) {
  const kube::Object old = running(kGated, 0);
  const struct {
    const char* what;
    std::string entry;
    bool may;
    Reason reason;
    std::string told;
  } cases[] = {
      {"without the right", "{attempt: 1, decision: approve, gate: ok, batch: 0}", false, Reason::Forbidden,
       "user \"ann\" may not approve"},
      {"another attempt", "{attempt: 2, decision: approve, gate: ok, batch: 0}", true, Reason::Conflict,
       "the rollout is in attempt 1"},
      {"no such gate", "{attempt: 1, decision: approve, gate: none, batch: 0}", true, Reason::Invalid, "\"none\" of batch 0"},
      {"no approval", "{attempt: 1, decision: approve, gate: ask, batch: 0}", true, Reason::Invalid, "no approval gate"},
      {"another batch", "{attempt: 1, decision: approve, gate: ok, batch: 1}", true, Reason::Invalid, "of batch 1"},
  };
  for (const auto& one : cases) {
    const auto stamped = stamp_approvals(with_approvals(old, "[" + one.entry + "]"), old, asker(&kAnn, one.may));
    ASSERT_FALSE(stamped) << one.what;
    EXPECT_EQ(stamped.error().reason, one.reason) << one.what;
    EXPECT_TRUE(stamped.error().message.contains(one.told)) << one.what << ": " << stamped.error().message;
  }
}

TEST(RolloutAdmission, takes_the_end_of_a_pause_as_a_yes) {
  const kube::Object old = running(kGated, 0)
                               .with_path({"status", "pause"}, true)
                               .with_path({"status", "gates"}, yaml("[{key: 0/after/ok, state: Asked}, {key: 0/after/ask, "
                                                                    "state: Asked}]"));
  const kube::Object resumed = old.with_path({"status", "pause"}, false);
  const auto given = stamp_approvals(resumed, old, asker(&kAnn, true));
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ((*given)["status"]["approvals"],
            yaml("[{attempt: 1, gate: ok, batch: 0, decision: approve, user: ann, groups: [ops, dev], time: "
                 "'2026-03-01T10:00:00Z'}]"));
  const auto local = stamp_approvals(resumed, old, asker(nullptr, true));
  ASSERT_TRUE(local);
  EXPECT_EQ((*local)["status"]["approvals"].item(0)["user"].as_string(), "local");
  const auto refused = stamp_approvals(resumed, old, asker(&kAnn, false));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Forbidden);
  const kube::Object by_controller = resumed.with_path({"status", "rollingState"}, "rolloutFailing");
  EXPECT_EQ(stamp_approvals(by_controller, old, asker(&kAnn, true)).value(), by_controller) << "it says more than that";
}

TEST(RolloutAdmission, refuses_a_workload_that_another_rollout_works_on) {
  const auto owned_by = [](const std::string& kind, const std::string& uid) {
    return yaml("{metadata: {name: web-v1, ownerReferences: [{apiVersion: standard.oam.dev/v1alpha1, kind: " + kind +
                ", name: first, uid: " + uid + ", controller: true}]}}");
  };
  const auto find_in = [](const kube::Object& workload) {
    return [workload](const kube::Resource& resource, std::string_view ns, std::string_view name) -> kube::Object {
      EXPECT_EQ(resource.group_resource(), "deployments.apps");
      EXPECT_EQ(ns, "team");
      return name == "web-v1" ? workload : kube::Object();
    };
  };
  EXPECT_TRUE(tells(check_claims(trait("{}"), {}, find_in(owned_by("Rollout", "u2"))),
                    {"spec.sourceRef[0]: ", "Rollout \"first\" works on it"}));
  EXPECT_TRUE(check_claims(trait("{}"), {}, find_in(owned_by("Rollout", "u1"))).empty()) << "its own";
  EXPECT_TRUE(check_claims(trait("{}"), {}, find_in(owned_by("Application", "u2"))).empty());
  EXPECT_TRUE(check_claims(trait("{numBatches: 2}"), trait("{}"), find_in(owned_by("Rollout", "u2"))).empty())
      << "no other ref";
}

}  // namespace
}  // namespace slipway::delivery::rollout
