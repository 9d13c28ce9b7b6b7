// The tables of kyaml's merge3 and of kpt's Kptfile merge, and kpt's merges of packages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "krm/corpus_test.h"
#include "krm/merge_fields.h"

namespace slipway::krm {
namespace {

std::string judge_fields(const json::Value& row) {
  auto origin = read_one_yaml(row["origin"].as_string());
  auto update = read_one_yaml(row["update"].as_string());
  auto local = read_one_yaml(row["local"].as_string());
  auto expected = read_one_yaml(row["expected"].as_string());
  if (!origin || !update || !local || !expected) return "unreadable case";
  const Inference infers = row["infer"].as_bool() ? Inference::On : Inference::Off;
  const ListKeys keys = list_keys_of(local->root.get({"apiVersion"}), local->root.get({"kind"}));
  Merged merged = merge_fields(&origin->root, &update->root, &local->root, keys, infers);
  const std::string got = merged.node ? write_node(*merged.node, false) : "";
  expected->is_wide = false;
  return difference(trimmed(got), trimmed(write_yaml(*expected)));
}

TEST(PackageCorpus, merges_fields_as_kyaml) {
  Suite suite("kyaml-merge3");
  for (const char* table : {"scalar", "list", "map", "element", "kustomization"}) {
    std::size_t index = 0;
    for (const json::Value& row : corpus_table(std::string("kyaml-merge3-") + table)) {
      suite.judge(fmt::format("{}[{}] {}", table, index++, row["description"].as_string()), judge_fields(row));
    }
  }
}

}  // namespace
}  // namespace slipway::krm
