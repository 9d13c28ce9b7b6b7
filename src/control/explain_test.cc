#include "control/explain.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::control {
namespace {

using json::Value;

Value node(const std::string& name) {
  return json::object({{"apiVersion", "test/v1"}, {"kind", "Node"}, {"metadata", json::object({{"name", name}})}});
}

Value reference(const std::string& name) {
  return json::object({{"apiVersion", "test/v1"}, {"kind", "Node"}, {"namespace", ""}, {"name", name}});
}

class Nodes : public View {
 public:
  Value find(const Value& wanted) const override {
    const auto name = wanted["name"].str();
    return known.contains(name) ? node(name) : Value();
  }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return Time{std::chrono::seconds{1000}}; }

  std::map<std::string, std::vector<std::string>> known;
};

class ExplainTest : public testing::Test {
 protected:
  std::string why(const std::string& name) {
    const ExplainRow row{"test", "Node", [this](const Value& object, const std::string&, const View&) {
                           std::vector<Wait> waits;
                           for (const std::string& next : nodes_.known.at(std::string(kube::name(object)))) {
                             Wait wait;
                             wait.on = next;
                             wait.next = reference(next);
                             waits.push_back(wait);
                           }
                           return waits;
                         }};
    return print(explain({row}, node(name), "", nodes_), nodes_.now());
  }
  Nodes nodes_;
};

TEST_F(ExplainTest, follows_waits_to_their_roots) {
  nodes_.known = {{"a", {"b", "c"}}, {"b", {"d"}}, {"c", {}}, {"d", {}}};
  EXPECT_EQ(why("a"), "b\n  because d  <- root cause\nc  <- root cause\n");
}

TEST_F(ExplainTest, ends_in_a_cycle) {
  nodes_.known = {{"a", {"b"}}, {"b", {"a"}}};
  EXPECT_EQ(why("a"), "b\n  because a  (already told above)\n");
}

TEST_F(ExplainTest, a_long_chain_takes_few_lines_and_ends_at_its_root) {
  for (int i = 0; i < 300; ++i) nodes_.known[fmt::format("s{}", i)] = {fmt::format("s{}", i + 1)};
  nodes_.known["s300"] = {};
  EXPECT_EQ(why("s0"), "s1\n  because … 298 more of the same …\n    because s300  <- root cause\n");
}

TEST_F(ExplainTest, a_cause_of_two_is_told_once) {
  nodes_.known = {{"a", {"b", "c"}}, {"b", {"d"}}, {"c", {"d"}}, {"d", {"e"}}, {"e", {}}};
  EXPECT_EQ(why("a"), "b\n  because d\n    because e  <- root cause\nc\n  because d  (already told above)\n");
}

TEST_F(ExplainTest, takes_what_cannot_be_found_for_a_root) {
  nodes_.known = {{"a", {"elsewhere"}}};
  EXPECT_EQ(why("a"), "elsewhere  <- root cause\n");
}

TEST_F(ExplainTest, prints_reason_message_and_age) {
  Wait wait;
  wait.on = "Job x";
  wait.reason = "BackoffLimitExceeded";
  wait.message = "it failed";
  wait.since = Time{std::chrono::seconds{700}};
  EXPECT_EQ(print({{wait, {}, {}}}, nodes_.now()), "Job x (BackoffLimitExceeded): it failed [5m]  <- root cause\n");
}

}  // namespace
}  // namespace slipway::control
