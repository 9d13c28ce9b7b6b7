// Steps that create objects from templates, against the real server, in virtual time.
#include <gtest/gtest.h>

#include "rights_fixture.h"

namespace slipway::jobflow_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Names = std::vector<std::string>;
using kube::kConfigMaps;
using kube::kDeployments;

constexpr const char* kData = "{apiVersion: v1, kind: ConfigMap, metadata: {name: data}, data: {a: b}}";
/// Available after 20 s.
constexpr const char* kWeb =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, "
    "template: {metadata: {labels: {app: web}, annotations: {slipway.dev/ready-after: 20s}}, spec: {containers: [{name: m, "
    "image: i}]}}}}";

class ObjectStep : public RightsTest {
 protected:
  Value steps(const std::string& name, const std::string& steps, const std::string& more = "") {
    return yaml(
        fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: {}, namespace: default}}, "
                    "spec: {{steps: {{{}}}{}}}}}",
                    name, steps, more));
  }
  void start(const std::string& text, const std::string& more = "") { must(create(kWorkflows, steps("w", text, more))); }
  Names refused(const std::string& text) {
    const auto made = create(kWorkflows, steps("w", text));
    Names out;
    if (made) return {"accepted"};
    for (const Cause& cause : made.error().causes) out.push_back(cause.field + ": " + cause.message);
    return out;
  }
  std::string message(const std::string& step) { return workflow("w")["status"]["statuses"][step]["message"].str(); }
};

TEST_F(ObjectStep, creates_an_object_waits_for_its_condition_and_owns_it) {
  start(
      fmt::format("data: {{objectTemplate: {}}}, web: {{objectTemplate: {}, until: {{condition: Available}}, dependencies: "
                  "[data]}}, after: {{jobTemplate: {}, dependencies: [web]}}",
                  kData, kWeb, job()));
  advance(seconds{10});
  EXPECT_EQ(phase(workflow("w"), "data"), "Succeeded") << "without until: done once it is created";
  EXPECT_EQ(phase(workflow("w"), "web"), "Running");
  EXPECT_EQ(reason(workflow("w"), "web"), "ObjectPending");
  EXPECT_EQ(message("web"), "Deployment web is not Available=True yet");
  const Value web = get(kDeployments, "web");
  EXPECT_EQ(kube::controller_of(web)["uid"], workflow("w")["metadata"]["uid"]);
  EXPECT_EQ(kube::annotation(web, delivery::jobflow::kStepAnnotation), "web");
  EXPECT_EQ(get(kConfigMaps, "data")["data"]["a"].str(), "b");
  const Value end = end_of("w", minutes{5});
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(end["status"]["statuses"]["web"]["reference"]["name"].str(), "web");
  EXPECT_FALSE(get(kDeployments, "web").is_null()) << "stays until the workflow is deleted";
  remove("w");
  advance(seconds{10});
  EXPECT_TRUE(get(kDeployments, "web").is_null());
  EXPECT_TRUE(get(kConfigMaps, "data").is_null());
}

TEST_F(ObjectStep, ends_as_soon_as_its_object_has_the_condition) {
  start(fmt::format("web: {{objectTemplate: {}, until: {{condition: Available}}}}", kWeb));
  advance(seconds{10});
  Duration waited{0};
  while (!kube::is_true(get(kDeployments, "web"), "Available") && waited < minutes{2}) {
    advance(std::chrono::milliseconds{100});
    waited += std::chrono::milliseconds{100};
  }
  advance(std::chrono::milliseconds{200});
  EXPECT_EQ(phase(workflow("w"), "web"), "Succeeded") << "it is watched, not looked at now and then";
}

TEST_F(ObjectStep, names_objects_of_templates_without_a_name_by_step_and_attempt) {
  start("one: {objectTemplate: {apiVersion: v1, kind: ConfigMap, data: {a: b}}}");
  const Value end = end_of("w");
  const std::string name = end["status"]["statuses"]["one"]["reference"]["name"].str();
  EXPECT_TRUE(name.starts_with("w-one-")) << name;
  EXPECT_FALSE(get(kConfigMaps, name).is_null());
}

