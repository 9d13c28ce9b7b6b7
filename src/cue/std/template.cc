// Package text/template: Go's template language over data. A template is read into a tree (template_tree.h) and then run once.
// DIVERGES: errors name the line but no column.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "cue/std/packages.h"
#include "cue/std/template_format.h"
#include "cue/std/template_tree.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace template_package {
namespace {

using namespace text_template;

using Args = std::span<const Value>;
using Datas = std::span<const Data>;

constexpr std::size_t kMaxOutput = std::size_t{16} << 20;
constexpr std::size_t kMaxSteps = 2'000'000;

// --- how Go prints data

std::string double_text(double number) {
  char buffer[512];
  double size = std::fabs(number);
  bool is_plain = size == 0 || (size >= 1e-4 && size < 1e6);
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  // The exponent decides as in %g with the fewest digits: 1e+06, but 999999.
  if (!is_plain) return text;
  end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed).ptr;
  return std::string(buffer, end);
}

bool is_whole_number(const Data& data) {
  return data.is_number() && data.number_text().find_first_of(".eE") == std::string::npos;
}

std::string_view type_name(const Data& data) {
  if (data.is_null()) return "interface {}";
  if (data.is_bool()) return "bool";
  if (data.is_string()) return "string";
  if (data.is_array()) return "[]interface {}";
  if (data.is_object()) return "map[string]interface {}";
  return is_whole_number(data) ? "int" : "float64";
}

std::vector<std::string> sorted_keys(const Data& object) {
  std::vector<std::string> keys;
  for (auto [key, value] : object.members()) keys.emplace_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string print_text(const Data& data) {
  if (data.is_null()) return "<nil>";
  if (data.is_bool()) return data.as_bool() ? "true" : "false";
  if (data.is_string()) return data.str();
  if (data.is_number()) return is_whole_number(data) ? data.number_text() : double_text(data.as_double());
  std::string out;
  if (data.is_array()) {
    for (const Data& item : data.items()) out += (out.empty() ? "" : " ") + print_text(item);
    return "[" + out + "]";
  }
  for (const std::string& key : sorted_keys(data)) out += (out.empty() ? "" : " ") + key + ":" + print_text(data[key]);
  return "map[" + out + "]";
}

std::string print_all(Datas args) {
  std::string out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0 && !args[i].is_string() && !args[i - 1].is_string()) out += ' ';
    out += print_text(args[i]);
  }
  return out;
}

bool is_true(const Data& data) {
  if (data.is_bool()) return data.as_bool();
  if (data.is_number()) return data.as_double() != 0;
  return data.is_string() ? !data.as_string().empty() : data.size() > 0;
}

// --- escaping

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"')
      out += "&#34;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\0')
      out += "\xEF\xBF\xBD";
    else
      out += c;
  }
  return out;
}

std::string js_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '\'' || c == '"')
      out += {'\\', c};
    else if (c == '<' || c == '>' || c == '&' || c == '=' || static_cast<unsigned char>(c) < 32)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string url_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter || c == '-' || c == '_' || c == '.' || c == '~')
      out += c;
    else
      out += c == ' ' ? "+" : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

// --- running

class Runner {
 public:
  Runner(Calls& host, const Data& data) : host_(host) { variables_.push_back({"$", data}); }

  /// What {{template}} may name; of two definitions the later one counts, unless it is blank.
  void define(const std::vector<Node>& nodes, int depth = 0) {
    for (const Node& node : nodes) {
      if (depth > kMaxDepth) return;
      if (node.kind == Node::Kind::Define) {
        auto is_blank = [](const Node& one) {
          return one.kind == Node::Kind::Define ||
                 (one.kind == Node::Kind::Text && one.text.find_first_not_of(" \t\r\n") == std::string::npos);
        };
        bool counts = !definitions_.contains(node.text) || !std::ranges::all_of(node.body, is_blank);
        if (counts) definitions_[node.text] = &node;
      }
      define(node.body, depth + 1);
      define(node.otherwise, depth + 1);
    }
  }

