// Conformance of values written as CUE text, by upstream's profiles: what each shows, and how.
#include <gtest/gtest.h>

#include "cue/corpus_test.h"
#include "cue/eval/evaluator.h"
#include "cue/export/field_order.h"
#include "cue/export/text_options.h"

namespace slipway::cue {
namespace {

TextOptions options_of(std::string_view profile) {
  bool is_short = profile == "Simplified" || profile == "Final";
  TextOptions options{.joins_single_fields = true, .is_in_columns = true, .has_expressions = true};
  options.is_final = profile == "Final" || profile == "Eval";
  options.has_definitions = options.has_optional = !is_short;
  options.has_hidden = profile == "Raw" || profile == "All";
  options.has_docs = !options.is_final;
  return options;
}

// As one struct: in braces, a tab deeper, without the imports a file would need.
std::string in_braces(std::string text) {
  if (text.starts_with("import ")) text = text.substr(std::min(text.find("\n\n"), text.size() - 2) + 2);
  std::string out = "{\n";
  // A comment above a struct stands apart, one above another value does not.
  std::size_t field = 0;
  while (text.compare(field, 2, "//") == 0) field = text.find('\n', field) + 1;
  if (field > 0 && text.substr(field, text.find('\n', field) - field).ends_with('{')) out += "\n";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out += "\t" + text.substr(at, end - at);
    out += "\n";
    at = end + 1;
  }
  return out + "}\n";
}

std::string text_of(const json::Value& row, const std::string& profile) {
  std::vector<SourceText> files;
  for (auto [name, text] : row["files"].members()) {
    if (name.ends_with(".cue")) files.push_back({std::string(name), text.str()});
  }
  auto program = compile_program(files, {}, {.allows_unused_imports = true});
  if (!program->diagnostics.empty()) return program->diagnostics[0].message;
  Evaluator evaluator(*program, Budget{});
  Vertex* root = evaluator.run({});
  order_fields(evaluator, root);
  std::string text = cue_text(evaluator, root, options_of(profile));
  bool is_struct = deref(root)->base.tag == Value::Tag::Struct;
  if (text.empty() && is_struct) return "{}\n";
  return is_struct ? in_braces(text) : text + (text.ends_with('\n') ? "" : "\n");
}

std::string first_difference(std::string_view want, std::string_view got) {
  while (!want.empty() || !got.empty()) {
    std::string_view a = want.substr(0, want.find('\n'));
    std::string_view b = got.substr(0, got.find('\n'));
    if (a != b) return "want " + std::string(a) + ", got " + std::string(b);
    want.remove_prefix(std::min(a.size() + 1, want.size()));
    got.remove_prefix(std::min(b.size() + 1, got.size()));
  }
  return "";
}

TEST(ProfileConformance, values_are_written_as_upstream_writes_them) {
  auto rows = testing::corpus_rows("export.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("export");
  for (const json::Value& row : rows) {
    for (auto [profile, want] : row["expect_value_profiles"].members()) {
      std::string got = text_of(row, std::string(profile));
      suite.record(row["id"].str() + "#" + std::string(profile), first_difference(want.str(), got));
    }
  }
}

}  // namespace
}  // namespace slipway::cue
