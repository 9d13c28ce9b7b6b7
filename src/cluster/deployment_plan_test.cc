#include "cluster/deployment_plan.h"

#include <gtest/gtest.h>

#include "cluster/deployment_facts.h"
#include "cluster/deployment_status.h"
#include "json/text.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

const Time kPlanTime{seconds{1'000'000'000}};

/// A Deployment "web" whose template has the image `image`; `spec` are further fields of the spec, in flow style.
Value deployment(const std::string& image, const std::string& spec, Value status = Value::empty_object()) {
  const auto parsed = json::parse_yaml(fmt::format(
      R"({{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: default, uid: d, generation: 1}},
spec: {{selector: {{matchLabels: {{app: web}}}}, {}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: c, image: "{}"}}]}}}}}}}})",
      spec, image));
  return parsed.value().with("status", std::move(status));
}

struct SetOf {
  const char* image;
  std::int64_t size;
  std::int64_t available;
  std::int64_t desired;  // annotation desired-replicas
  std::int64_t max;      // annotation max-replicas
  std::int64_t revision = 1;
};

std::vector<Value> sets_of(const std::vector<SetOf>& rows) {
  std::vector<Value> sets;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SetOf& row = rows[i];
    const Value owner = deployment(row.image, "replicas: 1");
    Value set = make_replica_set(owner);
    const Value annotations = json::object({{kRevision, std::to_string(row.revision)},
                                            {kDesiredReplicas, std::to_string(row.desired)},
                                            {kMaxReplicas, std::to_string(row.max)}});
    const Time created = kPlanTime - seconds{1000 - static_cast<int>(i)};
    set = set.with_path({"metadata", "annotations"}, annotations)
              .with_path({"metadata", "uid"}, row.image)
              .with_path({"metadata", "name"}, row.image)
              .with_path({"metadata", "resourceVersion"}, "7")
              .with_path({"metadata", "creationTimestamp"}, to_rfc3339(created))
              .with_path({"spec", "replicas"}, row.size)
              .with_path({"status", "replicas"}, row.size)
              .with_path({"status", "observedGeneration"}, 1)
              .with_path({"status", "readyReplicas"}, row.available)
              .with_path({"status", "availableReplicas"}, row.available);
    sets.push_back(std::move(set));
  }
  return sets;
}

/// "new+2" for a set to create, "v1=3" for sizes to write, "-v0" for sets to delete.
std::string rollout_picture(const RolloutPlan& plan) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (!plan.create.is_null()) add(fmt::format("new+{}", plan.create["spec"]["replicas"].as_int()));
  for (const SetChange& change : plan.changes) {
    const Value& size = change.patch["spec"]["replicas"];
    if (!size.is_null()) add(fmt::format("{}={}", kube::name(change.set), size.as_int()));
  }
  for (const Value& set : plan.remove) add(fmt::format("-{}", kube::name(set)));
  return text;
}

RolloutPlan plan(const Value& object, const std::vector<SetOf>& rows, bool has_pods = false) {
  return plan_rollout(object, sets_of(rows), [&](const Value&) { return has_pods; }, kPlanTime);
}

struct Case {
  const char* story;
  const char* spec;
  std::vector<SetOf> sets;  // the present template has image v2
  const char* expected;
};

const Case kRolling[] = {
    {"the first set is made at full size", "replicas: 3", {}, "new+3"},
    {"a new template starts with the surge", "replicas: 4", {{"v1", 4, 4, 4, 5}}, "new+1"},
    {"without a surge the new set starts empty",
     "replicas: 4, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}",
     {{"v1", 4, 4, 4, 4}},
     "new+0"},
    {"nothing grows beyond the surge; the old set gives what may be missing",
     "replicas: 4",
     {{"v1", 4, 4, 4, 5}, {"v2", 1, 0, 4, 5, 2}},
     "v1=3"},
    {"the new set grows as far as the old one has shrunk", "replicas: 4", {{"v1", 3, 3, 4, 5}, {"v2", 1, 0, 4, 5, 2}}, "v2=2"},
    {"nothing moves while the new pods are not available and nothing more may be missing",
     "replicas: 4",
     {{"v1", 3, 3, 4, 5}, {"v2", 2, 0, 4, 5, 2}},
     ""},
    {"with maxUnavailable 0 an old pod goes only for an available new one",
     "replicas: 3, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
     {{"v1", 3, 3, 3, 4}, {"v2", 1, 1, 3, 4, 2}},
     "v1=2"},
    {"old pods that are broken anyway go first, the oldest set first",
     "replicas: 4, strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1}}",
     {{"v0", 2, 0, 4, 6}, {"v1", 3, 3, 4, 6, 2}, {"v2", 1, 1, 4, 6, 3}},
     "v0=0 v1=2"},
    {"a set that is just shrinking is no reserve",
     "replicas: 3, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
     {{"v1", 2, 3, 3, 4}, {"v2", 1, 1, 3, 4, 2}},
     "v2=2"},
    {"a new set that is too large is cut", "replicas: 2", {{"v2", 3, 3, 2, 3}}, "v2=2"},
    {"a set that has gone is made again at its size", "replicas: 2", {{"v1", 0, 0, 2, 3}}, "new+2"},
};

