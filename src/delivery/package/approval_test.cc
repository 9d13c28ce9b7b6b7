#include "delivery/package/approval.h"

#include <gtest/gtest.h>

#include <span>

#include "delivery/package/auto_propose.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

constexpr Time kNow{std::chrono::seconds{1'767'225'600}};  // Thursday, 2026-01-01 00:00 UTC

struct ProposeRow {
  const char* what;
  ProposeView view;
  ProposeDecision::Kind kind;
  const char* text;
};

TEST(PackageAutoPropose, only_where_it_was_asked_for_and_all_is_settled) {
  using enum ProposeDecision::Kind;
  const Time long_ago = kNow - std::chrono::hours{1};
  const std::vector<Unmet> missing{{.type = "ipam", .status = Truth::False, .owner = "ipam"}};
  const ProposeRow rows[] = {
      {"no annotation", {.settled = long_ago}, NotAsked, ""},
      {"another word", {.annotation = "yes", .settled = long_ago}, NotAsked, ""},
      {"a proposal", {.lifecycle = Lifecycle::Proposed, .annotation = "true", .settled = long_ago}, NotAsked, ""},
      {"going", {.is_deleting = true, .annotation = "true", .settled = long_ago}, NotAsked, ""},
      {"no gates at all", {.annotation = "true", .settled = long_ago}, Propose, ""},
      {"a gate is open",
       {.annotation = "true", .missing = missing, .settled = long_ago},
       Waits,
       "waits for ipam is False (owner ipam)"},
      {"rendering", {.annotation = "true", .render = Render::Running, .settled = long_ago}, Waits, "waits for the rendering"},
      {"failed",
       {.annotation = "true", .render = Render::Failed, .settled = long_ago},
       Waits,
       "the package could not be rendered"},
      {"no pipeline", {.annotation = "true", .render = Render::Nothing, .settled = long_ago}, Propose, ""},
      {"just written",
       {.annotation = "true", .settled = kNow - std::chrono::seconds{4}},
       Rests,
       "its content has just changed"},
      {"rested", {.annotation = "true", .settled = kNow - std::chrono::seconds{5}}, Propose, ""}};
  for (const ProposeRow& row : rows) {
    const ProposeDecision is = decide_propose(row.view, Now(kNow));
    EXPECT_EQ(is.kind, row.kind) << row.what;
    EXPECT_EQ(is.text, row.text) << row.what;
  }
  const ProposeView fresh{.annotation = "true", .settled = kNow - std::chrono::seconds{4}};
  EXPECT_EQ(decide_propose(fresh, Now(kNow)).wake, kNow + std::chrono::seconds{1});
}

Vote vote(std::string user, std::string digest = "d1", gate::Approval::Decision decision = gate::Approval::Decision::Approve,
          std::vector<std::string> groups = {}) {
  return {.digest = std::move(digest), .decision = decision, .user = std::move(user), .groups = std::move(groups), .at = kNow};
}
constexpr auto kReject = gate::Approval::Decision::Reject;

NamedPolicy policy(ApprovalRule rule, std::optional<gate::ApprovalGate> people = {}) {
  return {.name = "edge", .generation = 3, .spec = {.rule = rule, .people = std::move(people)}};
}
ApproveView proposal(std::vector<Vote> votes = {}) { return {.authors = {"alice"}, .digest = "d1", .votes = std::move(votes)}; }

struct ApproveRow {
  const char* what;
  std::vector<NamedPolicy> policies;
  ApproveView view;
  ApproveDecision::Kind kind;
  const char* text;
};

void judge(std::span<const ApproveRow> rows) {
  for (const ApproveRow& row : rows) {
    const ApproveDecision is = decide_approve(row.policies, row.view, {}, kNow);
    EXPECT_EQ(is.kind, row.kind) << row.what;
    EXPECT_EQ(is.text, row.text) << row.what;
  }
}

TEST(PackageApproval, rules_decide_as_they_say) {
  using enum ApproveDecision::Kind;
  ApproveView published = proposal();
  published.has_published = true;
  ApproveView draft = proposal();
  draft.lifecycle = Lifecycle::Draft;
  ApproveView deletion = proposal();
  deletion.lifecycle = Lifecycle::DeletionProposed;
  ApproveView gated = proposal();
  gated.missing = {{.type = "ipam"}};
  ApproveView reported = gated;
  reported.mode = GateMode::Report;
  NamedPolicy deletes = policy(ApprovalRule::Always);
  deletes.spec.approves_deletion = true;
  const ApproveRow rows[] = {
      {"no policy", {}, proposal(), NotAsked, ""},
      {"a draft", {policy(ApprovalRule::Always)}, draft, NotAsked, ""},
      {"always", {policy(ApprovalRule::Always)}, proposal(), Approve, ""},
      {"gates bind", {policy(ApprovalRule::Always)}, gated, Waits, "ipam has no condition yet"},
      {"where they are enforced", {policy(ApprovalRule::Always)}, reported, Approve, ""},
      {"the first", {policy(ApprovalRule::Initial)}, proposal(), Approve, ""},
      {"not the first",
       {policy(ApprovalRule::Initial)},
       published,
       Waits,
       "edge: the package has a published revision already: a person approves"},
      {"a deletion", {policy(ApprovalRule::Always)}, deletion, Waits, "edge: its policy leaves deletions to people"},
      {"a deletion it may carry out", {deletes}, deletion, Approve, ""}};
  judge(rows);
}

TEST(PackageApproval, people_decide_about_what_they_have_seen) {
  using enum ApproveDecision::Kind;
  const gate::ApprovalGate two{.count = 2, .by_author = false};
  const gate::ApprovalGate netops{.groups = {"netops"}};
  ApproveView nobody = proposal({vote("bob"), vote("carol")});
  nobody.authors = {};
  const ApproveRow rows[] = {
      {"one of two", {policy(ApprovalRule::People, two)}, proposal({vote("bob")}), Waits, "edge: 1 of 2 approvals"},
      {"not the author",
       {policy(ApprovalRule::People, two)},
       proposal({vote("bob"), vote("alice")}),
       Waits,
       "edge: 1 of 2 approvals"},
      {"not twice", {policy(ApprovalRule::People, two)}, proposal({vote("bob"), vote("bob")}), Waits, "edge: 1 of 2 approvals"},
      {"two of two", {policy(ApprovalRule::People, two)}, proposal({vote("bob"), vote("carol")}), Approve, ""},
      {"of another content",
       {policy(ApprovalRule::People, two)},
       proposal({vote("bob"), vote("carol", "d0")}),
       Waits,
       "edge: 1 of 2 approvals"},
      {"a no",
       {policy(ApprovalRule::People, two)},
       proposal({vote("bob"), vote("carol", "d1", kReject)}),
       Reject,
       "edge: rejected by carol"},
      {"the author's no",
       {policy(ApprovalRule::People, two)},
       proposal({vote("alice", "d1", kReject)}),
       Reject,
       "edge: rejected by alice"},
      {"authors unknown",
       {policy(ApprovalRule::People, two)},
       nobody,
       Waits,
       "edge: its authors, whose approval does not count, are not known"},
      {"the author, where that counts",
       {policy(ApprovalRule::People, gate::ApprovalGate{})},
       proposal({vote("alice")}),
       Approve,
       ""},
      {"outside the group",
       {policy(ApprovalRule::People, netops)},
       proposal({vote("bob")}),
       Waits,
       "edge: 0 of 1 approvals of groups netops"},
      {"in the group",
       {policy(ApprovalRule::People, netops)},
       proposal({vote("bob", "d1", gate::Approval::Decision::Approve, {"netops"})}),
       Approve,
       ""},
      {"each must agree",
       {policy(ApprovalRule::Always), policy(ApprovalRule::People, two)},
       proposal({vote("bob")}),
       Waits,
       "edge: 1 of 2 approvals"}};
  judge(rows);
}

TEST(PackageApproval, the_record_says_who_and_which_policy) {
  const auto decision = decide_approve({policy(ApprovalRule::People, gate::ApprovalGate{.count = 2})},
                                       proposal({vote("bob"), vote("carol")}), {}, kNow);
  EXPECT_EQ(decision.policies, std::vector<std::string>{"edge@3"});
  EXPECT_EQ(decision.people, (std::vector<std::string>{"bob", "carol"}));
}

TEST(PackageApproval, windows_open_and_close_it) {
  NamedPolicy hours = policy(ApprovalRule::Always);
  NamedWindow window{};
  window.name = "mornings";
  window.rrule = "FREQ=DAILY;BYHOUR=9";
  hours.spec.windows = {window};
  const auto early = decide_approve({hours}, proposal(), {}, kNow);
  EXPECT_EQ(early.kind, ApproveDecision::Kind::Waits);
  EXPECT_EQ(early.wake, kNow + std::chrono::hours{9});
  EXPECT_TRUE(early.text.starts_with("edge: window mornings: ")) << early.text;
  EXPECT_EQ(decide_approve({hours}, proposal(), {}, kNow + std::chrono::minutes{570}).kind, ApproveDecision::Kind::Approve);
  hours.spec.windows[0].time_zone = "Europe/Nowhere";
  EXPECT_EQ(decide_approve({hours}, proposal(), {}, kNow + std::chrono::minutes{570}).text,
            "edge: time zone Europe/Nowhere of window mornings is not known");
}

TEST(PackageApproval, policies_are_checked_and_select) {
  EXPECT_TRUE(check(policy(ApprovalRule::Always).spec).empty());
  EXPECT_EQ(check(policy(ApprovalRule::People).spec).at(0).field, "spec.people");
  EXPECT_EQ(check(policy(ApprovalRule::Always, gate::ApprovalGate{}).spec).at(0).field, "spec.people");
  const auto never_met =
      check(policy(ApprovalRule::People, gate::ApprovalGate{.count = 3, .users = {"ann", "bea", "ann"}}).spec);
  ASSERT_EQ(never_met.size(), 1U);
  EXPECT_EQ(never_met[0].message, "Invalid value: 3: only 2 user(s) count");
  EXPECT_TRUE(
      check(policy(ApprovalRule::People, gate::ApprovalGate{.count = 3, .users = {"ann"}, .groups = {"g"}}).spec).empty());
  ApprovalPolicySpec spec{.repositories = {"edge"}, .selector = json::parse_yaml("{matchLabels: {site: north}}").value()};
  const json::Value north = json::object({{"site", "north"}});
  EXPECT_TRUE(selects(spec, "edge", north));
  EXPECT_FALSE(selects(spec, "west", north));
  EXPECT_FALSE(selects(spec, "edge", {}));
  NamedWindow window{};
  window.name = "w";
  window.rrule = "FREQ=SOMETIMES";
  spec.rule = ApprovalRule::Always;
  spec.windows = {window};
  EXPECT_EQ(check(spec).at(0).field, "spec.windows[w].rrule");
}

}  // namespace
}  // namespace slipway::delivery::package
