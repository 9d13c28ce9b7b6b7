#include "kube/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "json/text.h"
#include "kube/label_parser.h"
#include "kube/label_requirement.h"

namespace slipway::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

/// Keeps the order by key; equal keys stay as written.
void insert(std::vector<Requirement>& sorted, Requirement one) {
  const auto at = std::ranges::upper_bound(sorted, one.key, {}, &Requirement::key);
  sorted.insert(at, std::move(one));
}

std::optional<Operator> expression_operator(std::string_view text) {
  if (text == "In") return Operator::In;
  if (text == "NotIn") return Operator::NotIn;
  if (text == "Exists") return Operator::Exists;
  if (text == "DoesNotExist") return Operator::DoesNotExist;
  return std::nullopt;
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  SLIPWAY_TRY(requirements, parse_label_requirements(text));
  LabelSelector out;
  for (Requirement& one : requirements) insert(out.requirements_, std::move(one));
  return out;
}

Result<LabelSelector> LabelSelector::from_object(const json::Value& selector) {
  LabelSelector out;
  out.matches_nothing_ = selector.is_null();
  for (const auto [key, value] : selector["matchLabels"].members()) {
    SLIPWAY_TRY_VOID(out.add({.key = std::string(key), .op = Operator::Equals, .values = {value.str()}}));
  }
  for (const json::Value& expression : selector["matchExpressions"].items()) {
    const auto op = expression_operator(expression["operator"].as_string());
    if (!op) {
      return fail(Reason::BadRequest, fmt::format("{} is not a valid label selector operator",
                                                  json::print(json::Value(expression["operator"].as_string()))));
    }
    Requirement requirement{.key = expression["key"].str(), .op = *op, .values = {}};
    for (const json::Value& value : expression["values"].items()) requirement.values.push_back(value.str());
    SLIPWAY_TRY_VOID(out.add(std::move(requirement)));
  }
  return out;
}

Result<void> LabelSelector::add(Requirement requirement) {
  std::ranges::sort(requirement.values);
  requirement.values.erase(std::ranges::unique(requirement.values).begin(), requirement.values.end());
  SLIPWAY_TRY_VOID(check(requirement));
  insert(requirements_, std::move(requirement));
  return {};
}

bool LabelSelector::matches(const json::Value& labels) const {
  if (matches_nothing_) return false;
  return std::ranges::all_of(requirements_, [&](const Requirement& one) { return holds(one, labels.find(one.key)); });
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) out += (out.empty() ? "" : ",") + kube::to_string(requirement);
  return out;
}

}  // namespace slipway::kube
