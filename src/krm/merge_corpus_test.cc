// The tables of kyaml's merge3 and of kpt's Kptfile merge, and kpt's merges of packages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "krm/corpus_test.h"
#include "krm/merge.h"

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

TEST(PackageCorpus, merges_kptfiles_as_kpt) {
  Suite suite("kptfile-merge");
  std::size_t index = 0;
  for (const json::Value& row : corpus_table("kptfile-merge")) {
    const std::string_view upstream = row.has("updated") ? row["updated"].as_string() : row["update"].as_string();
    const Locks locks = row["updateUpstream"].as_bool() ? Locks::Upstream : Locks::Local;
    auto merged = merge_kptfiles(row["origin"].as_string(), upstream, row["local"].as_string(), locks);
    std::string found = merged ? "" : merged.error().message;
    if (merged) {
      // kpt writes through its types; here the local file's order and comments stay, so values are compared.
      auto got = json::parse_yaml(*merged);
      auto wanted = json::parse_yaml(row["expected"].as_string());
      if (!got || !wanted || *got != *wanted) found = difference(*merged, row["expected"].as_string());
    }
    suite.judge(fmt::format("[{}] {}", index++, row["case"].as_string()), found);
  }
}

Files resources_of(const std::string& path) {
  Files made;
  auto value = json::parse_yaml(corpus_file("packages/" + path).value_or(""));
  if (!value) return made;
  for (auto [name, text] : (*value)["spec"]["resources"].members()) made[std::string(name)] = text.str();
  return made;
}

// The values that the checks of upstream's test look at.
json::Value looked_at(const Files& files) {
  json::ObjectBuilder made;
  for (const auto& [path, text] : files) {
    auto tree = json::parse_yaml(text);
    if (!tree) continue;
    const json::Value& spec = (*tree)["spec"];
    if ((*tree)["kind"].as_string() == "Deployment") {
      made.set("image_of_first_container", spec["template"]["spec"]["containers"].item(0)["image"]);
    }
    if ((*tree)["kind"].as_string() != "FruitStore") continue;
    made.set("spec.preferredTemperature", spec["preferredTemperature"]);
    json::ObjectBuilder fruits;
    for (const json::Value& fruit : spec["fruits"].items()) fruits.set(fruit["name"].as_string(), fruit["amount"]);
    made.set("fruits", fruits.build());
  }
  return made.build();
}

TEST(PackageCorpus, merges_packages_as_kpt) {
  Suite suite("kpt-merge3");
  for (const json::Value& row : corpus_table("kpt-merge3-expected")) {
    const std::string folder = "kpt-merge3/" + row["dir"].str();
    if (!corpus_file("packages/" + folder + "/original.yaml")) continue;
    Files origin = resources_of(folder + "/original.yaml");
    Files upstream = resources_of(folder + "/updated.yaml");
    Files local = resources_of(folder + "/destination.yaml");
    if (row.has("schema")) {
      const std::string crd = corpus_file("packages/" + folder + "/" + row["schema"].str()).value_or("");
      for (Files* files : {&origin, &upstream, &local}) (*files)["crd.yaml"] = crd;
    }
    auto made = upgrade(origin, upstream, local, Strategy::ResourceMerge);
    std::string found = made ? "" : made.error().message;
    const json::Value got = made ? looked_at(made->files) : json::Value();
    for (std::string_view key : {"image_of_first_container", "spec.preferredTemperature", "fruits"}) {
      if (made && row.has(key) && got[key] != row[key])
        found += fmt::format("{} is {}, wanted {}\n", key, json::print(got[key]), json::print(row[key]));
    }
    suite.judge(row["dir"].str(), found);
  }
}

TEST(PackageCorpus, upgrades_porchs_package) {
  Suite suite("update-4way");
  const std::string folder = "porch/update-4way/";
  const Files origin = corpus_files(folder + "original");
  if (origin.empty()) return;
  auto made = upgrade(origin, corpus_files(folder + "upstream"), corpus_files(folder + "local"), Strategy::ResourceMerge);
  suite.judge("update", made ? difference(made->files, corpus_files(folder + "updated")) : made.error().message);
}

}  // namespace
}  // namespace slipway::krm
