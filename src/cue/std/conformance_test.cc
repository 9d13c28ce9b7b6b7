// Conformance of the standard packages: the fields of the corpus' package tests, and the unit rows.
#include <gtest/gtest.h>

#include <set>

#include "cue/corpus_test.h"
#include "cue/cue.h"
#include "cue/result_tree_test.h"
#include "cue/syntax/literal.h"

namespace slipway::cue {
namespace {

using testing::open_tree;
using testing::tree_of;

const Budget kBudget{.max_steps = 5'000'000};

/// Not offered: generating OpenAPI as a package, TOML, signatures, tables of text.
bool is_out(const std::string& id) {
  for (const char* package : {"crypto/ed25519", "encoding/openapi", "encoding/toml", "text/tabwriter"}) {
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
  testing::Comparison comparison{tree};
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

/// The tree of `got` in a program; null when it does not compile.
json::Value tree_in(const std::string& text, const CompileOptions& options = {}) {
  auto program = compile_program({{"row.cue", text}}, {}, options);
  if (!program->diagnostics.empty()) return {};
  Evaluator evaluator(*program, kBudget);
  Vertex* root = evaluator.run({});
  Vertex* field = top_field(evaluator, root, "got");
  return open_tree(tree_of(evaluator, field == nullptr ? root : field, 0));
}

std::string compared(const json::Value& want, const json::Value& got) {
  testing::Comparison comparison{want};
  comparison.compare(want, got, "", 0);
  return comparison.first;
}

std::string judge_yaml(const json::Value& row) {
  std::string call = "yaml.Unmarshal(" + quote(row["yaml"].str()) + ")";
  if (row["expect_cue"].as_string().starts_with("[") && row["id"].as_string().starts_with("yaml/"))
    call = "yaml.UnmarshalStream(" + quote(row["yaml"].str()) + ")";
  json::Value got = tree_in("import \"encoding/yaml\"\ngot: " + call);
  bool is_error = got["k"].as_string() == "_|_";
  if (row.has("expect_error")) return is_error ? "" : "want an error, got " + json::print(got);
  std::string text = row["expect_cue"].str();
  json::Value want = tree_in("got: {" + text + "}");
  if (want.is_null()) want = tree_in("got: " + text);
  if (want.is_null()) return is_error ? "" : "the expectation cannot be read";  // infinities are no numbers of the language
  return compared(want, got);
}

std::string judge_expression(const json::Value& row) {
  std::string text;
  for (const json::Value& one : row["imports"].items()) text += "import " + quote(one.str()) + "\n";
  json::Value got = tree_in(text + "got: " + row["expr"].str());
  bool is_error = got.is_null() || got["k"].as_string() == "_|_";
  if (row["expect_error"].as_bool()) return is_error ? "" : "want an error, got " + json::print(got);
  json::Value want = tree_in("got: " + row["expect"].str());
  return want.is_null() ? "the expectation cannot be read" : compared(want, got);
}

// "path:winsplittests": the function and the system; arguments, then results. "err" stands for an error.
std::string judge_unit(const json::Value& row) {
  static const std::map<std::string, std::string> kFunctions = {{"clean", "Clean"},
                                                                {"splitlist", "SplitList"},
                                                                {"unixsplit", "Split"},
                                                                {"split", "Split"},
                                                                {"join", "Join"},
                                                                {"ext", "Ext"},
                                                                {"base", "Base"},
                                                                {"dir", "Dir"},
                                                                {"isabs", "IsAbs"},
                                                                {"rel", "Rel"},
                                                                {"volumename", "VolumeName"}};
  std::string name = row["func"].str().substr(5);
  const json::Value& values = row["row"];
  if (name == "Match") {
    json::Value got =
        tree_in("import \"path\"\ngot: path.Match(" + json::print(values.item(0)) + ", " + json::print(values.item(1)) + ")");
    bool is_error = got["k"].as_string() == "_|_";
    if (!values.item(3).is_null()) return is_error ? "" : "want an error";
    return compared(tree_in("got: " + json::print(values.item(2))), got);
  }
  bool is_windows = name.starts_with("win") || name.starts_with("volume");
  if (name.starts_with("win")) name = name.substr(3);
  name = name.substr(0, name.size() - 5);
  auto function = kFunctions.find(name);
  if (function == kFunctions.end()) return "unknown function " + name;
  std::size_t arguments = name == "rel" ? 2 : 1;
  std::string call = "import \"path\"\ngot: path." + function->second + "(";
  for (std::size_t i = 0; i < arguments; ++i) call += json::print(values.item(i)) + ", ";
  json::Value got = tree_in(call + (is_windows ? "path.Windows)" : "path.Unix)"));
  std::string expected = name.ends_with("split") ? "[" + json::print(values.item(1)) + ", " + json::print(values.item(2)) + "]"
                                                 : json::print(values.item(arguments));
  if (expected == "\"err\"") return got["k"].as_string() == "_|_" ? "" : "want an error";
  return compared(tree_in("got: " + expected), got);
}

void run_rows(const std::string& area, std::string (*judge)(const json::Value&)) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite(area);
  for (const json::Value& row : rows) {
    if (row["area"].as_string() == area) suite.record(row["id"].str(), judge(row));
  }
}

TEST(StdConformance, yaml_reads_as_in_the_table) { run_rows("yaml-decode", judge_yaml); }
TEST(StdConformance, calls_come_to_what_the_table_says) { run_rows("builtin-expr", judge_expression); }
TEST(StdConformance, paths_come_to_what_the_tables_say) { run_rows("stdlib-unit", judge_unit); }

}  // namespace
}  // namespace slipway::cue
