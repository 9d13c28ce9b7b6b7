// Package text/template: Go's template language over data. A template is read into a tree of nodes and then run once.
// DIVERGES: errors name the line but no column; define, template, block, break and continue are refused.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

using Args = std::span<const Value>;
using Data = json::Value;
using Datas = std::span<const Data>;

constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxOutput = std::size_t{16} << 20;
constexpr std::size_t kMaxSteps = 2'000'000;
constexpr std::string_view kSpaces = " \t\r\n";

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

std::string go_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n' || c == '\t' || c == '\r')
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    else if (static_cast<unsigned char>(c) < 32 || c == 127)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

// --- the tree

struct Pipe;
struct Operand {
  enum class Kind : std::uint8_t { Dot, Variable, Function, Literal, Group } kind = Kind::Dot;
  std::string name;
  Data literal;
  std::vector<Pipe> group;  // one, of a Group
  std::vector<std::string> fields;
};
struct Pipe {
  std::vector<std::string> variables;
  bool assigns = false;
  std::vector<std::vector<Operand>> commands;
};
struct Node {
  enum class Kind : std::uint8_t { Text, Action, If, With, Range } kind = Kind::Text;
  int line = 1;
  std::string text;
  Pipe pipe;
  std::vector<Node> body;
  std::vector<Node> otherwise;
};

struct Token {
  char kind =
      0;  // i(dentifier) $(variable) f(ield) d(ot) l(iteral), '=' for :=, 'a' for =, or the character itself; 0 is the end
  bool is_adjacent = false;
  std::string text;
  Data literal;
};

