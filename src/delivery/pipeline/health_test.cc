#include "delivery/pipeline/health.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/corpus_test.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

Health judged(const std::string& yaml) {
  const auto object = json::parse_yaml(yaml);
  EXPECT_TRUE(object.has_value()) << yaml;
  return object ? health_of(*object).health : Health::Unhealthy;
}

TEST(HealthCorpus, the_file_name_is_the_verdict) {
  const auto files = corpus_folder("health");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  CountedSuite suite("pipeline/health");
  for (const CorpusFile& file : files) {
    const auto object = json::parse_yaml(file.text);
    ASSERT_TRUE(object.has_value()) << file.name;
    const HealthVerdict verdict = health_of(*object);
    const std::string word = file.name.substr(file.name.find('-') + 1);
    // One file spells its verdict "unhealty".
    const Health wanted = word.starts_with("healthy") ? Health::Healthy
                          : word.starts_with("prog")  ? Health::Progressing
                                                      : Health::Unhealthy;
    suite.count(verdict.health == wanted);
    EXPECT_EQ(json::enum_name(verdict.health), json::enum_name(wanted)) << file.name << ": " << verdict.text;
  }
}

TEST(Health, a_deployment_is_on_its_way_until_old_pods_are_gone_and_new_ones_available) {
  const std::string head = "{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 2}, status: ";
  EXPECT_EQ(judged(head + "{observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}"), Health::Healthy);
  EXPECT_EQ(judged(head + "{observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}"),
            Health::Progressing);
  EXPECT_EQ(judged(head + "{observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 3}}"),
            Health::Progressing);
  EXPECT_EQ(judged(head + "{observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}"),
            Health::Progressing);
  EXPECT_EQ(judged(head + "{observedGeneration: 2}}"), Health::Progressing);
}

TEST(Health, a_stateful_set_keeps_the_pods_below_its_partition) {
  const std::string head =
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 3, updateStrategy: {rollingUpdate: "
      "{partition: 2}}}, status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: "
      "b, ";
  EXPECT_EQ(judged(head + "updatedReplicas: 1}}"), Health::Healthy);
  EXPECT_EQ(judged(head + "updatedReplicas: 0}}"), Health::Progressing);
}

TEST(Health, a_job_ends_well_or_not) {
  const std::string head = "{apiVersion: batch/v1, kind: Job, status: {conditions: [";
  EXPECT_EQ(judged(head + "{type: Complete, status: 'True'}]}}"), Health::Healthy);
  EXPECT_EQ(judged(head + "{type: Failed, status: 'True'}]}}"), Health::Unhealthy);
  EXPECT_EQ(judged(head + "]}}"), Health::Progressing);
}

TEST(Health, a_pod_whose_container_cannot_start_is_unhealthy_before_it_failed) {
  const std::string head =
      "{kind: Pod, apiVersion: v1, status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ";
  EXPECT_EQ(judged(head + "CrashLoopBackOff}}}]}}"), Health::Unhealthy);
  EXPECT_EQ(judged(head + "ErrImagePull}}}]}}"), Health::Unhealthy);
  EXPECT_EQ(judged(head + "ContainerCreating}}}]}}"), Health::Progressing);
}

TEST(Health, other_kinds_are_judged_by_their_conditions) {
  const std::string head = "{apiVersion: example.com/v1, kind: Thing, metadata: {generation: 3}, status: {observedGeneration: ";
  EXPECT_EQ(judged(head + "2, conditions: [{type: Ready, status: 'True'}]}}"), Health::Progressing);
  EXPECT_EQ(judged(head + "3, conditions: [{type: Ready, status: 'True'}]}}"), Health::Healthy);
  EXPECT_EQ(judged(head + "3, conditions: [{type: Ready, status: 'False'}]}}"), Health::Unhealthy);
  EXPECT_EQ(judged(head + "3, conditions: [{type: Reconciling, status: 'True'}, {type: Ready, status: 'False'}]}}"),
            Health::Progressing);
  EXPECT_EQ(judged("{apiVersion: v1, kind: ConfigMap}"), Health::Healthy);
}

TEST(Health, what_goes_is_on_its_way) {
  EXPECT_EQ(judged("{apiVersion: v1, kind: Service, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}"),
            Health::Progressing);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
