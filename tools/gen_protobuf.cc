// Makes src/kube/protobuf_fields.inc: what the protobuf codec must know of every message of the Kubernetes API, as one line of
// text per message. Two facts files are joined: the field table drawn from the .proto files (numbers, names, types, JSON names
// that differ) and tools/protobuf_facts.txt (which zeros count, which structs are embedded).
//
//   gen_protobuf fields.json tools/protobuf_facts.txt > src/kube/protobuf_fields.inc
//
// A line: MESSAGE[=SPECIAL] then fields in the order of their numbers, each `NAME:NUMBER[!][^][*|%]TYPE`. `!`: zero is kept;
// `^`: embedded; `*`: repeated; `%`: a map from string. TYPE is s b i l d y (string, bool, int32, int64, double, bytes), or
// @MESSAGE, where @.MESSAGE is one of the same package.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "json/text.h"

namespace {

using slipway::json::Value;

/// Messages whose JSON is not an object of their fields.
struct Special {
  std::string_view message;
  std::string_view form;
};
constexpr std::array kSpecials{
    Special{"meta.v1.Time", "time"},
    Special{"meta.v1.MicroTime", "microtime"},
    Special{"meta.v1.Duration", "duration"},
    Special{"meta.v1.FieldsV1", "json"},
    Special{"runtime.RawExtension", "raw"},
    Special{"api.resource.Quantity", "quantity"},
    Special{"util.intstr.IntOrString", "intorstring"},
    Special{"apiextensions.v1.JSON", "json"},
    Special{"apiextensions.v1beta1.JSON", "json"},
    Special{"apiextensions.v1.JSONSchemaPropsOrArray", "orarray"},
    Special{"apiextensions.v1beta1.JSONSchemaPropsOrArray", "orarray"},
    Special{"apiextensions.v1.JSONSchemaPropsOrBool", "orbool"},
    Special{"apiextensions.v1beta1.JSONSchemaPropsOrBool", "orbool"},
    Special{"apiextensions.v1.JSONSchemaPropsOrStringArray", "orstrings"},
    Special{"apiextensions.v1beta1.JSONSchemaPropsOrStringArray", "orstrings"},
};

std::string_view short_name(std::string_view name) {
  for (const std::string_view prefix : {"k8s.io.apiextensions_apiserver.pkg.apis.", "k8s.io.apimachinery.pkg.apis.",
                                        "k8s.io.apimachinery.pkg.", "k8s.io.api."}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

std::string_view special_form(std::string_view message, const Value& fields) {
  for (const Special& one : kSpecials) {
    if (one.message == message) return one.form;
  }
  // Go's named lists (ExtraValue, Verbs): a message around one list of strings called items.
  const bool is_list =
      fields.size() == 1 && fields.item(0).item(1).as_string() == "items" && fields.item(0).item(2).as_string() == "string";
  return is_list ? "list" : "";
}

std::string type_code(std::string_view type, std::string_view package) {
  constexpr std::array kScalars{Special{"string", "s"}, Special{"bool", "b"},   Special{"int32", "i"},
                                Special{"int64", "l"},  Special{"double", "d"}, Special{"bytes", "y"}};
  for (const Special& one : kScalars) {
    if (one.message == type) return std::string(one.form);
  }
  constexpr std::string_view kMap = "map<string,";
  if (type.starts_with(kMap)) return "%" + type_code(type.substr(kMap.size(), type.size() - kMap.size() - 1), package);
  const std::string_view name = short_name(type);
  const bool is_near = name.starts_with(package) && name.find('.', package.size()) == std::string_view::npos;
  return "@" + std::string(is_near ? name.substr(package.size() - 1) : name);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// "message number" to its marks.
std::map<std::string, char> read_marks(const std::string& path) {
  std::map<std::string, char> marks;
  std::istringstream lines(read(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string message;
    words >> message;
    for (std::string word; words >> word;) marks[message + " " + word.substr(0, word.size() - 1)] = word.back();
  }
  return marks;
}

std::string line_of(std::string_view full_name, const Value& fields, const std::map<std::string, std::string>& names,
                    const std::map<std::string, char>& marks) {
  const std::string message(short_name(full_name));
  const std::string package = message.substr(0, message.rfind('.') + 1);
  std::string out = message;
  if (const std::string_view form = special_form(message, fields); !form.empty()) out += "=" + std::string(form);
  std::vector<Value> ordered(fields.items().begin(), fields.items().end());
  std::ranges::sort(ordered, {}, [](const Value& field) { return field.item(0).as_int(); });
  for (const Value& field : ordered) {
    const std::string number = field.item(0).number_text();
    const auto name = names.find(std::string(full_name) + " " + number);
    const auto mark = marks.find(message + " " + number);
    out += " " + (name == names.end() ? field.item(1).str() : name->second) + ":" + number;
    if (mark != marks.end()) out += mark->second == 'e' ? "^" : "!";
    if (field.item(3).as_string() == "r") out += "*";
    out += type_code(field.item(2).as_string(), package);
  }
  return out;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: gen_protobuf FIELDS.json FACTS.txt\n", stderr);
    return 2;
  }
  const auto facts = slipway::json::parse(read(words[1]), {.max_bytes = std::size_t{64} << 20});
  if (!facts) {
    std::fprintf(stderr, "%s: %s\n", words[1], facts.error().message.c_str());
    return 1;
  }
  std::map<std::string, std::string> names;
  for (const Value& row : (*facts)["jsonNameOverrides"].items()) {
    names[row.item(0).str() + " " + row.item(1).number_text()] = row.item(3).str();
  }
  const std::map<std::string, char> marks = read_marks(words[2]);
  std::map<std::string, std::string> lines;
  for (const auto [name, fields] : (*facts)["messages"].members()) {
    lines[std::string(short_name(name))] = line_of(name, fields, names, marks);
  }
  std::fputs("// Made by tools/gen_protobuf.cc. Do not edit.\nR\"text(", stdout);
  for (const auto& [name, line] : lines) std::printf("%s\n", line.c_str());
  std::fputs(")text\"\n", stdout);
  return 0;
}
