// The functions of conditions: Argo's own six and the builtins of expr-lang that deal with numbers, texts and lists.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "delivery/gate/expression_ast.h"
#include "json/text.h"

namespace slipway::delivery::gate::expr {
namespace {

using json::Value;

std::unexpected<std::string> refused(std::string_view function, const Value& value) {
  return std::unexpected(fmt::format("{}() not supported on {} {}", function, type_name(value), json::print(value)));
}

/// The number in a text; the error is worded as Go's strconv.
template <class Number>
std::expected<Number, std::string> parsed(const Value& value) {
  constexpr std::string_view kParser = std::is_integral_v<Number> ? "ParseInt" : "ParseFloat";
  const std::string_view text = value.as_string();
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  Number number{};
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = read.ptr == digits.data() + digits.size() && !digits.empty() && !digits.starts_with('+');
  if (is_whole && read.ec == std::errc()) return number;
  const bool is_far = is_whole && read.ec == std::errc::result_out_of_range;
  return std::unexpected(
      fmt::format("strconv.{}: parsing {}: {}", kParser, json::print(value), is_far ? "value out of range" : "invalid syntax"));
}

Answer truncated(std::string_view function, const Value& value) {
  const double real = value.as_double();
  if (!(std::abs(real) < 9.2e18)) return refused(function, value);
  return static_cast<std::int64_t>(real);
}

Answer to_whole(std::string_view function, const Value& value) {
  if (value.is_int()) return value;
  if (value.is_number()) return truncated(function, value);
  if (!value.is_string()) return refused(function, value);
  auto number = parsed<std::int64_t>(value);
  if (!number) return std::unexpected(number.error());
  return *number;
}

Answer to_real(std::string_view function, const Value& value) {
  if (value.is_number()) return value.as_double();
  if (!value.is_string()) return refused(function, value);
  auto number = parsed<double>(value);
  if (!number) return std::unexpected(number.error());
  return *number;
}

template <bool (*kTest)(double)>
Answer test(Args args) {
  if (!args[0].is_number()) return std::unexpected(fmt::format("cannot use {} as argument (type float64)", type_name(args[0])));
  return kTest(args[0].as_double());
}

Answer length(Args args) {
  const Value& of = args[0];
  if (of.is_string()) return of.as_string().size();
  if (!of.is_array() && !of.is_object())
    return std::unexpected(fmt::format("invalid argument for len (type {})", type_name(of)));
  return of.size();
}

/// The numbers in the arguments and in lists among them.
std::expected<std::vector<Value>, std::string> numbers(std::string_view function, Args args) {
  std::vector<Value> out;
  for (const Value& arg : args) {
    if (arg.is_array()) {
      auto inner = numbers(function, arg.items());
      if (!inner) return inner;
      out.insert(out.end(), inner->begin(), inner->end());
    } else if (arg.is_number()) {
      out.push_back(arg);
    } else {
      return refused(function, arg);
    }
  }
  return out;
}

bool is_less(const Value& a, const Value& b) { return a.as_double() < b.as_double(); }

Answer least(Args args) {
  auto all = numbers("min", args);
  if (!all) return std::unexpected(all.error());
  return all->empty() ? Answer(Value()) : *std::ranges::min_element(*all, is_less);
}
Answer most(Args args) {
  auto all = numbers("max", args);
  if (!all) return std::unexpected(all.error());
  return all->empty() ? Answer(Value()) : *std::ranges::max_element(*all, is_less);
}

double total(const std::vector<Value>& all) {
  double out = 0;
  for (const Value& one : all) out += one.as_double();
  return out;
}
Answer sum(Args args) {
  auto all = numbers("sum", args);
  if (!all) return std::unexpected(all.error());
  const bool is_whole = std::ranges::all_of(*all, [](const Value& one) { return one.is_int(); });
  const double out = total(*all);
  return is_whole && std::abs(out) < 9e15 ? Value(static_cast<std::int64_t>(out)) : Value(out);
}
Answer mean(Args args) {
  auto all = numbers("mean", args);
  if (!all) return std::unexpected(all.error());
  return all->empty() ? 0.0 : total(*all) / static_cast<double>(all->size());
}
Answer median(Args args) {
  auto all = numbers("median", args);
  if (!all) return std::unexpected(all.error());
  if (all->empty()) return 0.0;
  std::ranges::sort(*all, is_less);
  const std::size_t half = all->size() / 2;
  return all->size() % 2 == 1 ? (*all)[half].as_double() : ((*all)[half - 1].as_double() + (*all)[half].as_double()) / 2;
}

template <double (*kRound)(double)>
Answer rounded(Args args) {
  if (!args[0].is_number()) return refused("rounding", args[0]);
  return args[0].is_int() ? args[0] : Value(kRound(args[0].as_double()));
}
double up(double x) { return std::ceil(x); }
double down(double x) { return std::floor(x); }
double nearest(double x) { return std::round(x); }

Answer absolute(Args args) {
  if (!args[0].is_number()) return refused("abs", args[0]);
  return args[0].is_int() && args[0].as_int() != INT64_MIN ? Value(std::abs(args[0].as_int()))
                                                           : Value(std::abs(args[0].as_double()));
}

Answer first(Args args) { return args[0].is_array() ? Answer(args[0].item(0)) : refused("first", args[0]); }
Answer last(Args args) {
  return args[0].is_array() ? Answer(args[0].empty() ? Value() : args[0].item(args[0].size() - 1)) : refused("last", args[0]);
}
Answer keys(Args args) {
  json::ArrayBuilder out;
  for (const auto [key, value] : args[0].members()) out.add(key);
  return args[0].is_object() ? Answer(out.build()) : refused("keys", args[0]);
}
Answer values(Args args) {
  json::ArrayBuilder out;
  for (const auto [key, value] : args[0].members()) out.add(value);
  return args[0].is_object() ? Answer(out.build()) : refused("values", args[0]);
}
Answer as_text(Args args) { return args[0].is_string() ? args[0] : Value(json::print(args[0])); }
template <Value (*kChange)(std::string_view)>
Answer changed(Args args) {
  return args[0].is_string() ? Answer(kChange(args[0].as_string())) : refused("text functions are", args[0]);
}
Value lowered(std::string_view text) { return lower(text); }
Value raised(std::string_view text) { return upper(text); }
Value without_blanks(std::string_view text) { return trimmed(text); }

/// How many predicates hold; an error when one gave no bool.
std::expected<std::size_t, std::string> holding(const Value& truths) {
  std::size_t count = 0;
  for (const Value& truth : truths.items()) {
    if (!truth.is_bool()) return std::unexpected(fmt::format("predicate should return boolean (got {})", type_name(truth)));
    count += truth.as_bool() ? 1 : 0;
  }
  return count;
}
template <bool (*kTest)(std::size_t holding, std::size_t all)>
Answer quantified(Args args) {
  auto count = holding(args[1]);
  if (!count) return std::unexpected(count.error());
  return kTest(*count, args[1].size());
}
bool every(std::size_t count, std::size_t all) { return count == all; }
bool some(std::size_t count, std::size_t) { return count > 0; }
bool one(std::size_t count, std::size_t) { return count == 1; }
bool no(std::size_t count, std::size_t) { return count == 0; }

Answer count(Args args) {
  auto held = holding(args[args.size() - 1]);
  if (!held) return std::unexpected(held.error());
  return *held;
}
Answer filter(Args args) {
  if (auto held = holding(args[1]); !held) return std::unexpected(held.error());
  json::ArrayBuilder out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    if (args[1].item(i).as_bool()) out.add(args[0].item(i));
  }
  return out.build();
}
Answer find_index(Args args) {
  if (auto held = holding(args[1]); !held) return std::unexpected(held.error());
  for (std::size_t i = 0; i < args[1].size(); ++i) {
    if (args[1].item(i).as_bool()) return i;
  }
  return Value();
}
Answer find(Args args) {
  auto at = find_index(args);
  if (!at || at->is_null()) return at;
  return args[0].item(static_cast<std::size_t>(at->as_int()));
}

constexpr std::size_t kMany = 100;
constexpr Function kFunctions[] = {
    {"asInt", 1, 1, false, true, [](Args args) { return to_whole("asInt", args[0]); }},
    {"asFloat", 1, 1, false, true, [](Args args) { return to_real("asFloat", args[0]); }},
    {"isNaN", 1, 1, false, true, test<[](double x) { return std::isnan(x); }>},
    {"isInf", 1, 1, false, true, test<[](double x) { return std::isinf(x); }>},
    {"isNil", 1, 1, false, true, [](Args args) { return Answer(args[0].is_null()); }},
    {"default", 2, 2, false, false, [](Args args) { return Answer(args[0].is_null() ? args[1] : args[0]); }},
    {"int", 1, 1, false, true, [](Args args) { return to_whole("int", args[0]); }},
    {"float", 1, 1, false, true, [](Args args) { return to_real("float", args[0]); }},
    {"string", 1, 1, false, true, as_text},
    {"type", 1, 1, false, true, [](Args args) { return Answer(type_name(args[0])); }},
    {"len", 1, 1, false, true, length},
    {"min", 1, kMany, false, false, least},
    {"max", 1, kMany, false, false, most},
    {"mean", 1, kMany, false, true, mean},
    {"median", 1, kMany, false, true, median},
    {"abs", 1, 1, false, true, absolute},
    {"ceil", 1, 1, false, true, rounded<up>},
    {"floor", 1, 1, false, true, rounded<down>},
    {"round", 1, 1, false, true, rounded<nearest>},
    {"first", 1, 1, false, false, first},
    {"last", 1, 1, false, false, last},
    {"keys", 1, 1, false, true, keys},
    {"values", 1, 1, false, true, values},
    {"lower", 1, 1, false, true, changed<lowered>},
    {"upper", 1, 1, false, true, changed<raised>},
    {"trim", 1, 1, false, true, changed<without_blanks>},
    {"all", 2, 2, true, true, quantified<every>},
    {"any", 2, 2, true, true, quantified<some>},
    {"one", 2, 2, true, true, quantified<one>},
    {"none", 2, 2, true, true, quantified<no>},
    {"filter", 2, 2, true, true, filter},
    {"map", 2, 2, true, true, [](Args args) { return Answer(args[1]); }},
    {"find", 2, 2, true, false, find},
    {"findIndex", 2, 2, true, false, find_index},
    {"count", 1, 2, true, true, count},
    {"sum", 1, 2, true, false, [](Args args) { return sum(args.last(1)); }},
};

}  // namespace

const Function* find_function(std::string_view name) {
  const auto row = std::ranges::find(kFunctions, name, &Function::name);
  return row == std::end(kFunctions) ? nullptr : row;
}

std::string_view type_name(const Value& value) {
  switch (value.type()) {
    case json::Type::Null:
      return "nil";
    case json::Type::Bool:
      return "bool";
    case json::Type::Int:
      return "int";
    case json::Type::Double:
    case json::Type::Number:
      return "float64";
    case json::Type::String:
      return "string";
    case json::Type::Array:
      return "[]interface {}";
    case json::Type::Object:
      return "map[string]interface {}";
  }
  return "";
}

bool are_equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number() && !(a.is_int() && b.is_int())) return a.as_double() == b.as_double();
  return a == b;
}

}  // namespace slipway::delivery::gate::expr
