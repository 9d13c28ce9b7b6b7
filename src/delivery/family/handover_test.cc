#include "delivery/family/handover.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery {
namespace {

using json::Value;

Value parsed(const char* yaml) {
  auto value = json::parse_yaml(yaml);
  EXPECT_TRUE(value);
  return value ? *value : Value();
}

TEST(Handover, a_workload_is_called_after_its_revision) {
  EXPECT_EQ(revision_workload_name("web", "a", "a-v2"), "web-v2");
  EXPECT_EQ(revision_workload_name("web", "a", "other"), "web-other");
  EXPECT_EQ(revision_workload_name("web", "a", "a-"), "web-a-");
}

TEST(Handover, autoscalers_follow_their_workload_and_no_other) {
  const Value workload = parsed("{kind: Deployment, metadata: {name: web}}");
  const Value scaler = parsed("{spec: {scaleTargetRef: {kind: Deployment, name: web}}}");
  EXPECT_EQ(following_workload(scaler, workload, "web", "web-v2")["spec"]["scaleTargetRef"]["name"].as_string(), "web-v2");
  const Value other = parsed("{spec: {scaleTargetRef: {kind: StatefulSet, name: web}}}");
  EXPECT_EQ(following_workload(other, workload, "web", "web-v2"), other);
}

TEST(Handover, holders_are_rollouts_over_revisions) {
  EXPECT_TRUE(is_holder(parsed("{spec: {targetAppRevisionName: a-v1, rolloutPlan: {}}}")));
  EXPECT_TRUE(is_holder(parsed("{spec: {targetRevisionName: web-v1, rolloutPlan: {}}}")));
  EXPECT_FALSE(is_holder(parsed("{spec: {strategy: {canary: {}}}}")));
  EXPECT_FALSE(is_holder(parsed("{spec: {targetRef: {name: web}, rolloutPlan: {}}}")));
  const std::string holder = holder_name(parsed("{apiVersion: g.example/v1, kind: Roll, metadata: {name: a-web}}"));
  EXPECT_EQ(holder, "g.example/v1/Roll/a-web");
  EXPECT_EQ(holder_text(holder), "Roll/a-web");
  ASSERT_TRUE(read_holder(holder));
  EXPECT_EQ(read_holder(holder)->name, "a-web");
  EXPECT_EQ(kind_text(read_holder(holder)->kind), "g.example/v1/Roll");
  EXPECT_FALSE(read_holder("web"));
}

TEST(Handover, a_request_to_yield_is_about_one_attempt) {
  const Value rollout =
      parsed("{metadata: {annotations: {}}}").with_path({"metadata", "annotations", kYieldRequest}, yield_request("a-v3", 2));
  EXPECT_TRUE(is_asked_to_yield(rollout, 2));
  EXPECT_FALSE(is_asked_to_yield(rollout, 3));
  EXPECT_FALSE(is_asked_to_yield(Value::empty_object(), 0));
}

TEST(Handover, applied_fields_pass_to_the_new_deliverer_and_sizes_do_not) {
  const Value live = parsed(R"(
metadata:
  managedFields:
  - {manager: from, operation: Apply, fieldsV1: {"f:spec": {"f:ports": {}}}}
  - {manager: to, operation: Apply, fieldsV1: {"f:spec": {"f:selector": {}}}}
  - {manager: from, operation: Update, fieldsV1: {"f:spec": {"f:replicas": {}}}})");
  const auto fields = handed_over_fields(live, "from", "to");
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 2U);
  EXPECT_EQ(fields->item(0)["operation"].as_string(), "Update");
  EXPECT_EQ(fields->item(1)["manager"].as_string(), "to");
  EXPECT_EQ(json::print(fields->item(1)["fieldsV1"]), R"({"f:spec":{"f:ports":{},"f:selector":{}}})");
  EXPECT_FALSE(handed_over_fields(live, "other", "to"));
}

}  // namespace
}  // namespace slipway::delivery
