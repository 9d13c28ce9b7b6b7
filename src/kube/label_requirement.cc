#include "kube/label_requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "json/text.h"
#include "kube/names.h"

namespace slipway::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

std::optional<std::int64_t> integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `["a","b"]` as the offending values are shown.
std::string values_text(const std::vector<std::string>& values) { return json::print(json::array(values)); }

std::string one_line(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& cause : causes) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", cause.field, cause.message);
  return causes.size() > 1 ? "[" + out + "]" : out;
}

void check_values(const Requirement& requirement, std::vector<Cause>& causes) {
  const auto& values = requirement.values;
  const auto complain = [&](std::string detail) {
    causes.push_back(field::invalid("values", values_text(values), std::move(detail)));
  };
  switch (requirement.op) {
    case Operator::In:
    case Operator::NotIn:
      if (values.empty()) complain("for 'in', 'notin' operators, values set can't be empty");
      break;
    case Operator::Equals:
    case Operator::DoubleEquals:
    case Operator::NotEquals:
      if (values.size() != 1) complain("exact-match compatibility requires one single value");
      break;
    case Operator::Exists:
    case Operator::DoesNotExist:
      if (!values.empty()) complain("values set must be empty for exists and does not exist");
      break;
    case Operator::GreaterThan:
    case Operator::LessThan:
      if (values.size() != 1) complain("for 'Gt', 'Lt' operators, exactly one value is required");
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (integer(values[i])) continue;
        causes.push_back(field::invalid(fmt::format("values[{}]", i), json::print(json::Value(values[i])),
                                        "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
  }
}

}  // namespace

Result<void> check(const Requirement& requirement) {
  std::vector<Cause> causes;
  if (const Faults faults = qualified_name_faults(requirement.key); !faults.empty()) {
    causes.push_back(field::invalid("key", json::print(json::Value(requirement.key)), joined(faults)));
  }
  check_values(requirement, causes);
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const Faults faults = label_value_faults(requirement.values[i]);
    if (faults.empty()) continue;
    causes.push_back(field::invalid(fmt::format("values[{}][{}]", i, requirement.key),
                                    json::print(json::Value(requirement.values[i])), joined(faults)));
  }
  if (causes.empty()) return {};
  return fail(Reason::BadRequest, one_line(causes));
}

bool holds(const Requirement& requirement, const json::Value* label) {
  const bool is_known = label != nullptr;
  const auto is_listed = [&] {
    return is_known && std::ranges::find(requirement.values, label->as_string()) != requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::In:
    case Operator::Equals:
    case Operator::DoubleEquals:
      return is_listed();
    case Operator::NotIn:
    case Operator::NotEquals:
      return !is_listed();
    case Operator::Exists:
      return is_known;
    case Operator::DoesNotExist:
      return !is_known;
    case Operator::GreaterThan:
    case Operator::LessThan: {
      const auto left = is_known ? integer(label->as_string()) : std::nullopt;
      const auto right = requirement.values.size() == 1 ? integer(requirement.values.front()) : std::nullopt;
      if (!left || !right) return false;
      return requirement.op == Operator::GreaterThan ? *left > *right : *left < *right;
    }
  }
  return false;
}

std::string to_string(const Requirement& requirement) {
  std::string values;
  for (std::size_t i = 0; i < requirement.values.size(); ++i) values += (i == 0 ? "" : ",") + requirement.values[i];
  switch (requirement.op) {
    case Operator::In:
      return fmt::format("{} in ({})", requirement.key, values);
    case Operator::NotIn:
      return fmt::format("{} notin ({})", requirement.key, values);
    case Operator::Equals:
      return requirement.key + "=" + values;
    case Operator::DoubleEquals:
      return requirement.key + "==" + values;
    case Operator::NotEquals:
      return requirement.key + "!=" + values;
    case Operator::Exists:
      return requirement.key;
    case Operator::DoesNotExist:
      return "!" + requirement.key;
    case Operator::GreaterThan:
      return requirement.key + ">" + values;
    case Operator::LessThan:
      return requirement.key + "<" + values;
  }
  return {};
}

}  // namespace slipway::kube
