#include "delivery/application/show_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/family/text.h"
#include "delivery/workflow/run_status.h"
#include "delivery/workflow/step.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

/// Steps and sub-steps with their indentation.
std::vector<std::pair<std::string, Value>> steps_of(const Value& run) {
  std::vector<std::pair<std::string, Value>> all;
  for (const Value& step : run["steps"].items()) {
    all.emplace_back("", step);
    for (const Value& sub : step["subSteps"].items()) all.emplace_back("  ", sub);
  }
  return all;
}

std::string text_of(const Value& step) {
  std::string text = step["phase"].str();
  if (const auto reason = step["reason"].as_string(); !reason.empty()) text += fmt::format(" ({})", reason);
  if (const auto message = step["message"].as_string(); !message.empty()) text += ": " + one_line(std::string(message));
  return text;
}

/// A user paused the step: it has not suspended itself.
bool is_paused(const Value& step) {
  return step["phase"].as_string() == workflow::kSuspending && step["reason"].as_string() != workflow::kReasonSuspend;
}

control::Wait wait_of(const Value& step, const std::string& resume) {
  control::Wait wait{.on = fmt::format("step \"{}\"", step["name"].as_string()),
                     .reason = step["reason"].as_string().empty() ? step["phase"].str() : step["reason"].str(),
                     .message = step["message"].str(),
                     .since = kube::time_of(step["firstExecuteTime"]),
                     .next = {},
                     .part = ""};
  if (wait.message.empty() && wait.reason == workflow::kReasonWait) wait.message = "the condition that it waits for is false";
  const Value& made = step["resourceRef"];
  const bool is_here = made["cluster"].as_string().empty() || made["cluster"].as_string() == kHub;
  if (made.is_object() && is_here) wait.next = made;
  if (is_paused(step)) {  // what it waited for does not matter until it is resumed
    wait.message = fmt::format("a user paused it: `{}` goes on", resume);
    wait.reason = workflow::kReasonSuspend;
    wait.next = Value();
  } else if (step["phase"].as_string() == workflow::kSuspending) {
    const char* const gap = wait.message.empty() ? "" : "; ";
    wait.message = fmt::format("{}{}waits for a person: `{}` goes on", wait.message, gap, resume);
  }
  return wait;
}

bool is_group(const Value& step) { return step["type"].as_string() == workflow::kStepGroup; }

/// Of a run that is suspended though no step of it is: a user has paused it, or steps have used up their retries.
std::vector<control::Wait> waits_of_pause(const Value& run, const std::string& resume) {
  std::vector<control::Wait> waits;
  if (run["suspendState"].as_string() == workflow::kSuspendedByFailure) {
    for (const auto& [indent, step] : steps_of(run)) {
      if (is_group(step) || step["reason"].as_string() != workflow::kReasonFailedAfterRetries) continue;
      waits.push_back(wait_of(step, resume));
      waits.back().message =
          fmt::format("it has used up its retries: {}; `{}` tries it again", step["message"].as_string(), resume);
    }
  }
  if (!waits.empty()) return waits;
  const std::string by = run["suspendedBy"].as_string().empty() ? "a user" : run["suspendedBy"].str();
  return {{.on = "the workflow",
           .reason = workflow::kReasonSuspend,
           .message = fmt::format("{} paused it: `{}` goes on", by, resume),
           .since = {},
           .next = {},
           .part = ""}};
}

/// Whether the spec gives a suspended step an end: its duration, or a time-out, its own or its group's.
bool has_deadline(const Value& steps, std::string_view name) {
  const auto is_it = [&](const Value& step) { return step["name"].as_string() == name; };
  const auto has_timeout = [](const Value& step) { return !step["timeout"].as_string().empty(); };
  const auto ends = [&](const Value& step) {
    return is_it(step) && (has_timeout(step) || !step["properties"]["duration"].as_string().empty());
  };
  return std::ranges::any_of(steps.items(), [&](const Value& step) {
    const Value& members = step["subSteps"];
    return ends(step) || std::ranges::any_of(members.items(), ends) ||
           (has_timeout(step) && std::ranges::any_of(members.items(), is_it));
  });
}

/// Whether a user has just ended the run, and no pass has ended its steps yet. Of a run that was ended some time ago a step may
/// still be suspended: one with `if: always`, or one of a graph beside a step that timed out.
bool is_being_ended(const Value& run) {
  const auto has_ended = [](const auto& entry) {
    const auto& [indent, step] = entry;
    const auto reason = step["reason"].as_string();
    return reason == workflow::kReasonTerminate ||
           (step["phase"].as_string() == workflow::kFailed && !reason.empty() && reason != workflow::kReasonExecute);
  };
  return run["terminated"].as_bool() && std::ranges::none_of(steps_of(run), has_ended);
}

}  // namespace

std::optional<Hold> hold_of(const Value& run, const Value& steps) {
  if (!run["suspend"].as_bool() || is_being_ended(run)) return std::nullopt;
  std::string names;
  for (const auto& [indent, step] : steps_of(run)) {
    const auto phase = step["phase"].as_string();
    if (is_group(step)) continue;
    if (phase == "running" || (phase == "suspending" && has_deadline(steps, step["name"].as_string()))) return std::nullopt;
    if (phase == "suspending") names += (names.empty() ? "" : ", ") + step["name"].str();
  }
  const std::string what = names.empty() ? "its workflow is suspended" : fmt::format("step {} waits for a person", names);
  return Hold{.text = what, .action = "workflow resume"};
}

std::string steps_table(const Value& run) {
  std::vector<std::vector<std::string>> rows = {{"STEP", "TYPE", "PHASE"}};
  for (const auto& [indent, step] : steps_of(run)) {
    rows.push_back({indent + step["name"].str(), step["type"].str(), text_of(step)});
  }
  return rows.size() > 1 ? aligned(rows) : "";
}

std::vector<News> step_news(const Value& before, const Value& after) {
  std::vector<News> told;
  const auto earlier = steps_of(before);
  for (const auto& [indent, step] : steps_of(after)) {
    const auto known = std::ranges::find_if(earlier, [&](const auto& one) { return one.second["name"] == step["name"]; });
    const std::string text = text_of(step);
    if (known == earlier.end() || text_of(known->second) != text) told.push_back({.part = step["name"].str(), .text = text});
  }
  return told;
}

std::string failed_step(const Value& run) {
  for (const auto& [indent, step] : steps_of(run)) {
    if (step["phase"].as_string() != "failed") continue;
    return fmt::format("step {}: {}", step["name"].as_string(), step["message"].as_string());
  }
  return run["message"].str();
}

bool has_step(const Value& run, const std::string& name) {
  return std::ranges::any_of(steps_of(run), [&](const auto& one) { return one.second["name"].as_string() == name; });
}

std::vector<control::Wait> waits_of_steps(const Value& run, const std::string& resume) {
  const auto all = steps_of(run);
  const bool has_suspended = std::ranges::any_of(all, [](const auto& entry) {
    return entry.second["phase"].as_string() == workflow::kSuspending && !is_group(entry.second);
  });
  if (run["suspend"].as_bool() && !run["finished"].as_bool() && !has_suspended) return waits_of_pause(run, resume);
  std::vector<control::Wait> waits;
  for (const auto& [indent, step] : all) {
    const auto phase = step["phase"].as_string();
    const bool is_open = phase == "running" || phase == "suspending" || phase == "pending" || phase == "failed";
    if (is_open && !is_group(step)) waits.push_back(wait_of(step, resume));
  }
  return waits;
}

}  // namespace slipway::delivery::application
