// How a delivery shows itself while it runs: a live step table on a terminal, one plain line per change in a pipe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "cli/deliver.h"
#include "kube/object.h"

namespace slipway::cli {

class Progress {
 public:
  virtual ~Progress() = default;
  /// An object under delivery appeared (before is null), changed, or went (after is null).
  virtual void changed(const kube::Object& before, const kube::Object& after) = 0;
  /// Finds the step sets of large workflows; set before the first change.
  using StepSets = std::function<std::vector<kube::Object>(const kube::Object& workflow)>;
  void set_step_sets(StepSets step_sets) { step_sets_ = std::move(step_sets); }
  /// Called from time to time and after changes.
  virtual void tick() {}
  /// No more output after this.
  virtual void end() {}
  /// How often tick() is wanted.
  virtual Duration refresh() const { return std::chrono::hours{1}; }

 protected:
  StepSets step_sets_;
};

/// The live table when standard output is a terminal; else lines. With Output::Json lines go to standard error.
std::unique_ptr<Progress> make_progress(Env& env, Output output);

/// The last word about an object: its table and its condition. `step_sets`: the WorkflowStepSets of a large Workflow.
std::string summary(const kube::Object& object, const std::vector<kube::Object>& step_sets, Time now);

}  // namespace slipway::cli
