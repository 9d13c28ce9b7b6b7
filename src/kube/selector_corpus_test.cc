// The selector cases of the corpus. Left out, with the reason:
// - TestSelectorMatches, TestSetMatches, TestEverything, TestOneTermEqualSelector, TestSetIsEmpty: what is expected stands in
// Go
//   statements, not in a table; selector_test.cc has such pairs.
// - TestRequiresExactMatch, TestTransform, TestSafeSort, TestRequirementEqual, TestMatchesNothing, TestAdd: functions we do not
// have.
// - TestParserLookahead, TestParseOperator: inner parts of upstream's parser; their texts are covered by the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "kube/go_literal_test.h"
#include "kube/label_parser.h"
#include "kube/selector.h"

namespace slipway::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

struct NamedOperator {
  std::string_view name;
  Operator op;
};
constexpr std::array kOperators{
    NamedOperator{"selection.In", Operator::In},
    NamedOperator{"selection.NotIn", Operator::NotIn},
    NamedOperator{"selection.Equals", Operator::Equals},
    NamedOperator{"selection.DoubleEquals", Operator::DoubleEquals},
    NamedOperator{"selection.NotEquals", Operator::NotEquals},
    NamedOperator{"selection.Exists", Operator::Exists},
    NamedOperator{"selection.DoesNotExist", Operator::DoesNotExist},
    NamedOperator{"selection.GreaterThan", Operator::GreaterThan},
    NamedOperator{"selection.LessThan", Operator::LessThan},
};

std::optional<Operator> operator_named(std::string_view name) {
  const auto at = std::ranges::find(kOperators, name, &NamedOperator::name);
  return at == kOperators.end() ? std::nullopt : std::optional(at->op);
}

std::vector<std::string> sorted_strings(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.items()) out.push_back(item.str());
  std::ranges::sort(out);
  return out;
}

/// getRequirement(key, op, values, t), evaluated; nullopt for one that is made elsewhere ("req").
std::optional<Requirement> requirement(const json::Value& args) {
  if (!args.is_array()) return std::nullopt;
  const auto op = operator_named(args.item(1).as_string());
  if (!op) return std::nullopt;
  return Requirement{.key = args.item(0).str(), .op = *op, .values = sorted_strings(args.item(2))};
}

std::optional<LabelSelector> selector(const json::Value& literal) {
  LabelSelector out;
  const json::Value items = go_value(literal);  // alive while it is iterated
  for (const json::Value& item : items.items()) {
    auto one = requirement(item);
    if (!one || !out.add(std::move(*one))) return std::nullopt;
  }
  return out;
}

bool same(const LabelSelector& left, const LabelSelector& right) {
  const auto& a = left.requirements();
  const auto& b = right.requirements();
  return a.size() == b.size() && std::ranges::equal(a, b, [](const Requirement& x, const Requirement& y) {
           return x.key == y.key && x.op == y.op && x.values == y.values;
         });
}

std::string_view token_name(TokenKind kind) {
  constexpr std::array<std::string_view, 14> kNames{"EndOfStringToken",  "ErrorToken",     "IdentifierToken",   "CommaToken",
                                                    "OpenParToken",      "ClosedParToken", "DoesNotExistToken", "EqualsToken",
                                                    "DoubleEqualsToken", "NotEqualsToken", "GreaterThanToken",  "LessThanToken",
                                                    "InToken",           "NotInToken"};
  return kNames.at(static_cast<std::size_t>(kind));
}

TEST(SelectorCorpus, cuts_label_selectors_into_the_same_words) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/labels_raw.json");
  Suite suite("selectors/labels-lexer");
  for (const json::Value& one : file["tables"]["TestLexer#0"].items()) {
    suite.expect(token_name(lex_label_selector(one.item(0).as_string()).front().kind) == go_value(one.item(1)).as_string(),
                 one.item(0).str());
  }
  for (const json::Value& one : file["tables"]["TestLexerSequence#0"].items()) {
    auto tokens = lex_label_selector(one.item(0).as_string());
    tokens.pop_back();
    const json::Value expected = go_value(one.item(1));
    bool holds = tokens.size() == expected.size();
    for (std::size_t i = 0; holds && i < tokens.size(); ++i) holds = token_name(tokens[i].kind) == expected.item(i).as_string();
    suite.expect(holds, one.item(0).str());
  }
}

