#include "delivery/jobflow/job.h"

#include <gtest/gtest.h>

#include <set>

#include "delivery/jobflow/names.h"
#include "delivery/jobflow/test_flow.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

TEST(JobName, is_a_dns_label_for_any_step_name) {
  const std::string long_name(253, 'x');
  for (const auto& step : std::vector<std::string>{std::string("build"), std::string("Build & Test / ünïcode …"),
                                                   std::string("…"), std::string("-.-"), long_name}) {
    for (const auto& workflow : std::vector<std::string>{std::string("w"), std::string("release.v1"), long_name}) {
      const std::string name = job_name(workflow, "uid", step, 1);
      EXPECT_EQ(kube::dns1123_label_faults(name), kube::Faults{}) << name;
      EXPECT_EQ(name, job_name(workflow, "uid", step, 1));
      EXPECT_EQ(kube::label_value_faults(label_value(step)), kube::Faults{}) << step;
    }
  }
  EXPECT_TRUE(job_name("release", "uid", "test-2", 1).starts_with("release-test-2-"));
}

TEST(JobName, differs_by_uid_step_and_attempt) {
  std::set<std::string> names;
  for (const char* uid : {"u1", "u2"}) {
    for (const char* step : {"a", "A", "a ", "b"}) {
      for (int attempt = 1; attempt < 4; ++attempt) names.insert(job_name("w", uid, step, attempt));
    }
  }
  EXPECT_EQ(names.size(), 24u);
}

const char* const kRich = R"(
    metadata: {labels: {team: ships, tier: all}, annotations: {note: every}}
    templates:
      t:
        metadata: {labels: {tier: own}, annotations: {own: 'yes'}}
        spec:
          template:
            metadata: {labels: {pod: p}}
            spec:
              restartPolicy: Never
              initContainers: [{name: i}]
              containers: [{name: m, env: [{name: A, value: old}, {name: B, value: kept}]}]
    steps:
      'step one!':
        template: {name: t, env: [{name: A, value: new}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}
)";

TEST(MakeJob, puts_together_what_workflow_template_and_step_say) {
  Play play(kRich);
  play.step();
  const auto program = *Program::compile(play.workflow());
  const Value job = make_job(play.workflow(), *program, 0, 2);
  EXPECT_EQ(job["metadata"]["labels"], yaml("{team: ships, tier: own, batch.slipway.dev/workflow: w, batch.slipway.dev/step: " +
                                            label_value("step one!") + "}"));
  EXPECT_EQ(job["metadata"]["annotations"],
            yaml("{note: every, own: 'yes', batch.slipway.dev/step: step one!, batch.slipway.dev/attempt: '2'}"));
  EXPECT_TRUE(kube::is_owned_by(job, "u-1"));
  EXPECT_FALSE(job["metadata"].has("finalizers"));
  const Value& pod = job["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["labels"], yaml("{pod: p, batch.slipway.dev/workflow: w}"));
  EXPECT_EQ(pod["metadata"]["annotations"][kPodAttemptAnnotation].as_string(), "1");
  EXPECT_EQ(
      pod["spec"]["containers"].item(0)["env"],
      yaml("[{name: A, value: new}, {name: B, value: kept}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"));
  EXPECT_EQ(pod["spec"]["initContainers"].item(0)["env"].size(), 2u);
}

TEST(MakeJob, is_read_back_by_job_view) {
  Play play(kRich);
  play.step();
  const auto program = *Program::compile(play.workflow());
  const JobView view = job_view(make_job(play.workflow(), *program, 0, 7));
  EXPECT_EQ(view.step, "step one!");
  EXPECT_EQ(view.attempt, 7);
  EXPECT_FALSE(view.is_finished);
}

}  // namespace
}  // namespace slipway::delivery::jobflow
