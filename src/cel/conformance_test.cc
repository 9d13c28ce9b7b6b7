// The conformance files of cel-spec. Cases that build protocol buffer messages cannot apply: the language here works on JSON.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/corpus_test.h"
#include "cel/program.h"
#include "cel/textproto_test.h"

namespace slipway::cel {
namespace {

namespace fs = std::filesystem;

double real_of(const std::string& text) {
  if (text.ends_with("nan")) return std::nan("");
  return std::strtod(text.c_str(), nullptr);
}

/// A cel.expr.Value, or the part of an Any that has a meaning here; nothing otherwise.
std::optional<Value> value_of(const ProtoNode& node);

std::optional<Value> object_of(const ProtoNode& node) {
  for (const ProtoNode& any : node.fields) {
    const auto number = [&](const char* name) { return std::strtoll(any.get(name).c_str(), nullptr, 10); };
    if (any.name.ends_with("google.protobuf.Timestamp]"))
      return make_timestamp(number("seconds"), static_cast<std::int32_t>(number("nanos")));
    if (any.name.ends_with("google.protobuf.Duration]"))
      return make_duration(number("seconds") * 1'000'000'000 + number("nanos"));
    const std::string text = any.get("value");
    if (any.name.ends_with("google.protobuf.BoolValue]")) return make_bool(text == "true");
    if (any.name.ends_with("google.protobuf.StringValue]")) return make_string(text);
    if (any.name.ends_with("google.protobuf.BytesValue]")) return make_bytes(text);
    if (any.name.ends_with("google.protobuf.DoubleValue]") || any.name.ends_with("google.protobuf.FloatValue]"))
      return make_double(real_of(text));
    if (any.name.ends_with("UInt32Value]") || any.name.ends_with("UInt64Value]"))
      return make_uint(std::strtoull(text.c_str(), nullptr, 10));
    if (any.name.ends_with("Int32Value]") || any.name.ends_with("Int64Value]")) return make_int(number("value"));
  }
  return std::nullopt;
}

TypePtr type_named(const std::string& name) {
  static const std::map<std::string, Kind> kNames{{"BOOL", Kind::Bool},
                                                  {"INT64", Kind::Int},
                                                  {"UINT64", Kind::Uint},
                                                  {"DOUBLE", Kind::Double},
                                                  {"STRING", Kind::String},
                                                  {"BYTES", Kind::Bytes},
                                                  {"bool", Kind::Bool},
                                                  {"int", Kind::Int},
                                                  {"uint", Kind::Uint},
                                                  {"double", Kind::Double},
                                                  {"string", Kind::String},
                                                  {"bytes", Kind::Bytes},
                                                  {"list", Kind::List},
                                                  {"map", Kind::Map},
                                                  {"null_type", Kind::Null},
                                                  {"type", Kind::Type},
                                                  {"TIMESTAMP", Kind::Timestamp},
                                                  {"DURATION", Kind::Duration},
                                                  {"google.protobuf.Timestamp", Kind::Timestamp},
                                                  {"google.protobuf.Duration", Kind::Duration},
                                                  {"optional_type", Kind::Optional}};
  const auto found = kNames.find(name);
  return type_of(found != kNames.end() ? found->second : Kind::Dyn);
}

std::optional<Value> value_of(const ProtoNode& node) {
  if (node.fields.empty()) return std::nullopt;
  const ProtoNode& one = node.fields.front();
  if (one.name == "null_value") return Value{};
  if (one.name == "bool_value") return make_bool(one.text == "true");
  if (one.name == "int64_value") return make_int(std::strtoll(one.text.c_str(), nullptr, 0));
  if (one.name == "uint64_value") return make_uint(std::strtoull(one.text.c_str(), nullptr, 0));
  if (one.name == "double_value") return make_double(real_of(one.text));
  if (one.name == "string_value") return make_string(one.text);
  if (one.name == "bytes_value") return make_bytes(one.text);
  if (one.name == "type_value") return make_type(type_named(one.text));
  if (one.name == "object_value") return object_of(one);
  if (one.name == "list_value") {
    Items items;
    for (const ProtoNode* part : one.all("values")) {
      auto value = value_of(*part);
      if (!value) return std::nullopt;
      items.push_back(std::move(*value));
    }
    return make_list(std::move(items));
  }
  if (one.name == "map_value") {
    Entries entries;
    for (const ProtoNode* part : one.all("entries")) {
      auto key = value_of(*part->find("key"));
      auto value = value_of(*part->find("value"));
      if (!key || !value) return std::nullopt;
      entries.emplace_back(std::move(*key), std::move(*value));
    }
    return make_map(std::move(entries));
  }
  return std::nullopt;
}

TypePtr type_of_proto(const ProtoNode* node) {
  if (node == nullptr || node->fields.empty()) return type_of(Kind::Dyn);
  const ProtoNode& one = node->fields.front();
  if (one.name == "list_type") return list_of(type_of_proto(one.find("elem_type")));
  if (one.name == "map_type") return map_of(type_of_proto(one.find("key_type")), type_of_proto(one.find("value_type")));
  return type_named(one.text);
}

/// Same value of the same type; NaN is itself.
bool is_same(const Value& got, const Value& wanted) {
  if (got.is(Kind::Double) && wanted.is(Kind::Double) && std::isnan(got.real) && std::isnan(wanted.real)) return true;
  return (got.kind == wanted.kind) && equal(got, wanted);
}

/// Why the case fails; empty when it passes.
std::string fault_of(const ProtoNode& test) {
  Environment environment;
  environment.container = test.get("container");
  environment.is_unchecked = test.get("disable_check") == "true";
  Activation variables;
  for (const ProtoNode* variable : test.all("type_env")) {
    const ProtoNode* ident = variable->find("ident");
    environment.variables.emplace_back(variable->get("name"), type_of_proto(ident != nullptr ? ident->find("type") : nullptr));
  }
  for (const ProtoNode* binding : test.all("bindings")) {
    const ProtoNode* outer = binding->find("value");
    const auto value = outer != nullptr && outer->find("value") != nullptr ? value_of(*outer->find("value")) : std::nullopt;
    if (!value) return "binding of a message";
    variables.emplace_back(binding->get("key"), *value);
    const auto& known = environment.variables;
    if (std::ranges::none_of(known, [&](const auto& one) { return one.first == binding->get("key"); }))
      environment.variables.emplace_back(binding->get("key"), type_of(Kind::Dyn));
  }
  const bool wants_error = test.find("eval_error") != nullptr || test.find("any_eval_errors") != nullptr;
  const auto program = Program::compile(test.get("expr"), environment);
  if (!program) return wants_error ? "" : "does not compile: " + program.error().substr(0, program.error().find('\n'));
  if (test.get("check_only") == "true") return "";
  Budget budget(10'000'000);
  const Value got = (*program)->run(variables, budget);
  if (wants_error) return got.is_error() ? "" : "no error";
  if (got.is_error()) return fmt::format("error: {}", got.text());
  std::optional<Value> wanted = make_bool(true);
  if (const ProtoNode* value = test.find("value")) wanted = value_of(*value);
  if (!wanted) return "expects a message";
  return is_same(got, *wanted) ? "" : fmt::format("another value of type {}", to_string(*runtime_type(got)));
}

TEST(CelConformance, cel_spec_cases_pass_or_are_known_failures) {
  const fs::path folder = corpus_path("kube/cel-spec");
  if (folder.empty()) GTEST_SKIP() << "skipped: corpus not found";
  const std::set<std::string> known = known_failures("cel_spec");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::size_t total = 0;
  std::size_t passed = 0;
  std::string lines;
  for (const fs::path& file : files) {
    const std::string stem = file.stem().string();
    std::size_t here = 0;
    std::size_t good = 0;
    std::map<std::string, int> seen;
    const ProtoNode root = parse_textproto(text_of_file(file));
    for (const ProtoNode* section : root.all("section")) {
      for (const ProtoNode* test : section->all("test")) {
        std::string id = stem + "/" + section->get("name") + "/" + test->get("name");
        std::ranges::replace(id, ' ', '_');
        if (const int again = seen[id]++; again > 0) id += fmt::format("#{}", again + 1);
        ++here;
        const std::string fault = fault_of(*test);
        good += fault.empty() ? 1 : 0;
        if (fault.empty() == known.contains(id)) {
          ADD_FAILURE() << id << (fault.empty() ? "  passes: take it from the list" : "  # " + fault) << "\n  "
                        << test->get("expr");
        }
      }
    }
    lines += fmt::format("cel-spec/{} {}/{}\n", stem, good, here);
    total += here;
    passed += good;
  }
  fmt::print("{}cel-spec {}/{}\n", lines, passed, total);
  EXPECT_GE(passed * 100, total * 85);
}

}  // namespace
}  // namespace slipway::cel
