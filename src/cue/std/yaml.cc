// Package encoding/yaml.
#include "cue/data/yaml.h"

#include <fmt/format.h>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace yaml_package {
namespace {

using Args = std::span<const Value>;
constexpr json::Limits kLimits{.max_bytes = std::size_t{64} << 20, .max_depth = 500};

// What nodes of a document take beside its text: "1," is one of a hundred bytes.
constexpr std::uint64_t kNodeBytesPerByte = 32;

bool has_room_to_read(Calls& calls, const Value& text) { return calls.has_room(kNodeBytesPerByte * text.size); }

Value wrong(Calls& calls, const Status& status) {
  std::string_view message = status.message;
  if (message.starts_with("yaml: ")) message.remove_prefix(6);
  return calls.fail(std::string(message));
}

Value marshal(Calls& calls, Args args) {
  Value error;
  std::string text = to_yaml_text(calls, args[0], error);
  return error.is_bottom() ? error : calls.make_string(text);
}

Value marshal_stream(Calls& calls, Args args) {
  std::string out;
  Value no_list;
  if (!is_list(calls, args[0], no_list)) return no_list;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value error;
    if (!calls.spend(1) || !calls.has_room(2 * out.size())) return calls.ended();
    if (i > 0) out += "---\n";
    out += to_yaml_text(calls, calls.raw_item(args[0], i), error);
    if (error.is_bottom()) return error;
  }
  return calls.make_string(out);
}

// A text without a document is null, unless something says otherwise: *null | _.
Value nothing(Calls& calls) { return calls.with_default(Value::null(), Value::type(kTop)); }

Value unmarshal(Calls& calls, Args args) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  auto documents = json::parse_yaml_nodes(args[0].str(), kLimits);
  if (!documents) return wrong(calls, documents.error());
  if (documents->empty()) return nothing(calls);
  if (documents->size() > 1) return calls.fail("expected a single YAML document");
  auto value = yaml_value(calls, *documents->front().root);
  return value ? *value : wrong(calls, value.error());
}

Value unmarshal_stream(Calls& calls, Args args) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  auto documents = json::parse_yaml_nodes(args[0].str(), kLimits);
  if (!documents) return wrong(calls, documents.error());
  std::vector<Value> items;
  if (documents->empty()) items.push_back(nothing(calls));
  for (const json::YamlNodeDocument& document : *documents) {
    auto value = yaml_value(calls, *document.root);
    if (!value) return wrong(calls, value.error());
    items.push_back(*value);
  }
  return calls.make_list(items);
}

Value judged(Calls& calls, Args args, Calls::Wanted wanted) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  auto documents = json::parse_yaml_nodes(args[0].str(), kLimits);
  if (!documents) return wrong(calls, documents.error());
  if (documents->empty()) {
    Value error = calls.check(nothing(calls), args[1], wanted);
    if (error.is_bottom()) return calls.fail(error);
  }
  for (std::size_t i = 0; i < documents->size(); ++i) {
    auto value = yaml_value(calls, *(*documents)[i].root);
    if (!value) return wrong(calls, value.error());
    calls.place(*value, {args[0].str(), SourceFormat::Yaml, i});
    Value error = calls.check(*value, args[1], wanted);
    if (error.is_bottom()) return calls.fail(error);
  }
  return Value::of(true);
}
Value validate(Calls& calls, Args args) { return judged(calls, args, Calls::Wanted::Values); }
Value validate_partial(Calls& calls, Args args) { return judged(calls, args, Calls::Wanted::Fit); }

constexpr auto& kText = kParams < kString | kBytes > ;
constexpr auto &kTextAny = kParams < kString | kBytes, kTop > ;

constexpr Builtin kRows[] = {
    {"encoding/yaml", "Marshal", kParams<kTop>, kString, marshal},
    {"encoding/yaml", "MarshalStream", kParams<kTop>, kString, marshal_stream},
    {"encoding/yaml", "Unmarshal", kText, kTop, unmarshal},
    {"encoding/yaml", "UnmarshalStream", kText, kList, unmarshal_stream},
    {"encoding/yaml", "Validate", kTextAny, kBool, validate, true, true},
    {"encoding/yaml", "ValidatePartial", kTextAny, kBool, validate_partial, true, true},
};

}  // namespace
}  // namespace yaml_package

std::span<const Builtin> yaml_rows() { return yaml_package::kRows; }

}  // namespace slipway::cue
