// The durable records of a workflow's steps: read from status.statuses or from WorkflowStepSets, kept by index, and written
// back, only the parts that changed. Steps that run at about the same time share a set (by rank in the graph), so that few sets
// change at once; a step that has a record stays in the set that holds it, however the graph grows.
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
  void read(const Value& statuses, std::optional<std::int64_t> set);
  const Value& encoded(graph::StepIndex step);
  void spread();

  const Program& program_;
  std::vector<StepStatus> records_;
  std::vector<Value> encoded_;  // null: to be made
  std::int64_t sets_ = 0;
  std::vector<std::int64_t> set_of_;                    // by step; kNoSet until spread()
  std::vector<std::vector<graph::StepIndex>> members_;  // of each set
  std::set<std::int64_t> changed_;
};

/// Whether a record says anything at all.
bool is_blank(const StepStatus& record);
/// Neither Blocked nor Ready nor Suspended: its spec is pinned.
bool has_started(const StepStatus& record);

}  // namespace slipway::delivery::jobflow
