// Components with chains of traits against what upstream makes of them.
#include <gtest/gtest.h>

#include "cue/application_test.h"

namespace slipway::cue {
namespace {

using testing::Application;
using testing::Outcome;

/// An environment variable whose value comes from two places at once.
bool has_torn_variable(const json::Value& value) {
  for (const json::Value& item : value.items()) {
    if (has_torn_variable(item)) return true;
  }
  for (auto [name, member] : value.members()) {
    if (name == "valueFrom" ? member.size() > 1 : has_torn_variable(member)) return true;
  }
  return false;
}

/// Upstream prints values and parses them again. Names dangle then in what has no value yet, and a list that two traits have
/// patched stands there as two, of which retainKeys blanks an item of one only.
bool is_upstream_fault(const json::Value& expect) {
  if (has_torn_variable(expect["workload"])) return true;
  for (const json::Value& kind : expect["error_kinds"].items()) {
    if (kind.as_string() == "unresolved_reference") return true;
  }
  return false;
}

std::string differences(const char* what, const json::Value& found, const json::Value& expected) {
  if (found == expected) return "";
  return std::string(what) + " is " + json::print(found) + " instead of " + json::print(expected);
}

std::string compare(const Outcome& outcome, const json::Value& expect) {
  if (is_upstream_fault(expect)) return "";
  std::string stage = expect["stage"].str();
  if (outcome.stage != stage)
    return "stopped at '" + outcome.stage + "' instead of '" + stage + "': " + describe(outcome.errors);
  if (stage.empty()) {
    std::string why = differences("workload", outcome.workload, expect["workload"]);
    return why.empty() ? differences("auxiliaries", outcome.auxiliaries, expect["auxiliaries"]) : why;
  }
  if (expect.has("auxiliaries")) {
    std::string why = differences("auxiliaries", outcome.auxiliaries, expect["auxiliaries"]);
    if (!why.empty()) return why;
  }
  if (!expect["user_errors"].is_null()) return differences("errs", outcome.user_errors, expect["user_errors"]);
  return testing::compare_kinds(expect["error_kinds"], outcome.errors);
}

TEST(DefinitionsConformance, chains_of_traits_render_as_upstream) {
  auto rows = testing::corpus_rows("vela_apps.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  testing::Suite suite("vela_apps");
  testing::Definitions definitions;
  json::Value probes = testing::corpus_json("patch_probe_templates.json");
  for (auto [name, text] : probes.members()) definitions.add(std::string(name), text.str());
  for (const json::Value& row : rows) {
    if (!row["agreed"].as_bool()) continue;  // versions of upstream differ there
    suite.record(row["id"].str(), compare(Application(definitions, row).render(), row["expect"]));
  }
}

}  // namespace
}  // namespace slipway::cue
