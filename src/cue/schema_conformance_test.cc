// Conformance of OpenAPI schemas: each definition's schema as upstream's generator gives it, references written out.
#include <gtest/gtest.h>

#include "cue/corpus_test.h"
#include "cue/schema.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

constexpr int kMaxDepth = 8;

/// References resolved; null where one goes round in circles, which no tree can show.
json::Value expanded(const json::Value& schema, const json::Value& all, int depth) {
  if (depth > kMaxDepth) return {};
  if (schema.type() == json::Type::Array) {
    json::ArrayBuilder out;
    for (const json::Value& one : schema.items()) out.add(expanded(one, all, depth));
    return out.build();
  }
  if (!schema.is_object()) return schema;
  if (schema["$ref"].is_string()) {
    std::string name = schema["$ref"].str();
    name = name.substr(name.rfind('/') + 1);
    return expanded(all[name], all, depth + 1);
  }
  json::Value out = schema;
  for (auto [key, value] : schema.members()) out = out.with(key, expanded(value, all, depth));
  return out;
}

bool is_same(const json::Value& a, const json::Value& b) {
  if (a.type() != b.type()) return a == b;
  if (a.type() == json::Type::Array) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!is_same(a.item(i), b.item(i))) return false;
    }
    return true;
  }
  if (!a.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (auto [key, value] : a.members()) {
    if (!b.has(key) || !is_same(value, b[key])) return false;
  }
  return true;
}

/// Out: packages of a module, documents that are programs themselves (v2), other versions than 3.0, names and texts given by
/// functions of a host.
std::string why_out(const json::Value& row) {
  for (const json::Value& one : row["directives"].items()) {
    for (std::string_view out : {"v2", "Version: 3.1", "Func:", "FieldFilter", "skip-v3"}) {
      bool is_whole = out == "v2" ? one.as_string() == "v2" : one.as_string().find(out) != std::string_view::npos;
      if (is_whole) return std::string(out);
    }
  }
  return row["files"].has("in.cue") && row["files"].size() == 1 ? "" : "no program of its own";
}

TEST(SchemaConformance, of_definitions) {
  auto rows = testing::corpus_rows("openapi.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("openapi");
  int apart = 0;
  for (const json::Value& row : rows) {
    auto document = json::parse(row["expect"]["out.json"].as_string());
    if (!document || !why_out(row).empty()) {
      ++apart;
      continue;
    }
    const json::Value schemas = (*document)["components"]["schemas"];
    auto program = compile({{"in.cue", row["files"]["in.cue"].str()}}, {});
    for (auto [name, want] : schemas.members()) {
      std::string id = row["id"].str() + "#" + std::string(name);
      // Names with dots are the generator's own, for what a definition contains.
      if (name.find('.') != std::string_view::npos) {
        ++apart;
        continue;
      }
      if (!program) {
        suite.record(id, describe(program.error()));
        continue;
      }
      Cursor root = evaluate(*program);
      Cursor value = root.field("#" + std::string(name));
      json::Value got = openapi_schema(value.exists() ? value : root.field(std::string(name)));
      json::Value tree = expanded(want, schemas, 0);
      suite.record(id, is_same(tree, got) ? "" : "want " + json::print(tree) + ", got " + json::print(got));
    }
  }
  std::cout << "counted apart (other versions, names by functions of a host, whole documents): " << apart << std::endl;
}

}  // namespace
}  // namespace slipway::cue
