// Conformance of the standard packages: the fields of the corpus' package tests, and the unit rows.
#include <gtest/gtest.h>

#include <set>

#include "cue/corpus_test.h"
#include "cue/cue.h"
#include "cue/result_tree_test.h"
#include "cue/syntax/literal.h"

namespace slipway::cue {
namespace {

using testing::Comparison;
using testing::open_tree;
using testing::tree_of;

constexpr Budget kBudget{.max_steps = 5'000'000};

/// Not offered: generating OpenAPI as a package, TOML, signatures, tables of text.
bool is_out(const std::string& id) {
  for (const char* package : {"crypto/ed25519", "encoding/openapi", "encoding/toml", "text/tabwriter", "text/template"}) {
    if (id.find(package) != std::string::npos) return true;
  }
  return false;
}

Vertex* top_field(Evaluator& evaluator, Vertex* root, const std::string& name) {
  for (Vertex* field : deref(root)->arcs) {
    if (evaluator.labels().describe(field->label) == name || evaluator.labels().text(field->label) == name) return field;
  }
  return nullptr;
}

/// Exported values show no hidden fields.
json::Value without_hidden(const json::Value& tree) {
  json::Value out = tree;
  json::ArrayBuilder fields;
  for (const json::Value& field : tree["f"].items()) {
    if (!field.item(0).as_string().starts_with("_"))
      fields.add(json::array({field.item(0), field.item(1), without_hidden(field.item(2))}));
  }
  return tree.has("f") ? (fields.empty() ? out.without("f") : out.with("f", fields.build())) : out;
}

/// The field as the expectation's text defines it: that text is a program too, but for the names of packages it mentions.
json::Value expected_tree(const std::string& text, const std::string& name) {
  static const std::set<std::string> kKnown = {"list", "struct", "strings", "net", "time", "yaml", "json"};
  std::string imports;
  for (const std::string& package : kKnown) {
    if (text.starts_with("import") || text.find(package + ".") == std::string::npos) continue;
    imports += "import \"" + (package == "yaml" || package == "json" ? "encoding/" + package : package) + "\"\n";
  }
  auto program = compile_program({{"want.cue", imports + text}}, {}, {.open_names = {}, .allows_unused_imports = true});
  if (!program->diagnostics.empty()) return {};
  Evaluator evaluator(*program, kBudget);
  Vertex* root = evaluator.run({});
  Vertex* field = top_field(evaluator, root, name);
  return field == nullptr ? json::Value() : open_tree(tree_of(evaluator, field, 0));
}

std::string judge_field(Evaluator& evaluator, Vertex* root, const json::Value& row, const json::Value& want) {
  Vertex* field = top_field(evaluator, root, want["path"].str());
  json::Value got = without_hidden(open_tree(tree_of(evaluator, field == nullptr ? root : field, 0)));
  bool is_error = got["k"].as_string() == "_|_";
  if (want["error"].as_bool()) return is_error ? "" : "want an error, got " + json::print(got);
  if (field == nullptr) return "no such field";
  json::Value tree = expected_tree(row["expect_cue"].str(), want["path"].str());
  if (tree.is_null()) return "the expectation cannot be read";
  Comparison comparison{tree};
  comparison.compare(tree, got, "", 0);
  return comparison.first;
}

TEST(StdConformance, packages_give_the_recorded_fields) {
  auto rows = testing::corpus_rows("stdlib.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("stdlib");
  int apart = 0;
  for (const json::Value& row : rows) {
    if (is_out(row["id"].str())) {
      apart += static_cast<int>(row["fields"].size());
      continue;
    }
    std::vector<SourceText> files;
    for (auto [name, text] : row["files"].members()) files.push_back({std::string(name), text.str()});
    auto program = compile_program(files, {}, {});
    Evaluator evaluator(*program, kBudget);
    Vertex* root = program->is_well_formed ? evaluator.run({}) : nullptr;
    for (const json::Value& want : row["fields"].items()) {
      std::string id = row["id"].str() + "#" + want["path"].str();
      suite.record(id, !program->diagnostics.empty() ? "compile error: " + program->diagnostics[0].message
                                                     : judge_field(evaluator, root, row, want));
    }
  }
  std::cout << "counted apart (packages not offered): " << apart << std::endl;
}

}  // namespace
}  // namespace slipway::cue
