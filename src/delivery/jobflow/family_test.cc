#include "delivery/jobflow/family.h"

#include <gtest/gtest.h>

#include "delivery/jobflow/test_flow.h"

namespace slipway::delivery::jobflow {
namespace {

Value with_conditions(const Value& workflow, std::string_view conditions) {
  return workflow.with_path({"status", "conditions"}, yaml(conditions));
}

std::vector<std::string> told(const Value& before, const Value& after) {
  std::vector<std::string> lines;
  for (const News& one : news(before, after)) {
    lines.push_back(fmt::format("{}{}{}", one.part, one.part.empty() ? "" : ": ", one.text) + (one.is_progress ? " …" : ""));
  }
  return lines;
}

TEST(Verdict, is_the_condition_that_ended_the_workflow) {
  Play play(kDiamond);
  EXPECT_FALSE(verdict(play.workflow()));
  play.run_to_end();
  const auto end = verdict(play.workflow());
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->is_success);
  EXPECT_EQ(end->text, "Complete: 4 of 4 steps succeeded");
  const auto failed = verdict(with_conditions(play.workflow(), "[{type: Failed, status: 'True', reason: Late, message: m}]"));
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->is_success);
  EXPECT_EQ(failed->text, "Failed (Late): m");
  const auto invalid = verdict(with_conditions(play.workflow(), "[{type: Invalid, status: 'True', reason: InvalidSpec}]"));
  ASSERT_TRUE(invalid);
  EXPECT_FALSE(invalid->is_success);
}

TEST(Verdict, is_open_while_a_rerun_has_not_begun) {
  Play play(kDiamond);
  play.run_to_end();
  EXPECT_FALSE(verdict(play.workflow().with_path({"spec", "rerun", "id"}, "again")));
}

TEST(News, tell_what_ended_before_what_started) {
  Play play(kDiamond);
  play.step();
  const Value before = play.workflow();
  play.finish("one");
  play.step();
  EXPECT_EQ(told({}, before).front(), "one: Running");
  const auto lines = told(before, play.workflow());
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines.front(), "one: Succeeded");
  EXPECT_TRUE(told(play.workflow(), play.workflow()).empty());
}

TEST(News, of_a_large_workflow_are_its_failures_and_how_far_it_is) {
  const Value before = yaml("{status: {stepSets: 2, progress: 1/2000, failures: [{step: a, reason: R, message: m}]}}");
  const Value after = yaml(
      "{status: {stepSets: 2, progress: 3/2000, failures: [{step: a, reason: R, message: m}, {step: b, reason: S, message: "
      "no space}]}}");
  EXPECT_EQ(told(before, after), (std::vector<std::string>{"b: Failed S: no space", "3/2000 steps have ended …"}));
}

TEST(News, a_suspension_is_told_once) {
  Play play(kDiamond);
  const Value suspended = with_conditions(play.workflow(), "[{type: Suspended, status: 'True', reason: Asked, message: m}]");
  EXPECT_EQ(told(play.workflow(), suspended), (std::vector<std::string>{"Asked: m"}));
  EXPECT_TRUE(told(suspended, suspended).empty());
}

TEST(Row, knows_the_steps_of_a_workflow_and_the_jobs_of_a_step) {
  Play play(kDiamond);
  play.step();
  const KindRow& row = family().kinds.front();
  EXPECT_TRUE(row.has_part(play.workflow(), "four"));
  EXPECT_FALSE(row.has_part(play.workflow(), "five"));
  EXPECT_TRUE(row.is_of_part(play.job("one"), "one"));
  EXPECT_FALSE(row.is_of_part(play.job("one"), "two"));
}

}  // namespace
}  // namespace slipway::delivery::jobflow
