#include "delivery/jobflow/render.h"

#include <fmt/format.h>

#include <map>

#include "delivery/family/text.h"
#include "delivery/jobflow/records.h"
#include "delivery/jobflow/states.h"

namespace slipway::delivery::jobflow {
namespace {

using graph::Phase;
using graph::StepIndex;

std::string without_digits(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  }
  return out;
}

/// Rows that share a line; singletons otherwise.
std::vector<std::vector<const StepRow*>> folded(const std::vector<StepRow>& rows, bool folds) {
  std::vector<std::vector<const StepRow*>> lines;
  std::map<std::tuple<std::uint32_t, std::string, Phase>, std::size_t> line_of;
  for (const auto& row : rows) {
    const auto [at, is_new] = line_of.try_emplace({row.level, without_digits(row.step), row.phase}, lines.size());
    if (is_new || !folds) {
      lines.push_back({&row});
    } else {
      lines[at->second].push_back(&row);
    }
  }
  return lines;
}

std::vector<std::string> cells(const std::vector<const StepRow*>& line, Time now) {
  const StepRow& row = *line.front();
  std::string state(to_string(row.phase));
  if (row.attempts > 1) state += fmt::format(" (attempt {})", row.attempts);
  if (line.size() > 1) {
    return {fmt::format("{} … {} ({})", one_line(row.step), one_line(line.back()->step), line.size()),
            std::string(to_string(row.phase)),
            "-",
            "-",
            "-",
            ""};
  }
  return {one_line(row.step),
          state,
          age(row.since, now),
          row.object.empty() ? "-" : row.object,
          row.waits_for.empty() ? "-" : one_line(row.waits_for),
          one_line(row.message)};
}

std::string conditions_text(const Value& conditions) {
  std::string text;
  for (const Value& one : conditions.items()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}={}", one["type"].as_string(), one["status"].as_string());
    if (const auto reason = one["reason"].as_string(); !reason.empty()) text += fmt::format(" ({})", reason);
  }
  return text.empty() ? "-" : text;
}

std::string counts_text(const Value& counts) {
  std::string text;
  for (auto [name, count] : counts.members()) {
    if (name != "steps" && count.as_int() > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.as_int(), name);
  }
  return text;
}

std::string message_of(const kube::Object& workflow) {
  for (const auto* type : {"Invalid", "Failed", "Complete", "Suspended"}) {
    if (kube::is_true(workflow, type)) return kube::condition(workflow, type)["message"].str();
  }
  return "";
}

std::string header(const kube::Object& workflow, Time now) {
  const Value& status = workflow["status"];
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* key, std::string value) {
    if (!value.empty()) rows.push_back({std::string(key) + ":", one_line(std::move(value))});
  };
  const auto add_time = [&](const char* key, const std::optional<Time>& time) {
    if (time) add(key, fmt::format("{} ({} ago)", to_rfc3339(*time), age(time, now)));
  };
  const auto started = kube::time_of(status["startTime"]);
  const auto ended = kube::time_of(status["completionTime"]);
  add("Name", kube::key_of(workflow).name);
  add("Namespace", kube::key_of(workflow).ns);
  add("Status", status["phase"].as_string().empty() ? "Pending" : status["phase"].str());
  add("Message", message_of(workflow));
  add("Conditions", conditions_text(status["conditions"]));
  add_time("Created", kube::creation_time(workflow));
  add_time("Started", started);
  add_time("Finished", ended);
  if (started) add("Duration", human_duration(std::max(ended.value_or(now) - *started, Duration{0})));
  add("Progress", fmt::format("{} ({})", status["progress"].as_string(), counts_text(status["counts"])));
  if (const Value& slots = workflow["spec"]["parallelism"]; slots.is_int()) add("Parallelism", slots.number_text());
  if (const Value& seconds = workflow["spec"]["activeDeadlineSeconds"]; seconds.is_int()) {
    std::string text = seconds.number_text() + "s";
    if (started && !ended) {
      const Time end = *started + seconds_saturating(seconds.as_int());
      text += end > now ? fmt::format(" ({} left)", human_duration(end - now)) : " (passed)";
    }
    add("Deadline", text);
  }
  if (const auto rerun = status["rerun"].as_string(); !rerun.empty()) add("Rerun", std::string(rerun));
  return aligned(rows);
}

}  // namespace

std::vector<StepStatus> read_records(const Program& program, const kube::Object& workflow,
                                     const std::vector<Value>& step_sets) {
  const Records records(program, workflow, step_sets);
  std::vector<StepStatus> out;
  out.reserve(program.size());
  for (StepIndex step = 0; step < program.size(); ++step) out.push_back(records[step]);
  return out;
}

std::vector<StepRow> step_rows(const kube::Object& workflow, const std::vector<Value>& step_sets) {
  const auto program = Program::compile(workflow);
  if (!program) return {};
  const States states(**program, workflow, read_records(**program, workflow, step_sets));
  std::vector<StepRow> rows;
  for (StepIndex step : (*program)->graph().topological()) rows.push_back(states.row(step));
  return rows;
}

std::string step_table(const std::vector<StepRow>& rows, Time now, std::size_t fold_above) {
  std::vector<std::vector<std::string>> table = {{"STEP", "STATE", "SINCE", "JOB", "WAITS FOR", "MESSAGE"}};
  bool has_messages = false;
  for (const auto& line : folded(rows, rows.size() > fold_above)) {
    table.push_back(cells(line, now));
    has_messages |= !table.back().back().empty();
  }
  if (!has_messages) {
    for (auto& row : table) row.pop_back();
  }
  return aligned(table);
}

std::string describe(const kube::Object& workflow, const control::View& view, const std::vector<kube::Object>& events) {
  std::string out = header(workflow, view.now());
  const auto rows = step_rows(workflow, view.owned_by(workflow, kStepSetKind));
  if (!rows.empty()) out += "\n" + step_table(rows, view.now());
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

std::string summary(const kube::Object& workflow, const std::vector<Value>& step_sets, Time now) {
  const Value& status = workflow["status"];
  const auto started = kube::time_of(status["startTime"]);
  const auto ended = kube::time_of(status["completionTime"]);
  std::string line = fmt::format("workflow/{}  {}", kube::name(workflow),
                                 status["phase"].as_string().empty() ? "Pending" : status["phase"].as_string());
  if (const auto progress = status["progress"].as_string(); !progress.empty()) line += fmt::format("  {}", progress);
  if (started) line += "  " + human_duration(std::max(ended.value_or(now) - *started, Duration{0}));
  if (const auto message = message_of(workflow); !message.empty()) line += "  " + one_line(message);
  return line + "\n" + step_table(step_rows(workflow, step_sets), now);
}

}  // namespace slipway::delivery::jobflow
