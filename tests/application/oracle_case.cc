#include "oracle_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "json/patch.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::oracle_test {

namespace {

namespace fs = std::filesystem;

constexpr json::Limits kLarge{.max_bytes = std::size_t{64} << 20};

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool is_definition(const Value& document) { return kube::kind(document).ends_with("Definition"); }

void read_into(Documents& all, const fs::path& folder, const std::string& file, const Value& substituted,
               const std::function<bool(const Value&)>& is_wanted) {
  std::string text = content(folder / file);
  for (const auto [name, value] : substituted.members()) text = replaced(std::move(text), name, value.as_string());
  const auto documents = json::parse_yaml_all(text, kLarge);
  if (!documents) {
    all.faults.push_back(fmt::format("{}: {}", file, documents.error().message));
    return;
  }
  for (const json::YamlDocument& document : *documents) {
    if (!is_wanted(document.value)) continue;
    (is_definition(document.value) ? all.definitions : all.rest).push_back(document.value);
  }
}

}  // namespace

std::string_view name_of(Class of) {
  switch (of) {
    case Class::Runs:
      return "runs";
    case Class::Fails:
      return "fails";
    case Class::Waits:
      return "waits";
  }
  return "";
}

Class Case::kind() const {
  const std::string_view phase = lines.front()["phase"].as_string();
  if (phase == "workflowFailed" || phase == "failed") return Class::Fails;
  if (phase == "rendering" || phase == "initializing") return Class::Waits;
  return Class::Runs;
}

fs::path corpus_folder() {
  const char* root = std::getenv("SLIPWAY_CORPUS");
  const fs::path folder = (root ? fs::path(root) : fs::path(SLIPWAY_SOURCE_DIR) / "../shared/corpus") / "kubevela";
  return fs::exists(folder / "oracle.jsonl") ? folder : fs::path();
}

std::vector<Case> read_cases(const fs::path& folder) {
  std::vector<Case> cases;
  std::ifstream in(folder / "oracle.jsonl");
  for (std::string text; std::getline(in, text);) {
    auto line = json::parse(replaced(text, "$NS", kNamespace), kLarge);
    if (!line || (*line)["target"].is_null()) continue;
    const std::string file = (*line)["file"].str();
    const auto known = std::ranges::find(cases, file, &Case::file);
    if (known == cases.end()) {
      cases.push_back({.file = file, .lines = {std::move(*line)}, .difference = ""});
    } else {
      known->lines.push_back(std::move(*line));
    }
  }
  return cases;
}

std::vector<std::string> add_differences(std::vector<Case>& cases, const fs::path& table) {
  std::vector<std::string> wrong;
  std::ifstream in(table);
  for (std::string row; std::getline(in, row);) {
    if (row.empty() || row.starts_with('#')) continue;
    const std::size_t first = row.find(" | ");
    const std::size_t second = first == std::string::npos ? first : row.find(" | ", first + 3);
    if (second == std::string::npos) {
      wrong.push_back(row);
      continue;
    }
    const auto known = std::ranges::find(cases, row.substr(0, first), &Case::file);
    const auto members = json::parse(replaced(row.substr(second + 3), "$NS", kNamespace));
    const bool is_readable = members && (members->is_object() || members->is_array());
    if (known == cases.end() || !is_readable || second == first + 3) {
      wrong.push_back(row);
      continue;
    }
    known->difference = row.substr(first + 3, second - first - 3);
    known->lines.resize(1);
    for (const auto [key, value] : members->members()) known->lines[0] = known->lines[0].with(key, value);
    if (!members->is_array()) continue;
    auto patched = json::apply_json_patch(known->lines[0], *members);
    if (!patched) wrong.push_back(row + ": " + patched.error().message);
    if (patched) known->lines[0] = std::move(*patched);
  }
  return wrong;
}

Documents read_documents(const fs::path& folder, const Case& of) {
  Documents all;
  const Value& line = of.lines.front();
  for (const Value& extra : line["extra"].items()) {
    read_into(all, folder, extra["file"].str(), Value(), [&](const Value& document) {
      return kube::kind(document) == extra["kind"].as_string() && kube::name(document) == extra["name"].as_string();
    });
  }
  read_into(all, folder, of.file, line["substituted"], [](const Value&) { return true; });
  return all;
}

}  // namespace slipway::oracle_test
