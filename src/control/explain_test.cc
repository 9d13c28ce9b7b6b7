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

Wait wait_for(const std::string& next) {
  Wait wait;
  wait.on = next;
  wait.next = reference(next);
  return wait;
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
    const ExplainRow row = ExplainRow::without_parts("test", "Node", [this](const Value& object, const View&) {
      std::vector<Wait> waits;
      for (const std::string& next : nodes_.known.at(std::string(kube::name(object)))) waits.push_back(wait_for(next));
      return waits;
    });
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

/// Nodes with parts: each part waits for the next one; the last part of `a` waits for `b`.
class PartsTest : public testing::Test {
 protected:
  PartsTest() { nodes_.known = {{"a", {}}, {"b", {}}}; }

  Explainer open(const Value& object) {
    const std::string name(kube::name(object));
    opened_.push_back(name);
    return [name, length = length_](const std::string& part) {
      const int next = part.empty() ? 1 : std::stoi(part) + 1;
      if (next == length) return name == "a" ? std::vector<Wait>{wait_for("b")} : std::vector<Wait>{};
      Wait wait = wait_for(name);
      wait.on = fmt::format("part {} of {}", next, name);
      wait.part = std::to_string(next);
      return std::vector<Wait>{wait};
    };
  }
  std::string walk() { return print(explain({row_}, node("a"), "", nodes_), nodes_.now()); }

  Nodes nodes_;
  int length_ = 500;
  std::vector<std::string> opened_;
  ExplainRow row_{"test", "Node", [this](const Value& object, const View&) { return open(object); }};
};

TEST_F(PartsTest, a_walk_opens_each_object_once_however_many_parts_it_visits) {
  EXPECT_TRUE(walk().ends_with("because part 499 of b  <- root cause\n"));
  EXPECT_EQ(opened_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(PartsTest, two_walks_share_nothing) {
  walk();
  length_ = 2;
  EXPECT_EQ(walk(), "part 1 of a\n  because b\n    because part 1 of b  <- root cause\n");
  EXPECT_EQ(opened_, (std::vector<std::string>{"a", "b", "a", "b"}));
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
