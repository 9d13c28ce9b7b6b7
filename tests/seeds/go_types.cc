#include "go_types.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "json/text.h"

namespace slipway::seeds_test {

using json::Value;

namespace {

const std::filesystem::path kTypesRoot = SLIPWAY_SOURCE_DIR;

/// The type of JSON that a Go type is written as; empty: a type that the file may define.
std::string scalar_of(const std::string& type) {
  static const std::map<std::string, std::string> kScalars = {{"string", "string"},
                                                              {"bool", "boolean"},
                                                              {"int32", "integer"},
                                                              {"int64", "integer"},
                                                              {"unversioned.Time", "string"},
                                                              {"api.ConditionStatus", "string"},
                                                              {"RollingState", "string"},
                                                              {"RolloutStrategyType", "string"},
                                                              {"WorkflowConditionType", "string"}};
  const auto found = kScalars.find(type);
  return found == kScalars.end() ? "" : found->second;
}

}  // namespace

GoFile read_go(const std::string& file) {
  static const std::regex kType(R"(^type (\w+) struct \{)");
  static const std::regex kConstant(R"(^\s*(\w+) \w+ = \"(\w+)\")");
  std::ifstream in(kTypesRoot / "tests" / file);
  GoFile go;
  std::string type;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kType)) type = match[1];
    if (line.starts_with("}")) type.clear();
    if (std::regex_search(line, match, kConstant)) go.constants[match[1]] = match[2];
    if (type.empty() || line.find("json:") == std::string::npos) continue;
    // "Name Type `json…`", or "Type `json…`" of an embedded one.
    std::istringstream words(line.substr(0, line.find('`')));
    std::vector<std::string> parts{std::istream_iterator<std::string>(words), {}};
    std::string tag = line.substr(line.find("json:") + 5);
    tag.erase(std::ranges::remove(tag, '"').begin(), tag.end());
    tag = tag.substr(0, tag.find_first_of(" `"));
    const std::size_t comma = tag.find(',');
    GoField field;
    field.json = tag.substr(0, comma);
    field.type = parts.empty() ? "" : parts.back();
    if (field.type.starts_with("*")) field.type.erase(0, 1);
    field.may_be_absent = comma != std::string::npos && tag.contains("omitempty");
    field.is_inline = tag.contains("inline");
    go.types[type].push_back(field);
  }
  EXPECT_FALSE(go.types.empty() && go.constants.empty()) << file;
  return go;
}

Value crd_version(const std::string& file) {
  std::ifstream in(kTypesRoot / "crds" / file);
  std::stringstream text;
  text << in.rdbuf();
  const auto parsed = json::parse_yaml(text.str());
  EXPECT_TRUE(parsed) << file;
  return parsed ? (*parsed)["spec"]["versions"].item(0) : Value();
}

Value crd_schema(const std::string& file) { return crd_version(file)["schema"]["openAPIV3Schema"]; }

namespace {

void compare(const GoFile& go, const std::string& type, const Value& schema, const std::string& path,
             const std::set<std::string>& untyped, std::vector<std::string>& out);

/// A field's schema against its Go type.
void compare_value(const GoFile& go, const std::string& type, const Value& schema, const std::string& path,
                   const std::set<std::string>& untyped, std::vector<std::string>& out) {
  std::string wanted = scalar_of(type);
  if (wanted.empty()) wanted = type.starts_with("[]") ? "array" : "object";
  if (untyped.contains(path)) return;
  if (schema["type"].as_string() != wanted) {
    out.push_back(fmt::format("{}: is {}, the seed has {}", path, schema["type"].as_string(), wanted));
    return;
  }
  if (type.starts_with("[]")) {
    compare_value(go, type.substr(2), schema["items"], path + "[]", untyped, out);
  } else if (type.starts_with("map[string]")) {
    compare_value(go, type.substr(11), schema["additionalProperties"], path + "{}", untyped, out);
  } else if (go.types.contains(type) && !schema["x-kubernetes-preserve-unknown-fields"].as_bool()) {
    compare(go, type, schema, path, untyped, out);
  }
}

void compare(const GoFile& go, const std::string& type, const Value& schema, const std::string& path,
             const std::set<std::string>& untyped, std::vector<std::string>& out) {
  for (const GoField& field : go.types.at(type)) {
    if (field.is_inline) continue;
    const std::string at = path.empty() ? field.json : path + "." + field.json;
    const Value& found = schema["properties"][field.json];
    if (found.is_null()) {
      if (at != "metadata") out.push_back(at + ": is not there");
      continue;
    }
    compare_value(go, field.type, found, at, untyped, out);
  }
}

}  // namespace

std::vector<std::string> differences(const GoFile& go, const std::string& type, const Value& schema, const std::string& path,
                                     const std::set<std::string>& untyped) {
  std::vector<std::string> out;
  if (!go.types.contains(type)) return {type + " is not in the file"};
  compare(go, type, schema, path, untyped, out);
  return out;
}

std::vector<std::string> required_of(const GoFile& go, const std::string& type) {
  std::vector<std::string> names;
  for (const GoField& field : go.types.at(type)) {
    if (!field.may_be_absent && !field.is_inline) names.push_back(field.json);
  }
  return names;
}

}  // namespace slipway::seeds_test