TEST(PlanRollout, rolls_step_by_step) {
  for (const Case& row : kRolling) {
    EXPECT_EQ(rollout_picture(plan(deployment("v2", row.spec), row.sets)), row.expected) << row.story;
  }
}

const Case kScaling[] = {
    {"one active set takes the whole size", "replicas: 5", {{"v2", 3, 3, 3, 4}}, "v2=5"},
    {"in the middle of a rollout all sets take their part, the leftover goes to the largest",
     "replicas: 20, strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}",
     {{"v1", 8, 8, 10, 13}, {"v2", 5, 0, 10, 13, 2}},
     "v1=14 v2=9"},
    {"and give it back alike",
     "replicas: 5, strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}",
     {{"v1", 8, 8, 10, 13}, {"v2", 5, 0, 10, 13, 2}},
     "v1=5 v2=3"},
    {"to nothing", "replicas: 0", {{"v1", 3, 3, 4, 5}, {"v2", 2, 1, 4, 5, 2}}, "v1=0 v2=0"},
    {"a paused one is scaled but not rolled", "replicas: 4, paused: true", {{"v1", 3, 3, 3, 4}}, "v1=4"},
    {"a paused one whose size is right rests", "replicas: 3, paused: true", {{"v1", 3, 3, 3, 4}}, ""},
};

TEST(PlanRollout, scales_before_it_rolls) {
  for (const Case& row : kScaling) {
    EXPECT_EQ(rollout_picture(plan(deployment("v2", row.spec), row.sets)), row.expected) << row.story;
  }
}

TEST(PlanRollout, waits_with_growing_for_pods_that_have_yet_to_go) {
  std::vector<Value> sets = sets_of({{"v1", 3, 3, 4, 5}, {"v2", 1, 0, 4, 5, 2}});
  const auto grows = [&] {
    return rollout_picture(plan_rollout(deployment("v2", "replicas: 4"), sets, [](const Value&) { return false; }, kPlanTime));
  };
  EXPECT_EQ(grows(), "v2=2");
  sets[0] = sets[0].with_path({"status", "replicas"}, 4);
  EXPECT_EQ(grows(), "");
}

TEST(PlanRollout, recreates_only_when_every_old_pod_has_gone) {
  const Value object = deployment("v2", "replicas: 3, strategy: {type: Recreate}");
  EXPECT_EQ(rollout_picture(plan(object, {{"v1", 3, 3, 3, 3}}, true)), "v1=0");
  EXPECT_EQ(rollout_picture(plan(object, {{"v1", 0, 0, 3, 3}}, true)), "");
  EXPECT_EQ(rollout_picture(plan(object, {{"v1", 0, 0, 3, 3}}, false)), "new+3");
  EXPECT_EQ(rollout_picture(plan(object, {{"v1", 0, 0, 3, 3}, {"v2", 0, 0, 3, 3, 2}}, false)), "v2=3");
}

TEST(PlanRollout, gives_a_set_that_becomes_new_again_the_next_revision_and_its_history) {
  const RolloutPlan undone = plan(deployment("v1", "replicas: 2"), {{"v1", 0, 0, 2, 3, 1}, {"v2", 2, 2, 2, 3, 2}});
  ASSERT_EQ(undone.changes.size(), 1U);
  const Value& annotations = undone.changes[0].patch["metadata"]["annotations"];
  EXPECT_EQ(annotations[kRevision].as_string(), "3");
  EXPECT_EQ(annotations[kRevisionHistory].as_string(), "1");
  EXPECT_EQ(undone.revision, "3");
}

TEST(PlanRollout, keeps_the_latest_revisions_once_the_rollout_is_complete) {
  const Value status =
      json::parse(R"({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2})").value();
  const std::vector<SetOf> sets{{"v0", 0, 0, 2, 3, 3}, {"va", 0, 0, 2, 3, 1}, {"vb", 0, 0, 2, 3, 2}, {"v2", 2, 2, 2, 3, 4}};
  EXPECT_EQ(rollout_picture(plan(deployment("v2", "replicas: 2, revisionHistoryLimit: 1", status), sets)), "-va -vb");
  EXPECT_EQ(rollout_picture(plan(deployment("v2", "replicas: 2, revisionHistoryLimit: 0", status), sets)), "-va -vb -v0");
  EXPECT_EQ(rollout_picture(plan(deployment("v2", "replicas: 2", status), sets)), "");
}

TEST(PlanRollout, inherits_annotations_but_not_those_of_apply) {
  Value object = deployment("v2", "replicas: 1");
  object = object.with_path(
      {"metadata", "annotations"},
      json::object({{"kubernetes.io/change-cause", "set image"}, {"kubectl.kubernetes.io/last-applied-configuration", "{}"}}));
  const RolloutPlan made = plan(object, {});
  EXPECT_EQ(made.create["metadata"]["annotations"],
            json::parse(R"({"kubernetes.io/change-cause": "set image", "deployment.kubernetes.io/revision": "1",
"deployment.kubernetes.io/desired-replicas": "1", "deployment.kubernetes.io/max-replicas": "2"})")
                .value());
}

