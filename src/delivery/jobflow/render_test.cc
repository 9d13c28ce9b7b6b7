#include "delivery/jobflow/render.h"

#include <gtest/gtest.h>

#include "delivery/jobflow/explain.h"
#include "delivery/jobflow/test_flow.h"

namespace slipway::delivery::jobflow {
namespace {

using std::chrono::seconds;

class PlayView : public control::View {
 public:
  explicit PlayView(const Play& play) : play_(play) {}
  Value find(const Value& reference) const override {
    if (reference["kind"].as_string() == "Workflow") return play_.workflow();
    const auto found = play_.jobs().find(reference["name"].str());
    return found == play_.jobs().end() ? Value() : found->second;
  }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind& kind) const override {
    return kind == kStepSetKind ? play_.step_sets() : std::vector<Value>{};
  }
  Time now() const override { return play_.now(); }

 private:
  const Play& play_;
};

/// Hashes of Job names are left to names_test.
std::string without_hashes(std::string text) {
  for (std::size_t at = text.find("w-"); at != std::string::npos; at = text.find("w-", at + 1)) {
    const std::size_t end = text.find_first_of(" \n(", at);
    const std::size_t dash = text.rfind('-', end);
    text.replace(dash + 1, end - dash - 1, "##########");  // as long as a hash
  }
  return text;
}

const char* const kMixed = R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    parallelism: 2
    steps:
      one: {template: {name: t}}
      two: {template: {name: t}, dependencies: [one]}
      three: {template: {name: t}, dependencies: [one]}
      four: {template: {name: t}, dependencies: [two, three]}
      audit: {template: {name: t}, tolerated: true}
      report: {template: {name: t}, dependencies: [audit]}
      spare: {template: {name: t}, dependencies: [one]}
)";

TEST(StepTable, shows_steps_by_level_then_name_with_what_each_waits_for) {
  Play play(kMixed);
  play.step();
  play.pass(seconds{60});
  play.finish("one");
  play.fail("audit", "BackoffLimitExceeded");
  play.step();
  play.pass(seconds{30});
  EXPECT_EQ(without_hashes(step_table(step_rows(play.workflow(), {}), play.now())),
            "STEP    STATE        SINCE  JOB                 WAITS FOR                                  MESSAGE\n"
            "audit   Failed       30s    w-audit-##########  -                                          BackoffLimitExceeded: "
            "Job has "
            "reached the specified backoff limit\n"
            "one     Succeeded    30s    w-one-##########    -\n"
            "report  Unreachable  30s    -                   audit=Failed (needs success)\n"
            "spare   Running      30s    w-spare-##########  one=Succeeded\n"
            "three   Running      30s    w-three-##########  one=Succeeded\n"
            "two     Ready        -      -                   one=Succeeded; a free slot (2 of 2 taken)\n"
            "four    Blocked      -      -                   three=Running two=Ready (0 of 2)\n");
}

TEST(StepTable, folds_equal_siblings_of_large_graphs) {
  std::string spec = "templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\nsteps:\n";
  for (int i = 0; i < 100; ++i) spec += fmt::format("  test-{:02}: {{template: {{name: t}}}}\n", i);
  Play play(spec);
  play.step();
  play.fail("test-07", "BackoffLimitExceeded");
  play.step();
  const std::string table = without_hashes(step_table(step_rows(play.workflow(), {}), play.now()));
  EXPECT_EQ(
      table,
      "STEP                    STATE    SINCE  JOB                   WAITS FOR  MESSAGE\n"
      "test-00 … test-99 (99)  Running  -      -                     -\n"
      "test-07                 Failed   0s     w-test-07-##########  -          BackoffLimitExceeded: Job has reached the "
      "specified backoff limit\n");
}

TEST(Describe, begins_with_a_block_of_facts) {
  Play play(kDiamond);
  play.step();
  play.pass(seconds{90});
  const std::string text = describe(play.workflow(), PlayView(play),
                                    {yaml("{type: Normal, reason: WorkflowStarted, message: Workflow started, "
                                          "lastTimestamp: '2026-01-01T00:00:00Z', source: {component: slipway-workflow}}")});
  EXPECT_TRUE(
      text.starts_with("Name:        w\n"
                       "Namespace:   default\n"
                       "Status:      Running\n"
                       "Conditions:  -\n"
                       "Started:     2026-01-01T00:00:00Z (90s ago)\n"
                       "Duration:    90s\n"
                       "Progress:    0/4 (3 blocked, 1 running)\n"
                       "\nSTEP "))
      << text;
  EXPECT_TRUE(
      text.ends_with("\nTYPE    REASON           AGE  FROM              MESSAGE\n"
                     "Normal  WorkflowStarted  90s  slipway-workflow  Workflow started\n"))
      << text;
}

