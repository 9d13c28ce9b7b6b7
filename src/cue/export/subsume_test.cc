// Which values are instances of which: the rows of the corpus.
#include <gtest/gtest.h>

#include "cue/corpus_test.h"
#include "cue/eval/evaluator.h"
#include "cue/export/subsume.h"

namespace slipway::cue {
namespace {

Vertex* field(Evaluator& evaluator, Vertex* root, const std::string& name) {
  for (Vertex* one : deref(root)->arcs) {
    if (evaluator.labels().describe(one->label) == name) return one;
  }
  return nullptr;
}

std::string judge_subsumption(const json::Value& row) {
  auto program = compile_program({{"in.cue", row["files"]["in.cue"].str()}}, {}, {.allows_unused_imports = true});
  Evaluator evaluator(*program, Budget{});
  Vertex* root = evaluator.run({});
  Vertex* general = field(evaluator, root, "a");
  Vertex* instance = field(evaluator, root, "b");
  if (general == nullptr || instance == nullptr) return "no fields a and b";
  std::string mode = row["mode"].str();
  SubsumeOptions options{.takes_defaults = mode == "subDefaults" || mode == "subFinal" || mode == "subNoOptional",
                         .is_final = mode == "subFinal",
                         .is_schema = mode == "subSchema"};
  bool got = subsumes(evaluator, general, instance, options);
  bool want = row["expect_subsumes"].as_bool();
  return got == want ? ""
                     : std::string(want ? "should hold: " : "should not hold: ") + row["files"]["in.cue"].str() + " " + mode;
}

TEST(SubsumeConformance, tells_instances) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("subsume");
  for (const json::Value& row : rows) {
    if (row["area"].as_string() == "subsume") suite.record(row["id"].str(), judge_subsumption(row));
  }
}

}  // namespace
}  // namespace slipway::cue
