// Workflows as people read them: pure functions from objects to text. State words are text (greppable), steps come by level
// then name, those not yet created too, and each dependency with its state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/explain.h"
#include "delivery/jobflow/program.h"

namespace slipway::delivery::jobflow {

/// One step as shown.
struct StepRow {
  std::string step;
  std::uint32_t level = 0;
  graph::Phase phase = graph::Phase::Blocked;  // Ready: the join holds, but no slot is free or the workflow is suspended
  std::optional<Time> since;                   // of the phase
  std::string object;                          // the Job, or `Workflow/other`; empty: none yet
  std::int64_t attempts = 0;
  std::string waits_for;  // `two=Succeeded three=Running (1 of 2)`
  std::string message;    // reason and message of the record
};

/// What is recorded of all steps, by index of the program. `step_sets` as the workflow owns them (large graphs).
std::vector<StepStatus> read_records(const Program& program, const kube::Object& workflow, const std::vector<Value>& step_sets);

/// By level, then name. Empty when the spec cannot be run.
std::vector<StepRow> step_rows(const kube::Object& workflow, const std::vector<Value>& step_sets);

/// STEP, STATE, SINCE, JOB, WAITS FOR, and MESSAGE where some step has one. Of graphs with more than `fold_above` steps, equal
/// siblings (names that differ in digits only, same level and state) share one line: `test-0 … test-999 (998)`.
std::string step_table(const std::vector<StepRow>& rows, Time now, std::size_t fold_above = 60);

/// The header block, the step table and the events in the order given.
std::string describe(const kube::Object& workflow, const control::View& view, const std::vector<kube::Object>& events);
/// One line and the step table: what a live display redraws.
std::string summary(const kube::Object& workflow, const std::vector<Value>& step_sets, Time now);

}  // namespace slipway::delivery::jobflow
