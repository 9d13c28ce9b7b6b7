#include "cue/std/registry.h"

#include <fmt/format.h>

#include <cmath>

#include "cue/std/packages.h"

namespace slipway::cue {

std::int64_t to_int(const Value& number) {
  if (number.tag == Value::Tag::Int) return number.integer;
  if (number.tag != Value::Tag::Number) return 0;
  Decimal decimal = number.number->decimal();
  if (auto small = to_int64(truncate(decimal))) return *small;
  return decimal.is_negative ? INT64_MIN : INT64_MAX;
}

Value make_reduced(Calls& calls, Decimal number) {
  if (number.is_whole()) return calls.make_number(whole(std::move(number)), false);
  while (number.digits.size() > 1 && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.exponent;
  }
  return calls.make_number(number, true);
}

Value make_double(Calls& calls, double number) {
  if (!std::isfinite(number)) return calls.fail(std::isnan(number) ? "result is not a number" : "result is infinite");
  std::string text = fmt::format("{}", number);  // shortest that reads back
  auto decimal = parse_decimal(text);
  if (!decimal) return calls.fail("number out of range");
  while (decimal->digits.size() > 1 && decimal->digits.back() == '0') {
    decimal->digits.pop_back();
    ++decimal->exponent;
  }
  return calls.make_number(*decimal, true);
}

bool is_list(Calls& calls, const Value& value, Value& error) {
  if (kinds_of(value) == kList) return true;
  error = calls.fail(fmt::format("cannot use value {} (type {}) as list", calls.show(value), kind_name(value)));
  return false;
}

double to_double(Calls& calls, const Value& number, std::size_t index, Value& error) {
  Decimal decimal = to_decimal(number);
  double binary = to_double(decimal);
  bool is_lost = std::isinf(binary) || (binary == 0 && !decimal.is_zero());
  if (is_lost) {
    bool grew = std::isinf(binary) && !decimal.is_negative;
    error = calls.error(fmt::format("cannot use {} (type {}) as float64 in argument {} to {}: value was rounded {}",
                                    calls.show(number), kind_name(number), index, calls.callee(), grew ? "up" : "down"));
  }
  return binary;
}

std::int64_t to_int(Calls& calls, const Value& number, std::size_t index, std::string_view type, std::int64_t least,
                    std::int64_t most, Value& error) {
  auto whole_number = to_int64(truncate(to_decimal(number)));
  if (whole_number && *whole_number >= least && *whole_number <= most) return *whole_number;
  error = calls.error(
      fmt::format("int {} overflows {} in argument {} in call to {}", calls.show(number), type, index, calls.callee()));
  return 0;
}

std::string kind_name(const Value& value) { return describe_kind(kinds_of(value)); }

namespace {

bool items_of(Calls& calls, const Value& list, KindMask kinds, std::vector<Value>& out, Value& error) {
  if (!calls.has_room(calls.list_size(list) * sizeof(Value) * 3)) {  // as values, and as texts
    error = calls.ended();
    return false;
  }
  out.reserve(calls.list_size(list));
  for (std::size_t i = 0; i < calls.list_size(list); ++i) {
    Value item = calls.list_item(list, i);
    Value raw = calls.raw_item(list, i);
    if (item.is_bottom()) {
      // A type is no value yet; one that can never be of the kind asked for is wrong already.
      bool may_fit = !is_incomplete(item.bottom->code) || (kinds_of(raw) & kinds) != 0 || kinds_of(raw) == 0;
      if (may_fit) {
        error = item;
        return false;
      }
      item = raw;
    }
    if ((kinds_of(item) & kinds) == 0) {
      error = calls.error(fmt::format("invalid list element {} in argument 0 to call: cannot use value {} ({}) as {}", i,
                                      calls.show(item), kind_name(item), describe_kind(kinds)));
      return false;
    }
    out.push_back(item);
  }
  return true;
}

}  // namespace

bool texts_of(Calls& calls, const Value& list, std::vector<std::string_view>& out, Value& error) {
  std::vector<Value> items;
  if (!items_of(calls, list, kString, items, error)) return false;
  for (const Value& item : items) out.push_back(item.str());
  return true;
}

bool numbers_of(Calls& calls, const Value& list, std::vector<Value>& out, Value& error) {
  return items_of(calls, list, kNumber, out, error);
}

Value make_texts(Calls& calls, std::span<const std::string_view> texts) {
  if (!calls.has_room(texts.size() * kItemBytes)) return calls.ended();
  std::vector<Value> items;
  items.reserve(texts.size());
  for (std::string_view text : texts) items.push_back(Value::string(text));
  return calls.make_list(items);
}

Value make_texts(Calls& calls, std::span<const std::string> texts) {
  if (!calls.has_room(texts.size() * kItemBytes)) return calls.ended();
  std::vector<Value> items;
  for (const std::string& text : texts) items.push_back(calls.make_string(text));
  return calls.make_list(items);
}

bool is_standard_package(std::string_view path) {
  for (const StandardPackage& one : standard_packages()) {
    if (one.path == path) return true;
  }
  return false;
}

std::vector<std::string_view> standard_package_paths() {
  std::vector<std::string_view> paths;
  for (const StandardPackage& one : standard_packages()) paths.push_back(one.path);
  return paths;
}

bool is_package_not_offered(std::string_view path) {
  static constexpr std::string_view kPaths[] = {"text/tabwriter", "html",      "encoding/toml", "encoding/openapi",
                                                "crypto/ed25519", "tool",      "tool/cli",      "tool/exec",
                                                "tool/file",      "tool/http", "tool/os"};
  for (std::string_view one : kPaths) {
    if (one == path) return true;
  }
  return false;
}

std::span<const Builtin> builtins_of(std::string_view package) {
  for (const StandardPackage& one : standard_packages()) {
    if (one.path == package) return one.rows;
  }
  return {};
}

const Builtin* find_builtin(std::string_view package, std::string_view name) {
  for (const Builtin& one : builtins_of(package)) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace slipway::cue
