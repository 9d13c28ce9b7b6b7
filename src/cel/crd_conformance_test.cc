// The rule assertions of Kubernetes' own tests: one schema and object, many rules, each of which holds or fails with words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/corpus_test.h"
#include "cel/rules.h"
#include "json/text.h"

namespace slipway::cel {
namespace {

constexpr std::size_t kWantedPercent = 95;

/// The first member of these names; tables were shaped from Go, where names differ in length.
const json::Value& any_of(const json::Value& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const json::Value* member = object.find(name)) return *member;
  }
  static const json::Value kNone;
  return kNone;
}

/// A value as the tables have it: plain, or as the YAML text that the test reads.
json::Value value_of(const json::Value& written) {
  const json::Value& text = written.has("_call") ? written["args"].item(0) : written["_yaml"];
  if (!text.is_string()) return written;
  std::string unindented(text.as_string());
  for (std::size_t at = 0; (at = unindented.find('\t', at)) != std::string::npos;) unindented.replace(at, 1, "  ");
  const auto parsed = json::parse_yaml(unindented);
  EXPECT_TRUE(parsed) << parsed.error().message << unindented;
  return parsed.value_or(json::Value());
}

bool has_optional_old(const json::Value& test) { return test["table"].as_string().starts_with("TestOptionalOldSelf"); }

/// What the schema's own rules say of the new object; empty when they hold.
std::string outcome_of_schema(const json::Value& test) {
  json::Value schema = value_of(any_of(test, {"schema"}));
  if (has_optional_old(test)) {
    json::Value rule = schema["x-kubernetes-validations"].item(0).with("optionalOldSelf", true);
    // The tables give no message, which a rule of several lines must have.
    rule = rule.with("message", "broken");
    schema = schema.with("x-kubernetes-validations", json::array({rule}));
  }
  std::vector<Cause> causes;
  const auto rules = SchemaRules::compile(schema, "root", causes, false);
  if (causes.empty() && rules != nullptr) {
    rules->validate(value_of(any_of(test, {"newObj", "obj"})), value_of(any_of(test, {"oldObj"})), causes);
  }
  std::string all;
  for (const Cause& cause : causes) all += cause.message + "\n";
  return all;
}

/// What the rule says of the object; empty when it holds.
std::string outcome(const json::Value& test, std::string_view rule) {
  if (rule.empty()) return outcome_of_schema(test);
  json::Value written = json::object({{"rule", rule}});
  // The tables give no message, which a rule of several lines must have.
  if (rule.find('\n') != std::string_view::npos) written = written.with("message", "broken");
  const json::Value schema = any_of(test, {"schema"}).with("x-kubernetes-validations", json::array({written}));
  std::vector<Cause> causes;
  const auto rules = SchemaRules::compile(schema, "root", causes, any_of(test, {"isRoot", "is_root"}).as_bool());
  if (causes.empty() && rules != nullptr) {
    rules->validate(any_of(test, {"object", "obj"}), any_of(test, {"oldObject", "old_object", "oldObj", "old_obj"}), causes);
  }
  std::string all;
  for (const Cause& cause : causes) all += cause.message + "\n";
  return all;
}

/// The wanted words, without those that upstream puts before the faults of a rule that was stored before it was judged.
std::string_view wanted(std::string_view error) {
  constexpr std::string_view kStored = "compile error: ";
  if (error.starts_with(kStored)) error.remove_prefix(kStored.size());
  return error;
}

struct Assertion {
  std::string rule;   // empty: the rules of the schema
  std::string error;  // empty: holds
};

std::vector<Assertion> assertions(const json::Value& test) {
  std::vector<Assertion> out;
  for (const json::Value& rule : any_of(test, {"valid"}).items()) out.push_back({rule.str(), {}});
  const json::Value& errors = any_of(test, {"errors"});
  for (const auto& [rule, error] : errors.members()) out.push_back({std::string(rule), error.str()});
  for (const json::Value& one : errors.items()) {
    if (one.is_string()) {
      out.push_back({"", one.str()});
    } else {
      out.push_back({any_of(one, {"rule", "expression", "expr"}).str(), any_of(one, {"error", "message", "contains"}).str()});
    }
  }
  // A table without rules of its own is about those of its schema; "warnings" are faults that an unchanged object keeps.
  if (out.empty()) out.push_back({});
  return out;
}

TEST(CelConformance, rules_of_custom_resources_hold_or_fail_as_upstream) {
  const auto file = corpus_path("kube/crd/cel_validation.json");
  if (file.empty()) GTEST_SKIP() << "skipped: the corpus has no crd/cel_validation.json";
  const auto parsed = json::parse(text_of_file(file));
  ASSERT_TRUE(parsed);
  const json::Value& tables = parsed->is_array() ? *parsed : any_of(*parsed, {"cases", "tables", "tests"});
  const std::set<std::string> known = known_failures("cel_crd");
  std::size_t total = 0;
  std::size_t passed = 0;
  for (const json::Value& test : tables.items()) {
    std::size_t index = 0;
    for (const Assertion& assertion : assertions(test)) {
      std::string id = fmt::format("{}#{}", test["name"].as_string(), index++);
      std::ranges::replace(id, ' ', '_');
      const std::string got = outcome(test, assertion.rule);
      const bool is_good =
          assertion.error.empty() ? got.empty() : !got.empty() && got.find(wanted(assertion.error)) != std::string::npos;
      ++total;
      passed += is_good ? 1 : 0;
      if (!is_good && !known.contains(id)) {
        fmt::print("  {}  # {} => {} (wanted: {})\n", id, assertion.rule, got.substr(0, got.find('\n')), assertion.error);
      }
      if (is_good) EXPECT_FALSE(known.contains(id)) << id << " passes: take it from the list";
    }
  }
  fmt::print("crd/cel-validation {}/{}\n", passed, total);
  EXPECT_GE(passed * 100, total * kWantedPercent);
}

}  // namespace
}  // namespace slipway::cel