// --- reading

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Node> read() {
    std::string stop;
    std::vector<Node> out = read_list(stop, 0);
    if (error_.empty() && !stop.empty()) fail("unexpected {{" + stop + "}}");
    return out;
  }
  const std::string& error() const { return error_; }

 private:
  void fail(const std::string& message) {
    if (error_.empty()) error_ = fmt::format("template: :{}: {}", line_, message);
  }
  const Token& peek() const { return at_ < tokens_.size() ? tokens_[at_] : kEnd_; }
  Token take() {
    Token token = peek();
    ++at_;
    return token;
  }
  void advance(std::size_t to) {
    to = std::min(to, text_.size());
    line_ += static_cast<int>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(pos_), text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    pos_ = to;
  }

  // Text up to the next action, then its tokens. False at the end of the template.
  bool next_action(std::vector<Node>& out) {
    std::size_t open = text_.find("{{", pos_);
    std::string_view text = text_.substr(pos_, open == std::string_view::npos ? open : open - pos_);
    bool trims = open != std::string_view::npos && text_.substr(open + 2, 1) == "-" && open + 3 < text_.size() &&
                 kSpaces.find(text_[open + 3]) != std::string_view::npos;
    if (trims_next_) text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (trims) text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
    trims_next_ = false;
    if (!text.empty()) {
      out.emplace_back();
      out.back().text = text;
    }
    if (open == std::string_view::npos) return false;
    advance(open + (trims ? 3 : 2));
    read_tokens();
    return error_.empty();
  }

  bool ends_action(bool had_space) {
    bool trims = had_space && text_.substr(pos_, 3) == "-}}";
    if (!trims && text_.substr(pos_, 2) != "}}") return false;
    trims_next_ = trims;
    advance(pos_ + (trims ? 3 : 2));
    return true;
  }

  void read_tokens() {
    tokens_.clear();
    at_ = 0;
    for (bool had_space = true; error_.empty();) {
      std::size_t end = std::min(text_.find_first_not_of(kSpaces, pos_), text_.size());
      had_space = end > pos_;
      advance(end);
      if (pos_ >= text_.size()) return fail("unclosed action");
      if (ends_action(had_space)) return;
      if (tokens_.empty() && text_.substr(pos_, 2) == "/*") {
        std::size_t close = text_.find("*/", pos_);
        if (close == std::string_view::npos) return fail("unclosed comment");
        advance(close + 2);
        tokens_.push_back({'c', false, "", {}});
        continue;
      }
      Token token = read_token();
      token.is_adjacent = !had_space;
      tokens_.push_back(token);
    }
  }

  std::string read_word() {
    std::size_t end = pos_;
    while (end < text_.size()) {
      Rune rune = decode_rune(text_.substr(end));
      if (text_[end] != '_' && !is_letter(rune.code) && !is_decimal_digit(rune.code)) break;
      end += rune.bytes;
    }
    std::string word(text_.substr(pos_, end - pos_));
    pos_ = end;
    return word;
  }

  Token read_token() {
    char c = text_[pos_];
    bool is_digit_next = pos_ + 1 < text_.size() && text_[pos_ + 1] >= '0' && text_[pos_ + 1] <= '9';
    if (c == '"' || c == '`') return read_string(c);
    if ((c >= '0' && c <= '9') || ((c == '-' || c == '+' || c == '.') && is_digit_next)) return read_number();
    if (c == '.' || c == '$') {
      ++pos_;
      std::string word = read_word();
      if (c == '$') return {'$', false, "$" + word, {}};
      return word.empty() ? Token{'d', false, ".", {}} : Token{'f', false, word, {}};
    }
    if (text_.substr(pos_, 2) == ":=") {
      pos_ += 2;
      return {'=', false, ":=", {}};
    }
    if (c == '=' || c == '(' || c == ')' || c == '|' || c == ',') {
      ++pos_;
      return {c == '=' ? 'a' : c, false, std::string(1, c), {}};
    }
    std::string word = read_word();
    if (word.empty()) fail(fmt::format("unexpected {} in command", go_quoted(text_.substr(pos_, 1))));
    if (word == "true" || word == "false") return {'l', false, word, Data(word == "true")};
    if (word == "nil") return {'l', false, word, Data()};
    return {'i', false, word, {}};
  }

  Token read_string(char quote) {
    std::string out;
    std::size_t i = pos_ + 1;
    for (; i < text_.size() && text_[i] != quote; ++i) {
      if (quote == '"' && text_[i] == '\n') break;
      if (quote == '`' || text_[i] != '\\' || i + 1 >= text_.size()) {
        out += text_[i];
        continue;
      }
      char c = text_[++i];
      std::size_t known = std::string_view("ntr\"\\").find(c);
      if (known == std::string_view::npos)
        fail(fmt::format("escape \\{} is not supported", c));
      else
        out += "\n\t\r\"\\"[known];
    }
    if (i >= text_.size() || text_[i] != quote) fail("unterminated quoted string");
    advance(i + 1);
    return {'l', false, out, Data(out)};
  }

  Token read_number() {
    std::size_t end = text_.find_first_not_of("0123456789+-.eE", pos_ + 1);
    std::string text(text_.substr(pos_, std::min(end, text_.size()) - pos_));
    if (text.ends_with("-") && end != std::string_view::npos && text_[end] == '}') text.pop_back();
    pos_ += text.size();
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const char* last = digits.data() + digits.size();
    std::int64_t whole = 0;
    if (std::from_chars(digits.data(), last, whole).ptr == last) return {'l', false, text, Data(whole)};
    double real = 0;
    if (std::from_chars(digits.data(), last, real).ptr != last) fail(fmt::format("bad number syntax: {}", go_quoted(text)));
    return {'l', false, text, Data(real)};
  }

  // Nodes up to {{end}} or {{else…}}, whose first word goes to `stop`; the tokens behind it are still to be read.
  std::vector<Node> read_list(std::string& stop, int depth) {
    std::vector<Node> out;
    if (depth > kMaxDepth) fail("nested too deeply");
    while (error_.empty() && next_action(out)) {
      int line = line_;
      Token first = peek();
      if (first.kind == 'c') continue;
      if (first.kind == 0) fail("missing value for command");
      bool is_word = first.kind == 'i';
      if (is_word && (first.text == "end" || first.text == "else")) {
        ++at_;
        stop = first.text;
        return out;
      }
      for (const char* word : {"define", "template", "block", "break", "continue"}) {
        if (is_word && first.text == word) fail("{{" + first.text + "}} is not supported");
      }
      Node node;
      node.line = line;
      if (is_word && (first.text == "if" || first.text == "with" || first.text == "range")) {
        ++at_;
        read_branch(node, first.text, depth + 1);
      } else {
        node.kind = Node::Kind::Action;
        node.pipe = read_pipe(0, false);
      }
      out.push_back(std::move(node));
    }
    return out;
  }

  void read_branch(Node& node, const std::string& word, int depth) {
    node.kind = word == "if" ? Node::Kind::If : word == "with" ? Node::Kind::With : Node::Kind::Range;
    node.pipe = read_pipe(0, node.kind == Node::Kind::Range);
    std::string stop;
    node.body = read_list(stop, depth);
    if (stop == "else" && peek().kind == 'i' && (peek().text == "if" || peek().text == "with") && depth <= kMaxDepth) {
      Node next;
      next.line = line_;
      std::string chained = take().text;
      read_branch(next, chained, depth + 1);
      node.otherwise.push_back(std::move(next));
      return;  // the inner one took the {{end}}
    }
    if (stop == "else") {
      stop.clear();
      node.otherwise = read_list(stop, depth);
    }
    if (stop != "end") fail(stop.empty() ? "unexpected EOF" : "expected end; found {{else}}");
  }

  Pipe read_pipe(int depth, bool is_range) {
    Pipe pipe;
    if (depth > kMaxDepth) fail("nested too deeply");
    std::size_t start = at_;
    while (peek().kind == '$') {
      pipe.variables.push_back(take().text);
      if (!is_range || peek().kind != ',') break;
      ++at_;
    }
    if (!pipe.variables.empty() && (peek().kind == '=' || peek().kind == 'a')) {
      pipe.assigns = take().kind == 'a';
    } else {
      pipe.variables.clear();
      at_ = start;
    }
    while (error_.empty()) {
      std::vector<Operand> command;
      while (error_.empty() && peek().kind != 0 && peek().kind != '|' && peek().kind != ')')
        command.push_back(read_operand(depth));
      if (command.empty()) fail("missing value for command");
      pipe.commands.push_back(std::move(command));
      if (peek().kind != '|') break;
      ++at_;
    }
    if (depth == 0 && peek().kind != 0) fail("unexpected " + go_quoted(peek().text) + " in command");
    return pipe;
  }

  Operand read_operand(int depth) {
    Operand out;
    Token token = take();
    out.name = token.text;
    if (token.kind == 'l') {
      out.kind = Operand::Kind::Literal;
      out.literal = token.literal;
    } else if (token.kind == '$') {
      out.kind = Operand::Kind::Variable;
    } else if (token.kind == 'i') {
      out.kind = Operand::Kind::Function;
    } else if (token.kind == '(') {
      out.kind = Operand::Kind::Group;
      out.group.push_back(read_pipe(depth + 1, false));
      if (take().kind != ')') fail("unclosed left paren");
    } else if (token.kind == 'f') {
      out.fields.push_back(token.text);
    } else if (token.kind != 'd') {
      fail("unexpected " + go_quoted(token.text) + " in operand");
    }
    while (peek().kind == 'f' && peek().is_adjacent) out.fields.push_back(take().text);
    return out;
  }

  const Token kEnd_{};
  std::string_view text_;
  std::size_t pos_ = 0;
  int line_ = 1;
  bool trims_next_ = false;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::string error_;
};

