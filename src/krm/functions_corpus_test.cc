// The functions over the cases of the catalog and of kpt: the files, the results and the errors that are recorded there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "json/text.h"
#include "krm/corpus_test.h"
#include "krm/render.h"

namespace slipway::krm {
namespace {

struct RanCase {
  Result<Files> files;
  Files unrendered;
  std::vector<std::pair<std::string, std::vector<FunctionResult>>> steps;
  std::string log;
};

json::Value expected_config(const std::string& folder) {
  const auto text = corpus_file("packages/" + folder + "/.expected/config.yaml");
  if (!text) return json::Value::empty_object();
  auto value = json::parse_yaml(*text);
  return value ? *value : json::Value::empty_object();
}

RanCase run(const std::string& folder, const std::string& name, const Files& files) {
  const json::Value config = expected_config(folder);
  if (config["testType"].as_string() == "eval") {
    std::optional<Resource> fn_config;
    if (config.has("args")) {
      std::map<std::string, std::string> data;
      for (auto [key, value] : config["args"].members())
        data[std::string(key)] = value.is_string() ? value.str() : json::print(value);
      fn_config = config_map(data);
    } else if (config.has("fnConfig")) {
      auto tree = read_one_yaml(files.at(config["fnConfig"].str().substr(3)));
      if (tree) {
        fn_config = Resource{};
        fn_config->tree = *tree;
      }
    }
    Evaluation made = evaluate(files, config["image"].as_string(), std::move(fn_config));
    return {.files = made.files, .unrendered = files, .steps = {{config["image"].str(), made.results}}, .log = ""};
  }
  RenderOutcome made = render(files, {.writes_status = folder.starts_with("kpt-fn-render"), .package_name = name});
  RanCase ran{.files = made.files, .unrendered = made.unrendered, .steps = {}, .log = made.log};
  for (const RenderStep& step : made.steps) ran.steps.emplace_back(step.image, step.results);
  return ran;
}

std::string results_difference(const std::string& folder, const RanCase& ran) {
  const auto text = corpus_file("packages/" + folder + "/.expected/results.yaml");
  if (!text) return "";
  auto wanted = json::parse_yaml(*text);
  if (!wanted) return "unreadable results";
  const json::Value items = (*wanted)["items"];
  for (std::size_t i = 0; i < items.size(); ++i) {
    json::ArrayBuilder got;
    if (i < ran.steps.size()) {
      for (const FunctionResult& result : ran.steps[i].second) got.add(result_value(result));
    }
    const json::Value made = got.build();
    const json::Value& results = items.item(i)["results"];
    const bool is_equal = results.is_null() ? made.empty() : made == results;
    if (!is_equal) return fmt::format("results of {}:\n{}expected:\n{}", i, json::print_yaml(made), json::print_yaml(results));
  }
  return "";
}

// Every line of the expected text is there; what kpt says of containers is not looked for.
std::string text_difference(std::string_view log, const std::string& wanted) {
  std::size_t at = 0;
  while (at < wanted.size()) {
    const std::size_t stop = std::min(wanted.find('\n', at), wanted.size());
    const std::string line = trimmed(wanted.substr(at, stop - at));
    at = stop + 1;
    if (!line.empty() && !log.contains(line)) return fmt::format("the log lacks {:?}:\n{}", line, log);
  }
  return "";
}

std::string without_status(const std::string& text) {
  auto tree = read_one_yaml(text);
  if (!tree) return text;
  tree->root.erase("status");
  return write_yaml(*tree);
}

std::string judge(const std::string& folder, const std::string& name) {
  Files files = corpus_files(folder);
  const json::Value config = expected_config(folder);
  const auto diff = corpus_file("packages/" + folder + "/.expected/diff.patch");
  const bool is_context = name == "set-namespace-kpt-package-context";
  auto expected = apply_diff(files, diff.value_or(""));
  if (!expected) return "the diff does not fit";
  if (is_context) files["package-context.yaml"] = package_context("example");  // as its README has it: init, then render
  const RanCase ran = run(folder, name, files);
  const std::string log = ran.log + (ran.files ? "" : ran.files.error().message);
  const bool must_fail = config["exitCode"].as_int() != 0;
  if (must_fail != !ran.files.has_value()) return "exit code: " + log;
  if (std::string found = text_difference(log, config["stdErr"].str()); !found.empty()) return found;
  if (std::string found = results_difference(folder, ran); !found.empty()) return found;
  Files got = ran.files ? *ran.files : ran.unrendered;
  if (!diff && !must_fail) {
    // Nothing is recorded to change. kpt writes the files in its form all the same; those of the corpus are, but for a status.
    for (auto& [path, text] : got) {
      if (path.ends_with(kKptfile)) text = without_status(text);
    }
  }
  return difference(got, *expected);
}

TEST(PackageCorpus, runs_the_catalog_functions) {
  Suite suite("catalog-fn");
  for (const std::string& name : corpus_cases("catalog-fn")) {
    const std::string folder = "catalog-fn/" + name;
    if (name == "search-replace-create-setters") {
      const Files files = corpus_files(folder);
      const auto expected = apply_diff(files, corpus_file("packages/" + folder + "/.expected/diff.patch").value_or(""));
      const Evaluation made = evaluate(
          files, "search-replace",
          config_map(
              {{"by-path", "data.**"}, {"by-value-regex", "(.*)nginx.com(.*)"}, {"put-comment", "kpt-set: ${1}${host}${2}"}}));
      suite.judge(name, made.files && expected ? difference(*made.files, *expected) : "failed");
      continue;
    }
    suite.judge(name, judge(folder, name));
  }
}

TEST(PackageCorpus, renders_as_kpt) {
  Suite suite("kpt-fn-render");
  for (const std::string& name : corpus_cases("kpt-fn-render")) {
    // The selectors' cases stand in a folder of their own upstream; kpt shows the last part.
    const std::string shown = name.starts_with("selectors-") ? name.substr(10) : name;
    suite.judge(name, judge("kpt-fn-render/" + name, shown));
  }
}

ResourceList table_input(const json::Value& row, std::string_view config_key) {
  ResourceList list;
  auto trees = read_yaml(row["input"].as_string());
  EXPECT_TRUE(trees.has_value()) << (trees ? "" : trees.error().message);
  std::size_t index = 0;
  for (YamlTree& tree : *trees) {
    if (tree.is_empty) continue;
    Resource resource;
    resource.tree = std::move(tree);
    resource.path = "${filePath}";
    resource.index = index++;
    list.items.push_back(std::move(resource));
  }
  if (auto config = read_one_yaml(row[config_key].as_string()); config) {
    list.config = Resource{};
    list.config->tree = *config;
  }
  return list;
}

std::string written(const ResourceList& list) {
  std::vector<YamlTree> trees;
  for (const Resource& resource : list.items) trees.push_back(resource.tree);
  return write_yaml(trees);
}

// What search-replace prints: the results as text, and how many.
std::string printed(const ResourceList& list) {
  std::string made;
  std::size_t count = 0;
  const auto data = list.data();
  const bool is_change = data.contains("put-value") || data.contains("put-comment");
  for (const FunctionResult& result : list.results) {
    if (result.file_path.empty()) continue;
    auto value = json::parse_yaml(result.message.substr(result.message.find('"')));
    made += fmt::format("{}\nfieldPath: {}\nvalue: {}\n\n", result.file_path, result.field_path, value ? value->str() : "");
    ++count;
  }
  return made + fmt::format("{} {} field(s)\n", is_change ? "Mutated" : "Matched", count);
}

std::string judge_table(const json::Value& row, const std::string& function) {
  ResourceList list = table_input(row, row.has("fnconfig") ? "fnconfig" : "config");
  auto run = find_function(function);
  if (!run) return run.error().message;
  auto done = (*run)(list);
  const std::string error = row["errMsg"].str();
  if (!error.empty()) return !done && done.error().message.contains(error) ? "" : "wanted the error " + error;
  if (row.has("expectedResult")) {
    for (std::size_t i = 0; i < row["expectedResult"].size(); ++i) {
      const std::string_view wanted = row["expectedResult"].item(i).as_string();
      if (i >= list.results.size() || list.results[i].message != wanted) return fmt::format("result {} is not {}", i, wanted);
    }
    return "";
  }
  // Upstream's table asks the filter, which has no opinion on finding nothing; the function fails then.
  const bool found_nothing = !done && function == "create-setters" && done.error().message.starts_with("no matches");
  if (!done && !found_nothing) return done.error().message;
  if (row.has("out") && !row["out"].as_string().empty() && printed(list) != row["out"].as_string()) {
    return difference(printed(list), row["out"].as_string());
  }
  std::string expected = row["expectedResources"].str();
  if (function == "upsert-resource") {
    // The expected text shows where files stand by annotations; here they stand beside the tree.
    auto trees = read_yaml(expected);
    if (!trees) return trees.error().message;
    for (YamlTree& tree : *trees) {
      Node* metadata = tree.root.find("metadata");
      Node* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
      if (annotations == nullptr) continue;
      for (std::string_view key : {"internal.config.kubernetes.io/path", "config.kubernetes.io/path"}) {
        annotations->erase(key);
      }
      if (annotations->children.empty()) metadata->erase("annotations");
    }
    json::ArrayBuilder got;
    json::ArrayBuilder wanted;
    for (const Resource& resource : list.items) got.add(value_or_null(resource.root()));
    for (const YamlTree& tree : *trees) wanted.add(value_or_null(tree.root));
    const json::Value made = got.build();
    const json::Value goal = wanted.build();
    return made == goal ? "" : difference(json::print_yaml(made), json::print_yaml(goal));
  }
  // Upstream's tables run without the orchestrator that keeps the indentation of lists: both sides are compared in one form.
  auto trees = read_yaml(expected);
  if (!trees) return trees.error().message;
  std::erase_if(*trees, [](const YamlTree& tree) { return tree.is_empty; });
  for (YamlTree& tree : *trees) tree.is_wide = false;
  for (Resource& resource : list.items) resource.tree.is_wide = false;
  return difference(trimmed(written(list)), trimmed(write_yaml(*trees)));
}

TEST(PackageCorpus, runs_the_tables_of_functions) {
  Suite suite("tables-fn");
  const std::pair<const char*, const char*> kTables[] = {{"fn-apply-setters", "apply-setters"},
                                                         {"fn-create-setters", "create-setters"},
                                                         {"fn-search-replace-searchreplacecases", "search-replace"},
                                                         {"fn-search-replace-putcommentcases", "search-replace"},
                                                         {"fn-upsert-resource", "upsert-resource"},
                                                         {"fn-set-enforcement-action", "set-enforcement-action"}};
  for (const auto& [table, function] : kTables) {
    std::size_t index = 0;
    for (const json::Value& row : corpus_table(table)) {
      suite.judge(fmt::format("{}[{}] {}", table, index++, row["name"].as_string()), judge_table(row, function));
    }
  }
}

}  // namespace
}  // namespace slipway::krm
