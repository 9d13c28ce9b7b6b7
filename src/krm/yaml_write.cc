// The printer of go-yaml v3 as kpt sets it up: no folding of long lines, two blanks a level.
#include <algorithm>
#include <array>

#include "krm/yaml_tree.h"

namespace slipway::krm {
namespace {

struct Escape {
  std::uint32_t code;
  char letter;
};
constexpr std::array kEscapes{Escape{0x00, '0'}, Escape{0x07, 'a'},   Escape{0x08, 'b'},  Escape{0x09, 't'},
                              Escape{0x0A, 'n'}, Escape{0x0B, 'v'},   Escape{0x0C, 'f'},  Escape{0x0D, 'r'},
                              Escape{0x1B, 'e'}, Escape{0x22, '"'},   Escape{0x5C, '\\'}, Escape{0x85, 'N'},
                              Escape{0xA0, '_'}, Escape{0x2028, 'L'}, Escape{0x2029, 'P'}};

bool is_break(char c) { return c == '\n' || c == '\r'; }
bool is_blank_or_end(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '\t' || is_break(text[at]);
}

// What a scalar's text allows (libyaml's yaml_emitter_analyze_scalar).
struct Allows {
  bool plain = false;
  bool plain_in_flow = false;
  bool single_quoted = true;
  bool block = true;
};

bool is_printable(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == 0x0A || (c >= 0x20 && c < 0x7F)) return true;
  if (c < 0x80) return false;
  const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
  const auto third = at + 2 < text.size() ? static_cast<unsigned char>(text[at + 2]) : 0;
  if (c == 0xC2) return second >= 0xA0;
  if (c == 0xE2 && second == 0x80 && (third == 0xA8 || third == 0xA9)) return false;
  if (c == 0xED) return second < 0xA0;
  if (c == 0xEF) return !(second == 0xBB && third == 0xBF) && !(second == 0xBF && (third == 0xBE || third == 0xBF));
  return true;
}

class Indicators {
 public:
  explicit Indicators(std::string_view text) {
    if (text.starts_with("---") || text.starts_with("...")) in_block = in_flow = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool ends = is_blank_or_end(text, i + 1);
      if (i == 0) {
        if (std::string_view("#,[]{}&*!|>'\"%@`").contains(c)) in_block = in_flow = true;
        if (c == '?' || c == ':') in_flow = true;
        if ((c == '?' || c == ':' || c == '-') && ends) in_block = in_flow = true;
        continue;
      }
      if (std::string_view(",?[]{}:").contains(c)) in_flow = true;
      if (c == ':' && ends) in_block = true;
      if (c == '#' && is_blank_or_end(text, i - 1)) in_block = in_flow = true;
    }
  }
  bool in_block = false;
  bool in_flow = false;
};

Allows analyze(std::string_view text) {
  if (text.empty()) return {.plain = true, .plain_in_flow = false, .single_quoted = true, .block = false};
  const Indicators indicators(text);
  bool is_special = false;
  bool has_tab = false;
  bool has_break = false;
  bool break_then_blank = false;
  bool blank_then_break = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c & 0xC0) == 0x80) continue;
    if (c == '\t') has_tab = true;
    if (c != '\t' && !is_printable(text, i)) is_special = true;
    if (is_break(c)) has_break = true;
    if (i > 0 && c == ' ' && is_break(text[i - 1])) break_then_blank = true;
    if (i > 0 && is_break(c) && text[i - 1] == ' ') blank_then_break = true;
  }
  const bool is_padded = text.front() == ' ' || is_break(text.front()) || text.back() == ' ' || is_break(text.back());
  Allows made;
  const bool is_bad = is_padded || has_break || break_then_blank || blank_then_break || has_tab || is_special;
  made.plain = !is_bad && !indicators.in_block;
  made.plain_in_flow = !is_bad && !indicators.in_flow;
  made.single_quoted = !break_then_blank && !blank_then_break && !has_tab && !is_special;
  made.block = text.back() != ' ' && !blank_then_break && !is_special;
  return made;
}

class Writer {
 public:
  explicit Writer(bool is_wide) : is_wide_(is_wide) {}

