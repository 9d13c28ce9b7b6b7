#include "delivery/package/pushed_verdicts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/package/git_note.h"
#include "delivery/package/render_result.h"
#include "delivery/package/ticket_answer.h"

namespace slipway::delivery::package {
namespace {

constexpr Time kPushTime = Time(std::chrono::hours{500'000});
const ContentView kPushedContent{Files{{"app.yaml", "a"}}};

Verdicts said(std::vector<std::string> gates, Conditions conditions) {
  return {.gates = std::move(gates), .conditions = std::move(conditions)};
}

Condition is(std::string type, Truth status, std::string message = "") {
  return {.type = std::move(type), .status = status, .message = std::move(message)};
}

RevisionRecord record_of(Gates gates, std::initializer_list<std::pair<std::string, Condition>> conditions) {
  RevisionRecord record{.repository = "edge", .path = "a", .workspace = "v1", .gates = std::move(gates)};
  for (const auto& [who, one] : conditions) {
    set_condition(record.conditions, one, {.object = "edge.a.v1", .by = who, .now = kPushTime, .content = kPushedContent});
  }
  return record;
}

std::string verdicts_shown(const RevisionRecord& record) {
  std::string text;
  for (const Condition& one : record.conditions) {
    text += fmt::format("{}={}:{} ", one.type, json::enum_name(one.status), one.owner);
  }
  for (const ReadinessGate& one : record.gates) text += fmt::format("{}[{}] ", one.type, fmt::join(one.sources, ","));
  return text;
}

RevisionRecord pushed(const RevisionRecord& record, const PushedVerdicts& what) {
  return with_pushed(record, what, record.conditions, kPushedContent, kPushTime);
}

TEST(PushedVerdicts, each_is_that_of_the_author_who_changed_it_last) {
  const RevisionRecord record = record_of({}, {{"lint", is("lint", Truth::True)}});
  const Conditions lint{is("lint", Truth::True)};
  const PushedVerdicts what{
      .before = said({}, lint),
      .commits = {{"ann@x", said({"sec"}, {lint[0], is("sec", Truth::False), is("ipam", Truth::True)})},
                  {"bob@x", said({"sec", "ipam"}, {lint[0], is("sec", Truth::True), is("ipam", Truth::True)})},
                  {"cid@x", said({"sec", "ipam"}, {lint[0], is("sec", Truth::True), is("ipam", Truth::True)})}}};
  EXPECT_EQ(verdicts_shown(pushed(record, what)),
            "lint=True:lint ipam=True:git:ann@x sec=True:git:bob@x ipam[git:bob@x] sec[git:ann@x] ");
}

TEST(PushedVerdicts, what_a_commit_left_as_it_was_stays_as_the_log_has_it_by_now) {
  RevisionRecord record = record_of({}, {{"ipam", is("ipam", Truth::True)}});
  const PushedVerdicts what{.before = said({}, {is("ipam", Truth::False)}),
                            .commits = {{"ann@x", said({}, {is("ipam", Truth::False), is("sec", Truth::True)})}}};
  EXPECT_EQ(verdicts_shown(pushed(record, what)), "ipam=True:ipam sec=True:git:ann@x ");
}

TEST(PushedVerdicts, what_both_changed_alike_stays_its_writers_and_what_they_changed_otherwise_is_open) {
  const RevisionRecord record = record_of({}, {{"ipam", is("ipam", Truth::True)}});
  const auto push = [&](Truth truth) {
    return pushed(record, {.before = said({}, {}), .commits = {{"ann@x", said({}, {is("ipam", truth)})}}});
  };
  EXPECT_EQ(verdicts_shown(push(Truth::True)), "ipam=True:ipam ");
  const RevisionRecord open = push(Truth::False);
  EXPECT_EQ(verdicts_shown(open), "ipam=Unknown:git:ann@x ");
  EXPECT_EQ(open.conditions[0].reason, kImported);
  EXPECT_EQ(open.conditions[0].message, "git:ann@x committed False; ipam had set it to True meanwhile");
}

TEST(PushedVerdicts, an_author_is_no_owner) {
  Gates gates;
  add_gate(gates, "sec", "user:alice", "git:ann@x");
  const RevisionRecord record = record_of(gates, {});
  EXPECT_EQ(verdicts_shown(
                pushed(record, {.before = said({"sec"}, {}), .commits = {{"ann@x", said({"sec"}, {is("sec", Truth::True)})}}})),
            "sec=Unknown:git:ann@x sec[user:alice] ");
  const RevisionRecord met = record_of(gates, {{"carl", is("sec", Truth::True)}});
  EXPECT_EQ(verdicts_shown(pushed(met, {.before = said({"sec"}, met.conditions), .commits = {{"ann@x", said({"sec"}, {})}}})),
            "sec=Unknown:carl sec[user:alice] ")
      << "a removal is a flip too";
}

TEST(PushedVerdicts, gates_of_others_stay_and_the_next_commit_says_so) {
  Gates gates = gates_of(std::vector<std::string>{"own"}, kPackageSource);
  add_gate(gates, "sec", kUpstreamSource);
  const RevisionRecord record = record_of(gates, {});
  const RevisionRecord made = pushed(record, {.before = said({"own", "sec"}, {}), .commits = {{"ann@x", said({}, {})}}});
  EXPECT_EQ(verdicts_shown(made), "sec[upstream] ");
  EXPECT_EQ(trailers(made.notes), "\nGate-Kept: sec (asked for by upstream)\n");
  EXPECT_EQ(made.settled, kPushTime);
  RevisionRecord proposal = record;
  proposal.lifecycle = Lifecycle::Proposed;
  EXPECT_EQ(pushed(proposal, {.before = said({"own", "sec"}, {}), .commits = {{"ann@x", said({}, {})}}}).gates.size(), 2U)
      << "the gates of a proposal stay";
}

TEST(GitNotes, the_newest_are_kept_and_the_others_counted) {
  GitNotes notes;
  for (int i = 0; i < 60; ++i) notes.add(kConditionFlip, fmt::format("flip {}", i));
  EXPECT_EQ(notes.pending.size(), kMaxNotes);
  EXPECT_EQ(notes.total, 60);
  EXPECT_TRUE(trailers(notes).starts_with("\nNotes-Left-Out: 10\nCondition-Flip: flip 10\n")) << trailers(notes);
  notes.clear();
  EXPECT_EQ(trailers(notes), "");
  notes.add(kConditionFlip, "two\nlines");
  EXPECT_EQ(trailers(notes), "\nCondition-Flip: two lines\n");
  EXPECT_EQ(notes.total, 61) << "each has its number for good";
}

TEST(RenderResult, results_are_bounded_and_say_what_is_left_out) {
  RenderStatus status;
  FunctionResult function{.image = "kubeconform"};
  for (int i = 0; i < 70; ++i) {
    function.results.push_back({.message = std::string(600, 'x'), .severity = "warning"});
  }
  status.result.items = {function, function};
  const auto kept = kept_render(status);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->result.items[0].results.size(), kMaxResults);
  EXPECT_EQ(kept->result.items[0].results[0].message.size(), kMaxResultTextBytes + std::string(" …").size());
  ASSERT_EQ(kept->result.items[1].results.size(), 1U);
  EXPECT_EQ(kept->result.items[1].results[0].message, "90 more results are left out: render the package to see them");
  EXPECT_FALSE(kept_render({}).has_value());
}

TEST(RenderResult, a_line_says_object_field_and_file) {
  ResultItem item{.message = "expected integer",
                  .severity = "error",
                  .object = ResultObject{.api_version = "apps/v1", .kind = "Deployment", .name = "web", .ns = "prod"},
                  .field = ResultField{.path = "spec.replicas"},
                  .file = ResultFile{.path = "web.yaml", .index = 1}};
  EXPECT_EQ(result_line(item), "[error] apps/v1 Deployment prod/web, spec.replicas (web.yaml, document 2): expected integer");
  EXPECT_EQ(result_line({.message = "fine"}), "[info] fine");
}

TEST(RenderResult, a_refusal_has_the_errors_and_no_more_of_them_than_are_read) {
  ResultList list;
  list.items.resize(2);
  list.items[0].results = {{.message = "looks odd", .severity = "warning"},
                           {.message = "expected integer",
                            .severity = "error",
                            .object = ResultObject{.api_version = "apps/v1", .kind = "Deployment", .name = "a", .ns = ""},
                            .field = ResultField{.path = "spec.replicas", .current_value = "three", .proposed_value = ""},
                            .file = ResultFile{.path = "a.yaml", .index = 0}}};
  EXPECT_EQ(error_lines(list),
            std::vector<std::string>{"[error] apps/v1 Deployment a, spec.replicas (a.yaml): expected integer"});
  list.items[1].results.assign(22, {.message = "bad", .severity = "error"});
  const auto lines = error_lines(list);
  ASSERT_EQ(lines.size(), kMaxErrorLines + 1);
  EXPECT_EQ(lines.back(), "… and 3 more errors");
}

TEST(RenderResult, the_condition_counts_functions_and_warnings) {
  RenderStatus status;
  status.result.items = {{.image = "a"}, {.image = "b", .results = {{.message = "m", .severity = "warning"}}}};
  const auto passed = rendered_condition(Render::Passed, status, "");
  ASSERT_TRUE(passed.has_value());
  EXPECT_EQ(passed->message, "2 functions passed, 1 warning");
  EXPECT_EQ(rendered_condition(Render::Failed, status, "b failed")->reason, "RenderFailed");
  EXPECT_FALSE(rendered_condition(Render::Nothing, std::nullopt, "").has_value());
}

}  // namespace
}  // namespace slipway::delivery::package
