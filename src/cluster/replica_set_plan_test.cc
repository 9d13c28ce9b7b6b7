#include "cluster/replica_set_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "cluster/adoption.h"
#include "cluster/names.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

const Time kNow{seconds{1'000'000'000}};

Value set_of(std::int64_t replicas, int min_ready = 0) {
  return yaml(fmt::format(R"({{metadata: {{name: web, namespace: default, uid: s, generation: 2}},
spec: {{replicas: {}, minReadySeconds: {}, selector: {{matchLabels: {{app: web}}}},
template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: c}}]}}}}}}}})",
                          replicas, min_ready));
}

/// A pod "name" of the set; it has been ready for `ready` seconds unless that is negative.
Value pod(const std::string& name, int ready = 100, const std::string& phase = "Running", const std::string& more = "") {
  Value made = yaml(fmt::format(
      R"({{metadata: {{name: {0}, namespace: default, uid: {0}, labels: {{app: web}}, {2}}}, spec: {{nodeName: local}}, status: {{phase: {1}}}}})",
      name, phase, more));
  if (!made["metadata"].has("creationTimestamp")) {
    made = made.with_path({"metadata", "creationTimestamp"}, to_rfc3339(kNow - seconds{1000}));
  }
  if (ready < 0) return made;
  const Value condition =
      json::object({{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", to_rfc3339(kNow - seconds{ready})}});
  return made.with_path({"status", "conditions"}, json::array({condition}));
}

std::string names(const std::vector<Value>& pods) {
  std::string text;
  for (const Value& one : pods) text += (text.empty() ? "" : " ") + std::string(kube::name(one));
  return text;
}

const auto kNothingTaken = [](const std::string&) { return false; };

TEST(RemovalOrder, puts_the_least_useful_first) {
  struct Row {
    const char* story;
    Value first;
    Value second;
  };
  const std::string cost = "annotations: {controller.kubernetes.io/pod-deletion-cost: '-1'}";
  const Row rows[] = {
      {"not assigned", pod("b").without("spec"), pod("a", -1, "Pending")},
      {"Pending before Running", pod("b", -1, "Pending"), pod("a", -1)},
      {"Unknown before Running", pod("b", -1, "Unknown"), pod("a", -1)},
      {"not ready before ready", pod("b", -1), pod("a")},
      {"the cheaper", pod("b", 100, "Running", cost), pod("a", 10)},
      {"ready for less long", pod("b", 10), pod("a", 100)},
      {"by uid when ready for about as long", pod("a", 101), pod("b", 100)},
      {"the younger", pod("b", -1, "Running", "creationTimestamp: '" + to_rfc3339(kNow - seconds{9}) + "'"), pod("a", -1)},
  };
  for (const Row& row : rows) {
    const std::string expected = names({row.first, row.second});
    EXPECT_EQ(names(in_removal_order({row.first, row.second}, kNow)), expected) << row.story;
    EXPECT_EQ(names(in_removal_order({row.second, row.first}, kNow)), expected) << row.story;
  }
}

TEST(RemovalOrder, takes_from_the_crowded_node) {
  const Value alone = pod("a").with_path({"spec", "nodeName"}, "other");
  EXPECT_EQ(names(in_removal_order({alone, pod("b"), pod("c")}, kNow)), "b c a");
}

TEST(PlanReplicaSet, asks_for_the_same_names_again_when_its_view_is_old) {
  const auto first = plan_replica_set(set_of(3), {}, kNothingTaken, 0, kNow);
  ASSERT_EQ(first.create.size(), 3U);
  EXPECT_EQ(plan_replica_set(set_of(3), {}, kNothingTaken, 0, kNow).create, first.create);
  const std::set<std::string> taken(first.create.begin(), first.create.end());
  std::vector<Value> present;
  for (const std::string& name : first.create) present.push_back(pod(name));
  present.pop_back();
  const auto next =
      plan_replica_set(set_of(3), present, [&](const std::string& name) { return taken.contains(name); }, 0, kNow);
  ASSERT_EQ(next.create.size(), 1U);
  EXPECT_FALSE(taken.contains(next.create[0]));
}

TEST(PlanReplicaSet, gives_a_replacement_a_name_of_its_own) {
  const auto first = plan_replica_set(set_of(1), {}, kNothingTaken, 0, kNow);
  EXPECT_EQ(first.next_number, 1);
  const auto next = plan_replica_set(set_of(1), {}, kNothingTaken, first.next_number, kNow);
  EXPECT_NE(next.create, first.create);
}

TEST(PodNumbers, are_read_from_the_set) {
  const auto with = [](const char* text) {
    return PodNumbers::of(set_of(1).with_path({"metadata", "annotations", kPodNumbers}, text));
  };
  EXPECT_EQ(with("12@3456"), (PodNumbers{12, 3456}));
  EXPECT_EQ(with((PodNumbers{7, 8}).to_string().c_str()), (PodNumbers{7, 8}));
  for (const char* text : {"", "12", "12@", "@5", "12@5x", "-1@5", "a@b"}) EXPECT_EQ(with(text), PodNumbers{}) << text;
}

TEST(PodNumbers, go_on_after_names_that_are_taken) {
  const auto made = plan_replica_set(set_of(3), {}, kNothingTaken, 2, kNow);
  const auto is_taken = [&](const std::string& name) { return name == made.create[0] || name == made.create[2]; };
  EXPECT_EQ(with_taken_names({2, 9}, set_of(3), 3, is_taken), (PodNumbers{5, 9}));
  EXPECT_EQ(with_taken_names({2, 9}, set_of(3), 2, is_taken), (PodNumbers{3, 9}));
}

TEST(PlanReplicaSet, counts_neither_ended_nor_ending_pods) {
  const std::vector<Value> pods{pod("a"), pod("b", 100, "Running", "deletionTimestamp: '2026-01-01T00:00:00Z'"),
                                pod("c", -1, "Failed")};
  const auto plan = plan_replica_set(set_of(2), pods, kNothingTaken, 0, kNow);
  EXPECT_EQ(plan.create.size(), 1U);
  EXPECT_TRUE(plan.remove.empty());
  EXPECT_EQ(names(plan_replica_set(set_of(0), pods, kNothingTaken, 0, kNow).remove), "a");
}

TEST(PlanReplicaSet, does_nothing_for_a_set_that_goes) {
  const Value going = set_of(3).with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_TRUE(plan_replica_set(going, {}, kNothingTaken, 0, kNow).create.empty());
}

TEST(PlanReplicaSet, looks_again_when_a_pod_becomes_available) {
  const auto plan = plan_replica_set(set_of(2, 30), {pod("a", 10), pod("b", 25)}, kNothingTaken, 0, kNow);
  EXPECT_EQ(plan.look_again, Duration{seconds{5}});
}

TEST(ReplicaSetStatus, counts_pods) {
  const std::vector<Value> pods{pod("a", 40), pod("b", 10), pod("c", -1), pod("d", -1, "Failed")};
  EXPECT_EQ(replica_set_status(set_of(3, 30), pods, std::nullopt, kNow),
            yaml("{replicas: 3, observedGeneration: 2, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 1}"));
}

TEST(ReplicaSetStatus, tells_a_failure_while_it_lasts) {
  const Value failed = set_of(1).with("status", replica_set_status(set_of(1), {}, ReplicaFailure{true, "no"}, kNow));
  EXPECT_EQ(kube::condition(failed, "ReplicaFailure")["reason"].as_string(), "FailedCreate");
  EXPECT_EQ(replica_set_status(failed, {}, std::nullopt, kNow), yaml("{replicas: 0, observedGeneration: 2}"));
}

TEST(Claim, keeps_takes_and_lets_go) {
  const Value set = set_of(3);
  const auto owned = [](const Value& object, const std::string& uid) {
    const Value owner = json::object({{"kind", "ReplicaSet"}, {"name", "web"}, {"uid", uid}, {"controller", true}});
    return object.with_path({"metadata", "ownerReferences"}, json::array({owner}));
  };
  const auto other_label = [](const Value& object) { return object.with_path({"metadata", "labels", "app"}, "db"); };
  const Claim claim = sort_claim(set, {owned(pod("kept"), "s"), owned(other_label(pod("released")), "s"), pod("taken"),
                                       other_label(pod("foreign")), owned(pod("others"), "t")});
  EXPECT_EQ(names(claim.own), "kept");
  EXPECT_EQ(names(claim.release), "released");
  EXPECT_EQ(names(claim.adopt), "taken");
}

}  // namespace
}  // namespace slipway::cluster