  void document(const YamlTree& tree) {
    comment(tree.head, 0);
    if (!tree.is_empty) root(tree.root);
    if (!tree.foot.empty()) {
      foot_indent_ = -1;
      out_ += '\n';
      comment(tree.foot, 0);
    }
  }

  void root(const Node& node) {
    if (is_block(node)) {
      if (!node.head.empty()) comment(node.head, 0);
      if (!properties(node).empty()) out_ += properties(node).substr(1) + "\n";
      block(node, 0, false);
      return;
    }
    comment(node.head, 0);
    inline_value(node, 0, false);
    if (!node.line.empty()) out_ += " " + node.line;
    out_ += '\n';
    comment(node.foot, 0);
  }

  std::string take() { return std::move(out_); }

 private:
  static bool is_block(const Node& node) {
    return (node.is_mapping() || node.is_sequence()) && !node.is_flow && !node.children.empty();
  }

  static std::string properties(const Node& node) {
    std::string made;
    if (node.kind == Node::Kind::Alias) return made;
    if (!node.anchor.empty()) made += " &" + node.anchor;
    if (!node.tag.empty()) {
      const bool is_short = node.tag.starts_with('!');
      made += is_short ? " " + node.tag : " !<" + node.tag + ">";
    }
    return made;
  }

  void indent(std::size_t by) {
    if (foot_indent_ == static_cast<std::ptrdiff_t>(by)) out_ += '\n';
    foot_indent_ = -1;
    out_.append(by, ' ');
  }

  void comment(std::string_view text, std::size_t by) {
    while (!text.empty()) {
      const std::size_t stop = text.find('\n');
      const std::string_view line = text.substr(0, stop);
      if (!line.empty()) {
        indent(by);
        out_ += line;
      }
      out_ += '\n';
      if (stop == std::string_view::npos) break;
      text.remove_prefix(stop + 1);
    }
  }

  void foot(std::string_view text, std::size_t by) {
    if (text.empty()) return;
    comment(text, by);
    foot_indent_ = static_cast<std::ptrdiff_t>(by);
  }

  // The entries of a block collection; the first goes on in the line where a dash stands when `is_inline`.
  void block(const Node& node, std::size_t by, bool is_inline) {
    bool is_first = true;
    const auto start = [&](const Node& child) {
      if (is_first && is_inline) {
        if (!child.head.empty()) {
          // A comment behind the dash goes on in the next line.
          std::string_view rest = child.head;
          const std::size_t stop = rest.find('\n');
          out_ += std::string(rest.substr(0, stop)) + "\n";
          if (stop != std::string_view::npos) comment(rest.substr(stop + 1), by);
          indent(by);
        }
      } else {
        comment(child.head, by);
        indent(by);
      }
      is_first = false;
    };
    if (node.is_sequence()) {
      for (const Node& item : node.children) {
        start(item);
        out_ += "-";
        item_value(item, by);
        foot(item.foot, by);
      }
      return;
    }
    for (std::size_t i = 0; i < node.pairs(); ++i) {
      start(node.key(i));
      member(node.key(i), node.value(i), by);
      foot(node.key(i).foot.empty() ? node.value(i).foot : node.key(i).foot, by);
    }
  }

  void item_value(const Node& item, std::size_t by) {
    if (is_block(item)) {
      out_ += properties(item);
      if (properties(item).empty()) {
        out_ += ' ';
        block(item, by + 2, true);
      } else {
        out_ += '\n';
        block(item, by + 2, false);
      }
      return;
    }
    if (!item.is_null() || !item.text.empty()) out_ += ' ';
    inline_value(item, by, false);
    finish_line(item.line, item);
  }

