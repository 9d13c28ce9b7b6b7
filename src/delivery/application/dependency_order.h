// Which components need which: by `dependsOn`, and by inputs that come from another component's outputs. For collection in the
// order of the policy garbage-collect, `order: dependency`. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "delivery/application/spec.h"

namespace slipway::delivery::application {

class DependencyOrder {
 public:
  explicit DependencyOrder(const ApplicationSpec& spec);

  /// Of the longest chain of components that this one needs: 0 when it needs none. Finite for cycles, too.
  std::size_t depth(const std::string& component) const;
  /// A component out of `among` that needs this one; empty: there is none.
  std::string first_dependant(const std::string& component, const std::set<std::string>& among) const;

 private:
  std::map<std::string, std::set<std::string>> needs_;  // what a component needs
  std::map<std::string, std::size_t> depths_;           // those that are not 0
};

}  // namespace slipway::delivery::application