TEST_F(ObjectStep, is_refused_for_other_namespaces_cluster_scoped_kinds_and_jobs) {
  EXPECT_EQ(refused("a: {objectTemplate: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: other}}}"),
            (Names{"spec.steps[a].objectTemplate.metadata.namespace: Invalid value: \"other\": the object is created in the "
                   "workflow's namespace: leave it out"}));
  EXPECT_EQ(refused("a: {objectTemplate: {apiVersion: v1, kind: Namespace, metadata: {name: x}}}"),
            (Names{"spec.steps[a].objectTemplate.kind: Invalid value: \"Namespace\": does not live in namespaces: a workflow "
                   "creates objects of its own namespace only"}));
  EXPECT_EQ(refused("a: {objectTemplate: {apiVersion: batch/v1, kind: Job}}"),
            (Names{"spec.steps[a].objectTemplate: Forbidden: a step creates a Job by jobTemplate or template"}));
  EXPECT_EQ(refused("a: {objectTemplate: {kind: ConfigMap}}"),
            (Names{"spec.steps[a].objectTemplate.apiVersion: Required value"}));
  EXPECT_EQ(refused("a: {objectTemplate: {apiVersion: v1, kind: ConfigMap, metadata: {ownerReferences: []}}}"),
            (Names{"spec.steps[a].objectTemplate.metadata.ownerReferences: Forbidden: set by the workflow controller"}));
  EXPECT_EQ(refused(fmt::format("a: {{objectTemplate: {0}}}, b: {{objectTemplate: {0}}}", kData)),
            (Names{"spec.steps[b].objectTemplate.metadata.name: Duplicate value: \"data\""}));
  EXPECT_EQ(refused(fmt::format("a: {{objectTemplate: {}, externalRef: {{kind: Job, name: x}}}}", kData)),
            (Names{"spec.steps[a]: Forbidden: only one of jobTemplate, template, objectTemplate and externalRef may be set"}));
}

