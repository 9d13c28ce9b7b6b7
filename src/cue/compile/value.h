// One value in sixteen bytes: a scalar, a type, a bound, or a pointer to what is larger. Everything pointed to lies in the
// arena of the program or of the evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cue/number/decimal.h"
#include "cue/syntax/token.h"

namespace slipway::cue {

/// Sets of basic kinds.
using KindMask = std::uint16_t;
enum : KindMask {
  kNull = 1,
  kBool = 2,
  kInt = 4,
  kFloat = 8,
  kString = 16,
  kBytes = 32,
  kFunc = 64,
  kList = 128,
  kStruct = 256,
  kNumber = kInt | kFloat,
  kScalar = kNull | kBool | kNumber | kString | kBytes | kFunc,
  kTop = kScalar | kList | kStruct,
};
/// "int", "(int|string)", "_", "_|_".
std::string describe_kind(KindMask mask);

/// A number that does not fit 64 bits, or a float. `digits` as in Decimal.
struct Number {
  std::string_view digits;
  std::int32_t exponent;
  bool is_negative;
  bool is_float;

  Decimal decimal() const { return {std::string(digits), exponent, is_negative}; }
};

struct Vertex;
struct Bottom;
struct Bound;
struct Validator;
struct Conjunction;
struct Disjunction;
struct Builtin;
struct RefTrail;
struct Env;
namespace ir {
struct Expr;
}

struct Value {
  enum class Tag : std::uint8_t {
    None,
    Null,
    Bool,
    Int,
    Number,
    String,
    Bytes,
    Type,   // any value of some kinds
    Bound,  // <5, =~"x"
    Validator,
    Conjunction,  // of types, bounds and validators
    Disjunction,
    Builtin,  // a function
    Struct,   // what a vertex holds when its fields are its value
    List,
    Vertex,
    Bottom,
  };

  Tag tag = Tag::None;
  KindMask kinds = 0;  // of Type
  std::uint32_t size = 0;
  union {
    bool boolean;
    std::int64_t integer = 0;
    const Number* number;
    const char* text;
    const Bound* bound;
    const Validator* validator;
    const Conjunction* conjunction;
    const Disjunction* disjunction;
    const Builtin* builtin;
    Vertex* vertex;
    const Bottom* bottom;
  };

  static Value null() { return of(Tag::Null); }
  static Value of(bool b) {
    Value value = of(Tag::Bool);
    value.boolean = b;
    return value;
  }
  static Value of_int(std::int64_t i) {
    Value value = of(Tag::Int);
    value.integer = i;
    return value;
  }
  static Value of(const Number* n) {
    Value value = of(Tag::Number);
    value.number = n;
    return value;
  }
  /// The text is not copied.
  static Value string(std::string_view text) { return text_of(Tag::String, text); }
  static Value bytes(std::string_view text) { return text_of(Tag::Bytes, text); }
  static Value type(KindMask mask) {
    Value value = of(Tag::Type);
    value.kinds = mask;
    return value;
  }
  static Value of(Vertex* v) {
    Value value = of(Tag::Vertex);
    value.vertex = v;
    return value;
  }
  static Value of(const Bottom* b) {
    Value value = of(Tag::Bottom);
    value.bottom = b;
    return value;
  }
  static Value of(const Disjunction* d) {
    Value value = of(Tag::Disjunction);
    value.disjunction = d;
    return value;
  }
  static Value of(Tag tag) {
    Value value;
    value.tag = tag;
    return value;
  }

  bool is_none() const { return tag == Tag::None; }
  bool is_bottom() const { return tag == Tag::Bottom; }
  bool is_vertex() const { return tag == Tag::Vertex; }
  bool is_container() const { return tag == Tag::Struct || tag == Tag::List; }
  bool is_number() const { return tag == Tag::Int || tag == Tag::Number; }
  /// A single scalar, not a set of values.
  bool is_concrete_scalar() const { return (tag >= Tag::Null && tag <= Tag::Bytes) || tag == Tag::Builtin; }
  std::string_view str() const { return {text, size}; }

 private:
  static Value text_of(Tag tag, std::string_view text) {
    Value value = of(tag);
    value.text = text.data();
    value.size = static_cast<std::uint32_t>(text.size());
    return value;
  }
};

/// An error that whoever made it still has to complete. REQUIRES: it is not shared yet.
inline Bottom* just_made(const Value& error) { return const_cast<Bottom*>(error.bottom); }

struct Bound {
  Tok op;
  Value operand;
  Pos pos;
};

/// A function called with all but its first argument, to be applied to a value.
struct Validator {
  const Builtin* builtin;
  std::span<const Value> args;
  Pos pos;
  std::span<const Pos> arg_places = {};  // of those that are scalars
  bool is_called = false;                // else it is the function by its name
};

struct Conjunction {
  std::span<const Value> parts;
};

struct Disjunction {
  std::span<const Value> values;  // the defaults first
  std::uint32_t defaults;
  std::span<const Pos> places = {};  // of the values, where they were written apart from the disjunction
};

/// What alone may steer control flow. The higher, the worse; a parent takes the worst of its children.
enum class Code : std::uint8_t { None, Incomplete, Cycle, StructuralCycle, User, Eval };

/// As error codes are told to people and in JSON.
constexpr std::string_view code_name(Code code) {
  switch (code) {
    case Code::None:
    case Code::Eval:
      return "eval";
    case Code::Incomplete:
      return "incomplete";
    case Code::Cycle:
      return "cycle";
    case Code::StructuralCycle:
      return "structural cycle";
    case Code::User:
      return "user";
  }
  return "eval";
}

inline bool is_incomplete(Code code) { return code == Code::Incomplete || code == Code::Cycle; }

/// A disjunct that failed: at once, or in a field of what was tried.
struct Branch {
  const Bottom* reason;
  const Vertex* tried;
};

/// Why there is no value. The text is made when it is read: `format` holds {0} to {3} for the operands.
struct Bottom {
  Code code = Code::Eval;
  bool is_absent = false;       // the field asked for is not there
  bool is_close_check = false;  // the field is not allowed
  bool is_child = false;        // reported by a field below
  bool is_rejection = false;    // a validator's no
  bool is_open = false;         // there is a value, but not a concrete one
  bool is_guard = false;        // a guard that asks for what it decides about
  bool is_unplaced = false;     // of no one place: `pos` is one of several that take part
  bool wants_sources = false;   // the declarations of `node` take part, too
  bool is_summary = false;      // of a disjunction whose branches were not looked at closely: Evaluator::in_full
  const char* format = "";
  Value operands[4] = {};
  Pos pos = 0;
  Pos other = 0;
  std::span<const Pos> more = {};         // further places that take part
  const Vertex* node = nullptr;           // where, for the path
  const Vertex* from = nullptr;           // whose value it is about: where that was said takes part
  const Bottom* next = nullptr;           // further errors of the same node
  const Bottom* cause = nullptr;          // what the call or disjunct failed with
  const Bottom* source = nullptr;         // what it tells in other words: its places take part
  const RefTrail* trails[2] = {};         // the references, guards and embeddings through which the two sides came
  const ir::Expr* shown[2] = {};          // what stands for the first two operands in the text
  const ir::Expr* exprs[2] = {};          // operands, for the places their values come from, and
  Env* env = nullptr;                     // where they were looked up
  std::span<const Branch> branches = {};  // of a disjunction of which nothing was left
};

KindMask kinds_of(const Value& value);

}  // namespace slipway::cue
