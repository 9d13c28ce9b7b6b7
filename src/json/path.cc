#include "json/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

#include "json/path_node.h"
#include "json/text.h"

namespace slipway::json {

namespace {

using Values = std::vector<Value>;
using Block = Path::Block;

std::unexpected<Status> invalid(std::string why) { return fail(Reason::Invalid, std::move(why)); }

std::string_view type_name(const Value& value) {
  static constexpr std::string_view kNames[] = {"null", "bool", "number", "number", "number", "string", "array", "object"};
  return kNames[static_cast<std::size_t>(value.type())];
}

class Evaluation {
 public:
  explicit Evaluation(Path::Missing missing) : missing_(missing) {}

  Result<void> run(const std::vector<Block>& blocks, const Value& current, std::vector<Values>& results);

 private:
  Result<Values> walk(Values input, const PathSteps& steps);
  Result<Values> one_step(const Values& input, const PathStep& step);
  Result<Values> field(const Values& input, const PathStep& step);
  Result<Values> slice(const Values& input, const PathStep& step);
  Result<Values> filter(const Values& input, const PathStep& step);
  Result<bool> passes(const Value& item, const PathStep& step);
  Result<void> add(Values& to, Value value) {
    if (++count_ > Path::kMostResults) return invalid(fmt::format("jsonpath: more than {} results", Path::kMostResults));
    to.push_back(std::move(value));
    return {};
  }
  Result<void> descend(const Value& value, Values& results);

