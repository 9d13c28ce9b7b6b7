#include "cue/std/template_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cue/syntax/unicode.h"

namespace slipway::cue::text_template {

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

namespace {

constexpr std::string_view kSpaces = " \t\r\n";

struct Token {
  char kind =
      0;  // i(dentifier) $(variable) f(ield) d(ot) l(iteral), '=' for :=, 'a' for =, or the character itself; 0 is the end
  bool is_adjacent = false;
  std::string text;
  Data literal;
};

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
      Node node;
      node.line = line;
      if (is_word && (first.text == "define" || first.text == "template" || first.text == "block")) {
        ++at_;
        read_named(node, first.text, depth, out);
      } else if (is_word && (first.text == "break" || first.text == "continue")) {
        ++at_;
        if (ranges_ == 0) fail("{{" + first.text + "}} outside {{range}}");
        node.kind = first.text == "break" ? Node::Kind::Break : Node::Kind::Continue;
      } else if (is_word && (first.text == "if" || first.text == "with" || first.text == "range")) {
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

  // {{define "x"}}, {{template "x" pipe}} and {{block "x" pipe}}, which is both.
  void read_named(Node& node, const std::string& word, int depth, std::vector<Node>& out) {
    if (word == "define" && depth > 0) fail("unexpected {{define}}");
    Token name = take();
    if (name.kind != 'l' || !name.literal.is_string())
      return fail("unexpected " + go_quoted(name.text) + " in " + word + " clause");
    node.kind = Node::Kind::Call;
    node.text = name.literal.as_string();
    if (word != "define" && peek().kind != 0) node.pipe = read_pipe(0, false);
    if (word == "template") return;
    Node definition;
    definition.kind = Node::Kind::Define;
    definition.line = node.line;
    definition.text = node.text;
    std::string stop;
    int ranges = std::exchange(ranges_, 0);
    definition.body = read_list(stop, depth + 1);
    ranges_ = ranges;
    if (stop != "end") fail(stop.empty() ? "unexpected EOF" : "unexpected {{else}}");
    if (word == "define") {
      node = std::move(definition);
    } else {
      out.push_back(std::move(definition));
    }
  }

  void read_branch(Node& node, const std::string& word, int depth) {
    node.kind = word == "if" ? Node::Kind::If : word == "with" ? Node::Kind::With : Node::Kind::Range;
    node.pipe = read_pipe(0, node.kind == Node::Kind::Range);
    std::string stop;
    ranges_ += node.kind == Node::Kind::Range ? 1 : 0;
    node.body = read_list(stop, depth);
    ranges_ -= node.kind == Node::Kind::Range ? 1 : 0;
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
  int ranges_ = 0;  // around what is being read
  std::string error_;
};

}  // namespace

std::expected<std::vector<Node>, std::string> read_template(std::string_view text) {
  Reader reader(text);
  std::vector<Node> nodes = reader.read();
  if (!reader.error().empty()) return std::unexpected(reader.error());
  return nodes;
}

}  // namespace slipway::cue::text_template
