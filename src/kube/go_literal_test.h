// The corpus holds tables of Go tests with their literals transliterated; this reads the few forms they use: {"_id": constant},
// {"_call": function, "args": […]}, {"_op": operator, "x", "y"}, {"_items": […]}. And it counts what passes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "json/text.h"
#include "kube/corpus_test.h"

namespace slipway::kube {

inline json::Value go_value(const json::Value& literal) {
  if (literal.is_array()) {
    json::ArrayBuilder out;
    for (const json::Value& item : literal.items()) out.add(go_value(item));
    return out.build();
  }
  if (!literal.is_object()) return literal;
  if (literal.has("_items")) return go_value(literal["_items"]);
  if (literal.has("_id")) {
    const std::string_view id = literal["_id"].as_string();
    if (id == "time.Second") return json::Value(std::int64_t{1'000'000'000});
    if (id == "time.Minute") return json::Value(std::int64_t{60'000'000'000});
    if (id == "time.Hour") return json::Value(std::int64_t{3'600'000'000'000});
    if (id == "time.Millisecond") return json::Value(std::int64_t{1'000'000});
    return json::Value(id);
  }
  if (literal.has("_op")) {
    const json::Value x = go_value(literal["x"]);
    const json::Value y = go_value(literal["y"]);
    if (x.is_string()) return json::Value(x.str() + y.str());
    const std::string_view op = literal["_op"].as_string();
    if (op == "*" && x.is_int() && y.is_int()) return json::Value(x.as_int() * y.as_int());
    if (op == "*") return json::Value(x.as_double() * y.as_double());
    return json::Value(op == "-" ? x.as_int() - y.as_int() : x.as_int() + y.as_int());
  }
  if (literal.has("_call")) {
    const json::Value args = go_value(literal["args"]);
    const std::string_view call = literal["_call"].as_string();
    if (call == "strings.Repeat") {
      std::string out;
      for (std::int64_t i = 0; i < args.item(1).as_int(); ++i) out += args.item(0).as_string();
      return json::Value(out);
    }
    if (call == "ptr.To" || call == "string") return args.item(0);
    return args;
  }
  json::ObjectBuilder out;
  for (const auto [key, value] : literal.members()) {
    if (key != "_type") out.add(key, go_value(value));
  }
  return out.build();
}

/// Counts one suite and prints `name passed/total` at its end.
class Suite {
 public:
  explicit Suite(std::string name) : name_(std::move(name)) {}
  ~Suite() { fmt::print("{} {}/{}\n", name_, passed_, total_); }
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  void expect(bool holds, const std::string& story) {
    ++total_;
    passed_ += holds ? 1 : 0;
    EXPECT_TRUE(holds) << name_ << ": " << story;
  }

 private:
  std::string name_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

}  // namespace slipway::kube

#define SLIPWAY_CORPUS_OR_SKIP(name, path)                      \
  const json::Value name = ::slipway::kube::corpus_value(path); \
  if (name.is_null()) GTEST_SKIP() << "skipped: corpus not found"