TEST(SelectorCorpus, parses_label_selectors_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/labels_raw.json");
  Suite suite("selectors/labels-parse");
  for (const json::Value& one : file["tables"]["TestSetSelectorParser#0"].items()) {
    const auto parsed = LabelSelector::parse(one.item(0).as_string());
    const bool is_valid = one.item(3).as_bool();
    bool holds = parsed.has_value() == is_valid;
    if (holds && is_valid) {
      const auto expected = selector(one.item(1));
      holds = !one.item(2).as_bool() || (expected && same(*parsed, *expected));  // the flag: also equal as listed
    }
    suite.expect(holds, one.item(0).str());
  }
  for (const json::Value& one : file["tables"]["TestSelectorParse#0"].items()) {
    suite.expect(LabelSelector::parse(one.as_string()).has_value(), one.str());
  }
  for (const json::Value& one : file["tables"]["TestSelectorParse#1"].items()) {
    suite.expect(!LabelSelector::parse(one.as_string()).has_value(), one.str());
  }
}

TEST(SelectorCorpus, matches_labels_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/labels_raw.json");
  Suite suite("selectors/labels-match");
  for (const json::Value& one : file["tables"]["TestRequirementSelectorMatching#0"].items()) {
    const auto made = selector(one.item(1));
    if (!made) continue;  // an invalid requirement by the name "req"
    suite.expect(made->matches(go_value(one.item(0))) == one.item(2).as_bool(), json::print(one));
  }
}

TEST(SelectorCorpus, prints_label_selectors_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/labels_raw.json");
  Suite suite("selectors/labels-print");
  for (const json::Value& one : file["tables"]["TestToString#0"].items()) {
    const auto made = selector(one.item(0));
    if (!made) continue;  // as above
    suite.expect(made->to_string() == one.item(1).as_string(), made->to_string());
  }
}

TEST(SelectorCorpus, refuses_requirements_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/labels_raw.json");
  Suite suite("selectors/labels-requirement");
  for (const json::Value& one : file["tables"]["TestRequirementConstructor#0"].items()) {
    const auto op = operator_named(go_value(one["Op"]).as_string());
    if (!op) continue;  // "unsupportedOp": no such enumerator
    LabelSelector made;
    const auto outcome =
        made.add({.key = go_value(one["Key"]).str(), .op = *op, .values = sorted_strings(go_value(one["Vals"]))});
    const json::Value errors = go_value(one["WantErr"]);
    bool holds = outcome.has_value() == errors.empty();
    if (holds && !errors.empty()) holds = outcome.error().message.find(errors.item(0)["Field"].str() + ": ") == 0;
    suite.expect(holds, json::print(one["Key"]) + (outcome ? "" : ": " + outcome.error().message));
  }
}

TEST(SelectorCorpus, parses_and_prints_field_selectors_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/selectors/fields_raw.json");
  Suite suite("selectors/fields");
  for (const json::Value& one : file["tables"]["TestSelectorParse#0"].items()) {
    const auto parsed = FieldSelector::parse(one.as_string());
    suite.expect(parsed && parsed->to_string() == one.as_string(), one.str());
  }
  for (const json::Value& one : file["tables"]["TestSelectorParse#1"].items()) {
    suite.expect(!FieldSelector::parse(one.as_string()), one.str());
  }
  for (const auto [value, escaped] : file["tables"]["TestEscapeValue#0"].members()) {
    const auto parsed = FieldSelector::parse("k=" + escaped.str());
    const bool holds = parsed && parsed->requirements().at(0).value == value && parsed->to_string() == "k=" + escaped.str();
    suite.expect(holds, escaped.str());
  }
  for (const json::Value& one : file["tables"]["TestEscapeValue#1"].items()) {
    suite.expect(!FieldSelector::parse("k=" + one.str()), one.str());
  }
  for (const auto [term, expected] : file["tables"]["TestSplitTerm#0"].members()) {
    const auto parsed = FieldSelector::parse(term);
    // Escapes such as \a are cut off rightly but no valid value.
    const bool has_bad_escape = expected["rhs"].as_string().find("\\a") != std::string_view::npos;
    bool holds = has_bad_escape || term.empty() || parsed.has_value() == expected["ok"].as_bool();
    if (parsed && !term.empty()) {
      const auto& requirement = parsed->requirements().at(0);
      holds = requirement.field == expected["lhs"].as_string() && requirement.is_equal == (expected["op"].as_string() != "!=");
    }
    suite.expect(holds, std::string(term));
  }
}

}  // namespace
}  // namespace slipway::kube