TEST(Shares, round_surge_up_and_unavailable_down) {
  struct Row {
    const char* spec;
    std::int64_t surge;
    std::int64_t unavailable;
  };
  const Row rows[] = {
      {"replicas: 10", 3, 2},
      {"replicas: 1", 1, 0},
      {"replicas: 3, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 10%}}", 0, 1},
      {"replicas: 2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 5}}", 0, 2},
      {"replicas: 0", 0, 0},
      {"replicas: 4, strategy: {rollingUpdate: {maxSurge: 100%, maxUnavailable: 0}}", 4, 0},
      {"replicas: 4, strategy: {type: Recreate}", 0, 0},
  };
  for (const Row& row : rows) {
    const DeploymentSpec spec(deployment("v", row.spec));
    EXPECT_EQ(spec.max_surge, row.surge) << row.spec;
    EXPECT_EQ(spec.max_unavailable, row.unavailable) << row.spec;
  }
}

TEST(TemplateHash, depends_on_content_and_collisions_only) {
  const Value object = deployment("v", "replicas: 1");
  EXPECT_EQ(template_hash(object), template_hash(deployment("v", "replicas: 7")));
  EXPECT_NE(template_hash(object), template_hash(deployment("w", "replicas: 1")));
  EXPECT_NE(template_hash(object), template_hash(object.with_path({"status", "collisionCount"}, 1)));
  EXPECT_TRUE(are_equal_templates(object["spec"]["template"], make_replica_set(object)["spec"]["template"]));
}

/// Progressing of the status that a plan writes: "True NewReplicaSetCreated".
std::string progress(const Value& object, const std::vector<SetOf>& sets, Duration later = Duration{0}) {
  const RolloutPlan made = plan_rollout(object, sets_of(sets), [](const Value&) { return false; }, kPlanTime + later);
  const Value after = object.with("status", made.status.is_null() ? object["status"] : made.status);
  const Value& condition = kube::condition(after, "Progressing");
  return condition.is_null() ? "" : fmt::format("{} {}", condition["status"].as_string(), condition["reason"].as_string());
}

Value with_progress(const char* reason, int seconds_ago, std::int64_t updated = 1) {
  return json::object(
      {{"observedGeneration", 1},
       {"replicas", 4},
       {"updatedReplicas", updated},
       {"readyReplicas", 3},
       {"availableReplicas", 3},
       {"unavailableReplicas", 1},
       {"conditions", json::array({json::object({{"type", "Progressing"},
                                                 {"status", "True"},
                                                 {"lastUpdateTime", to_rfc3339(kPlanTime - seconds{seconds_ago})},
                                                 {"reason", reason}})})}});
}

TEST(RolloutStatus, tells_how_the_rollout_goes_on) {
  const std::vector<SetOf> stuck{{"v1", 3, 3, 4, 5}, {"v2", 1, 0, 4, 5, 2}};
  const std::string spec =
      "replicas: 3, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, progressDeadlineSeconds: 60";
  EXPECT_EQ(progress(deployment("v2", spec), {}), "True NewReplicaSetCreated");
  EXPECT_EQ(progress(deployment("v2", spec), {{"v2", 3, 0, 3, 4}}), "True ReplicaSetUpdated");
  EXPECT_EQ(progress(deployment("v2", spec), {{"v2", 3, 3, 3, 4}}), "True NewReplicaSetAvailable");
  const std::vector<SetOf> waiting{{"v1", 3, 3, 3, 4}, {"v2", 1, 0, 3, 4, 2}};
  EXPECT_EQ(progress(deployment("v2", spec, with_progress("ReplicaSetUpdated", 60)), waiting), "True ReplicaSetUpdated");
  EXPECT_EQ(progress(deployment("v2", spec, with_progress("ReplicaSetUpdated", 61)), waiting),
            "False ProgressDeadlineExceeded");
  EXPECT_EQ(progress(deployment("v2", spec + ", paused: true", with_progress("ReplicaSetUpdated", 9)), waiting),
            "Unknown DeploymentPaused");
  EXPECT_EQ(progress(deployment("v2", spec, with_progress("DeploymentPaused", 9)), waiting), "Unknown DeploymentResumed");
}

TEST(RolloutStatus, moves_the_deadline_only_with_progress) {
  const std::string spec =
      "replicas: 3, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, progressDeadlineSeconds: 60";
  const std::vector<SetOf> waiting{{"v1", 3, 3, 3, 4}, {"v2", 1, 0, 3, 4, 2}};
  const RolloutPlan still = plan(deployment("v2", spec, with_progress("ReplicaSetUpdated", 20)), waiting);
  EXPECT_EQ(still.look_again, Duration{seconds{41}});
  const RolloutPlan moved = plan(deployment("v2", spec, with_progress("ReplicaSetUpdated", 20, 0)), waiting);
  EXPECT_EQ(moved.look_again, Duration{seconds{61}});
}

}  // namespace
}  // namespace slipway::cluster
