#include "delivery/jobflow/states.h"

#include <fmt/format.h>

#include <map>

#include "delivery/jobflow/admission.h"

namespace slipway::delivery::jobflow {
namespace {

using graph::Phase;
using graph::StepIndex;
using graph::Trigger;

constexpr std::size_t kMaxNamed = 6;  // dependencies shown by name

bool is_satisfying(Trigger trigger, Phase phase) {
  switch (trigger) {
    case Trigger::AllSucceeded:
    case Trigger::AnySucceeded:
      return phase == Phase::Succeeded;
    case Trigger::AllFailed:
    case Trigger::AnyFailed:
      return phase == Phase::Failed;
    case Trigger::AllTerminated:
      return graph::is_terminal(phase);
    case Trigger::AllSucceededOrSkipped:
      return phase == Phase::Succeeded || phase == Phase::Skipped;
  }
  return false;
}

}  // namespace

States::States(const Program& program, const kube::Object& workflow, std::vector<StepStatus> records)
    : program_(program), records_(std::move(records)) {
  for (const auto& record : records_) phases_.push_back(record.phase);
  if (is_finished(workflow)) return;
  const std::vector<Phase> recorded = phases_;
  for (StepIndex step = 0; step < phases_.size(); ++step) {
    if (recorded[step] != Phase::Blocked) continue;
    if (graph::join(program_.graph(), step, recorded) == graph::Truth::True) phases_[step] = Phase::Ready;
  }
}

const char* States::wish(Trigger trigger) {
  switch (trigger) {
    case Trigger::AllSucceeded:
      return "success";
    case Trigger::AllTerminated:
      return "the end of all";
    case Trigger::AllFailed:
      return "failure of all";
    case Trigger::AnySucceeded:
      return "one success";
    case Trigger::AnyFailed:
      return "one failure";
    case Trigger::AllSucceededOrSkipped:
      return "success or skipping";
  }
  return "";
}

std::vector<StepIndex> States::decisive(StepIndex step) const {
  const graph::Node& node = program_.graph().nodes()[step];
  std::vector<StepIndex> out;
  for (StepIndex dependency : node.dependencies) {
    const Phase phase = phases_[dependency];
    const bool counts = phases_[step] == Phase::Unreachable ? graph::is_terminal(phase) && !is_satisfying(node.trigger, phase)
                                                            : !graph::is_terminal(phase);
    if (counts) out.push_back(dependency);
  }
  return out;
}

std::vector<StepIndex> States::in_slots() const {
  std::vector<StepIndex> out;
  for (StepIndex step : program_.graph().topological()) {
    if (phases_[step] == Phase::Running && !program_.is_external(step)) out.push_back(step);
  }
  return out;
}

std::string States::dependencies_text(StepIndex step) const {
  const graph::Node& node = program_.graph().nodes()[step];
  if (node.dependencies.empty()) return "";
  std::string text;
  std::size_t done = 0;
  std::map<Phase, std::size_t> by_phase;
  for (StepIndex dependency : node.dependencies) {
    done += graph::is_terminal(phases_[dependency]) ? 1 : 0;
    ++by_phase[phases_[dependency]];
    if (node.dependencies.size() > kMaxNamed) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", program_.name(dependency), to_string(phases_[dependency]));
  }
  if (node.dependencies.size() > kMaxNamed) {
    text = fmt::format("{} steps:", node.dependencies.size());
    for (const auto& [phase, count] : by_phase) text += fmt::format(" {}={}", to_string(phase), count);
  }
  const Phase phase = phases_[step];
  if (phase == Phase::Blocked && node.dependencies.size() > 1)
    text += fmt::format(" ({} of {})", done, node.dependencies.size());
  const bool has_wish = phase == Phase::Unreachable || (phase == Phase::Blocked && node.trigger != Trigger::AllSucceeded);
  if (has_wish) text += fmt::format(" (needs {})", wish(node.trigger));
  return text;
}

StepRow States::row(StepIndex step) const {
  const StepStatus& record = records_[step];
  StepRow row;
  row.step = program_.name(step);
  row.level = program_.graph().level(step);
  row.phase = phases_[step];
  row.since = record.completion_time ? record.completion_time : record.start_time;
  row.attempts = record.attempts;
  if (!record.reference.name.empty()) {
    row.object = program_.makes_job(step) ? record.reference.name : record.reference.kind + "/" + record.reference.name;
  }
  row.waits_for = dependencies_text(step);
  if (row.phase == Phase::Ready) {
    const auto slots = program_.spec().parallelism;
    const std::string what = program_.spec().suspend ? "spec.suspend"
                             : slots                 ? fmt::format("a free slot ({} of {} taken)", in_slots().size(), *slots)
                                                     : "the controller";
    row.waits_for += (row.waits_for.empty() ? "" : "; ") + what;
  }
  if (row.phase == Phase::Suspended) row.waits_for += row.waits_for.empty() ? "step.suspend" : "; step.suspend";
  row.message = record.reason;
  if (!record.message.empty()) row.message += (row.message.empty() ? "" : ": ") + record.message;
  if (row.phase == Phase::Unreachable || row.phase == Phase::Suspended) row.message.clear();  // said by WAITS FOR
  return row;
}

}  // namespace slipway::delivery::jobflow
