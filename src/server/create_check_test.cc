#include "server/create_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::server {
namespace {

using Faults = std::vector<std::string>;

/// The Job has labels of its own: without any it would get those of its template.
Faults faults_of(const std::string& spec) {
  static const CreateCheck kCheck({"batch", "v1", "Job"});
  const auto job = json::parse_yaml(fmt::format(
      "{{apiVersion: batch/v1, kind: Job, metadata: {{name: j, namespace: default, labels: {{of: job}}}}, spec: {}}}", spec));
  Faults out;
  for (const Cause& cause : kCheck(*job)) out.push_back(cause.field + ": " + cause.message);
  return out;
}

const std::string kPod = "spec: {restartPolicy: Never, containers: [{name: m, image: i}]}";

TEST(CreateCheck, finds_nothing_in_a_job_that_would_be_created) {
  EXPECT_EQ(faults_of("{template: {" + kPod + "}}"), Faults{});
  EXPECT_EQ(faults_of("{unknown: 1, template: {" + kPod + "}}"), Faults{}) << "unknown fields are dropped, as by a create";
}

TEST(CreateCheck, finds_faults_of_the_schema_and_of_the_kind) {
  EXPECT_EQ(faults_of("{completionMode: Nope, template: {" + kPod + "}}"),
            (Faults{"spec.completionMode: Unsupported value: \"Nope\": supported values: \"Indexed\", \"NonIndexed\""}));
  const Faults type = faults_of("{parallelism: many, template: {" + kPod + "}}");
  ASSERT_EQ(type.size(), 1U);
  EXPECT_TRUE(type[0].starts_with("spec.parallelism: ")) << type[0];
}

TEST(CreateCheck, finds_faults_of_labels_in_the_pod_template) {
  const Faults label = faults_of("{template: {metadata: {labels: {'x: y': z}}, " + kPod + "}}");
  ASSERT_EQ(label.size(), 1U);
  EXPECT_TRUE(label[0].starts_with("spec.template.metadata.labels: Invalid value: \"x: y\"")) << label[0];
}

}  // namespace
}  // namespace slipway::server
