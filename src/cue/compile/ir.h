// The compiled form of a program: names are resolved to (levels up, label), constants are values, and nothing in it ever
// changes, so evaluations on several threads share it.
//
// Levels: every struct literal, every for and let clause and every pattern or dynamic field opens one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cue/compile/label.h"
#include "cue/compile/value.h"
#include "cue/syntax/ast.h"

namespace slipway::cue::ir {

enum class Op : std::uint8_t {
  Constant,
  Struct,
  List,
  FieldRef,    // a field of the node `up` levels out
  LetRef,      // a let clause of that level
  LabelRef,    // the name of the field a pattern matched
  NodeRef,     // the node a pattern or dynamic field was applied to
  DynamicRef,  // a field of that node whose name is computed
  Import,      // another package given to the program
  Selector,
  Index,
  Unary,
  Binary,
  And,
  Or,
  Interpolation,
  Call,
  Bound,
  Comprehension,
  Presence,  // x != _|_, x == _|_ with a plain reference
};

struct Expr {
  Op op;
  Pos pos;
};
struct Constant : Expr {
  Value value;
};

enum class DeclKind : std::uint8_t { Field, Dynamic, Pattern, Embed, Comprehension };

struct FieldInfo {
  std::span<const std::string_view> doc;
  std::span<const ast::Attribute* const> attributes;
};

struct Decl {
  DeclKind kind;
  ast::Mark mark;
  Label label;       // of Field
  const Expr* name;  // of Dynamic and Pattern
  const Expr* value;
  Pos pos;
  const FieldInfo* info;  // may be null
};

struct Struct : Expr {
  std::span<const Decl> decls;
  std::span<const ast::Attribute* const> attributes = {};  // of the struct itself: {@go(X)}
  bool is_file = false;                                    // of the language, not of data
  bool has_ellipsis = false;
  bool has_embeds = false;   // embeddings or comprehensions: the kind depends on them
  bool has_regular = false;  // declares fields that make it a struct
  bool is_definite = false;
};

struct List : Expr {
  std::span<const Expr* const> items;  // Comprehension among them
  const Expr* rest;                    // of "...", null when closed; a top constant for a bare one
};

/// FieldRef, LetRef, LabelRef, NodeRef, DynamicRef.
struct Ref : Expr {
  std::uint16_t up;
  Label label;
  const Expr* value;  // of LetRef and DynamicRef
  std::string_view name;
};
struct Import : Expr {
  std::uint32_t instance;
};
struct Selector : Expr {
  const Expr* base;
  Label label;
};
struct Index : Expr {
  const Expr* base;
  const Expr* index;
};
struct Unary : Expr {
  Tok kind;
  const Expr* operand;
};
struct Binary : Expr {
  Tok kind;
  const Expr* left;
  const Expr* right;
};
struct And : Expr {
  std::span<const Expr* const> parts;
};
struct Disjunct {
  const Expr* value;
  bool is_default;
};
struct Or : Expr {
  std::span<const Disjunct> parts;
  bool has_default;
};
struct Interpolation : Expr {
  std::span<const Expr* const> parts;
  bool is_bytes;
};
struct Call : Expr {
  const Expr* function;
  std::span<const Expr* const> args;
};
struct Bound : Expr {
  Tok kind;
  const Expr* operand;
};
struct Presence : Expr {
  const Expr* ref;
  bool wants_present;
};

struct Clause {
  ast::Clause kind;
  Label key;  // none when not asked for
  Label value;
  const Expr* expr;
  Pos pos;
};
struct Comprehension : Expr {
  std::span<const Clause> clauses;
  const Expr* body;
  std::span<const Label> labels;  // fields its body may add; sorted by word
  bool any_label;                 // or it may add any
};

template <class T>
const T& as(const Expr& expr) {
  return static_cast<const T&>(expr);
}
inline bool is_reference(const Expr& expr) {
  switch (expr.op) {
    case Op::FieldRef:
    case Op::LetRef:
    case Op::NodeRef:
    case Op::DynamicRef:
    case Op::Import:
    case Op::Selector:
    case Op::Index:
      return true;
    case Op::Constant:
    case Op::Struct:
    case Op::List:
    case Op::LabelRef:
    case Op::Unary:
    case Op::Binary:
    case Op::And:
    case Op::Or:
    case Op::Interpolation:
    case Op::Call:
    case Op::Bound:
    case Op::Comprehension:
    case Op::Presence:
      return false;
  }
  return false;
}

}  // namespace slipway::cue::ir
