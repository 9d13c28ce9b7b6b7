// Label and field selectors: parse from the query form or the LabelSelector object, match, print.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

/// Requirements joined by AND (k8s.io/apimachinery/pkg/labels).
class LabelSelector {
 public:
  /// Equals, DoubleEquals and NotEquals mean In and NotIn with one value; they are kept apart for printing.
  enum class Operator { In, NotIn, Equals, DoubleEquals, NotEquals, Exists, DoesNotExist, GreaterThan, LessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::Exists;
    std::vector<std::string> values;  // sorted, each once
  };

  /// Matches everything.
  LabelSelector() = default;
  /// "a=b,c!=d,e in (f,g),!h,i>3". BadRequest with upstream's wording.
  static Result<LabelSelector> parse(std::string_view text);
  /// A LabelSelector object {matchLabels, matchExpressions}; an empty one matches everything, null matches nothing.
  static Result<LabelSelector> from_object(const json::Value& selector);

  /// One more requirement, checked as parse() does.
  Result<void> add(Requirement requirement);

  /// `labels` is the map of metadata.labels; null counts as empty.
  bool matches(const json::Value& labels) const;
  bool matches_everything() const { return requirements_.empty() && !matches_nothing_; }
  std::string to_string() const;
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;  // sorted by key
  bool matches_nothing_ = false;
};

/// "metadata.name=x,status.phase!=Running": only =, == and !=, joined by AND (k8s.io/apimachinery/pkg/fields).
class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool is_equal = true;
    std::string value;
  };

  FieldSelector() = default;
  /// A backslash escapes ',', '=' and itself in values. BadRequest with upstream's wording.
  static Result<FieldSelector> parse(std::string_view text);
  /// BadRequest "field label not supported: x" for a field that is neither metadata.name, metadata.namespace nor in
  /// `supported`.
  Result<void> check(const std::vector<std::string>& supported) const;
  /// Fields are read by their path; absent ones are "" (numbers and booleans by their text). The few names that are no paths
  /// upstream either (an Event's `source`, a Job's `status.successful`, a Pod's `spec.hostNetwork`) are known.
  bool matches(const json::Value& object) const;
  bool matches_everything() const { return requirements_.empty(); }
  /// The value that `field` must have, when a requirement says so with = or ==.
  std::optional<std::string> demanded(std::string_view field) const;
  std::string to_string() const;
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace slipway::kube
