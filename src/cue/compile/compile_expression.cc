#include <fmt/format.h>
#include <algorithm>

#include "cue/compile/compiler.h"
#include "cue/std/regexp.h"
#include "cue/std/registry.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

// The compiler asks for a few of many words and node kinds at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

using NodeKind = ast::Kind;

namespace {

// A tree deeper than this is refused: evaluation recurses with it.
constexpr int kMaxExpressionDepth = 2500;

const ast::Node& without_parens(const ast::Node& node) {
  const ast::Node* at = &node;
  while (at->kind == NodeKind::Paren) at = ast::as<ast::Paren>(*at).inner;
  return *at;
}

struct RangeType {
  std::string_view name;
  KindMask kinds;
  std::string_view low;
  std::string_view high;
};

constexpr RangeType kRangeTypes[] = {
    {"uint", kInt, "0", ""},
    {"uint8", kInt, "0", "255"},
    {"uint16", kInt, "0", "65535"},
    {"uint32", kInt, "0", "4294967295"},
    {"uint64", kInt, "0", "18446744073709551615"},
    {"uint128", kInt, "0", "340282366920938463463374607431768211455"},
    {"int8", kInt, "-128", "127"},
    {"int16", kInt, "-32768", "32767"},
    {"int32", kInt, "-2147483648", "2147483647"},
    {"int64", kInt, "-9223372036854775808", "9223372036854775807"},
    {"int128", kInt, "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"},
    {"rune", kInt, "0", "1114111"},
    {"float32", kNumber, "-3.40282346638528859811704183484516925440e+38", "3.40282346638528859811704183484516925440e+38"},
    {"float64", kNumber, "-1.797693134862315708145274237317043567981e+308", "1.797693134862315708145274237317043567981e+308"},
};

struct PlainType {
  std::string_view name;
  KindMask kinds;
};
constexpr PlainType kPlainTypes[] = {{"_", kTop},         {"bool", kBool},     {"int", kInt},     {"float", kFloat},
                                     {"number", kNumber}, {"string", kString}, {"bytes", kBytes}, {"no_sharing", kTop}};

}  // namespace

const ir::Expr* Compiler::error(Pos pos, std::string message, Pos other) {
  program_.diagnostics.push_back({pos, std::move(message), other});
  return bottom(Code::Eval, "compile error", pos);
}

const ir::Expr* Compiler::constant(Value value, Pos pos) {
  auto* node = make<ir::Constant>(ir::Op::Constant, pos);
  node->value = value;
  return node;
}

const ir::Expr* Compiler::bottom(Code code, const char* message, Pos pos) {
  auto* reason = program_.arena.make<Bottom>();
  reason->code = code;
  reason->format = message;
  reason->pos = pos;
  return constant(Value::of(reason), pos);
}

const ir::Expr* Compiler::expression(const ast::Node& node) {
  if (++depth_ > kMaxExpressionDepth) {
    --depth_;
    return error(node.pos, "nested too deeply");
  }
  ++program_.size;
  const ir::Expr* result = expression_inner(node);
  --depth_;
  return result;
}

const ir::Expr* Compiler::expression_inner(const ast::Node& node) {
  switch (node.kind) {
    case NodeKind::Ident:
      return identifier(ast::as<ast::Ident>(node));
    case NodeKind::Literal:
      return literal(ast::as<ast::Literal>(node));
    case NodeKind::Interpolation:
      return interpolation(ast::as<ast::Interpolation>(node));
    case NodeKind::Bottom:
      return bottom(Code::User, "explicit error (_|_ literal) in source", node.pos);
    case NodeKind::Struct:
      return struct_literal(ast::as<ast::Struct>(node));
    case NodeKind::List:
      return list(ast::as<ast::List>(node));
    case NodeKind::Selector:
      return selector(ast::as<ast::Selector>(node));
    case NodeKind::Index: {
      const auto& from = ast::as<ast::Index>(node);
      auto* index = make<ir::Index>(ir::Op::Index, from.index->pos);
      index->base = expression(*from.base);
      index->index = expression(*from.index);
      return index;
    }
    case NodeKind::Slice: {
      const auto& slice = ast::as<ast::Slice>(node);
      Value function = Value::of(Value::Tag::Builtin);
      function.builtin = find_builtin("list", "Slice");
      auto* made = make<ir::Call>(ir::Op::Call, node.pos);
      made->function = constant(function, node.pos);
      std::vector<const ir::Expr*> args = {expression(*slice.base)};
      args.push_back(slice.low != nullptr ? expression(*slice.low) : constant(Value::of_int(0), node.pos));
      args.push_back(slice.high != nullptr ? expression(*slice.high) : constant(Value::of_int(INT64_MIN), node.pos));
      made->args = program_.arena.copy(args);
      return made;
    }
    case NodeKind::Call:
      return call(ast::as<ast::Call>(node));
    case NodeKind::Unary:
      return unary(ast::as<ast::Unary>(node));
    case NodeKind::Binary:
      return binary(ast::as<ast::Binary>(node));
    case NodeKind::Paren:
      return expression(*ast::as<ast::Paren>(node).inner);
    case NodeKind::Comprehension:
      return comprehension(ast::as<ast::Comprehension>(node));
    case NodeKind::Alias:
      return error(node.pos, "alias values not allowed in this position");
    case NodeKind::FuncType:
      return error(node.pos, "function types are not supported");
    case NodeKind::Postfix:
      return error(node.pos, "postfix operators are not supported");
    case NodeKind::Bad:
    case NodeKind::Ellipsis:
    case NodeKind::Field:
    case NodeKind::Let:
    case NodeKind::Attribute:
      break;
  }
  return error(node.pos, "invalid expression");
}

