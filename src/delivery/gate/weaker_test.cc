#include "delivery/gate/weaker.h"

#include <gtest/gtest.h>

namespace slipway::delivery::gate {
namespace {

GateSpec leads(ApprovalGate approval) { return {.name = "leads", .at = "before", .approval = std::move(approval)}; }

TEST(Weaker, more_people_fewer_names_and_no_author_are_no_weaker) {
  const GateSpec gate = leads({.count = 2, .users = {"ann", "bob"}, .groups = {"ops"}, .by_author = true});
  EXPECT_FALSE(is_weaker(gate, gate));
  EXPECT_FALSE(is_weaker(gate, leads({.count = 3, .users = {"ann", "bob"}, .groups = {"ops"}, .by_author = false})));
  EXPECT_FALSE(is_weaker(gate, leads({.count = 2, .users = {"ann"}, .groups = {}, .by_author = true})));
  EXPECT_FALSE(is_weaker(leads({}), leads({.users = {"ann"}}))) << "of all who have the right, one";
}

TEST(Weaker, fewer_people_other_names_the_author_another_moment_or_deadline_are_weaker) {
  const GateSpec gate = leads({.count = 2, .users = {"ann"}, .by_author = false});
  EXPECT_TRUE(is_weaker(gate, leads({.count = 1, .users = {"ann"}, .by_author = false})));
  EXPECT_TRUE(is_weaker(gate, leads({.count = 2, .users = {"ann", "hook:ci"}, .by_author = false})));
  EXPECT_TRUE(is_weaker(gate, leads({.count = 2, .by_author = false}))) << "names no longer narrow";
  EXPECT_TRUE(is_weaker(gate, leads({.count = 2, .users = {"ann"}, .by_author = true})));
  EXPECT_TRUE(is_weaker(leads({}), leads({.users = {"hook:ci"}}))) << "a signature in place of people";
  GateSpec later = gate;
  later.at = "after";
  EXPECT_TRUE(is_weaker(gate, later));
  GateSpec passing = gate;
  passing.deadline_seconds = 60;
  passing.on_deadline = "pass";
  EXPECT_TRUE(is_weaker(gate, passing));
  GateSpec asking{.name = "leads", .at = "before", .webhook = WebhookGate{.url = "http://a.test/"}};
  EXPECT_TRUE(is_weaker(gate, asking));
}

TEST(Weaker, gates_protect_beside_an_approval_gate_only) {
  const GateSpec tests{.name = "tests", .at = "before", .webhook = WebhookGate{.url = "http://tests.test/"}};
  const GateSpec others{.name = "tests", .at = "before", .webhook = WebhookGate{.url = "http://mine.test/"}};
  using Names = std::vector<std::string>;
  EXPECT_EQ(weakened_gates({tests}, {}), Names{}) << "whoever writes the object decides about its checks";
  EXPECT_EQ(weakened_gates({leads({}), tests}, {leads({}), others}), Names{"tests"});
  EXPECT_EQ(weakened_gates({leads({}), tests}, {tests}), Names{"leads"});
  EXPECT_EQ(weakened_gates({leads({})}, {others, leads({})}), Names{}) << "a new one protects more";
}

}  // namespace
}  // namespace slipway::delivery::gate
