#include "delivery/jobflow/cron_show.h"

#include <fmt/format.h>

#include "delivery/family/text.h"
#include "delivery/jobflow/cron_workflow.h"

namespace slipway::delivery::jobflow {
namespace {

using control::Wait;
using Rows = std::vector<std::vector<std::string>>;

std::string text_or(const Value& value, const char* otherwise) {
  return value.is_string() && !value.as_string().empty() ? value.str() : std::string(otherwise);
}

std::string cron_header(const kube::Object& cron, Time now) {
  const Value& spec = cron["spec"];
  const Value& status = cron["status"];
  Rows rows;
  const auto add = [&](const char* key, std::string value) {
    rows.push_back({std::string(key) + ":", one_line(std::move(value))});
  };
  const auto add_time = [&](const char* key, const Value& value) {
    const auto time = kube::time_of(value);
    if (!time) return add(key, "-");
    const std::string when = *time > now ? fmt::format("in {}", human_duration(*time - now)) : age(time, now) + " ago";
    add(key, fmt::format("{} ({})", to_rfc3339(*time), when));
  };
  add("Name", kube::key_of(cron).name);
  add("Namespace", kube::key_of(cron).ns);
  add("Schedule", spec["schedule"].str());
  add("Time zone", text_or(spec["timeZone"], "UTC"));
  add("Suspend", spec["suspend"].as_bool() ? "true" : "false");
  add("Concurrency", text_or(spec["concurrencyPolicy"], "Allow"));
  if (const Value& seconds = spec["startingDeadlineSeconds"]; seconds.is_int()) add("Deadline", seconds.number_text() + "s");
  add("History", fmt::format("{} complete, {} failed", spec["successfulWorkflowsHistoryLimit"].as_int(3),
                             spec["failedWorkflowsHistoryLimit"].as_int(1)));
  add_time("Last start", status["lastScheduleTime"]);
  add_time("Last success", status["lastSuccessfulTime"]);
  add_time("Next start", status["nextScheduleTime"]);
  if (kube::is_true(cron, kStalled)) {
    const Value& stalled = kube::condition(cron, kStalled);
    add("Stalled", fmt::format("{}: {}", stalled["reason"].as_string(), stalled["message"].as_string()));
  }
  return aligned(rows);
}

}  // namespace

std::string describe_cron(const kube::Object& cron, const control::View& view, const std::vector<kube::Object>& events) {
  const Time now = view.now();
  std::string out = cron_header(cron, now);
  std::vector<Value> workflows = view.owned_by(cron, kWorkflowKind);
  std::ranges::sort(workflows, std::greater{}, [](const Value& one) {
    return std::pair{kube::creation_time(one).value_or(Time{}), std::string(kube::name(one))};
  });
  Rows rows = {{"WORKFLOW", "STATUS", "STEPS", "AGE", "WAITS"}};
  for (const Value& one : workflows) {
    const Value& status = one["status"];
    rows.push_back({std::string(kube::name(one)), text_or(status["phase"], "Pending"), text_or(status["progress"], "-"),
                    age(kube::creation_time(one), now), one_line(text_or(status["waitsFor"], "-"))});
  }
  if (!workflows.empty()) out += "\n" + aligned(rows);
  if (!events.empty()) out += "\n" + events_table(events, now);
  return out;
}

std::vector<Wait> explain_cron(const kube::Object& cron, const control::View& view) {
  const Value& spec = cron["spec"];
  const Value& status = cron["status"];
  std::vector<Wait> waits;
  if (kube::is_true(cron, kStalled)) {
    const Value& stalled = kube::condition(cron, kStalled);
    waits.push_back({"its next Workflow",
                     stalled["reason"].str(),
                     stalled["message"].str(),
                     kube::time_of(stalled["lastTransitionTime"]),
                     {},
                     {}});
  }
  const bool forbids = spec["concurrencyPolicy"].as_string() == "Forbid";
  for (const Value& active : status["active"].items()) {
    const Value workflow = view.find(active);
    waits.push_back({fmt::format("Workflow {}", active["name"].as_string()),
                     "WorkflowRunning",
                     forbids ? "concurrencyPolicy Forbid: the next starts once it has ended" : "",
                     kube::creation_time(workflow),
                     active,
                     {}});
  }
  if (spec["suspend"].as_bool()) {
    waits.push_back({"spec.suspend", "Suspended", "set it to false to go on", {}, {}, {}});
  } else if (const auto next = kube::time_of(status["nextScheduleTime"])) {
    waits.push_back({fmt::format("its schedule, next at {}", to_rfc3339(*next)),
                     "Scheduled",
                     "",
                     kube::time_of(status["lastScheduleTime"]),
                     {},
                     {}});
  } else if (waits.empty() && status.has("lastScheduleTime")) {
    waits.push_back({"its schedule", "NeverDue", "the schedule never comes due again", {}, {}, {}});
  } else if (waits.empty()) {
    waits.push_back({"the controller of CronWorkflows",
                     "Pending",
                     "it has not taken the schedule up yet, or it never comes due",
                     kube::creation_time(cron),
                     {},
                     {}});
  }
  return waits;
}

}  // namespace slipway::delivery::jobflow
