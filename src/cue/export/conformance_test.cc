// Conformance of what is written: YAML of files, and the order of fields.
#include <gtest/gtest.h>

#include "cue/corpus_test.h"
#include "cue/data/yaml_syntax.h"
#include "cue/eval/evaluator.h"
#include "cue/export/field_order.h"
#include "cue/export/text_options.h"

namespace slipway::cue {
namespace {

std::string trimmed(std::string_view text) {
  std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  std::size_t end = text.find_last_not_of(" \t\n");
  return std::string(text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

std::vector<SourceText> exported_files(const json::Value& row) {
  std::vector<SourceText> out;
  for (auto [name, text] : row["files"].members()) out.push_back({std::string(name), text.str()});
  return out;
}

TEST(ExportConformance, yaml_of_files) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("yaml-encode");
  for (const json::Value& row : rows) {
    if (row["area"].as_string() != "yaml-encode") continue;
    auto text = yaml_of_syntax(exported_files(row)[0]);
    std::string got = text ? *text : text.error().message;
    std::string want = trimmed(row["expect_yaml"].as_string());
    suite.record(row["id"].str(), trimmed(got) == want ? "" : "want " + want + ", got " + got);
  }
}

TEST(ExportConformance, order_of_fields) {
  auto rows = testing::corpus_rows("order.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("order");
  for (const json::Value& row : rows) {
    auto program = compile_program(exported_files(row), {}, {.allows_unused_imports = true});
    Evaluator evaluator(*program, Budget{});
    Vertex* root = evaluator.run({});
    order_fields(evaluator, root);
    TextOptions style{.has_hidden = false, .has_optional = false, .joins_single_fields = true, .is_in_columns = true};
    std::string got;
    std::string text = cue_text(evaluator, root, style);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      got += "\t" + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
    got = "{\n" + got + "}\n";
    std::string want = row["expect"]["lexicographical=false"].str();
    suite.record(row["id"].str(), got == want ? "" : "want " + want + ", got " + got);
  }
}

}  // namespace
}  // namespace slipway::cue
