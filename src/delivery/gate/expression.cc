#include "delivery/gate/expression.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "delivery/gate/expression_ast.h"
#include "json/text.h"

namespace slipway::delivery::gate {
namespace expr {
namespace {

using json::Value;

constexpr std::int64_t kMostSteps = 1'000'000;

/// A value, and whether its type is known before anything is evaluated: Go's expr compares only what is of one type there.
struct Operand {
  Value value{};
  bool has_known_type = false;
};
using Outcome = std::expected<Operand, std::string>;

std::unexpected<std::string> error(std::string text) { return std::unexpected(std::move(text)); }
Answer member(const Value& of, const std::string& name) {
  if (of.is_object()) return of[name];
  return error(fmt::format("cannot fetch {} from {}", name, type_name(of)));
}

Answer index(const Value& of, const Value& at) {
  if (of.is_object() && at.is_string()) return of[at.as_string()];
  if (of.is_number() && at == Value(0)) return of;
  if (!of.is_array() || !at.is_int()) return error(fmt::format("cannot fetch {} from {}", json::print(at), type_name(of)));
  const auto size = static_cast<std::int64_t>(of.size());
  const std::int64_t position = at.as_int() < 0 ? size + at.as_int() : at.as_int();
  if (position < 0 || position >= size) {
    return error(fmt::format("index out of range: {} (array length is {})", at.as_int(), size));
  }
  return of.item(static_cast<std::size_t>(position));
}

Answer slice(const Value& of, const Value& from, const Value& to) {
  if (!of.is_array() && !of.is_string()) return error(fmt::format("cannot slice {}", type_name(of)));
  const auto size = static_cast<std::int64_t>(of.is_array() ? of.size() : of.as_string().size());
  const auto bound = [&](const Value& at, std::int64_t otherwise) {
    if (!at.is_int()) return otherwise;
    return std::clamp(at.as_int() < 0 ? std::max<std::int64_t>(at.as_int(), -size) + size : at.as_int(), std::int64_t{0}, size);
  };
  const auto begin = static_cast<std::size_t>(bound(from, 0));
  const auto end = std::max(begin, static_cast<std::size_t>(bound(to, size)));
  if (of.is_string()) return Value(of.as_string().substr(begin, end - begin));
  return json::array(of.items().subspan(begin, end - begin));
}

class Evaluator {
 public:
  explicit Evaluator(const Value& result) : result_(result) {}

  Outcome run(const Node& node) {
    if (++steps_ > kMostSteps) return error("the condition takes too long");
    switch (node.op) {
      case Op::Literal:
        return Operand{node.literal, !node.literal.is_null()};
      case Op::Result:
        return Operand{result_, !result_.is_null()};
      case Op::Item:
        return Operand{item_, false};
      case Op::And:
      case Op::Or:
      case Op::Coalesce:
      case Op::Conditional:
        return lazily(node);
      case Op::Not:
      case Op::Sign:
        return with_sign(node);
      case Op::Array:
      case Op::Map:
        return made(node);
      case Op::MaybeMember: {
        auto of = run(*node.children[0]);
        if (!of || of->value.is_null()) return of;
        return plain(member(of->value, node.name));
      }
      case Op::Call:
        return call(node);
      case Op::Equal:
      case Op::NotEqual:
        return equality(node);
      case Op::Binary:
      case Op::Member:
      case Op::Index:
      case Op::Slice:
        return strictly(node);
    }
    return Operand{};
  }

 private:
  static Outcome plain(Answer answer, bool has_known_type = false) {
    if (!answer) return error(std::move(answer).error());
    return Operand{std::move(*answer), has_known_type};
  }

  std::expected<bool, std::string> truth(const Node& node, const Node& of) {
    auto value = run(of);
    if (!value) return error(std::move(value).error());
    if (!value->value.is_bool()) {
      return error(fmt::format("invalid operation: {} (expected bool, but got {})", node.name, type_name(value->value)));
    }
    return value->value.as_bool();
  }

  Outcome lazily(const Node& node) {
    if (node.op == Op::Coalesce) {
      auto left = run(*node.children[0]);
      if (left && !left->value.is_null()) return left;
      return run(*node.children[1]);
    }
    auto first = truth(node, *node.children[0]);
    if (!first) return error(std::move(first).error());
    if (node.op == Op::Conditional) return run(*node.children[*first ? 1 : 2]);
    if (*first == (node.op == Op::Or)) return Operand{*first, true};
    auto second = truth(node, *node.children[1]);
    if (!second) return error(std::move(second).error());
    return Operand{*second, true};
  }

