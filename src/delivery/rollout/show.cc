#include "delivery/rollout/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/rollout/pass.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

using wave::Rolling;

bool asks(const kube::Object& rollout, std::string_view request, const std::string& heeded) {
  const std::string_view id = kube::annotation(rollout, request);
  return !id.empty() && id != heeded;
}

std::string progress_text(const RolloutStatus& status) {
  if (status.target_size < 0) return "";
  if (status.shape == name_of(wave::Shape::Fields))
    return fmt::format("fields are at {} of {}", new_pods(status), status.target_size);
  return fmt::format("{} of {} pods are new, {} ready", new_pods(status), status.target_size, status.upgraded_ready);
}

std::string batch_part(std::int64_t batch) { return fmt::format("batch {}", batch); }

/// What a gate's key is about: "batch 3", or nothing.
std::string part_of(const std::string& key) {
  return key.starts_with("-/") ? "" : fmt::format("batch {}", key.substr(0, key.find('/')));
}

std::string gate_name(const std::string& key) { return key.substr(std::min(key.find('/') + 1, key.size())); }

const wave::GateRecord* find_gate(const RolloutStatus& status, const std::string& key) {
  const auto at = std::ranges::find(status.gates, key, &wave::GateRecord::key);
  return at == status.gates.end() ? nullptr : &*at;
}

void tell_gates(const RolloutStatus& before, const RolloutStatus& after, std::vector<News>& news) {
  for (const wave::GateRecord& gate : after.gates) {
    const wave::GateRecord* known = before.attempt == after.attempt ? find_gate(before, gate.key) : nullptr;
    if (known != nullptr && known->state == gate.state) continue;
    std::string text = fmt::format("gate {}: {}", gate_name(gate.key), gate.state);
    if (!gate.by.empty()) text += fmt::format(" by {}", gate.by);
    if (!gate.text.empty() && gate.state != "Asked") text += fmt::format(": {}", gate.text);
    news.push_back({.part = part_of(gate.key), .text = std::move(text)});
  }
}

void tell_states(const RolloutStatus& before, const RolloutStatus& after, std::vector<News>& news) {
  if (after.attempt != before.attempt && after.attempt > 0) {
    news.push_back({.text = fmt::format("attempt {}: {}", after.attempt, after.last_target_revision)});
  }
  const bool is_rolling = after.rolling == Rolling::RollingInBatches;
  if (after.rolling != before.rolling && !after.position().is_end()) {
    news.push_back({.text = std::string(json::enum_name(after.rolling))});
  }
  if (is_rolling && !(after.position() == before.position())) {
    news.push_back({.part = batch_part(after.current_batch), .text = std::string(json::enum_name(after.batch))});
  }
  if (!after.failure.empty() && after.failure != before.failure) {
    news.push_back({.text = fmt::format("fails: {}{}", after.failure, after.is_reverting ? "; what was done is undone" : "")});
  } else if (after.is_reverting && !before.is_reverting) {
    news.push_back({.text = "what was done is undone"});
  }
  for (const std::string& kept : after.kept_changes) {
    if (std::ranges::find(before.kept_changes, kept) == before.kept_changes.end())
      news.push_back({.text = "left alone: " + kept});
  }
}

}  // namespace

RolloutStatus read_status(const kube::Object& rollout) {
  auto status = json::decode<RolloutStatus>(rollout["status"], "status", {.allow_unknown = true});
  return status ? std::move(*status) : RolloutStatus{};
}

std::string target_of(const kube::Object& rollout, const RolloutStatus& status) {
  if (!status.last_target_revision.empty()) return status.last_target_revision;
  const auto subject = read_subject(rollout);
  return subject ? subject->target : "";
}

std::int64_t new_pods(const RolloutStatus& status) { return std::max(status.upgraded, status.upgraded_ready); }