  Path::Missing missing_;
  std::size_t count_ = 0;
};

Result<void> Evaluation::run(const std::vector<Block>& blocks, const Value& current, std::vector<Values>& results) {
  for (const Block& block : blocks) {
    if (block.kind == Block::Kind::Text) {
      results.push_back({Value(block.text)});
      continue;
    }
    SLIPWAY_TRY(values, walk({current}, block.steps));
    if (block.kind == Block::Kind::Expression) {
      results.push_back(std::move(values));
      continue;
    }
    for (const Value& item : values) SLIPWAY_TRY_VOID(run(block.body, item, results));
  }
  return {};
}

Result<Values> Evaluation::walk(Values input, const PathSteps& steps) {
  for (const PathStep& step : steps) {
    SLIPWAY_TRY(next, one_step(input, step));
    input = std::move(next);
  }
  return input;
}

Result<Values> Evaluation::one_step(const Values& input, const PathStep& step) {
  Values results;
  switch (step.kind) {
    case PathStep::Kind::Literal:
      // Text stands for itself whatever came before; a number or bool once for each input.
      if (step.literal.is_string()) return Values{step.literal};
      return Values(input.size(), step.literal);
    case PathStep::Kind::Field:
      return field(input, step);
    case PathStep::Kind::Slice:
      return slice(input, step);
    case PathStep::Kind::Filter:
      return filter(input, step);
    case PathStep::Kind::Wildcard:
      for (const Value& value : input) {
        for (const Value& item : value.items()) SLIPWAY_TRY_VOID(add(results, item));
        for (auto [key, member] : value.members()) SLIPWAY_TRY_VOID(add(results, member));
      }
      return results;
    case PathStep::Kind::Recursive:
      for (const Value& value : input) SLIPWAY_TRY_VOID(descend(value, results));
      return results;
    case PathStep::Kind::Union:
      for (const PathSteps& branch : step.branches) {
        SLIPWAY_TRY(found, walk(input, branch));
        for (Value& value : found) SLIPWAY_TRY_VOID(add(results, std::move(value)));
      }
      return results;
    case PathStep::Kind::Unknown:
      return invalid(fmt::format("unrecognized identifier {}", step.name));
  }
  return results;
}

// The value and all below it, containers only; the value comes before its children.
Result<void> Evaluation::descend(const Value& value, Values& results) {
  if (value.empty()) return {};
  SLIPWAY_TRY_VOID(add(results, value));
  for (const Value& item : value.items()) SLIPWAY_TRY_VOID(descend(item, results));
  for (auto [key, member] : value.members()) SLIPWAY_TRY_VOID(descend(member, results));
  return {};
}

Result<Values> Evaluation::field(const Values& input, const PathStep& step) {
  Values results;
  if (input.empty()) return results;
  for (const Value& value : input) {
    if (const Value* member = value.find(step.name)) SLIPWAY_TRY_VOID(add(results, *member));
  }
  if (results.empty() && missing_ == Path::Missing::Error) return invalid(fmt::format("{} is not found", step.name));
  return results;
}

Result<Values> Evaluation::slice(const Values& input, const PathStep& step) {
  Values results;
  for (const Value& value : input) {
    if (value.is_null()) continue;
    if (!value.is_array()) return invalid(fmt::format("{} is not array or slice", type_name(value)));
    const auto size = static_cast<std::int64_t>(value.size());
    std::int64_t from = step.from.value_or(0);
    std::int64_t to = step.single ? from + 1 : step.to.value_or(size);
    if (from < 0) from += size;
    if (to < 0 || (to == 0 && step.single)) to += size;
    if (from == to) return results;  // nothing asked for, wherever that is
    if (from >= size || from < 0) return invalid(fmt::format("array index out of bounds: index {}, length {}", from, size));
    if (to > size || to < 0) return invalid(fmt::format("array index out of bounds: index {}, length {}", to - 1, size));
    if (from > to) return invalid(fmt::format("starting index {} is greater than ending index {}", from, to));
    const std::int64_t stride = step.step.value_or(1);
    if (stride <= 0) return invalid("step must be > 0");
    for (std::int64_t i = from; i < to; i += std::min(stride, size)) {
      SLIPWAY_TRY_VOID(add(results, value.item(static_cast<std::size_t>(i))));
    }
  }
  return results;
}

Result<Values> Evaluation::filter(const Values& input, const PathStep& step) {
  Values results;
  for (const Value& value : input) {
    if (!value.is_array()) return invalid(fmt::format("{} is not array or slice and cannot be filtered", type_name(value)));
    for (const Value& item : value.items()) {
      SLIPWAY_TRY(keep, passes(item, step));
      if (keep) SLIPWAY_TRY_VOID(add(results, item));
    }
  }
  return results;
}

// -1, 0, 1; unlike types are no comparison.
Result<int> compare(const Value& left, const Value& right, std::string_view operation) {
  if (left.is_number() && right.is_number()) {
    if (left == right) return 0;
    if (left.is_int() && right.is_int()) return left.as_int() < right.as_int() ? -1 : 1;
    return left.as_double() < right.as_double() ? -1 : 1;
  }
  if (left.is_string() && right.is_string()) {
    const int order = left.as_string().compare(right.as_string());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  const bool ordered = operation != "==" && operation != "!=";
  if (left.is_bool() && right.is_bool() && !ordered) return left == right ? 0 : 1;
  const bool comparable = left.is_number() || left.is_string() || left.is_bool();
  return invalid(comparable && !(left.is_bool() && ordered) ? "incompatible types for comparison"
                                                            : "invalid type for comparison");
}

Result<bool> Evaluation::passes(const Value& item, const PathStep& step) {
  auto left = walk({item}, step.branches[0]);
  if (step.name.empty()) return left && !left->empty();
  if (!left) return fail(std::move(left).error());
  if (left->empty()) return false;
  SLIPWAY_TRY(right, walk({item}, step.branches[1]));
  if (right.empty()) return false;
  if (left->size() > 1 || right.size() > 1) return invalid("can only compare one element at a time");
  static constexpr std::string_view kKnown[] = {"==", "!=", "<", "<=", ">", ">="};
  if (std::ranges::find(kKnown, step.name) == std::end(kKnown))
    return invalid(fmt::format("unrecognized filter operator {}", step.name));
  SLIPWAY_TRY(order, compare(left->front(), right.front(), step.name));
  if (step.name == "==") return order == 0;
  if (step.name == "!=") return order != 0;
  if (step.name == "<") return order < 0;
  if (step.name == "<=") return order <= 0;
  return step.name == ">" ? order > 0 : order >= 0;
}

bool is_keyword(const Block& block, std::string_view name) {
  return block.kind == Block::Kind::Expression && !block.steps.empty() && block.steps[0].kind == PathStep::Kind::Unknown &&
         block.steps[0].name == name;
}

// Puts what stands between {range …} and {end} into the range. A missing {end} is taken to stand at the end of the template.
Result<std::vector<Block>> nest_ranges(std::vector<Block> flat) {
  std::vector<std::vector<Block>> open(1);
  std::vector<Block> ranges;
  auto close = [&] {
    ranges.back().body = std::move(open.back());
    open.pop_back();
    open.back().push_back(std::move(ranges.back()));
    ranges.pop_back();
  };
  for (Block& block : flat) {
    if (is_keyword(block, "range")) {
      block.kind = Block::Kind::Range;
      block.steps.erase(block.steps.begin());
      ranges.push_back(std::move(block));
      open.emplace_back();
      if (ranges.size() > 100) return fail(Reason::BadRequest, "jsonpath: ranges are nested too deeply");
    } else if (is_keyword(block, "end")) {
      if (ranges.empty()) return fail(Reason::BadRequest, "jsonpath: not in range, nothing to end");
      close();
    } else {
      open.back().push_back(std::move(block));
    }
  }
  while (!ranges.empty()) close();
  return std::move(open.front());
}

// As Go's fmt prints a float64.
std::string fraction_text(double value) {
  const bool scientific = value != 0 && (std::fabs(value) < 1e-4 || std::fabs(value) >= 1e21);
  std::array<char, 64> text{};
  auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  return {text.data(), end};
}

void print_result(std::string& out, const Value& value) {
  if (value.is_string()) {
    out += value.as_string();
  } else if (value.is_number() && !value.is_int()) {
    out += fraction_text(value.as_double());
  } else {
    print_to(out, value);
  }
}

}  // namespace

Result<Path> Path::compile(std::string_view text) {
  if (text.size() > kMostBytes) return fail(Reason::BadRequest, fmt::format("jsonpath: longer than {} bytes", kMostBytes));
  SLIPWAY_TRY(flat, parse_path(text));
  SLIPWAY_TRY(blocks, nest_ranges(std::move(flat)));
  Path path;
  path.blocks_ = std::make_shared<const std::vector<Block>>(std::move(blocks));
  return path;
}

Result<Path> Path::compile_expression(std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  const bool rooted = text.starts_with('.') || text.starts_with('[') || text.starts_with('$') || text.starts_with('@');
  return compile(fmt::format("{{{}{}}}", rooted ? "" : ".", text));
}

Result<std::vector<std::vector<Value>>> Path::evaluate(const Value& document, Missing missing) const {
  std::vector<Values> results;
  if (!blocks_) return results;
  SLIPWAY_TRY_VOID(Evaluation(missing).run(*blocks_, document, results));
  return results;
}

Result<std::string> Path::print(const Value& document, Missing missing) const {
  SLIPWAY_TRY(results, evaluate(document, missing));
  std::string out;
  for (const Values& values : results) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ' ';
      print_result(out, values[i]);
    }
  }
  return out;
}

std::optional<Value> Path::first(const Value& document) const {
  auto results = evaluate(document, Missing::Empty);
  if (!results || results->empty() || results->front().empty()) return std::nullopt;
  return std::move(results->front().front());
}

}  // namespace slipway::json