  void run(const std::vector<Node>& nodes, const Data& dot) {
    for (const Node& node : nodes) {
      if (!error_.empty() || leaves_ != Leaves::Nothing) return;
      line_ = node.line;
      if (!is_within_bounds(out_.size())) return;
      std::size_t scope = variables_.size();
      run_one(node, dot);
      if (node.kind != Node::Kind::Action) variables_.resize(scope);
    }
  }
  std::string out_;
  std::string error_;

 private:
  /// Counts a step, and charges it with what the output has grown by; a text may be `bytes` long.
  bool is_within_bounds(std::size_t bytes) {
    const std::size_t grown = out_.size() - std::exchange(charged_, out_.size());
    if (!host_.spend(1 + grown / kBytesPerStep) || !host_.has_room(2 * (out_.size() + bytes))) fail("the budget has ended");
    if (++steps_ > kMaxSteps || bytes > kMaxOutput) fail("the output is too long");
    return error_.empty();
  }
  Data fail(const std::string& message, int) {
    if (error_.empty()) error_ = fmt::format("template: :{}: executing \"\": {}", line_, message);
    return {};
  }
  void fail(const std::string& message) { fail(message, 0); }

  void run_one(const Node& node, const Data& dot) {
    if (node.kind == Node::Kind::Text) {
      out_ += node.text;
      return;
    }
    if (node.kind == Node::Kind::Define) return;
    if (node.kind == Node::Kind::Break || node.kind == Node::Kind::Continue) {
      leaves_ = node.kind == Node::Kind::Break ? Leaves::Loop : Leaves::Turn;
      return;
    }
    if (node.kind == Node::Kind::Call) return call_template(node, dot);
    Data value = pipe(node.pipe, dot, node.kind != Node::Kind::Range);
    if (!error_.empty()) return;
    if (node.kind == Node::Kind::Action) {
      if (node.pipe.variables.empty()) out_ += value.is_null() ? "<no value>" : print_text(value);
    } else if (node.kind == Node::Kind::Range) {
      run_range(node, dot, value);
    } else if (is_true(value)) {
      run(node.body, node.kind == Node::Kind::With ? value : dot);
    } else {
      run(node.otherwise, dot);
    }
  }

  void call_template(const Node& node, const Data& dot) {
    auto found = definitions_.find(node.text);
    if (found == definitions_.end()) return fail("template " + go_quoted(node.text) + " not defined");
    Data value = node.pipe.commands.empty() ? Data() : pipe(node.pipe, dot, true);
    if (!error_.empty()) return;
    if (++calls_ > kMaxDepth) return fail("exceeded maximum template depth");
    auto variables = std::exchange(variables_, {{"$", value}});
    run(found->second->body, value);
    variables_ = std::move(variables);
    --calls_;
  }

  void run_range(const Node& node, const Data& dot, const Data& value) {
    std::size_t scope = variables_.size();
    auto turn = [&](const Data& key, const Data& item) {
      if (!is_within_bounds(0)) return;
      const auto& names = node.pipe.variables;
      if (names.size() > 1) set(names[0], key, node.pipe.assigns);
      if (!names.empty()) set(names.back(), item, node.pipe.assigns);
      run(node.body, item);
      if (leaves_ == Leaves::Turn) leaves_ = Leaves::Nothing;
      variables_.resize(scope);
    };
    bool is_count = is_whole_number(value);
    if (!value.is_array() && !value.is_object() && !value.is_null() && !is_count)
      return fail("range can't iterate over " + print_text(value));
    std::int64_t size = is_count ? value.as_int() : static_cast<std::int64_t>(value.size());
    if (size <= 0) return run(node.otherwise, dot);
    auto goes_on = [&] { return error_.empty() && leaves_ == Leaves::Nothing; };
    for (std::int64_t i = 0; !value.is_object() && i < size && goes_on(); ++i)
      turn(i, is_count ? Data(i) : Data(value.item(static_cast<std::size_t>(i))));
    for (const std::string& key : value.is_object() ? sorted_keys(value) : std::vector<std::string>{}) {
      if (goes_on()) turn(Data(key), value[key]);
    }
    leaves_ = Leaves::Nothing;
  }

