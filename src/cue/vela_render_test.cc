// Our definitions against what those of upstream render: every key a template gives, for parameters and contexts of the corpus.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cue/definitions_test.h"

namespace slipway::cue {
namespace {

using testing::compare_kinds;

std::string compare_key(const Cursor& root, const std::string& key, const json::Value& expected) {
  Cursor at = root.lookup(key);
  if (!at.exists()) return expected.is_null() ? "" : key + " is missing";
  if (expected.is_null()) return key + " is there";
  auto found = at.to_json();
  if (expected.has("json")) {
    if (!found) return key + ": " + describe(found.error());
    if (*found == expected["json"]) return "";
    return key + " is " + json::print(*found) + " instead of " + json::print(expected["json"]);
  }
  if (found) return key + " is " + json::print(*found) + " instead of an error";
  std::string kinds = compare_kinds(expected["error"], found.error());
  return kinds.empty() ? "" : key + ": " + kinds;
}

std::string run(testing::Definitions& definitions, const json::Value& row) {
  std::string id = row["id"].str();
  const Program* program = definitions.find(id.substr(0, id.find('/', id.find('/') + 1)));
  if (program == nullptr) return "no program";
  Cursor root = evaluate(*program, {{"parameter", row["parameter"]}, {"context", row["context"]}});
  const json::Value& expect = row["expect"];
  for (const char* key : {"output", "outputs", "patch", "patchOutputs", "errs", "parameter"}) {
    std::string why = compare_key(root, key, expect[key]);
    if (!why.empty()) return why;
  }
  Errors errors = root.validate(Demand::Valid);
  bool is_fine = expect["_vet"].is_string() && expect["_vet"].str() == "ok";
  if (is_fine) return errors.empty() ? "" : "vet: " + describe(errors);
  if (errors.empty()) return "vet finds nothing";
  return compare_kinds(expect["_vet"]["error"], errors);
}

TEST(DefinitionsConformance, definitions_render_as_upstream) {
  auto rows = testing::corpus_rows("vela_render.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  testing::Suite suite("vela_render");
  testing::Definitions definitions;
  for (const json::Value& row : rows) {
    if (!row["agreed"].as_bool()) continue;  // evaluators differ there
    suite.record(row["id"].str(), run(definitions, row));
  }
}

// The same object, or the same absence of one.
json::Value rendered(const Cursor& root) {
  json::ArrayBuilder all;
  for (const char* key : {"output", "outputs", "patch", "errs", "parameter"}) {
    auto found = root.field(key).to_json();
    all.add(found ? *found : json::Value(key));
  }
  all.add(static_cast<std::int64_t>(root.validate().size()));
  return all.build();
}

// The declarations of our templates, which are indented by one tab, comments with what they stand above.
std::vector<std::string> declarations(const std::string& text) {
  std::vector<std::string> out;
  bool was_comment = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool is_top = line.size() > 1 && line[0] == '\t' && line[1] != '\t' && line[1] != '}' && line[1] != ']' && line[1] != ' ';
    if (line.starts_with("import") || out.empty()) is_top = true;
    if (is_top && !was_comment) out.emplace_back();
    was_comment = is_top && line.starts_with("\t//");
    out.back() += line + "\n";
  }
  return out;
}

TEST(DefinitionsConformance, order_of_declarations_does_not_matter) {
  auto rows = testing::corpus_rows("vela_render.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  std::minstd_rand random(1);
  testing::Definitions definitions;
  for (const json::Value& row : rows) {
    std::string id = row["id"].str();
    std::string name = id.substr(0, id.find('/', id.find('/') + 1));
    std::string text = testing::file_text("definitions/" + name + ".cue");
    std::vector<std::string> parts = declarations(section(text, "template"));
    std::shuffle(parts.begin() + 1, parts.end(), random);  // imports stay first
    std::string shuffled;
    for (const std::string& one : parts) shuffled += one;
    auto program = compile({{"shuffled.cue", shuffled}}, {}, {.open_names = {"context", "parameter"}});
    ASSERT_TRUE(program.has_value()) << id << describe(program.error()) << shuffled;
    std::vector<Hole> holes = {{"parameter", row["parameter"]}, {"context", row["context"]}};
    EXPECT_EQ(rendered(evaluate(*program, holes)), rendered(evaluate(*definitions.find(name), holes))) << id << shuffled;
  }
}

TEST(DefinitionsConformance, order_of_files_and_holes_does_not_matter) {
  auto rows = testing::corpus_rows("vela_render.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  testing::Definitions definitions;
  for (const json::Value& row : rows) {
    std::string id = row["id"].str();
    std::string name = id.substr(0, id.find('/', id.find('/') + 1));
    const Program* program = definitions.find(name);
    ASSERT_NE(program, nullptr);
    std::string text = section(testing::definition_text(name), "template");
    std::string data = "parameter: " + json::print(row["parameter"]) + "\ncontext: " + json::print(row["context"]) + "\n";
    auto before = compile({{"data.cue", data}, {"template.cue", text}});
    auto after = compile({{"template.cue", text}, {"data.cue", data}});
    ASSERT_TRUE(before.has_value() && after.has_value()) << id;
    Hole parameter{"parameter", row["parameter"]};
    Hole context{"context", row["context"]};
    json::Value expected = rendered(evaluate(*program, {parameter, context}));
    EXPECT_EQ(rendered(evaluate(*program, {context, parameter})), expected) << id;
    EXPECT_EQ(rendered(evaluate(*before)), expected) << id;
    EXPECT_EQ(rendered(evaluate(*after)), expected) << id;
  }
}

}  // namespace
}  // namespace slipway::cue