const ir::Expr* Compiler::identifier(const ast::Ident& node) {
  if (node.name == "_") return constant(Value::type(kTop), node.pos);
  std::uint16_t up = 0;
  for (Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
    if (Binding* binding = scope->find(node.name)) return reference(*binding, *scope, up, node.pos);
    if (scope->opens_level) ++up;
  }
  if (const ir::Expr* known = predeclared(node.name, node.pos)) return known;
  const ir::Expr* missing = error(node.pos, fmt::format("reference \"{}\" not found", node.name));
  std::string& path = program_.diagnostics.back().path;
  for (Label label : path_) path += (path.empty() ? "" : ".") + program_.labels.describe(label);
  return missing;
}

const ir::Expr* Compiler::reference(Binding& binding, const Scope& scope, std::uint16_t up, Pos pos) {
  binding.is_used = true;
  if (binding.kind == Binding::Kind::Import) {
    auto* import = make<ir::Import>(ir::Op::Import, pos);
    import->instance = binding.instance;
    return import;
  }
  if (binding.kind == Binding::Kind::Std)
    return error(pos, fmt::format("reference to package \"{}\" without selector", binding.package));
  auto* ref = make<ir::Ref>(ir::Op::FieldRef, pos);
  ref->up = up;
  ref->label = binding.label;
  ref->name = binding.name;
  switch (binding.kind) {
    case Binding::Kind::Node:
      ref->op = ir::Op::NodeRef;
      break;
    case Binding::Kind::FieldName:
      if (!binding.label.is_none()) return constant(Value::string(program_.labels.text(binding.label)), pos);
      ref->op = ir::Op::LabelRef;
      break;
    case Binding::Kind::Let:
    case Binding::Kind::Dynamic: {
      ref->op = binding.kind == Binding::Kind::Let ? ir::Op::LetRef : ir::Op::DynamicRef;
      if (binding.is_compiling) return error(pos, fmt::format("let clause {} refers to itself", binding.name));
      if (binding.compiled == nullptr) {
        binding.is_compiling = true;
        const ast::Node* source = binding.source;
        {
          InScope in(*this, const_cast<Scope&>(scope));
          const ir::Expr* compiled = expression(*source);
          binding.compiled = compiled;
        }
        binding.is_compiling = false;
      }
      ref->value = binding.compiled;
      break;
    }
    case Binding::Kind::Field:
    case Binding::Kind::Import:
    case Binding::Kind::Std:
      break;
  }
  return ref;
}

const ir::Expr* Compiler::predeclared(std::string_view name, Pos pos) {
  if (name.starts_with("__")) name.remove_prefix(2);
  for (const PlainType& type : kPlainTypes) {
    if (type.name == name && type.kinds != 0) return constant(Value::type(type.kinds), pos);
  }
  for (const RangeType& type : kRangeTypes) {
    if (type.name == name) return range_type(type.kinds, type.low, type.high, pos);
  }
  if (const Builtin* builtin = find_builtin("", name)) {
    Value value = Value::of(Value::Tag::Builtin);
    value.builtin = builtin;
    return constant(value, pos);
  }
  return nullptr;
}

