// Our definitions against what those of upstream render: every key a template gives, for parameters and contexts of the corpus.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace slipway::cue
