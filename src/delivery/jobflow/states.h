// How the steps of a workflow stand, as records and graph together tell it: what render and explain both say.
#pragma once

#include <string>
#include <vector>

#include "delivery/jobflow/render.h"

namespace slipway::delivery::jobflow {

class States {
 public:
  States(const Program& program, const kube::Object& workflow, std::vector<StepStatus> records);

  const StepStatus& record(graph::StepIndex step) const { return records_[step]; }
  /// The recorded phase; Ready where the join of a step that has not started holds.
  graph::Phase phase(graph::StepIndex step) const { return phases_[step]; }
  StepRow row(graph::StepIndex step) const;
  /// Dependencies that keep a Blocked step waiting, or that made it Unreachable.
  std::vector<graph::StepIndex> decisive(graph::StepIndex step) const;
  /// Steps that run and take a slot.
  std::vector<graph::StepIndex> in_slots() const;
  /// What a trigger wants, for "(needs …)": "success".
  static const char* wish(graph::Trigger trigger);

 private:
  std::string dependencies_text(graph::StepIndex step) const;

  const Program& program_;
  std::vector<StepStatus> records_;
  std::vector<graph::Phase> phases_;
};

}  // namespace slipway::delivery::jobflow