const ir::Expr* Compiler::range_type(KindMask kinds, std::string_view low, std::string_view high, Pos pos) {
  std::vector<Value> parts = {Value::type(kinds)};
  auto bound = [&](Tok op, std::string_view text) {
    Value value = Value::of(Value::Tag::Bound);
    bool is_negative = text.starts_with('-');
    value.bound = program_.arena.make<Bound>(op, number(is_negative ? text.substr(1) : text, pos, is_negative), Pos{0});
    parts.push_back(value);
  };
  bound(Tok::Geq, low);
  if (!high.empty()) bound(Tok::Leq, high);
  auto* conjunction = program_.arena.make<Conjunction>();
  conjunction->parts = program_.arena.copy(parts);
  Value value = Value::of(Value::Tag::Conjunction);
  value.conjunction = conjunction;
  return constant(value, pos);
}

Value Compiler::number(std::string_view literal, Pos pos, bool negate) {
  auto parsed = parse_number(literal);
  if (!parsed) {
    error(pos, parsed.error().message);
    return Value::of_int(0);
  }
  auto decimal = parse_decimal(parsed->decimal);
  if (!decimal) {
    error(pos, "number out of range");
    return Value::of_int(0);
  }
  decimal->is_negative = negate && !decimal->is_zero();
  if (parsed->is_integer) {
    if (auto small = to_int64(*decimal)) return Value::of_int(*small);
  }
  auto* big = program_.arena.make<Number>();
  big->digits = program_.arena.copy(std::string_view(decimal->digits));
  big->exponent = decimal->exponent;
  big->is_negative = decimal->is_negative;
  big->is_float = !parsed->is_integer;
  return Value::of(big);
}

const ir::Expr* Compiler::literal(const ast::Literal& node) {
  switch (node.tok) {
    case Tok::True:
    case Tok::False:
      return constant(Value::of(node.tok == Tok::True), node.pos);
    case Tok::Null:
      return constant(Value::null(), node.pos);
    case Tok::Int:
    case Tok::Float:
      return constant(number(node.text, node.pos, false), node.pos);
    default:
      break;
  }
  auto text = unquote(node.text, Closing::BehindText);
  if (!text) return error(node.pos, fmt::format("invalid string: {}", text.error().message));
  std::string_view kept = program_.arena.copy(std::string_view(text->value));
  return constant(text->is_bytes ? Value::bytes(kept) : Value::string(kept), node.pos);
}

const ir::Expr* Compiler::interpolation(const ast::Interpolation& node) {
  std::vector<std::string_view> raw;
  for (std::size_t i = 0; i < node.parts.size(); i += 2) raw.push_back(ast::as<ast::Literal>(*node.parts[i]).text);
  auto pieces = unquote_pieces(raw, Closing::BehindText);
  if (!pieces) return error(node.pos, fmt::format("invalid interpolation: {}", pieces.error().message));
  auto* result = make<ir::Interpolation>(ir::Op::Interpolation, node.pos);
  result->is_bytes = pieces->is_bytes;
  std::vector<const ir::Expr*> parts;
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    if (i % 2 == 1) {
      parts.push_back(expression(*node.parts[i]));
    } else if (!pieces->pieces[i / 2].empty()) {
      std::string_view kept = program_.arena.copy(std::string_view(pieces->pieces[i / 2]));
      parts.push_back(constant(pieces->is_bytes ? Value::bytes(kept) : Value::string(kept), node.parts[i]->pos));
    }
  }
  result->parts = program_.arena.copy(parts);
  return result;
}

const ir::Expr* Compiler::list(const ast::List& node) {
  auto* result = make<ir::List>(ir::Op::List, node.pos);
  std::vector<const ir::Expr*> items;
  for (const ast::Node* item : node.items) {
    if (item->kind != NodeKind::Ellipsis) {
      if (result->rest != nullptr) error(item->pos, "ellipsis must be the last item of a list");
      items.push_back(expression(*item));
      continue;
    }
    const ast::Node* type = ast::as<ast::Ellipsis>(*item).type;
    result->rest = type != nullptr ? expression(*type) : constant(Value::type(kTop), item->pos);
  }
  result->items = program_.arena.copy(items);
  return result;
}

Binding* Scope::find(std::string_view name) {
  constexpr std::size_t kMany = 32;
  if (bindings.size() <= kMany) {
    auto found = std::ranges::find(bindings, name, &Binding::name);
    return found == bindings.end() ? nullptr : &*found;
  }
  for (; indexed < bindings.size(); ++indexed) positions.emplace(bindings[indexed].name, indexed);
  auto found = positions.find(name);
  return found == positions.end() ? nullptr : &bindings[found->second];
}