  void set(const std::string& name, const Data& value, bool assigns) {
    if (!assigns) return variables_.push_back({name, value});
    for (std::size_t i = variables_.size(); i-- > 0;) {
      if (variables_[i].first == name) {
        variables_[i].second = value;
        return;
      }
    }
    fail("undefined variable " + go_quoted(name));
  }

  Data pipe(const Pipe& one, const Data& dot, bool binds = true) {
    Data value;
    for (std::size_t i = 0; i < one.commands.size() && error_.empty(); ++i)
      value = command(one.commands[i], dot, i > 0 ? &value : nullptr);
    if (binds && !one.variables.empty()) set(one.variables[0], value, one.assigns);
    return value;
  }

  Data command(const std::vector<Operand>& words, const Data& dot, const Data* last) {
    const Operand& first = words[0];
    if (first.kind != Operand::Kind::Function) {
      if (words.size() > 1 || last != nullptr) return fail("can't give argument to non-function " + first.name, 0);
      return operand(first, dot);
    }
    std::vector<Data> args;
    bool is_lazy = first.name == "and" || first.name == "or";
    for (std::size_t i = 1; i < words.size() && error_.empty(); ++i) {
      args.push_back(operand(words[i], dot));
      if (is_lazy && is_true(args.back()) == (first.name == "or")) return args.back();
    }
    if (last != nullptr) args.push_back(*last);
    if (!error_.empty()) return {};
    Data result = call(first.name, args);
    return is_within_bounds(result.is_string() ? result.as_string().size() : 0) ? result : Data();
  }

  Data operand(const Operand& one, const Data& dot) {
    Data value = dot;
    if (one.kind == Operand::Kind::Literal) value = one.literal;
    if (one.kind == Operand::Kind::Group) value = pipe(one.group[0], dot);
    if (one.kind == Operand::Kind::Function) value = call(one.name, {});
    if (one.kind == Operand::Kind::Variable) {
      auto found = std::find_if(variables_.rbegin(), variables_.rend(), [&](auto& v) { return v.first == one.name; });
      if (found == variables_.rend()) return fail("undefined variable " + go_quoted(one.name), 0);
      value = found->second;
    }
    for (const std::string& field : one.fields) {
      if (!error_.empty()) return {};
      if (!value.is_object() && value.is_null() && &field == &one.fields.front() && one.name.empty()) {
        value = {};  // of no data at all there is nothing to name
        continue;
      }
      if (!value.is_object())
        return fail(fmt::format("{} {}.{}", value.is_null() ? "nil pointer evaluating" : "can't evaluate field in type",
                                type_name(value), field),
                    0);
      if (!value.has(field)) return {};  // and whatever is asked of it
      value = Data(value[field]);
    }
    return value;
  }

  Data call(const std::string& name, Datas args) {
    if (name == "print") return Data(print_all(args));
    if (name == "html") return Data(html_escaped(print_all(args)));
    if (name == "js") return Data(js_escaped(print_all(args)));
    if (name == "urlquery") return Data(url_escaped(print_all(args)));
    if (name == "println") {
      std::string out;
      for (const Data& one : args) out += (out.empty() ? "" : " ") + print_text(one);
      return Data(out + "\n");
    }
    if (args.empty()) return fail("wrong number of args for " + name + ", or no such function", 0);
    if (name == "and" || name == "or") return args.back();
    if (name == "not" && args.size() == 1) return Data(!is_true(args[0]));
    if (name == "len" && args.size() == 1) {
      if (args[0].is_string()) return Data(static_cast<std::int64_t>(args[0].as_string().size()));
      if (!args[0].is_array() && !args[0].is_object()) return fail("error calling len: len of this type", 0);
      return Data(static_cast<std::int64_t>(args[0].size()));
    }
    if (name == "index") return index(args);
    if (name == "printf" && args[0].is_string()) return format(args);
    return compare(name, args);
  }