TEST_F(ObjectStep, fails_for_a_custom_kind_that_does_not_live_in_namespaces) {
  must(create(
      {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
      yaml("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: moons.sea.example.com}, "
           "spec: {group: sea.example.com, scope: Cluster, names: {kind: Moon, plural: moons, singular: moon, listKind: "
           "MoonList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}")));
  advance(seconds{1});
  start("a: {objectTemplate: {apiVersion: sea.example.com/v1, kind: Moon, metadata: {name: full}}}");
  const Value end = end_of("w");
  EXPECT_EQ(reason(end, "a"), "ObjectRefused");
  EXPECT_NE(message("a").find("does not live in namespaces"), std::string::npos) << message("a");
}

TEST_F(ObjectStep, waits_for_a_kind_that_is_not_served_yet) {
  start("a: {objectTemplate: {apiVersion: sea.example.com/v1, kind: Tide, metadata: {name: high}}}");
  advance(seconds{7});
  EXPECT_EQ(reason(workflow("w"), "a"), "ObjectUnknown");
  EXPECT_EQ(message("a"), "Tide of sea.example.com/v1 is not served");
}

TEST_F(ObjectStep, acts_with_the_rights_of_the_author) {
  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs", "/configmaps"});
  allow("bob", {"batch.slipway.dev/workflows"});
  must(create_as("alice", kWorkflows, steps("w", fmt::format("a: {{objectTemplate: {}}}", kData))));
  EXPECT_TRUE(kube::is_true(end_of("w"), "Complete"));
  must(create_as("bob", kWorkflows, steps("x", "a: {objectTemplate: {apiVersion: v1, kind: ConfigMap}}")));
  const Value end = end_of("x");
  EXPECT_EQ(reason(end, "a"), "ObjectRefused");
  EXPECT_NE(end["status"]["statuses"]["a"]["message"].as_string().find("\"bob\" cannot"), std::string_view::npos)
      << end["status"]["statuses"]["a"]["message"].as_string();
  // Whoever changes the spec becomes the author: a step that bob adds to alice's workflow has bob's rights.
  must(create_as(
      "alice", kWorkflows,
      steps("late", fmt::format("a: {{jobTemplate: {}}}, b: {{dependencies: [a], objectTemplate: {{apiVersion: v1, kind: "
                                "ConfigMap}}}}",
                                job("slipway.dev/run-time: 10s")))));
  advance(seconds{2});
  must(env_->run(client::merge_patch(as("bob"), kWorkflows, {"default", "late"}, yaml("{spec: {parallelism: 7}}"), "t")));
  EXPECT_EQ(reason(end_of("late"), "b"), "ObjectRefused");
}

TEST_F(ObjectStep, cannot_be_given_an_author_by_an_annotation) {
  allow("bob", {"batch.slipway.dev/workflows"});
  const Value forged = steps("w", fmt::format("a: {{objectTemplate: {}}}", kData))
                           .with_path({"metadata", "annotations", delivery::jobflow::kUserName}, "admin")
                           .with_path({"metadata", "annotations", delivery::jobflow::kUserGroups}, "system:masters");
  must(create_as("bob", kWorkflows, forged));
  EXPECT_EQ(reason(end_of("w"), "a"), "ObjectRefused");
}

TEST_F(ObjectStep, fails_where_another_object_has_the_name) {
  must(create(kConfigMaps,
              yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: data, namespace: default}, data: {mine: x}}")));
  start(fmt::format("a: {{objectTemplate: {}}}", kData));
  const Value end = end_of("w");
  EXPECT_EQ(reason(end, "a"), "ObjectNameTaken");
  EXPECT_EQ(get(kConfigMaps, "data")["data"]["mine"].str(), "x");
}

TEST_F(ObjectStep, creates_an_object_again_that_was_deleted_while_its_step_runs) {
  start(fmt::format("a: {{objectTemplate: {}, until: {{condition: Available}}}}", kWeb));
  advance(seconds{10});
  const Value before = get(kDeployments, "web");
  ASSERT_TRUE(env_->run(client::remove(server(), kDeployments, {"default", "web"})));
  advance(seconds{10});
  EXPECT_NE(get(kDeployments, "web")["metadata"]["uid"], before["metadata"]["uid"]);
  EXPECT_TRUE(kube::is_true(end_of("w", minutes{5}), "Complete"));
}

TEST_F(ObjectStep, deletes_the_object_of_a_step_that_is_cut_short) {
  start(fmt::format("a: {{objectTemplate: {}, until: {{condition: Never}}, timeoutSeconds: 30}}", kWeb));
  const Value late = end_of("w");
  EXPECT_EQ(reason(late, "a"), "StepTimeout");
  EXPECT_TRUE(get(kDeployments, "web").is_null());
  must(create(kWorkflows, steps("d", fmt::format("a: {{objectTemplate: {}, until: {{condition: Never}}}}", kWeb),
                                ", activeDeadlineSeconds: 40")));
  const Value dead = end_of("d");
  EXPECT_EQ(phase(dead, "a"), "Cancelled");
  EXPECT_TRUE(get(kDeployments, "web").is_null());
}

TEST_F(ObjectStep, a_rerun_replaces_the_object_of_a_template_with_a_name) {
  start(fmt::format("a: {{objectTemplate: {}}}", kData));
  end_of("w");
  const Value before = get(kConfigMaps, "data");
  ASSERT_TRUE(patch("w", "{rerun: {id: r1}}"));
  advance(seconds{20});
  EXPECT_TRUE(kube::is_true(workflow("w"), "Complete")) << json::print_pretty(workflow("w")["status"]);
  EXPECT_NE(get(kConfigMaps, "data")["metadata"]["uid"], before["metadata"]["uid"]);
  EXPECT_EQ(kube::annotation(get(kConfigMaps, "data"), delivery::jobflow::kAttemptAnnotation), "2");
}

TEST_F(ObjectStep, a_workflow_within_a_workflow_ends_its_step_and_is_tried_again) {
  start(fmt::format(
      "a: {{retry: {{limit: 1, backoff: {{duration: 1s}}}}, objectTemplate: {{apiVersion: batch.slipway.dev/v1alpha1, "
      "kind: Workflow, spec: {{steps: {{in: {{jobTemplate: {}}}}}}}}}}}",
      job("slipway.dev/exit-code: '1'")));
  const Value end = end_of("w", minutes{5});
  EXPECT_EQ(reason(end, "a"), "ObjectFailed");
  EXPECT_EQ(end["status"]["statuses"]["a"]["attempts"].as_int(), 2);
  EXPECT_EQ(list(kWorkflows).size(), 3U);
  must(create(kWorkflows,
              steps("x", fmt::format("a: {{objectTemplate: {{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: "
                                     "{{name: inner}}, spec: {{steps: {{in: {{jobTemplate: {}}}}}}}}}}}",
                                     job("slipway.dev/run-time: 3s")))));
  const Time began = now();
  EXPECT_TRUE(kube::is_true(end_of("x"), "Complete"));
  EXPECT_LE(now() - began, seconds{5}) << "woken by the end of the inner one";
}

TEST_F(ObjectStep, finds_a_created_workflow_that_waits_for_its_creator) {
  start(
      "a: {objectTemplate: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {name: inner}, spec: {steps: "
      "{back: "
      "{externalRef: {kind: Workflow, name: w}}}}}}");
  const Value end = end_of("w", minutes{5});
  EXPECT_EQ(reason(end, "a"), "ObjectFailed");
  EXPECT_EQ(reason(workflow("inner"), "back"), "ExternalCycle");
}

/// Killed at each write in turn.
TEST_F(ObjectStep, ends_the_same_wherever_the_process_is_killed) {
  for (kube::Revision after = 0; after < 24; ++after) {
    const std::string name = fmt::format("w{}", after);
    const std::string own = fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: data{}}}}}", after);
    const kube::Revision begin = api_->store().revision();
    must(create(kWorkflows,
                steps(name, fmt::format("data: {{objectTemplate: {}}}, work: {{jobTemplate: {}, dependencies: [data]}}, "
                                        "late: {{dependencies: [data], tolerated: true, timeoutSeconds: 8, "
                                        "objectTemplate: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: "
                                        "late{}}}}}, until: {{condition: Never}}}}",
                                        own, job("slipway.dev/run-time: 5s"), after))));
    env_->run_until([&] { return api_->store().revision() >= begin + 1 + after; }, seconds{30});
    restart();
    const Value end = end_of(name, minutes{5});
    EXPECT_TRUE(kube::is_true(end, "Complete")) << after;
    EXPECT_EQ(end["status"]["statuses"]["data"]["attempts"].as_int(), 1) << after;
    EXPECT_EQ(reason(end, "late"), "StepTimeout") << after;
    EXPECT_FALSE(get(kConfigMaps, fmt::format("data{}", after)).is_null()) << after;
    EXPECT_TRUE(get(kConfigMaps, fmt::format("late{}", after)).is_null()) << after;
  }
}

}  // namespace
}  // namespace slipway::jobflow_test
