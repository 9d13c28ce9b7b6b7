#include "delivery/gate/approval.h"

#include <gtest/gtest.h>

namespace slipway::delivery::gate {
namespace {

using enum Verdict::Kind;

constexpr Time kApprovalTime{std::chrono::seconds{1'767'225'600}};

Approval said(std::string user, std::vector<std::string> groups = {},
              Approval::Decision decision = Approval::Decision::Approve) {
  return {.gate = "go",
          .attempt = 2,
          .batch = 1,
          .decision = decision,
          .user = std::move(user),
          .groups = std::move(groups),
          .at = kApprovalTime};
}
constexpr auto kReject = Approval::Decision::Reject;

struct ApprovalRow {
  const char* what;
  ApprovalGate rule;
  std::vector<Approval> approvals;
  Verdict::Kind kind;
  const char* text;
};

TEST(GateApproval, who_may_decide_and_how_many) {
  Approval of_attempt_1 = said("ann");
  of_attempt_1.attempt = 1;
  Approval of_batch_0 = said("ann");
  of_batch_0.batch = 0;
  Approval of_other_gate = said("ann");
  of_other_gate.gate = "stop";
  Approval unstamped = said("ann");
  unstamped.at.reset();
  Approval nameless = said("");
  Approval rejected = said("ann", {}, kReject);
  rejected.comment = "too early";
  using List = std::vector<Approval>;
  const ApprovalRow kRows[] = {
      {"nobody", {}, {}, Wait, "0 of 1 approvals"},
      {"anybody", {}, {said("ann")}, Pass, "approved by ann"},
      {"two", {.count = 2}, List{said("ann"), said("bob")}, Pass, "approved by ann, bob"},
      {"one twice", {.count = 2}, List{said("ann"), said("ann")}, Wait, "1 of 2 approvals"},
      {"another attempt, batch, gate", {}, List{of_attempt_1, of_batch_0, of_other_gate}, Wait, "0 of 1 approvals"},
      {"not listed",
       {.users = {"bob"}, .groups = {"ops"}},
       {said("ann", {"dev"})},
       Wait,
       "0 of 1 approvals of users bob and groups ops"},
      {"by name", {.users = {"ann"}, .groups = {"ops"}}, {said("ann")}, Pass, "approved by ann"},
      {"by group", {.users = {"bob"}, .groups = {"ops"}}, {said("ann", {"ops"})}, Pass, "approved by ann"},
      {"rejected", {}, List{said("bob"), rejected}, Fail, "rejected by ann: too early"},
      {"rejected by one who may not", {.users = {"bob"}}, List{said("bob"), rejected}, Pass, "approved by bob"},
      {"changed the mind", {}, List{rejected, said("ann")}, Pass, "approved by ann"},
      {"the author's own", {.by_author = false}, {said("carl")}, Wait, "0 of 1 approvals"},
      {"the author's own counts", {}, {said("carl")}, Pass, "approved by carl"},
      {"past the admission",
       {},
       {unstamped},
       Unknown,
       "ApproverUnknown: an approval came past the admission that says whose it is"},
      {"nameless", {}, {nameless}, Unknown, "ApproverUnknown: an approval came past the admission that says whose it is"},
      {"enough without it", {}, List{unstamped, said("bob")}, Pass, "approved by bob"},
  };
  for (const ApprovalRow& row : kRows) {
    const Verdict verdict = judge(row.rule, row.approvals, {.gate = "go", .attempt = 2, .batch = 1, .author = "carl"});
    EXPECT_EQ(verdict.kind, row.kind) << row.what;
    EXPECT_EQ(verdict.text, row.text) << row.what;
  }
}

TEST(GateApproval, an_unknown_author_cannot_be_told_from_an_approver) {
  const Verdict verdict = judge({.by_author = false}, {said("ann")}, {.gate = "go", .attempt = 2, .batch = 1});
  EXPECT_EQ(verdict.kind, Unknown);
}

}  // namespace
}  // namespace slipway::delivery::gate