// --- running

class Runner {
 public:
  explicit Runner(const Data& data) { variables_.push_back({"$", data}); }

  void run(const std::vector<Node>& nodes, const Data& dot) {
    for (const Node& node : nodes) {
      if (!error_.empty()) return;
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
  /// Counts a step; a text may be `bytes` long.
  bool is_within_bounds(std::size_t bytes) {
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

  void run_range(const Node& node, const Data& dot, const Data& value) {
    std::size_t scope = variables_.size();
    auto turn = [&](const Data& key, const Data& item) {
      if (!is_within_bounds(0)) return;
      const auto& names = node.pipe.variables;
      if (names.size() > 1) set(names[0], key, node.pipe.assigns);
      if (!names.empty()) set(names.back(), item, node.pipe.assigns);
      run(node.body, item);
      variables_.resize(scope);
    };
    if (!value.is_array() && !value.is_object() && !value.is_null())
      return fail("range can't iterate over " + print_text(value));
    if (value.size() == 0) return run(node.otherwise, dot);
    for (std::size_t i = 0; value.is_array() && i < value.size() && error_.empty(); ++i)
      turn(static_cast<std::int64_t>(i), value.item(i));
    if (!value.is_object()) return;
    for (const std::string& key : sorted_keys(value)) {
      if (error_.empty()) turn(Data(key), value[key]);
    }
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

  // %s %v %d and %q without flags; the others are refused.
  Data format(Datas args) {
    std::string out;
    std::size_t next = 1;
    std::string_view text = args[0].as_string();
    for (std::size_t i = 0; i < text.size(); ++i) {
      char verb = text[i] == '%' && i + 1 < text.size() ? text[++i] : '\0';
      if (verb == '\0' || verb == '%') {
        out += text[i];
        continue;
      }
      bool fits = next < args.size() && (verb == 'v' || (verb == 'd' && is_whole_number(args[next])) ||
                                         ((verb == 's' || verb == 'q') && args[next].is_string()));
      if (!fits) return fail(fmt::format("printf with %{} is not supported here", verb), 0);
      out += verb == 'q' ? go_quoted(args[next].as_string()) : print_text(args[next]);
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

  std::vector<std::pair<std::string, Data>> variables_;
  int line_ = 1;
  std::size_t steps_ = 0;
};

Value execute(Calls& calls, Args args) {
  Value error;
  Data data = calls.to_data(args[1], error);
  if (error.is_bottom()) return error;
  Reader reader(args[0].str());
  std::vector<Node> nodes = reader.read();
  if (!reader.error().empty()) return calls.fail(reader.error());
  Runner runner(data);
  runner.run(nodes, data);
  return runner.error_.empty() ? calls.make_string(runner.out_) : calls.fail(runner.error_);
}
Value html_escape(Calls& calls, Args args) { return calls.make_string(html_escaped(args[0].str())); }
Value js_escape(Calls& calls, Args args) { return calls.make_string(js_escaped(args[0].str())); }

constexpr Builtin kRows[] = {
    {"text/template", "Execute", kParams<kString, kTop>, kString, execute},
    {"text/template", "HTMLEscape", kParams<kString>, kString, html_escape},
    {"text/template", "JSEscape", kParams<kString>, kString, js_escape},
};

}  // namespace

std::span<const Builtin> template_rows() { return kRows; }

}  // namespace slipway::cue
