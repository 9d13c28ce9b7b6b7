// The operators of conditions; how they bind is as in expr-lang (parser/operator).
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "delivery/gate/expression_ast.h"

namespace slipway::delivery::gate::expr {
namespace {

using json::Value;

constexpr std::int64_t kMostRange = 10'000;

bool are_texts(const Value& a, const Value& b) { return a.is_string() && b.is_string(); }
bool are_numbers(const Value& a, const Value& b) { return a.is_number() && b.is_number(); }
bool are_whole(const Value& a, const Value& b) { return a.is_int() && b.is_int(); }

template <class Compare>
Answer compare(std::string_view text, const Value& a, const Value& b) {
  if (are_whole(a, b)) return Compare{}(a.as_int(), b.as_int());
  if (are_numbers(a, b)) return Compare{}(a.as_double(), b.as_double());
  if (are_texts(a, b)) return Compare{}(a.as_string(), b.as_string());
  return mismatch(text, a, b);
}

template <auto kWhole, auto kReal>
Answer arithmetic(std::string_view text, const Value& a, const Value& b) {
  if (!are_numbers(a, b)) return mismatch(text, a, b);
  if (!are_whole(a, b)) return kReal(a.as_double(), b.as_double());
  std::int64_t out = 0;
  if (kWhole(a.as_int(), b.as_int(), &out)) return std::unexpected("integer overflow");
  return out;
}
constexpr auto kAdd = [](std::int64_t a, std::int64_t b, std::int64_t* out) { return __builtin_add_overflow(a, b, out); };
constexpr auto kSubtract = [](std::int64_t a, std::int64_t b, std::int64_t* out) { return __builtin_sub_overflow(a, b, out); };
constexpr auto kMultiply = [](std::int64_t a, std::int64_t b, std::int64_t* out) { return __builtin_mul_overflow(a, b, out); };

Answer add(std::string_view text, const Value& a, const Value& b) {
  if (are_texts(a, b)) return Value(a.str() + b.str());
  return arithmetic<kAdd, [](double x, double y) { return x + y; }>(text, a, b);
}

/// Of numbers of any kind, always a double.
template <double (*kRun)(double, double)>
Answer real(std::string_view text, const Value& a, const Value& b) {
  if (!are_numbers(a, b)) return mismatch(text, a, b);
  return kRun(a.as_double(), b.as_double());
}

Answer modulo(std::string_view text, const Value& a, const Value& b) {
  if (!are_whole(a, b)) return mismatch(text, a, b);
  if (b.as_int() == 0) return std::unexpected("integer divide by zero");
  return b.as_int() == -1 ? 0 : a.as_int() % b.as_int();
}

template <bool (*kRun)(std::string_view, std::string_view)>
Answer of_texts(std::string_view text, const Value& a, const Value& b) {
  if (!are_texts(a, b)) return mismatch(text, a, b);
  return kRun(a.as_string(), b.as_string());
}

Answer matches(std::string_view text, const Value& a, const Value& b) {
  if (!are_texts(a, b)) return mismatch(text, a, b);
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 regex(b.as_string(), quiet);
  if (!regex.ok()) return std::unexpected(fmt::format("bad regular expression: {}", regex.error()));
  return RE2::PartialMatch(a.as_string(), regex);
}

Answer is_in(std::string_view text, const Value& a, const Value& b) {
  if (b.is_null()) return false;
  if (b.is_object() && a.is_string()) return b.has(a.as_string());
  if (!b.is_array()) return mismatch(text, a, b);
  return std::ranges::any_of(b.items(), [&](const Value& item) { return are_equal(item, a); });
}

Answer range(std::string_view text, const Value& a, const Value& b) {
  if (!are_whole(a, b)) return mismatch(text, a, b);
  std::int64_t size = 0;
  if (b.as_int() >= a.as_int() && (__builtin_sub_overflow(b.as_int(), a.as_int(), &size) || size >= kMostRange)) {
    return std::unexpected("range is too long");
  }
  json::ArrayBuilder out;
  for (std::int64_t i = a.as_int(); i <= b.as_int(); ++i) out.add(i);
  return out.build();
}

constexpr Operator kOperators[] = {
    {"||", Op::Or, 10},
    {"or", Op::Or, 10},
    {"&&", Op::And, 15},
    {"and", Op::And, 15},
    {"==", Op::Equal, 20},
    {"!=", Op::NotEqual, 20},
    {"<", Op::Binary, 20, compare<std::ranges::less>},
    {"<=", Op::Binary, 20, compare<std::ranges::less_equal>},
    {">", Op::Binary, 20, compare<std::ranges::greater>},
    {">=", Op::Binary, 20, compare<std::ranges::greater_equal>},
    {"in", Op::Binary, 20, is_in},
    {"contains", Op::Binary, 20, of_texts<[](std::string_view a, std::string_view b) { return a.contains(b); }>},
    {"startsWith", Op::Binary, 20, of_texts<[](std::string_view a, std::string_view b) { return a.starts_with(b); }>},
    {"endsWith", Op::Binary, 20, of_texts<[](std::string_view a, std::string_view b) { return a.ends_with(b); }>},
    {"matches", Op::Binary, 20, matches},
    {"..", Op::Binary, 25, range},
    {"+", Op::Binary, 30, add},
    {"-", Op::Binary, 30, arithmetic<kSubtract, [](double x, double y) { return x - y; }>},
    {"*", Op::Binary, 60, arithmetic<kMultiply, [](double x, double y) { return x * y; }>},
    {"/", Op::Binary, 60, real<[](double x, double y) { return x / y; }>},
    {"%", Op::Binary, 60, modulo},
    {"**", Op::Binary, kPowerBinds, real<[](double x, double y) { return std::pow(x, y); }>},
    {"^", Op::Binary, kPowerBinds, real<[](double x, double y) { return std::pow(x, y); }>},
    {"??", Op::Coalesce, 500},
};

}  // namespace

const Operator* find_operator(std::string_view text) {
  const auto row = std::ranges::find(kOperators, text, &Operator::text);
  return row == std::end(kOperators) ? nullptr : row;
}

std::unexpected<std::string> mismatch(std::string_view text, const Value& a, const Value& b) {
  return std::unexpected(fmt::format("invalid operation: {} (mismatched types {} and {})", text, type_name(a), type_name(b)));
}

}  // namespace slipway::delivery::gate::expr
