// The vectors of tables/lifecycle-vectors.yaml, in a deployment repository: what the server does is what their "want" says, or
// "today" where they say nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/corpus_test.h"
#include "delivery/package/lifecycle.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Of a deployment repository, unless the row says otherwise.
GateMode mode_of(const Value& row) { return gate_mode({.is_deployment = row["deployment"].as_bool(true)}, ""); }

Lifecycle lifecycle(std::string_view text) {
  for (const Lifecycle one : {Lifecycle::Draft, Lifecycle::Proposed, Lifecycle::Published, Lifecycle::DeletionProposed}) {
    if (json::enum_name(one) == text) return one;
  }
  ADD_FAILURE() << text;
  return Lifecycle::Draft;
}

/// Where two answers are allowed ("reject with a reason, or apply") each of them is.
std::string verdict(const Value& row) {
  const std::string_view want = row["want"].as_string();
  return std::string(want.empty() ? row["today"].as_string() : want);
}

std::string outcome(const UpdateAsk& ask) {
  UpdateDecision decision;
  if (!decide_update(ask, decision).empty()) return "reject";
  return decision.needs_approval_right ? "approval right needed" : "ok";
}

std::string play_transition(const Value& row) {
  const std::string via = row["via"].str();
  if (via == "create") {
    return create_causes({.package_name = "a", .lifecycle = row["to"].str()}, {}).empty() ? "ok" : "reject";
  }
  if (via == "delete") return check_delete("x", lifecycle(row["from"].as_string()), {}) ? "ok" : "reject";
  UpdateAsk ask{.from = lifecycle(row["from"].as_string()), .to = row["to"].str(), .mode = mode_of(row)};
  ask.endpoint = via == "approval" ? Endpoint::Approval : Endpoint::Main;
  if (row["gates"].as_string() == "unmet") ask.missing = {{.type = "a"}};
  return outcome(ask);
}

std::string play_edit(const Value& row) {
  const Lifecycle state = lifecycle(row["state"].as_string());
  const std::string change = row["change"].str();
  if (change == "content") return check_content(state) ? "ok" : "reject";
  static const std::map<std::string, Part> kParts{{"conditions", Part::Conditions}, {"gates", Part::Gates},
                                                  {"readinessGates", Part::Gates},  {"packageMetadata", Part::PackageMetadata},
                                                  {"spec", Part::Identity},         {"tasks", Part::Identity},
                                                  {"labels", Part::Labels},         {"annotations", Part::Labels},
                                                  {"finalizers", Part::Labels},     {"ownerReferences", Part::Labels}};
  const auto part = kParts.find(change);
  if (part == kParts.end()) return "not known here: " + change;
  return outcome({.from = state, .to = std::string(json::enum_name(state)), .changes = {part->second}, .mode = mode_of(row)});
}

std::string play_gates(const Value& row) {
  std::vector<std::string> types;
  for (const Value& one : row["gates"].items()) types.push_back(one.str());
  Conditions conditions;
  for (const Value& one : row["conditions"].items()) conditions.push_back(*json::decode<Condition>(one));
  return is_ready(gates_of(types, kPackageSource), conditions) ? "ready" : "not ready";
}

/// The copy of a revision whose condition is True.
std::string play_copy() {
  const ContentView content{Files{{"Kptfile", "kind: Kptfile\n"}}};
  Conditions conditions;
  set_condition(conditions, {.type = "a", .status = Truth::True},
                {.object = "r", .by = "owner", .now = Time{}, .content = content});
  const Conditions copy = reset(conditions, kNewRevision, content, Time{});
  return copy.at(0).status == Truth::Unknown && copy.at(0).owner == "owner" ? "Unknown" : "kept";
}

bool fits(const std::string& wanted, const std::string& is) {
  if (wanted == "reject with a reason, or apply") return is == "reject" || is == "ok";
  if (wanted.starts_with("a is Unknown")) return is == "Unknown";
  return wanted == is;
}

TEST(PackageConformance, the_life_cycle_is_as_the_vectors_want_it) {
  const auto text = corpus_file("packages/tables/lifecycle-vectors.yaml");
  if (!text) GTEST_SKIP() << "no corpus";
  const Value vectors = *json::parse_yaml(*text);
  const std::set<std::string> known = known_failures("package");
  CountedSuite suite("package/lifecycle");
  const auto judge = [&](const std::string& id, const std::string& wanted, const std::string& is, const Value& row) {
    const bool has_passed = fits(wanted, is);
    suite.count(has_passed);
    EXPECT_TRUE(has_passed || known.contains(id)) << id << ": wanted " << wanted << ", is " << is << ": " << json::print(row);
  };
  std::size_t at = 0;
  for (const Value& row : vectors["transitions"].items()) {
    judge(fmt::format("lifecycle/transitions#{}", at++), verdict(row), play_transition(row), row);
  }
  at = 0;
  for (const Value& row : vectors["edits"].items()) {
    judge(fmt::format("lifecycle/edits#{}", at++), verdict(row), play_edit(row), row);
  }
  at = 0;
  for (const Value& row : vectors["gate_truth"].items()) {
    judge(fmt::format("lifecycle/gate_truth#{}", at++), row["ready"].as_bool() ? "ready" : "not ready", play_gates(row), row);
  }
  at = 0;
  for (const Value& row : vectors["copy_rule"].items()) {
    judge(fmt::format("lifecycle/copy_rule#{}", at++), verdict(row), play_copy(), row);
  }
}

}  // namespace
}  // namespace slipway::delivery::package