Binding* Compiler::find(std::string_view name) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
    if (Binding* binding = scope->find(name)) return binding;
  }
  return nullptr;
}

// A member of a standard package: a function, or a value written as CUE text in its row.
const ir::Expr* Compiler::standard_member(Binding& binding, const ast::Selector& node, Label label) {
  binding.is_used = true;
  std::string_view member = program_.labels.text(label);
  const Builtin* builtin = find_builtin(binding.package, member);
  if (builtin != nullptr && builtin->call != nullptr) {
    Value value = Value::of(Value::Tag::Builtin);
    value.builtin = builtin;
    return constant(value, node.pos);
  }
  if (builtin != nullptr) {
    const SourceText& kept =
        program_.texts.emplace_back(SourceText{std::string(binding.package), std::string(builtin->constant)});
    ast::Node* tree =
        parse_expression(kept.text, program_.sources.add(kept.name, kept.text), program_.arena, program_.diagnostics);
    Scope outside{nullptr, true, {}};
    InScope in(*this, outside);
    return tree != nullptr ? expression(*tree) : bottom(Code::Eval, "invalid constant", node.pos);
  }
  // A newer version may have it.
  auto* reason = program_.arena.make<Bottom>();
  reason->code = Code::Incomplete;
  reason->format = "package {0} has no {1}";
  reason->operands[0] = Value::string(binding.package);
  reason->operands[1] = Value::string(member);
  reason->pos = node.name->pos;
  return constant(Value::of(reason), node.pos);
}

const ir::Expr* Compiler::selector(const ast::Selector& node) {
  Label label;
  static_label(*node.name, label);
  if (node.base->kind == NodeKind::Ident) {
    Binding* package = find(ast::as<ast::Ident>(*node.base).name);
    if (package != nullptr && package->kind == Binding::Kind::Std) return standard_member(*package, node, label);
  }
  const ir::Expr* base = expression(*node.base);
  auto* result = make<ir::Selector>(ir::Op::Selector, node.name->pos);
  result->base = base;
  result->label = label;
  if (base->op != ir::Op::Import) return result;
  const std::uint32_t instance = ir::as<ir::Import>(*base).instance;
  if (label.is_hidden()) {
    result->label = program_.labels.identifier(program_.labels.text(label), program_.instances[instance].path);
  }
  if (node.base->kind == NodeKind::Ident) {
    member_uses_.push_back({instance, result->label, ast::as<ast::Ident>(*node.base).name, result->pos});
  }
  return result;
}

const ir::Expr* Compiler::call(const ast::Call& node) {
  auto* result = make<ir::Call>(ir::Op::Call, node.pos);
  result->function = expression(*node.function);
  std::vector<const ir::Expr*> args;
  for (const ast::Node* arg : node.args) args.push_back(expression(*arg));
  result->args = program_.arena.copy(args);
  return result;
}

namespace {

// A type or a bound written in place: no value will ever come of it.
bool is_never_concrete(const ir::Expr& operand) {
  if (operand.op == ir::Op::Bound) return true;
  if (operand.op != ir::Op::Constant) return false;
  const Value& value = ir::as<ir::Constant>(operand).value;
  return !value.is_concrete_scalar() && !value.is_bottom();
}

std::string shown_operand(const ast::Node& node) {
  const ast::Node& at = without_parens(node);
  if (at.kind == NodeKind::Ident) return std::string(ast::as<ast::Ident>(at).name);
  if (at.kind == NodeKind::Literal) return std::string(ast::as<ast::Literal>(at).text);
  if (at.kind != NodeKind::Unary) return "_";
  return std::string(name(ast::as<ast::Unary>(at).op)) + shown_operand(*ast::as<ast::Unary>(at).operand);
}

}  // namespace

