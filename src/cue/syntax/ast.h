// The tree of a file as it was written. Nodes lie in an arena and never change after parsing; names and literals are views
// into the source text. Every node knows where it begins.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cue/syntax/token.h"

namespace slipway::cue::ast {

enum class Kind : std::uint8_t {
  // expressions
  Bad,
  Ident,
  Literal,  // number, string or bytes as written; true, false, null
  Interpolation,
  Bottom,
  Struct,
  List,
  Ellipsis,  // in lists and structs
  Selector,
  Index,
  Slice,
  Call,
  Unary,
  Binary,
  Paren,
  Alias,          // X=expr
  Comprehension,  // in structs and lists
  FuncType,       // func(int): string, reserved
  Postfix,        // expr... or expr?
  // declarations
  Field,
  Let,
  Attribute,
  // An expression standing as a declaration is an embedding; there is no node for that.
};

struct Node {
  Kind kind;
  Pos pos;
  Pos end = 0;
};
using Nodes = std::span<Node* const>;

struct Ident : Node {
  std::string_view name;
};
struct Literal : Node {
  Tok tok;
  std::string_view text;
};
/// parts: Literal, expression, Literal, … , Literal. The literals carry pieces of the string as written.
struct Interpolation : Node {
  Nodes parts;
};
struct Struct : Node {
  Nodes decls;
  bool is_braced;  // false for the one a shorthand a: b: 1 stands for
};
struct List : Node {
  Nodes items;
};
struct Ellipsis : Node {
  Node* type;  // may be null
};
struct Selector : Node {
  Node* base;
  Node* name;  // Ident or string Literal
};
struct Index : Node {
  Node* base;
  Node* index;
};
/// base[low:high], from before v0.5; either bound may be null.
struct Slice : Node {
  Node* base;
  Node* low;
  Node* high;
};
struct Call : Node {
  Node* function;
  Nodes args;
};
struct Unary : Node {
  Tok op;
  Node* operand;
};
struct Binary : Node {
  Tok op;
  Pos op_pos;
  Node* left;
  Node* right;
};
struct Paren : Node {
  Node* inner;
};
struct Alias : Node {
  std::string_view name;
  Node* expr;
};
struct Postfix : Node {
  Tok op;
  Node* operand;
};
struct FuncType : Node {
  Nodes args;
  Node* result;
};

enum class Clause : std::uint8_t { For, If, Let, Try };
struct ClauseNode {
  Clause kind;
  Pos pos;
  std::string_view key;    // for k, v: may be empty
  std::string_view value;  // for v, let v
  Pos key_pos;
  Pos value_pos;
  Node* expr;  // null for a bare try
};
struct Comprehension : Node {
  std::span<const ClauseNode> clauses;
  Struct* body;
  Struct* fallback;  // else, otherwise; may be null
  bool is_else;
};

enum class Mark : std::uint8_t { Regular, Optional, Required };

struct Attribute : Node {
  std::string_view text;  // "@name(body)"
  std::string_view name;
  std::string_view body;
};

struct Field : Node {
  std::string_view alias;  // X=label
  /// Ident, Literal (string), Interpolation, Paren, or List with one item (a pattern).
  Node* label;
  Mark mark;
  std::string_view value_alias;  // label: X=value
  std::string_view key_name;     // label~(K,V)
  std::string_view self_name;    // label~X, label~(K,V)
  Node* value;
  std::span<Attribute* const> attributes;
  std::span<const std::string_view> doc;  // comment lines directly above, without line ends
};
struct Let : Node {
  std::string_view name;
  Node* expr;
};

struct Import {
  Pos pos;
  std::string_view name;  // may be empty
  Pos name_pos;
  Node* path;  // string Literal
};

struct File {
  std::string_view name;
  Pos begin = 0;
  std::string_view package;  // empty when there is no clause
  Pos package_pos = 0;
  std::span<const Import> imports;
  Nodes decls;
  std::span<Attribute* const> attributes;  // those before the package clause
  std::span<const Comment> comments;       // all of them, in order
  bool is_data = false;                    // JSON and the like
};

template <class T>
const T& as(const Node& node) {
  return static_cast<const T&>(node);
}

}  // namespace slipway::cue::ast
