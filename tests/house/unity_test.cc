// Release, sanitizer and CI builds compile eight files of a target as one (docs/ARCHITECTURE.md, "Builds in batches"). The
// unnamed namespaces of these files are then one, so no two files of a target may declare the same name in them. An overload
// with other parameters and an alias of the same type are no clash. Formatted sources declare in column 0, which is all that is
// read of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace slipway::house {
namespace {

struct Hidden {
  std::string name;
  std::string alias{};  // of a using-declaration: its type
};
struct Owner {
  std::string path;
  std::string alias;
};

/// Types of parameters: "(const kube::Object& object, int n = 2)" is "const Value&, int". An Object is a Value.
std::string parameter_types(std::string text) {
  static const std::regex fallback(R"( = [^,)]*)");
  static const std::regex name(R"(([&*>\w]) ?\b\w+(?=,|$))");
  static const std::regex qualifier(R"(\w+::)");
  static const std::regex object(R"(\bObject\b)");
  text = std::regex_replace(std::regex_replace(text, fallback, ""), name, "$1");
  return std::regex_replace(std::regex_replace(text, qualifier, ""), object, "Value");
}

/// What one declaration is called, functions with their parameters; without a name for none.
Hidden declaration_in(const std::string& text) {
  static const std::regex alias(R"(using (\w+) = (.*);)");
  static const std::regex use(R"(using ((?:\w+::)+(\w+));)");
  static const std::regex type(R"((?:template <.*> )?(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: :.*)? \{.*)");
  static const std::regex constant(
      R"((?:static )?(?:constexpr|const|thread_local|std::\w+) ?[^(={]*?(\w+)(?:\[\w*\])?(?: = |\{|;).*)");
  static const std::regex function(R"((?:template <.*> )?[A-Za-z][\w:<>,&*\[\] ]*[ &*](\w+)\(([^{]*)\)(?: const)? \{.*)");
  std::smatch parts;
  const bool is_use = text.starts_with("using ");
  if (is_use && std::regex_match(text, parts, alias)) return {parts.str(1), parts.str(2)};
  if (is_use && std::regex_match(text, parts, use)) return {parts.str(2), parts.str(1)};
  if (std::regex_match(text, parts, type)) return {parts.str(1)};
  if (std::regex_match(text, parts, function)) return {parts.str(1) + "(" + parameter_types(parts.str(2)) + ")"};
  if (std::regex_match(text, parts, constant)) return {parts.str(1)};
  return {};
}

/// The declarations in unnamed namespaces of a source, each behind the namespaces around it: "slipway/cue//kMaxDepth".
std::vector<Hidden> hidden_names(std::istream& in) {
  std::vector<std::string> spaces;
  std::vector<Hidden> found;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("namespace ") && line.ends_with("{")) {
      spaces.push_back(line == "namespace {" ? "" : line.substr(10, line.size() - 12));
      continue;
    }
    if (line.starts_with("}  // namespace") && !spaces.empty()) spaces.pop_back();
    const bool is_hidden = std::ranges::find(spaces, "") != spaces.end();
    if (!is_hidden || line.empty() || std::isalpha(static_cast<unsigned char>(line[0])) == 0) continue;
    for (std::string more; !line.contains('{') && !line.ends_with(';') && std::getline(in, more);) {
      line += ' ' + more.substr(std::min(more.find_first_not_of(' '), more.size()));
    }
    Hidden hidden = declaration_in(line);
    if (hidden.name.empty()) continue;
    for (auto space = spaces.rbegin(); space != spaces.rend(); ++space) hidden.name.insert(0, *space + "/");
    found.push_back(std::move(hidden));
  }
  return found;
}

/// The target that a file below the root belongs to: one for the sources of a room, one for its tests, one for a folder of
/// tests.
std::string target_of(const std::string& path, const std::vector<std::string>& rooms) {
  if (!path.starts_with("src/")) return path.substr(0, path.find('/', path.find('/') + 1));
  for (const std::string& room : rooms) {
    if (path.starts_with("src/" + room + "/")) return room + (path.ends_with("_test.cc") ? " tests" : "");
  }
  return path;
}

std::vector<std::string> rooms_of(const std::filesystem::path& root) {
  std::vector<std::string> rooms;
  std::ifstream in(root / "tools/layers.txt");
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') rooms.push_back(line.substr(0, line.find_first_of(" |")));
  }
  return rooms;
}

TEST(UnityBuild, no_two_files_of_a_target_declare_the_same_hidden_name) {
  const std::filesystem::path root = SLIPWAY_SOURCE_DIR;
  const std::vector<std::string> rooms = rooms_of(root);
  std::map<std::string, std::map<std::string, Owner>> targets;
  for (const char* folder : {"src", "tests", "bench"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string path = std::filesystem::relative(entry.path(), root).string();
      if (!path.ends_with(".cc") || path.ends_with("_fuzz.cc")) continue;
      std::ifstream in(entry.path());
      for (const Hidden& hidden : hidden_names(in)) {
        const auto [owner, is_new] = targets[target_of(path, rooms)].emplace(hidden.name, Owner{path, hidden.alias});
        const bool is_same_alias = !hidden.alias.empty() && owner->second.alias == hidden.alias;
        EXPECT_TRUE(is_new || is_same_alias || owner->second.path == path)
            << hidden.name << " is declared in " << owner->second.path << " and in " << path
            << ": share it in a header, or name each by its subject";
      }
    }
  }
}

TEST(UnityBuild, names_are_read_with_what_tells_them_apart) {
  std::istringstream in(
      "namespace a {\nnamespace {\n\nconstexpr int kMost = 3;\nusing Kind = B::Kind;\nstruct Row {\n  int x;\n};\n"
      "int sum(const Value& left,\n        int right = 2) {\n  return 1;\n}\n}  // namespace\nint open() { return 1; }\n}  // "
      "namespace a\n");
  std::vector<std::string> names;
  for (const Hidden& hidden : hidden_names(in))
    names.push_back(hidden.name + (hidden.alias.empty() ? "" : " is " + hidden.alias));
  EXPECT_EQ(names, (std::vector<std::string>{"a//kMost", "a//Kind is B::Kind", "a//Row", "a//sum(const Value&, int)"}));
}

}  // namespace
}  // namespace slipway::house