std::optional<Verdict> verdict(const kube::Object& rollout) {
  const RolloutStatus status = read_status(rollout);
  if (!status.position().is_end() || status.observed_generation < kube::generation(rollout)) return std::nullopt;
  if (status.rolling == Rolling::Succeeded) {
    return Verdict{.is_success = true, .text = fmt::format("rolloutSucceed: {}", progress_text(status))};
  }
  if (asks(rollout, kRetryRequest, status.heeded.retry)) return std::nullopt;
  const std::string reason = status.failure.empty() ? "see the conditions" : status.failure;
  return Verdict{.text = fmt::format("rolloutFailed: {}{}", reason, status.is_reverting ? "; what was done is undone" : "")};
}

std::vector<News> news(const kube::Object& before, const kube::Object& after) {
  const RolloutStatus was = read_status(before);
  const RolloutStatus is = read_status(after);
  std::vector<News> news;
  tell_gates(was, is, news);
  tell_states(was, is, news);
  if (is.weight && is.weight != was.weight) {
    news.push_back({.text = fmt::format("{} % of the traffic goes to the new version", *is.weight)});
  }
  if (!is.waits.empty() && (was.waits.empty() || was.waits.front().on != is.waits.front().on)) {
    news.push_back({.text = fmt::format("waits for {}: {}", is.waits.front().on, is.waits.front().text)});
  }
  if (progress_text(is) != progress_text(was)) news.push_back({.text = progress_text(is), .is_progress = true});
  return news;
}

std::vector<std::string> open_approvals(const kube::Object& rollout) {
  const RolloutStatus status = read_status(rollout);
  const auto subject = read_subject(rollout);
  if (!subject || status.position().is_end()) return {};
  const auto plan = read_plan(subject->plan, wave::Shape::Pair);
  std::vector<std::string> keys;
  for (const wave::GateRecord& gate : status.gates) {
    const gate::GateSpec* spec = plan ? plan->find_gate(gate.key) : nullptr;
    if (gate.state == "Asked" && spec != nullptr && spec->approval) keys.push_back(gate.key);
  }
  return keys;
}

std::optional<Hold> hold(const kube::Object& rollout) {
  const RolloutStatus status = read_status(rollout);
  if (status.position().is_end() || status.waits.empty()) return std::nullopt;
  const std::string& on = status.waits.front().on;
  if (on == "pause") return Hold{.text = "it is paused", .action = "rollout resume"};
  if (on.starts_with("partition ")) {
    return Hold{.text = fmt::format("batches up to {} are done", on), .action = "rollout promote"};
  }
  const auto open = open_approvals(rollout);
  if (!on.starts_with("gate ") || open.empty()) return std::nullopt;
  return Hold{.text = fmt::format("gate {} waits for a person", open.front()), .action = "rollout approve"};
}

bool has_part(const kube::Object& rollout, const std::string& part) {
  std::int64_t batch = 0;
  const auto end = std::from_chars(part.data(), part.data() + part.size(), batch);
  const RolloutStatus status = read_status(rollout);
  const std::size_t written = rollout["spec"]["rolloutPlan"]["rolloutBatches"].size();
  const auto count = static_cast<std::int64_t>(std::max(written, status.goals.size()));
  return end.ec == std::errc() && end.ptr == part.data() + part.size() && batch >= 0 && batch < count;
}

std::string history(const kube::Object& rollout, Time now) {
  std::vector<std::vector<std::string>> table = {{"ATTEMPT", "TARGET", "OUTCOME", "BEGAN", "TOOK", "MESSAGE"}};
  for (const AttemptRecord& one : read_status(rollout).attempts) {
    const std::string took = one.began ? human_duration(std::max(one.ended.value_or(now) - *one.began, Duration{0})) : "-";
    table.push_back({std::to_string(one.attempt), one_line(one.target), one.outcome.empty() ? "(under way)" : one.outcome,
                     one.began ? to_rfc3339(*one.began) : "-", took, one_line(one.text)});
  }
  return table.size() == 1 ? "no attempt has begun\n" : aligned(table);
}

}  // namespace slipway::delivery::rollout
