// The steps of a workflow by what others call them, made once for many look-ups.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "delivery/workflow/step.h"

namespace slipway::delivery::workflow {

/// The steps outlive it, and are neither changed nor moved meanwhile.
class StepIndex {
 public:
  explicit StepIndex(const Steps& steps);

  /// As Steps::find and Steps::depended_on, in logarithmic time.
  const Step* find(std::string_view name) const;
  const Step* depended_on(std::string_view name) const;
  /// Steps and sub-steps in the order of the list.
  const std::vector<const Step*>& all() const { return all_; }

 private:
  std::vector<const Step*> all_;
  std::map<std::string_view, const Step*> by_name_;
  std::map<std::string_view, const Step*> by_component_;
};

/// For each of index.all() a number, equal for steps that wait for each other through their dependencies (strongly connected
/// components). Linear in steps and dependencies.
std::vector<std::size_t> dependency_circles(const StepIndex& index);

}  // namespace slipway::delivery::workflow
