// What people ask of workflows that wait: suspend, resume, terminate, on Applications and WorkflowRuns.
#include <gtest/gtest.h>

#include "json/text.h"
#include "oracle_plane.h"
#include "plane/show.h"

namespace slipway::oracle_test {
namespace {

struct OperatedKind {
  const char* manifest;  // two steps: one that waits for a person, one that does not
  const char* reference;
  const char* waiting;
  const char* delivered;
  const char* ended;
};

const OperatedKind kKinds[] = {
    {R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a, namespace: default}, spec: {
      components: [{name: web, type: webservice, properties: {image: a}}],
      workflow: {steps: [{name: ask, type: suspend}, {name: go, type: deploy}]}}})",
     "{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: a}", "workflowSuspending", "running",
     "workflowTerminated"},
    {R"({apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: a, namespace: default}, spec: {
      workflowSpec: {steps: [{name: ask, type: suspend},
        {name: go, type: print-message-in-status, properties: {message: gone}}]}}})",
     "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, namespace: default, name: a}", "suspending", "succeeded",
     "terminated"},
};

class Operate : public testing::Test {
 protected:
  Value now(const OperatedKind& kind) { return plane_.find(kHub, *json::parse_yaml(kind.reference)); }
  std::string phase(const OperatedKind& kind) { return now(kind)["status"]["status"].str(); }
  /// Makes one and lets it come to its first step.
  void begin(const OperatedKind& kind) {
    plane_.make_namespace("default");
    ASSERT_EQ(plane_.apply(*json::parse_yaml(kind.manifest), "default"), "");
    plane_.pass(std::chrono::seconds{10});
    ASSERT_EQ(phase(kind), kind.waiting);
    ASSERT_TRUE(plane::waits_for_person(now(kind)));
  }
  std::string act(const OperatedKind& kind, const std::string& verb, const std::string& part = "") {
    return plane_.act(*json::parse_yaml(kind.reference), "workflow " + verb, part);
  }
  Plane plane_{&image()};
};

TEST_F(Operate, what_waits_goes_on_when_it_is_resumed) {
  for (const OperatedKind& kind : kKinds) {
    begin(kind);
    EXPECT_EQ(act(kind, "resume"), "");
    EXPECT_FALSE(plane::waits_for_person(now(kind))) << "before the workflow has gone on, too";
    plane_.pass(std::chrono::seconds{30});
    EXPECT_EQ(phase(kind), kind.delivered);
  }
}

TEST_F(Operate, one_step_can_be_named) {
  for (const OperatedKind& kind : kKinds) {
    begin(kind);
    EXPECT_NE(act(kind, "resume", "nobody"), "");
    EXPECT_EQ(act(kind, "resume", "ask"), "");
    plane_.pass(std::chrono::seconds{30});
    EXPECT_EQ(phase(kind), kind.delivered);
  }
}

TEST_F(Operate, what_is_terminated_ends_and_cannot_be_resumed) {
  for (const OperatedKind& kind : kKinds) {
    begin(kind);
    EXPECT_EQ(act(kind, "terminate"), "");
    plane_.pass(std::chrono::seconds{30});
    EXPECT_EQ(phase(kind), kind.ended);
    EXPECT_NE(act(kind, "resume"), "");
    EXPECT_EQ(phase(kind), kind.ended);
  }
}

TEST_F(Operate, what_is_not_there_is_told_so) {
  plane_.make_namespace("default");
  const std::string refusal = plane_.act(*json::parse_yaml(kKinds[0].reference), "workflow resume");
  EXPECT_TRUE(refusal.contains("\"a\" not found")) << refusal;
}

}  // namespace
}  // namespace slipway::oracle_test