  void member(const Node& key, const Node& value, std::size_t by) {
    const bool is_simple = (key.is_scalar() && key.style != Node::Style::Literal && key.style != Node::Style::Folded &&
                            key.text.find('\n') == std::string::npos) ||
                           key.kind == Node::Kind::Alias;
    if (!is_simple) out_ += "? ";
    if (is_block(key)) {
      block(key, by + 2, true);
      indent(by);
    } else {
      inline_value(key, by, is_simple);
      if (!is_simple) {
        if (!out_.ends_with('\n')) out_ += '\n';
        indent(by);
      }
    }
    if (key.kind == Node::Kind::Alias) out_ += ' ';
    out_ += ':';
    if (is_block(value)) {
      out_ += properties(value);
      const std::string& line = key.line.empty() ? value.line : key.line;
      if (!line.empty()) out_ += " " + line;
      out_ += '\n';
      if (!value.head.empty()) comment(value.head, by + 2);
      block(value, value.is_sequence() && !is_wide_ ? by : by + 2, false);
      return;
    }
    if (!value.head.empty()) {
      out_ += '\n';
      comment(value.head, by + 2);
      indent(by + 2);
    } else if (!(value.is_scalar() && value.style == Node::Style::Plain && value.text.empty() && !value.is_string)) {
      out_ += ' ';
    }
    inline_value(value, by, false);
    finish_line(value.line.empty() ? key.line : value.line, value);
  }

  void finish_line(const std::string& line, const Node& value) {
    const Node::Style style = style_of(value, false);
    const bool is_block_scalar = value.is_scalar() && (style == Node::Style::Literal || style == Node::Style::Folded);
    if (is_block_scalar) return;
    if (!line.empty()) out_ += " " + line;
    out_ += '\n';
  }

  Node::Style style_of(const Node& node, bool is_key) const {
    const Allows allows = analyze(node.text);
    Node::Style style = node.style;
    if (style == Node::Style::Plain && node.is_string && !is_key) {
      Node bare = Node::plain(node.text);
      if (!bare.reads_as_string()) style = Node::Style::DoubleQuoted;
    }
    if (style == Node::Style::Plain) {
      if (node.text.find('\n') != std::string::npos) style = Node::Style::Literal;
      const bool may = flow_depth_ > 0 ? allows.plain_in_flow : allows.plain;
      const bool is_null = node.is_null() && !is_key;
      if (!is_null && (!may || (node.text.empty() && (flow_depth_ > 0 || is_key)))) {
        if (style == Node::Style::Plain) style = Node::Style::SingleQuoted;
      }
    }
    if (style == Node::Style::SingleQuoted && !allows.single_quoted) style = Node::Style::DoubleQuoted;
    if (style == Node::Style::Literal || style == Node::Style::Folded) {
      const bool may =
          allows.block && flow_depth_ == 0 && !is_key && style == Node::Style::Literal;  // kpt writes no folded text
      if (!may) style = Node::Style::DoubleQuoted;
    }
    return style;
  }

  // Everything that is no block collection; ends without a line end, but for block scalars.
  void inline_value(const Node& node, std::size_t by, bool is_key) {
    if (node.kind == Node::Kind::Alias) {
      out_ += "*" + node.anchor;
      return;
    }
    if (const std::string made = properties(node); !made.empty()) {
      const bool is_glued = !(out_.ends_with(' ') || out_.empty() || out_.ends_with('\n'));
      out_ += made.substr(is_glued ? 0 : 1);
      if (node.is_scalar() && node.text.empty() && node.style == Node::Style::Plain) {
        if (is_key) out_ += ' ';
        return;
      }
      out_ += ' ';
    }
    if (!node.is_scalar()) {
      flow(node, by);
      return;
    }
    switch (style_of(node, is_key)) {
      case Node::Style::Plain:
        out_ += node.text;
        return;
      case Node::Style::SingleQuoted:
        single_quoted(node.text, by);
        return;
      case Node::Style::DoubleQuoted:
        double_quoted(node.text);
        return;
      case Node::Style::Literal:
        literal(node, by + 2);
        return;
      case Node::Style::Folded:
        double_quoted(node.text);
        return;
    }
  }

  void flow(const Node& node, std::size_t by) {
    ++flow_depth_;
    out_ += node.is_mapping() ? '{' : '[';
    const std::size_t step = node.is_mapping() ? 2 : 1;
    bool is_broken = false;  // a comment ended the line
    for (std::size_t i = 0; i < node.children.size(); i += step) {
      if (!node.children[i].head.empty()) {
        out_ += '\n';
        comment(node.children[i].head, by + 2);
        is_broken = false;
        indent(by + 2);
      } else if (is_broken) {
        out_ += '\n';
        indent(by + 2);
      } else if (i > 0) {
        out_ += ' ';
      }
      flow_entry(node, i, by + 2);
      const std::string& line = node.children[i + step - 1].line;
      if (i + step < node.children.size() || !line.empty() || !node.foot.empty()) out_ += ',';
      if (!line.empty()) out_ += " " + line;
      is_broken = !line.empty();
    }
    if (is_broken || !node.foot.empty()) {
      out_ += '\n';
      comment(node.foot, by + 2);
      indent(by);
    }
    out_ += node.is_mapping() ? '}' : ']';
    --flow_depth_;
  }

