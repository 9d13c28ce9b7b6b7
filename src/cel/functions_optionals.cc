// Optional values of cel-go; selection and indexing with ? are in the evaluator and the operators.
#include "cel/library.h"

namespace slipway::cel {
namespace {

Value none(const Call&) { return optional_value(std::nullopt); }
Value of(const Call& call) { return optional_value(call[0]); }
Value of_non_zero(const Call& call) { return is_zero(call[0]) ? optional_value(std::nullopt) : optional_value(call[0]); }
Value has_value(const Call& call) { return make_bool(content(call[0]) != nullptr); }
Value value(const Call& call) {
  const Value* inside = content(call[0]);
  return inside != nullptr ? *inside : make_error("optional.none() dereference");
}
Value or_other(const Call& call) { return content(call[0]) != nullptr ? call[0] : call[1]; }
Value or_value(const Call& call) {
  const Value* inside = content(call[0]);
  return inside != nullptr ? *inside : call[1];
}
Value first(const Call& call) { return size(call[0]) == 0 ? optional_value(std::nullopt) : optional_value(item(call[0], 0)); }
Value last(const Call& call) {
  const std::size_t count = size(call[0]);
  return count == 0 ? optional_value(std::nullopt) : optional_value(item(call[0], count - 1));
}

constexpr Row kOptionalRows[] = {
    {"optional.none", "() -> optional(A)", none},
    {"optional.of", "(A) -> optional(A)", of},
    {"optional.ofNonZeroValue", "(A) -> optional(A)", of_non_zero},
    {"hasValue", "optional(A).() -> bool", has_value},
    {"value", "optional(A).() -> A", value},
    {"or", "optional(A).(optional(A)) -> optional(A)", or_other},
    {"orValue", "optional(A).(A) -> A", or_value},
    {"first", "list(A).() -> optional(A)", first},
    {"last", "list(A).() -> optional(A)", last},
};

}  // namespace

std::span<const Row> optional_rows() { return kOptionalRows; }

}  // namespace slipway::cel
