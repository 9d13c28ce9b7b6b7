// A CEL expression ready to run: parsed, checked against the types of its variables, and evaluated over values with a budget
// (cel-spec, "Gradual type checking", "Evaluation"). Worded as cel-go. Immutable: one program may run on several threads.
#pragma once

#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/ast.h"
#include "cel/library.h"

namespace slipway::cel {

struct Environment {
  std::vector<std::pair<std::string, TypePtr>> variables{};
  /// The namespace in which names are looked up first.
  std::string container{};
  /// Items of a list literal, keys and values of a map literal, must be of one type.
  bool is_homogeneous = false;
  /// What Kubernetes does otherwise than the specification holds: the rows of functions named "k8s.", and constants of
  /// durations and timestamps are judged before they run.
  bool is_kubernetes = false;
  /// Faults of types are left to the evaluation.
  bool is_unchecked = false;
};

using Activation = std::vector<std::pair<std::string, Value>>;

class Program {
 public:
  /// The error is the text of cel-go's issues: "ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^".
  static std::expected<std::shared_ptr<const Program>, std::string> compile(std::string_view text,
                                                                            const Environment& environment);

  const Type& result_type() const { return *root_->type; }
  /// Whether the expression reads the variable.
  bool uses(std::string_view variable) const { return variables_.contains(variable); }
  /// The most that a run can cost; see estimate.h. `self`: the type of that variable.
  std::uint64_t max_cost(const TypePtr& self) const;
  /// The value, which may be an Error.
  Value run(const Activation& variables, Budget& budget) const;

 private:
  ExprPtr root_;
  std::set<std::string, std::less<>> variables_;
};

/// What an exhausted budget makes of an evaluation.
inline constexpr std::string_view kCostExceeded = "operation cancelled: actual cost limit exceeded";

}  // namespace slipway::cel
