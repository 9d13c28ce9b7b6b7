// The tree of a text/template: what is between {{ and }} as nodes, pipelines and operands, read once and run by template.cc.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace slipway::cue::text_template {

using Data = json::Value;

/// Of blocks within blocks and of parentheses within parentheses.
constexpr int kMaxDepth = 100;

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
  enum class Kind : std::uint8_t { Text, Action, If, With, Range, Break, Continue, Define, Call } kind = Kind::Text;
  int line = 1;
  std::string text;  // of a Define or Call, {{template}}: the name
  Pipe pipe;
  std::vector<Node> body;
  std::vector<Node> otherwise;
};

/// The text's nodes; what is wrong with it as "template: :LINE: ...".
std::expected<std::vector<Node>, std::string> read_template(std::string_view text);

/// As Go's %q shows a text.
std::string go_quoted(std::string_view text);

}  // namespace slipway::cue::text_template