  Outcome with_sign(const Node& node) {
    if (node.op == Op::Not) {
      auto value = truth(node, *node.children[0]);
      if (!value) return error(std::move(value).error());
      return Operand{!*value, true};
    }
    auto value = run(*node.children[0]);
    if (!value) return value;
    if (!value->value.is_number()) {
      return error(fmt::format("invalid operation: {} (mismatched type {})", node.name, type_name(value->value)));
    }
    if (node.name == "+") return value;
    const Value& number = value->value;
    if (number.is_int() && number.as_int() != INT64_MIN) return Operand{-number.as_int(), true};
    return Operand{-number.as_double(), true};
  }

  Outcome made(const Node& node) {
    json::ArrayBuilder items;
    json::ObjectBuilder members;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      auto value = run(*node.children[i]);
      if (!value) return value;
      if (node.op == Op::Array) items.add(std::move(value->value));
      if (node.op == Op::Map && i % 2 == 1) members.set(node.children[i - 1]->literal.as_string(), std::move(value->value));
    }
    return Operand{node.op == Op::Array ? items.build() : members.build(), true};
  }

  Outcome equality(const Node& node) {
    auto left = run(*node.children[0]);
    if (!left) return left;
    auto right = run(*node.children[1]);
    if (!right) return right;
    const Value& a = left->value;
    const Value& b = right->value;
    const bool fit = a.type() == b.type() || (a.is_number() && b.is_number()) || a.is_null() || b.is_null();
    if (left->has_known_type && right->has_known_type && !fit) return mismatch(node.name, a, b);
    return Operand{are_equal(a, b) == (node.op == Op::Equal), true};
  }

  Outcome strictly(const Node& node) {
    Value of[3];
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (node.children[i] == nullptr) continue;
      auto value = run(*node.children[i]);
      if (!value) return value;
      of[i] = std::move(value->value);
    }
    if (node.op == Op::Member) return plain(member(of[0], node.name));
    if (node.op == Op::Index) return plain(index(of[0], of[1]));
    if (node.op == Op::Slice) return plain(slice(of[0], of[1], of[2]));
    return plain(node.operation->run(node.name, of[0], of[1]), true);
  }

  Outcome call(const Node& node) {
    std::vector<Value> args;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool is_predicate = node.function->has_predicate && i == 1;
      auto value = is_predicate ? for_each(node, args[0], *node.children[i]) : run(*node.children[i]);
      if (!value) return value;
      args.push_back(std::move(value->value));
    }
    return plain(node.function->run(args), node.function->has_known_type);
  }

  /// What the predicate gives for each item.
  Outcome for_each(const Node& node, const Value& list, const Node& predicate) {
    if (!list.is_array()) return error(fmt::format("invalid argument for {} (type {})", node.name, type_name(list)));
    json::ArrayBuilder out;
    const Value outer = item_;
    for (const Value& item : list.items()) {
      item_ = item;
      auto value = run(predicate);
      if (!value) return value;
      out.add(std::move(value->value));
    }
    item_ = outer;
    return Operand{out.build(), false};
  }

  Value result_;
  Value item_;
  std::int64_t steps_ = 0;
};

}  // namespace
}  // namespace expr

std::expected<Expression, std::string> Expression::compile(std::string_view text) {
  auto parsed = expr::parse(text);
  if (!parsed) return std::unexpected(std::move(parsed).error());
  Expression out;
  out.root_ = std::move(parsed->root);
  out.functions_ = std::move(parsed->functions);
  return out;
}

std::expected<json::Value, std::string> Expression::evaluate(const json::Value& result) const {
  auto value = expr::Evaluator(result).run(*root_);
  if (!value) return std::unexpected(std::move(value).error());
  return std::move(value->value);
}

std::expected<bool, std::string> Expression::test(const json::Value& result) const {
  auto value = evaluate(result);
  if (!value) return std::unexpected(std::move(value).error());
  if (!value->is_bool()) return std::unexpected(fmt::format("expected bool, but got {}", expr::type_name(*value)));
  return value->as_bool();
}

}  // namespace slipway::delivery::gate
