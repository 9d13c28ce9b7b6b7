// The texts of `describe` and `summary`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/rollout/pass.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/show.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

using wave::Rolling;
using Rows = std::vector<std::vector<std::string>>;

std::string state_text(const RolloutStatus& status) {
  if (status.attempt == 0 && status.rolling == Rolling::LocatingTarget) return "Pending";
  std::string text(json::enum_name(status.rolling));
  if (status.rolling == Rolling::RollingInBatches) text += fmt::format("/{}", json::enum_name(status.batch));
  return text;
}

std::string pods_text(const RolloutStatus& status) {
  if (status.target_size < 0) return "";
  if (status.shape == name_of(wave::Shape::Fields))
    return fmt::format("fields at {} of {}", new_pods(status), status.target_size);
  return fmt::format("{} of {} new, {} ready", new_pods(status), status.target_size, status.upgraded_ready);
}

std::string batch_state(const RolloutStatus& status, std::int64_t batch) {
  const bool is_over = status.rolling > Rolling::RollingInBatches;
  if (batch < status.current_batch) return "done";
  if (batch > status.current_batch) return "-";
  if (status.rolling == Rolling::Succeeded || status.rolling == Rolling::Finalising) return "done";
  if (status.rolling < Rolling::RollingInBatches) return "-";
  return is_over && !status.failure.empty() ? "failed" : std::string(json::enum_name(status.batch));
}

std::string gates_text(const RolloutStatus& status, const PlanSettings* plan, std::int64_t batch) {
  std::vector<std::string> texts;
  if (plan != nullptr) {
    const wave::Settings& settings = plan->settings;
    const auto at = static_cast<std::size_t>(batch);
    const auto& gates = at < settings.batches.size() ? settings.batches[at].gates : settings.every_batch.gates;
    for (const wave::Gate& gate : gates) {
      const std::string key = wave::gate_key(batch, gate.at, gate.name);
      const auto known = std::ranges::find(status.gates, key, &wave::GateRecord::key);
      texts.push_back(fmt::format("{}{}", gate.name, known == status.gates.end() ? "" : " " + known->state));
    }
  }
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

/// Goals are in the status once an attempt has begun.
std::string batch_table(const kube::Object& rollout, const RolloutStatus& status) {
  const auto subject = read_subject(rollout);
  auto plan = subject ? read_plan(subject->plan, wave::Shape::Pair) : fail(subject.error());
  const std::size_t count = std::max(status.goals.size(), plan ? plan->settings.batches.size() : 0);
  Rows table = {{"BATCH", "STATE", "GOAL", "GATES"}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto batch = static_cast<std::int64_t>(i);
    table.push_back({std::to_string(i), batch_state(status, batch),
                     i < status.goals.size() ? std::to_string(status.goals[i]) : "-",
                     gates_text(status, plan ? &*plan : nullptr, batch)});
  }
  return table.size() == 1 ? "" : aligned(table);
}

void add_set(Rows& table, const char* role, const wave::SetRecord& set) {
  const std::string state = set.is_released ? "given back" : set.is_claimed ? "claimed" : "-";
  table.push_back({role, one_line(set.id), std::to_string(set.original), std::to_string(set.written), state});
}

std::string set_table(const RolloutStatus& status) {
  Rows table = {{"ROLE", "WORKLOAD", "BEFORE", "WRITTEN", "STATE"}};
  for (const wave::SetRecord& source : status.sources) add_set(table, "source", source);
  if (status.target) add_set(table, "target", *status.target);
  return table.size() == 1 ? "" : "\n" + aligned(table);
}

std::string gate_table(const RolloutStatus& status, Time now) {
  Rows table = {{"GATE", "STATE", "TRIES", "SINCE", "BY", "MESSAGE"}};
  for (const wave::GateRecord& gate : status.gates) {
    table.push_back({one_line(gate.key), gate.state, std::to_string(gate.tries), age(gate.since, now),
                     gate.by.empty() ? "-" : one_line(gate.by), one_line(gate.text)});
  }
  return table.size() == 1 ? "" : "\n" + aligned(table);
}

std::string wait_table(const RolloutStatus& status, Time now) {
  Rows table = {{"WAITS FOR", "SINCE", "MESSAGE"}};
  for (const Wait& wait : status.waits) table.push_back({one_line(wait.on), age(wait.since, now), one_line(wait.text)});
  return table.size() == 1 ? "" : "\n" + aligned(table);
}

std::string header(const kube::Object& rollout, const RolloutStatus& status, Time now) {
  Rows rows;
  const auto add = [&](const char* key, std::string value) {
    if (!value.empty()) rows.push_back({std::string(key) + ":", one_line(std::move(value))});
  };
  add("Name", std::string(kube::name(rollout)));
  add("Namespace", std::string(kube::ns(rollout)));
  add("Kind", std::string(kube::kind(rollout)));
  add("Status", state_text(status));
  add("Message", verdict(rollout) ? verdict(rollout)->text : status.failure);
  add("Target", target_of(rollout, status));
  add("Attempt", status.attempt == 0 ? "" : std::to_string(status.attempt));
  add(status.shape == name_of(wave::Shape::Fields) ? "Fields" : "Pods", pods_text(status));
  if (status.weight) {
    add("Traffic",
        fmt::format("{} % to the new version{}", *status.weight, status.weight_accepted ? "" : ", not accepted yet"));
  }
  if (const auto subject = read_subject(rollout)) {
    if (const auto partition = partition_of(subject->plan)) add("Partition", fmt::format("up to batch {}", *partition));
    if (subject->plan.is_paused) add("Paused", "yes");
  }
  add("Kept", fmt::format("{}", fmt::join(status.kept_changes, ", ")));
  if (const auto created = kube::creation_time(rollout)) add("Created", fmt::format("{} ago", age(created, now)));
  return aligned(rows);
}

}  // namespace

std::string summary_text(const kube::Object& rollout) {
  const RolloutStatus status = read_status(rollout);
  std::string line = fmt::format("{}/{}  {}", lower(kube::kind(rollout)), kube::name(rollout), state_text(status));
  if (!status.goals.empty() && status.rolling == Rolling::RollingInBatches) {
    line += fmt::format("  batch {} ({} of {})", status.current_batch, status.current_batch + 1, status.goals.size());
  }
  if (const std::string pods = pods_text(status); !pods.empty()) line += "  " + pods;
  if (!status.failure.empty()) {
    line += "  " + one_line(status.failure);
  } else if (!status.waits.empty()) {
    line += fmt::format("  waits for {}: {}", one_line(status.waits.front().on), one_line(status.waits.front().text));
  }
  return line + "\n" + batch_table(rollout, status);
}

std::string describe(const kube::Object& rollout, const control::View& view, const std::vector<kube::Object>& events) {
  const RolloutStatus status = read_status(rollout);
  const Time now = view.now();
  std::string out = header(rollout, status, now);
  if (const std::string batches = batch_table(rollout, status); !batches.empty()) out += "\n" + batches;
  out += set_table(status) + gate_table(status, now) + wait_table(status, now);
  if (!events.empty()) out += "\n" + events_table(events, now);
  return out;
}

}  // namespace slipway::delivery::rollout
