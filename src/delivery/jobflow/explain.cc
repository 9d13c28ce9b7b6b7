#include "delivery/jobflow/explain.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "delivery/jobflow/cron_show.h"
#include "delivery/jobflow/external.h"
#include "delivery/jobflow/states.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {
namespace {

using control::Wait;
using graph::Phase;
using graph::StepIndex;

constexpr std::size_t kMaxWaits = 10;

std::string step_text(std::string_view name) { return fmt::format("step {}", json::print(Value(name))); }

/// What one workflow, or one of its steps, waits for. Asked once.
class WorkflowWaits {
 public:
  WorkflowWaits(const Program& program, const States& states, const kube::Object& workflow)
      : program_(program), workflow_(workflow), states_(states) {}

  std::vector<Wait> whole() {
    if (kube::is_true(workflow_, "Complete")) return {};
    const auto started = kube::time_of(workflow_["status"]["startTime"]);
    if (const Value& failed = kube::condition(workflow_, "Failed"); kube::is_true(workflow_, "Failed")) {
      if (failed["reason"].as_string() == "DeadlineExceeded")
        add({"the deadline", "DeadlineExceeded", failed["message"].str(), started, {}, {}});
      for (StepIndex step : by_phase({Phase::Failed})) {
        if (!program_.step(step).tolerated) add_step(step);
      }
      return std::move(waits_);
    }
    if (program_.spec().suspend) {
      const Value& suspended = kube::condition(workflow_, "Suspended");
      add({"spec.suspend", "Suspended", "set it to false to go on", kube::time_of(suspended["lastTransitionTime"]), {}, {}});
    } else if (!started) {
      add({"the workflow controller",
           "Pending",
           "it has not taken the workflow up yet",
           kube::creation_time(workflow_),
           {},
           {}});
    }
    const std::string right(control::kAuthorLacksRight);
    if (const Value& lacks = kube::condition(workflow_, right); kube::is_true(workflow_, right)) {
      add({"a right of its author", right, lacks["message"].str(), kube::time_of(lacks["lastTransitionTime"]), {}, {}});
    }
    for (StepIndex step : by_phase({Phase::Running, Phase::Suspended})) add_step(step);
    return std::move(waits_);
  }

  std::vector<Wait> one(StepIndex step) {
    const StepStatus& record = states_.record(step);
    switch (states_.phase(step)) {
      case Phase::Succeeded:
        break;
      case Phase::Skipped:
      case Phase::Cancelled:
        add({step_text(program_.name(step)), record.reason, record.message, record.completion_time, {}, {}});
        break;
      case Phase::Suspended:
        add({step_text(program_.name(step)) + " to be resumed",
             "StepSuspended",
             "set its suspend to false to go on",
             record.start_time,
             {},
             {}});
        break;
      case Phase::Running:
        explain_running(step, record);
        break;
      case Phase::Failed:
        add({object_text(record), record.reason, record.message, record.completion_time, reference(record), {}});
        break;
      case Phase::Ready:
        explain_ready();
        break;
      case Phase::Blocked:
      case Phase::Unreachable:
        for (StepIndex dependency : states_.decisive(step)) add_step(dependency, step);
        break;
    }
    return std::move(waits_);
  }

 private:
  void add(Wait wait) {
    if (waits_.size() < kMaxWaits) waits_.push_back(std::move(wait));
  }

  std::vector<StepIndex> by_phase(std::initializer_list<Phase> wanted) const {
    std::vector<StepIndex> steps;
    for (StepIndex step : program_.graph().topological()) {
      if (std::ranges::find(wanted, states_.phase(step)) != wanted.end()) steps.push_back(step);
    }
    return steps;
  }

  Value reference(const StepStatus& record) const {
    if (record.reference.name.empty() || !record.reference.cluster.empty()) return {};
    const std::string_view ns = record.reference.ns.empty() ? kube::ns(workflow_) : record.reference.ns;
    return json::object({{"apiVersion", record.reference.api_version},
                         {"kind", record.reference.kind},
                         {"namespace", ns},
                         {"name", record.reference.name}});
  }

