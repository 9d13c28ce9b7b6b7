// The tree of a condition and its functions, between the parser (expression_parse.cc) and the evaluator (expression.cc).
#pragma once

#include <expected>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace slipway::delivery::gate::expr {

enum class Op : std::uint8_t {
  Literal,
  Result,  // the variable
  Item,    // # in a predicate
  Array,
  Map,  // key, value, key, value
  Not,
  Sign,  // + and -
  And,
  Or,
  Coalesce,  // ??
  Equal,
  NotEqual,
  Binary,  // the other operators: see find_operator()
  Conditional,
  Member,       // a.name
  MaybeMember,  // a?.name
  Index,
  Slice,  // of, from, to; an absent bound is a null child
  Call,
};

struct Node;
using NodePtr = std::unique_ptr<const Node>;

struct Function;
struct Operator;

struct Node {
  Op op = Op::Literal;
  json::Value literal{};
  std::string name{};  // of a member, operator or function, as written
  std::vector<NodePtr> children{};
  const Function* function = nullptr;   // of a Call
  const Operator* operation = nullptr;  // of a Binary
};

using Answer = std::expected<json::Value, std::string>;
using Args = std::span<const json::Value>;

/// A function by name. With a predicate its last argument is evaluated for each item of the first; `run` then gets the items
/// and what the predicate gave for them.
struct Function {
  std::string_view name;
  std::size_t least;
  std::size_t most;
  bool has_predicate;
  bool has_known_type;  // of what it gives
  Answer (*run)(Args args);
};
const Function* find_function(std::string_view name);

/// An operator between two values; the higher `binds`, the closer.
struct Operator {
  std::string_view text;
  Op op;
  int binds;
  Answer (*run)(std::string_view text, const json::Value& a, const json::Value& b) = nullptr;
};
const Operator* find_operator(std::string_view text);
/// ** and ^ group from the right.
inline constexpr int kPowerBinds = 100;

std::unexpected<std::string> mismatch(std::string_view text, const json::Value& a, const json::Value& b);

/// "float64", "[]interface {}", …: as Go names the type of the value.
std::string_view type_name(const json::Value& value);
bool are_equal(const json::Value& a, const json::Value& b);

/// The tree and the names of functions called.
struct Parsed {
  NodePtr root;
  std::set<std::string, std::less<>> functions;
};
std::expected<Parsed, std::string> parse(std::string_view text);

}  // namespace slipway::delivery::gate::expr