  Data index(Datas args) {
    Data value = args[0];
    for (const Data& key : args.subspan(1)) {
      if (value.is_object() && key.is_string()) {
        value = Data(value[key.as_string()]);
      } else if (value.is_array() && key.is_int()) {
        std::int64_t at = key.as_int();
        if (at < 0 || static_cast<std::size_t>(at) >= value.size())
          return fail(fmt::format("error calling index: index out of range: {}", at), 0);
        value = Data(value.item(static_cast<std::size_t>(at)));
      } else {
        return fail(fmt::format("error calling index: can't index item of type {}", type_name(value)), 0);
      }
    }
    return value;
  }

  Data format(Datas args) {
    std::string out;
    std::size_t next = 1;
    std::string_view text = args[0].as_string();
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '%') {
        out += text[i++];
        continue;
      }
      FormatVerb verb = read_format_verb(text, i);
      if (verb.letter == '%') {
        out += '%';
        continue;
      }
      auto shown = next < args.size() ? format_one(verb, args[next], print_text(args[next])) : std::nullopt;
      if (!shown || !is_within_bounds(out.size() + shown->size()))
        return fail(fmt::format("printf with %{} is not supported here", verb.letter), 0);
      out += *shown;
      ++next;
    }
    return next == args.size() ? Data(out) : fail("printf has more arguments than verbs", 0);
  }

  Data compare(const std::string& name, Datas args) {
    static constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames))
      return fail("function " + go_quoted(name) + " is not supported", 0);
    if (args.size() < 2 || (args.size() > 2 && name != "eq")) return fail("wrong number of args for " + name, 0);
    bool is_order = name != "eq" && name != "ne";
    for (const Data& other : args.subspan(1)) {
      const Data& one = args[0];
      if (one.size() + other.size() > 0 || (is_order && !one.is_string() && !one.is_number()))
        return fail("error calling " + name + ": invalid type for comparison", 0);
      if (!one.is_null() && !other.is_null() && type_name(one) != type_name(other))
        return fail("error calling " + name + ": incompatible types for comparison", 0);
      bool less = one.is_string()        ? one.as_string() < other.as_string()
                  : is_whole_number(one) ? one.as_int() < other.as_int()
                                         : one.as_double() < other.as_double();
      bool same = one == other;
      if (name == "eq" && same) return Data(true);
      if (name == "ne") return Data(!same);
      if (is_order) return Data(name == "lt" ? less : name == "le" ? less || same : name == "gt" ? !less && !same : !less);
    }
    return Data(false);
  }

  enum class Leaves : std::uint8_t { Nothing, Turn, Loop };  // after {{continue}}, {{break}}

  Calls& host_;
  std::size_t charged_ = 0;  // bytes of the output
  std::vector<std::pair<std::string, Data>> variables_;
  std::map<std::string, const Node*> definitions_;
  Leaves leaves_ = Leaves::Nothing;
  int calls_ = 0;
  int line_ = 1;
  std::size_t steps_ = 0;
};

Value execute(Calls& calls, Args args) {
  Value error;
  Data data = calls.to_data(args[1], error);
  if (error.is_bottom()) return error;
  const auto nodes = read_template(args[0].str());
  if (!nodes) return calls.fail(nodes.error());
  Runner runner(calls, data);
  runner.define(*nodes);
  runner.run(*nodes, data);
  if (!calls.spend(0)) return calls.ended();
  return runner.error_.empty() ? calls.make_string(runner.out_) : calls.fail(runner.error_);
}
constexpr std::uint64_t kEscapedBytes = 12;  // of a byte: six at most, while the text grows

Value html_escape(Calls& calls, Args args) {
  if (!calls.has_room(kEscapedBytes * args[0].size)) return calls.ended();
  return calls.make_string(html_escaped(args[0].str()));
}
Value js_escape(Calls& calls, Args args) {
  if (!calls.has_room(kEscapedBytes * args[0].size)) return calls.ended();
  return calls.make_string(js_escaped(args[0].str()));
}

constexpr Builtin kRows[] = {
    {"text/template", "Execute", kParams<kString, kTop>, kString, execute},
    {"text/template", "HTMLEscape", kParams<kString>, kString, html_escape},
    {"text/template", "JSEscape", kParams<kString>, kString, js_escape},
};

}  // namespace
}  // namespace template_package

std::span<const Builtin> template_rows() { return template_package::kRows; }

}  // namespace slipway::cue