  static std::string object_text(const StepStatus& record) {
    const auto& of = record.reference;
    return text_of(
        {.api_version = of.api_version, .kind = of.kind, .ns = of.ns, .name = of.name, .uid = "", .cluster = of.cluster});
  }

  /// A wait for a step, for the whole or for a step that depends on it.
  void add_step(StepIndex step, std::optional<StepIndex> for_step = std::nullopt) {
    const StepStatus& record = states_.record(step);
    const Phase phase = states_.phase(step);
    Wait wait;
    wait.on = step_text(program_.name(step));
    wait.reason = fmt::format("Step{}", to_string(phase));
    if (phase == Phase::Failed) wait.reason = record.reason;
    if (for_step) {
      const auto trigger = program_.graph().nodes()[*for_step].trigger;
      wait.message =
          fmt::format("is {}, {} needs {}", to_string(phase), step_text(program_.name(*for_step)), States::wish(trigger));
    } else if (phase == Phase::Failed) {
      wait.message = record.message;
    }
    wait.since = record.completion_time ? record.completion_time : record.start_time;
    wait.next = kube::reference_to(workflow_);
    wait.part = program_.name(step);
    add(std::move(wait));
  }

  void explain_running(StepIndex step, const StepStatus& record) {
    if (record.next_attempt_time) {
      add({fmt::format("the next attempt, at {}", to_rfc3339(*record.next_attempt_time)),
           "RetryBackOff",
           record.message,
           record.start_time,
           reference(record),
           {}});
    } else if (!program_.makes_job(step)) {
      const char* pending = program_.makes_object(step) ? "ObjectPending" : "ExternalPending";
      add({object_text(record),
           record.reason.empty() ? pending : record.reason,
           record.message,
           record.start_time,
           reference(record),
           {}});
    } else {
      add({object_text(record), "JobRunning", "", record.start_time, reference(record), {}});
    }
  }

  void explain_ready() {
    if (program_.spec().suspend) {
      add({"spec.suspend", "Suspended", "set it to false to go on", {}, {}, {}});
      return;
    }
    const auto running = states_.in_slots();
    const auto slots = program_.spec().parallelism;
    if (!slots) {
      add({"the workflow controller", "Ready", "the step starts as soon as the controller looks", {}, {}, {}});
      return;
    }
    add({fmt::format("a free slot ({} of {} taken)", running.size(), *slots),
         "NoFreeSlot",
         "spec.parallelism limits the steps that run at once",
         {},
         {},
         {}});
    for (StepIndex other : running) add_step(other);
  }

  const Program& program_;
  const kube::Object& workflow_;
  const States& states_;
  std::vector<Wait> waits_;
};

std::vector<Wait> explain_workflow(const Program& program, const States& states, const kube::Object& workflow,
                                   const std::string& part) {
  WorkflowWaits waits(program, states, workflow);
  if (part.empty()) return waits.whole();
  if (const auto step = program.graph().find(part)) return waits.one(*step);
  return {{step_text(part), "NoSuchStep", fmt::format("workflow {} has no such step", kube::name(workflow)), {}, {}, {}}};
}

std::vector<Wait> explain_invalid(const kube::Object& workflow, const Cause& first) {
  return {{"a valid spec", "InvalidSpec", first.field + ": " + first.message, kube::creation_time(workflow), {}, {}}};
}

control::Explainer open_workflow(const Value& workflow, const control::View& view) {
  auto compiled = Program::compile(workflow);
  if (!compiled) {
    return [workflow, cause = compiled.error().front()](const std::string&) { return explain_invalid(workflow, cause); };
  }
  std::shared_ptr<const Program> program = std::move(*compiled);
  auto records = read_records(*program, workflow, view.owned_by(workflow, kStepSetKind));
  const auto states = std::make_shared<const States>(*program, workflow, std::move(records));
  return [program, states, workflow](const std::string& part) { return explain_workflow(*program, *states, workflow, part); };
}

}  // namespace

std::vector<control::ExplainRow> explain_rows() {
  return {{.group = kWorkflowKind.group, .kind = kWorkflowKind.kind, .open = open_workflow},
          control::ExplainRow::without_parts(kCronWorkflowKind, explain_cron)};
}

}  // namespace slipway::delivery::jobflow
