// Assignability of types with unknowns in them (cel-spec, "Gradual type checking"): what a Var stands for is found by the first
// use that says it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cel/type.h"

namespace slipway::cel {

class Unifier {
 public:
  TypePtr fresh();
  /// The type with every known Var replaced; unknown ones stay.
  TypePtr resolve(const TypePtr& type) const;
  /// The same, unknown ones become dyn.
  TypePtr finish(const TypePtr& type) const;
  /// Whether a value of `from` may stand where `to` is wanted. May fix unknowns, also when the answer is no.
  bool is_assignable(const TypePtr& to, const TypePtr& from);
  /// A signature's types with fresh unknowns for its letters.
  std::vector<TypePtr> instantiate(const std::vector<TypePtr>& types);
  /// The type of values of which some are `left` and some `right`; null when they have none.
  TypePtr join(const TypePtr& left, const TypePtr& right);

 private:
  TypePtr shallow(TypePtr type) const;
  bool occurs(int id, const TypePtr& type) const;
  TypePtr instantiate(const TypePtr& type, std::map<std::string, TypePtr>& known);

  std::map<int, TypePtr> bound_;
  int next_ = 0;
};

}  // namespace slipway::cel