const ir::Expr* Compiler::unary(const ast::Unary& node) {
  switch (node.op) {
    case Tok::Mul:
      return error(node.pos, "preference mark not allowed at this position");
    case Tok::Add:
    case Tok::Sub:
    case Tok::Not: {
      const ast::Node& inner = without_parens(*node.operand);
      bool is_number = inner.kind == NodeKind::Literal &&
                       (ast::as<ast::Literal>(inner).tok == Tok::Int || ast::as<ast::Literal>(inner).tok == Tok::Float);
      if (is_number && node.op != Tok::Not)
        return constant(number(ast::as<ast::Literal>(inner).text, node.pos, node.op == Tok::Sub), node.pos);
      auto* result = make<ir::Unary>(ir::Op::Unary, node.pos);
      result->kind = node.op;
      result->operand = expression(*node.operand);
      if (is_never_concrete(*result->operand))
        return bottom(Code::Eval, "invalid operand (the operator requires a concrete value)", node.pos);
      return result;
    }
    default: {
      auto* result = make<ir::Bound>(ir::Op::Bound, node.pos);
      result->kind = node.op;
      result->operand = expression(*node.operand);
      if (node.op == Tok::Mat || node.op == Tok::NMat) note_pattern(*result->operand);
      return result;
    }
  }
}

// A pattern written as a literal is compiled with the program.
void Compiler::note_pattern(const ir::Expr& operand) {
  if (operand.op != ir::Op::Constant || ir::as<ir::Constant>(operand).value.tag != Value::Tag::String) return;
  std::string_view pattern = ir::as<ir::Constant>(operand).value.str();
  if (!program_.regexps.contains(pattern)) program_.regexps.emplace(std::string(pattern), compile_regexp(pattern));
}

bool Compiler::may_be_concrete(const ast::Node& node, const ir::Expr& operand, Tok op) {
  if (!is_never_concrete(operand)) return true;
  error(node.pos, fmt::format("invalid operand {} ('{}' requires concrete value)", shown_operand(node), name(op)));
  return false;
}

const ir::Expr* Compiler::binary(const ast::Binary& node) {
  if (node.op == Tok::And) return conjunction(node);
  if (node.op == Tok::Or) return disjunction(node);
  if (node.op == Tok::Arrow) return error(node.op_pos, "operator => is not supported");
  if (node.op == Tok::Eql || node.op == Tok::Neq) {
    bool left_bottom = without_parens(*node.left).kind == NodeKind::Bottom;
    bool right_bottom = without_parens(*node.right).kind == NodeKind::Bottom;
    if (left_bottom || right_bottom) {
      auto* result = make<ir::Presence>(ir::Op::Presence, node.op_pos);
      const std::size_t uses = member_uses_.size();
      result->ref = expression(right_bottom ? *node.left : *node.right);
      member_uses_.resize(uses);
      result->wants_present = node.op == Tok::Neq;
      return result;
    }
  }
  auto* result = make<ir::Binary>(ir::Op::Binary, node.pos);
  result->kind = node.op;
  result->left = expression(*node.left);
  result->right = expression(*node.right);
  bool may_be = may_be_concrete(*node.left, *result->left, node.op);
  may_be = may_be_concrete(*node.right, *result->right, node.op) && may_be;
  if (!may_be) return bottom(Code::Eval, "operand that is never concrete", node.pos);
  if (node.op == Tok::Mat || node.op == Tok::NMat) note_pattern(*result->right);
  return result;
}

namespace {

// The operands of a chain of one operator, in order, without recursion.
std::vector<const ast::Node*> operands_of(const ast::Binary& node) {
  std::vector<const ast::Node*> operands;
  const ast::Node* at = &node;
  while (at->kind == NodeKind::Binary && ast::as<ast::Binary>(*at).op == node.op) {
    operands.push_back(ast::as<ast::Binary>(*at).right);
    at = ast::as<ast::Binary>(*at).left;
  }
  operands.push_back(at);
  return {operands.rbegin(), operands.rend()};
}

}  // namespace

const ir::Expr* Compiler::conjunction(const ast::Binary& node) {
  auto* result = make<ir::And>(ir::Op::And, node.pos);
  std::vector<const ir::Expr*> parts;
  for (const ast::Node* operand : operands_of(node)) parts.push_back(expression(*operand));
  result->parts = program_.arena.copy(parts);
  return result;
}

const ir::Expr* Compiler::disjunction(const ast::Binary& node) {
  auto* result = make<ir::Or>(ir::Op::Or, node.pos);
  std::vector<ir::Disjunct> parts;
  for (const ast::Node* operand : operands_of(node)) {
    bool is_default = operand->kind == NodeKind::Unary && ast::as<ast::Unary>(*operand).op == Tok::Mul;
    if (is_default) operand = ast::as<ast::Unary>(*operand).operand;
    result->has_default = result->has_default || is_default;
    parts.push_back({expression(*operand), is_default});
  }
  result->parts = program_.arena.copy(parts);
  return result;
}

}  // namespace slipway::cue
