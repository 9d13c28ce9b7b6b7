// Package encoding/json.
#include "json/text.h"

#include "cue/data/json_syntax.h"
#include "cue/std/packages.h"

namespace slipway::cue {
namespace json_package {
namespace {

using Args = std::span<const Value>;
constexpr json::Limits kLimits{.max_bytes = std::size_t{64} << 20, .max_depth = 1000};

// Go writes <, > and & of strings as escapes.
std::string html_escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        if (text.substr(i).starts_with("\xE2\x80\xA8") || text.substr(i).starts_with("\xE2\x80\xA9")) {
          out += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
          i += 2;
        } else {
          out += text[i];
        }
    }
  }
  return out;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The texts of a stream of values, told apart by brackets and quotes; what is wrong inside shows when it is parsed.
std::vector<std::string_view> values_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    int depth = 0;
    bool in_string = false;
    for (; at < text.size(); ++at) {
      char c = text[at];
      if (in_string) {
        if (c == '\\')
          ++at;
        else if (c == '"')
          in_string = false;
        if (!in_string && depth == 0) break;
        continue;
      }
      if (c == '"') in_string = true;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (--depth <= 0) break;
      }
      if (depth == 0 && !in_string && is_blank(c)) break;
    }
    std::size_t end = std::min(at + 1, text.size());
    out.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return out;
}

Value wrong(Calls& calls) { return calls.fail("json: invalid JSON"); }

Value marshal(Calls& calls, Args args) {
  Value error;
  std::string text = calls.to_json(args[0], error);
  if (error.is_bottom()) return error;
  return calls.make_string(text);
}

Value marshal_stream(Calls& calls, Args args) {
  std::string out;
  Value no_list;
  if (!is_list(calls, args[0], no_list)) return no_list;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value error;
    if (!calls.spend(1) || !calls.has_room(2 * out.size())) return calls.ended();
    out += calls.to_json(calls.raw_item(args[0], i), error) + "\n";
    if (error.is_bottom()) return error;
  }
  return calls.make_string(out);
}

// A tree of values takes up to so many times its text: "1," is sixteen bytes.
constexpr std::uint64_t kTreeBytesPerByte = 8;

bool has_room_to_read(Calls& calls, const Value& text) { return calls.has_room(kTreeBytesPerByte * text.size); }

Value unmarshal(Calls& calls, Args args) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  auto data = json::parse(args[0].str(), kLimits);
  return data ? calls.from_json(*data) : wrong(calls);
}

Value unmarshal_stream(Calls& calls, Args args) {
  std::vector<Value> items;
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  for (std::string_view one : values_of(args[0].str())) {
    auto data = json::parse(one, kLimits);
    if (!data) return wrong(calls);
    items.push_back(calls.from_json(*data));
  }
  return calls.make_list(items);
}

Value valid(Calls& calls, Args args) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  return Value::of(json::parse(args[0].str(), kLimits).has_value());
}

Value malformed(Calls& calls, std::string_view text) {
  auto problem = json_problem(text);
  return problem ? calls.fail(problem->message) : Value();
}

// Behind the text that begins at `at`.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
  return std::min(at + 1, json.size());
}

// The words as they are written, without what stands between them.
Value compact(Calls& calls, Args args) {
  std::string_view json = args[0].str();
  if (Value wrong = malformed(calls, json); wrong.is_bottom()) return wrong;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = json[at] == '"' ? end_of_text(json, at) : at + 1;
    if (!is_blank(json[at])) out += json.substr(at, end - at);
    at = end;
  }
  return calls.make_string(out);
}

Value indent(Calls& calls, Args args) {
  std::string_view json = args[0].str();
  if (Value wrong = malformed(calls, json); wrong.is_bottom()) return wrong;
  std::string out;
  std::size_t depth = 0;
  bool is_opened = false;  // a bracket that may yet close at once
  bool has_room = true;
  auto new_line = [&] {
    has_room = has_room && calls.has_room(2 * (out.size() + json.size() + args[1].size + depth * args[2].size));
    if (!has_room) return;
    out += "\n";
    out += args[1].str();
    for (std::size_t i = 0; i < depth; ++i) out += args[2].str();
  };
  for (std::size_t at = 0; at < json.size() && has_room;) {
    char c = json[at];
    std::size_t end = c == '"' ? end_of_text(json, at) : at + 1;
    std::string_view word = json.substr(at, end - at);
    at = end;
    if (is_blank(c)) continue;
    bool closes = c == '}' || c == ']';
    if (is_opened && !closes) {
      ++depth;
      new_line();
    }
    if (closes && !is_opened) {
      --depth;
      new_line();
    }
    is_opened = c == '{' || c == '[';
    out += word;
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  }
  if (!has_room) return calls.ended();
  return calls.make_string(out);
}

Value html_escape(Calls& calls, Args args) {
  constexpr std::uint64_t kMostBytes = 12;  // \u003c, while the text grows
  if (!calls.has_room(kMostBytes * args[0].size)) return calls.ended();
  return calls.make_string(html_escaped(args[0].str()));
}

Value validate(Calls& calls, Args args) {
  if (!has_room_to_read(calls, args[0])) return calls.ended();
  auto data = json::parse(args[0].str(), kLimits);
  if (!data) return wrong(calls);
  Value value = calls.from_json(*data);
  calls.place(value, {args[0].str(), SourceFormat::Json});
  Value error = calls.check(value, args[1], Calls::Wanted::Fields);
  return error.is_bottom() ? calls.fail(error, error.bottom->code) : Value::of(true);
}

constexpr auto& kText = kParams < kString | kBytes > ;
constexpr auto& kAnything = kParams<kTop>;

constexpr Builtin kRows[] = {
    {"encoding/json", "Marshal", kAnything, kString, marshal},
    {"encoding/json", "MarshalStream", kAnything, kString, marshal_stream},
    {"encoding/json", "Unmarshal", kText, kTop, unmarshal},
    {"encoding/json", "UnmarshalStream", kText, kList, unmarshal_stream},
    {"encoding/json", "Valid", kText, kBool, valid, false, true},
    {"encoding/json", "Compact", kText, kString, compact},
    {"encoding/json", "Indent", kParams<kString | kBytes, kString, kString>, kString, indent},
    {"encoding/json", "HTMLEscape", kText, kString, html_escape},
    {"encoding/json", "Validate", kParams<kString | kBytes, kTop>, kBool, validate, true, true},
};

}  // namespace
}  // namespace json_package

std::span<const Builtin> json_rows() { return json_package::kRows; }

}  // namespace slipway::cue