  void flow_entry(const Node& node, std::size_t at, std::size_t by) {
    inline_value(node.children[at], by, node.is_mapping());
    if (!node.is_mapping()) return;
    const Node& value = node.children[at + 1];
    if (node.children[at].kind == Node::Kind::Alias) out_ += ' ';
    out_ += ':';
    out_ += ' ';
    inline_value(value, by, false);
  }

  void single_quoted(std::string_view text, std::size_t by) {
    out_ += '\'';
    bool was_break = false;
    for (char c : text) {
      if (c == '\n') {
        if (!was_break) out_ += '\n';
        out_ += '\n';
        was_break = true;
        continue;
      }
      if (was_break) out_.append(by + 2, ' ');
      was_break = false;
      out_ += c;
      if (c == '\'') out_ += c;
    }
    if (was_break) out_.append(by + 2, ' ');
    out_ += '\'';
  }

  static void append_escape(std::string& out, std::string_view text, std::size_t& at) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto c = static_cast<unsigned char>(text[at]);
    std::size_t length = 1;
    std::uint32_t code = c;
    if (c >= 0xF0) {
      length = 4;
      code = c & 0x07U;
    } else if (c >= 0xE0) {
      length = 3;
      code = c & 0x0FU;
    } else if (c >= 0xC0) {
      length = 2;
      code = c & 0x1FU;
    }
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i) {
      code = (code << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    }
    at += length - 1;
    const auto known = std::ranges::find(kEscapes, code, &Escape::code);
    if (known != kEscapes.end()) {
      out += '\\';
      out += known->letter;
      return;
    }
    const int digits = code <= 0xFF ? 2 : code <= 0xFFFF ? 4 : 8;
    out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kDigits[(code >> static_cast<unsigned>(shift)) & 0xFU];
  }

  void double_quoted(std::string_view text) {
    out_ += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"' || c == '\\' || is_break(c) || ((c & 0xC0) != 0x80 && !is_printable(text, i))) {
        append_escape(out_, text, i);
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  void block_header(char indicator, const Node& node) {
    out_ += indicator;
    if (!node.text.empty() && (node.text.front() == ' ' || node.text.front() == '\n')) out_ += '2';
    if (!node.text.ends_with('\n')) {
      out_ += '-';
    } else if (node.text.size() == 1 || node.text.ends_with("\n\n")) {
      out_ += '+';
    }
    if (!node.line.empty()) out_ += " " + node.line;
    out_ += '\n';
  }

  void literal(const Node& node, std::size_t by) {
    block_header('|', node);
    std::string_view rest = node.text;
    while (!rest.empty()) {
      const std::size_t stop = rest.find('\n');
      const std::string_view line = rest.substr(0, stop);
      if (!line.empty()) out_ += std::string(by, ' ') + std::string(line);
      out_ += '\n';
      if (stop == std::string_view::npos) break;
      rest.remove_prefix(stop + 1);
    }
  }

  std::string out_;
  bool is_wide_;
  std::size_t flow_depth_ = 0;
  std::ptrdiff_t foot_indent_ = -1;
};

}  // namespace

std::string write_yaml(const YamlTree& tree) {
  Writer writer(tree.is_wide);
  writer.document(tree);
  return writer.take();
}

std::string write_yaml(std::span<const YamlTree> trees) {
  std::string made;
  bool is_first = true;
  for (const YamlTree& tree : trees) {
    if (!is_first) made += "---\n";
    is_first = false;
    made += write_yaml(tree);
  }
  return made;
}

std::string write_node(const Node& node, bool is_wide) {
  Writer writer(is_wide);
  writer.root(node);
  return writer.take();
}

}  // namespace slipway::krm