TEST(Summary, is_one_line_and_the_table) {
  Play play(kDiamond);
  play.run_to_end();
  EXPECT_TRUE(
      summary(play.workflow(), {}, play.now()).starts_with("workflow/w  Complete  4/4  0s  4 of 4 steps succeeded\nSTEP"));
}

void tell(std::string& out, const std::vector<control::Explanation>& explanations, const std::string& indent) {
  for (const auto& one : explanations) {
    out += fmt::format("{}{} ({}){}{}\n", indent, one.wait.on, one.wait.reason, one.wait.message.empty() ? "" : ": ",
                       one.wait.message);
    tell(out, one.because, indent + "  ");
  }
}

std::string why(const Play& play, const std::string& part, const std::vector<control::ExplainRow>& rows = explain_rows()) {
  std::string out;
  tell(out, control::explain(rows, play.workflow(), part, PlayView(play)), "");
  return without_hashes(out);
}

TEST(Why, walks_from_a_blocked_step_to_the_job_that_runs) {
  Play play(kDiamond);
  play.step();
  play.pass(seconds{5});
  EXPECT_EQ(why(play, "four"),
            "step \"three\" (StepBlocked): is Blocked, step \"four\" needs success\n"
            "  step \"one\" (StepRunning): is Running, step \"three\" needs success\n"
            "    Job w-one-########## (JobRunning)\n"
            "step \"two\" (StepBlocked): is Blocked, step \"four\" needs success\n"
            "  step \"one\" (StepRunning): is Running, step \"two\" needs success\n");
}

TEST(Why, names_the_failure_behind_an_unreachable_step) {
  Play play(kMixed);
  play.step();
  play.fail("audit", "BackoffLimitExceeded");
  play.step();
  EXPECT_EQ(why(play, "report"),
            "step \"audit\" (BackoffLimitExceeded): is Failed, step \"report\" needs success\n"
            "  Job w-audit-########## (BackoffLimitExceeded): Job has reached the specified backoff limit\n");
}

TEST(Why, says_who_holds_the_slots) {
  Play play(kMixed);
  play.step();
  play.finish("one");
  play.step();
  const std::string text = why(play, "three");
  EXPECT_TRUE(
      text.starts_with("a free slot (2 of 2 taken) (NoFreeSlot): spec.parallelism limits the steps that run at once\n"
                       "step \"audit\" (StepRunning)"))
      << text;
}

TEST(Why, answers_from_what_there_is_when_the_same_rows_are_asked_again) {
  const auto rows = explain_rows();
  Play play(kDiamond);
  play.step();
  EXPECT_EQ(why(play, "one", rows), "Job w-one-########## (JobRunning)\n");
  play.finish("one");
  play.step();
  ASSERT_EQ(play.workflow()["metadata"]["resourceVersion"], Value()) << "the version of the workflow tells of no change";
  EXPECT_EQ(why(play, "one", rows), "");
}

TEST(Why, has_nothing_to_say_about_what_is_complete) {
  Play play(kDiamond);
  play.run_to_end();
  EXPECT_EQ(why(play, ""), "");
  EXPECT_EQ(why(play, "one"), "");
  EXPECT_EQ(why(play, "nine"), "step \"nine\" (NoSuchStep): workflow w has no such step\n");
}

TEST(Why, follows_a_chain_in_a_graph_of_a_thousand_steps) {
  std::string spec =
      "templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\nsteps:\n  s0000: "
      "{template: {name: t}}\n";
  for (int i = 1; i < 1000; ++i) spec += fmt::format("  s{:04}: {{template: {{name: t}}, dependencies: [s{:04}]}}\n", i, i - 1);
  Play play(spec);
  play.step();
  EXPECT_NE(why(play, "s0015").find("Job w-s0000-########## (JobRunning)"), std::string::npos);
}

}  // namespace
}  // namespace slipway::delivery::jobflow
