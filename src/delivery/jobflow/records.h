// The durable records of a workflow's steps: read from status.statuses or from WorkflowStepSets, kept by index, and written
// back, only the parts that changed. Which set a step belongs to is a function of its name, so that a step never moves.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery/jobflow/program.h"

namespace slipway::delivery::jobflow {

struct StepSetWrite {
  std::int64_t index = 0;
  std::int64_t count = 0;
  Value statuses;
};

class Records {
 public:
  /// `step_sets`: the WorkflowStepSet objects the workflow owns. What they say wins over status.statuses.
  Records(const Program& program, const kube::Object& workflow, const std::vector<Value>& step_sets);

  const StepStatus& operator[](graph::StepIndex step) const { return records_[step]; }
  /// To change a record; counts it as changed.
  StepStatus& edit(graph::StepIndex step);

  /// 0: the records are in status.statuses.
  std::int64_t sets() const { return sets_; }
  /// status.statuses, by name.
  Value inline_statuses();
  /// The sets that changed since the last call.
  std::vector<StepSetWrite> changed_sets();
  /// Bit i of byte i / 8: the step of index i can change no more. Base64.
  std::string started_bits() const;

 private:
  void read(const Value& statuses);
  const Value& encoded(graph::StepIndex step);
  std::int64_t set_of(graph::StepIndex step) const;

  const Program& program_;
  std::vector<StepStatus> records_;
  std::vector<Value> encoded_;  // null: to be made
  std::int64_t sets_ = 0;
  std::vector<std::vector<graph::StepIndex>> members_;  // of each set
  std::set<std::int64_t> changed_;
};

/// Whether a record says anything at all.
bool is_blank(const StepStatus& record);
/// Neither Blocked nor Ready nor Suspended: its spec is pinned.
bool has_started(const StepStatus& record);

}  // namespace slipway::delivery::jobflow
