#include <fmt/format.h>

#include <algorithm>

#include "delivery/probe/window.h"
#include "delivery/rollout/approvals.h"
#include "delivery/rollout/pass.h"

namespace slipway::delivery::rollout {
namespace {

using Kind = gate::Verdict::Kind;

constexpr Duration kAskPause = std::chrono::seconds{10};

wave::GateAnswer answer_of(const gate::Verdict& verdict) {
  wave::GateAnswer answer{.kind = wave::GateAnswer::Kind::Wait, .text = verdict.text, .by = verdict.by};
  if (verdict.kind == Kind::Pass) answer.kind = wave::GateAnswer::Kind::Pass;
  if (verdict.kind == Kind::Fail) answer.kind = wave::GateAnswer::Kind::Fail;
  answer.has_no_data = verdict.kind == Kind::NoData;
  return answer;
}

}  // namespace

Task<Result<void>> Pass::ask(std::string key) {
  const Now now = tools_.wall.now();
  const gate::GateSpec* known = plan_.find_gate(key);
  if (known == nullptr) co_return Result<void>{};
  const gate::GateSpec spec = *known;
  const bool is_early = memory_.open[key].next && now.time() < now.present(*memory_.open[key].next);
  if (is_early && !spec.approval) co_return Result<void>{};
  probe::Answer answer;
  if (spec.approval) {
    answer.verdict = judge_approvals(*spec.approval, rollout_, key, tools_.acts_as);
  } else if (status_.skips_gates) {
    answer.verdict = {.kind = Kind::Pass, .text = "skipped", .by = ""};
  } else if (spec.window) {
    answer = probe::look_at(*spec.window, tools_.env);
  } else {
    answer = co_await probe::ask({tools_.env, author_, tools_.http}, question(key, spec));
  }
  take_answer(key, spec, answer);
  co_return Result<void>{};
}

void Pass::take_answer(const std::string& key, const gate::GateSpec& spec, const probe::Answer& answer) {
  const Time now = tools_.env.clock.now();
  const wave::GateAnswer taken = answer_of(answer.verdict);
  OpenGate& open = memory_.open[key];
  open.key = key;
  // People wake the rollout by what they write.
  open.next = spec.approval ? std::nullopt : std::optional<Time>(now + answer.ask_again.value_or(kAskPause));
  memory_.samples[key] = answer.samples;
  const auto record = std::ranges::find(status_.gates, key, &wave::GateRecord::key);
  const bool is_known = record != status_.gates.end() && record->text == taken.text;
  if (taken.kind == wave::GateAnswer::Kind::Wait && (spec.approval || spec.window) && is_known) return;
  memory_.answers[key] = taken;
  if (taken.kind == wave::GateAnswer::Kind::Wait) return;
  gate::LogEntry entry;
  entry.at = now;
  entry.gate = log_key(status_.attempt, key);
  entry.verdict = answer.verdict.kind;
  entry.text = answer.verdict.text;
  entry.by = answer.verdict.by;
  entry.samples = answer.samples;
  entry.status = answer.status;
  if (spec.approval) {
    entry.approvable = approvable(key, status_.attempt);
    entry.approvals = status_.approvals;
  }
  memory_.verdicts.push_back(std::move(entry));
}

probe::Question Pass::question(const std::string& key, const gate::GateSpec& spec) const {
  probe::Question asked;
  asked.gate = spec;
  asked.key = fmt::format("{}/{}/{}", kube::uid(rollout_), status_.attempt, key);
  asked.name = run_.key.name;
  asked.ns = run_.key.ns;
  const bool is_of_batch = status_.rolling == wave::Rolling::RollingInBatches && !key.starts_with('-');
  asked.phase = is_of_batch ? json::enum_name(status_.batch) : json::enum_name(status_.rolling);
  asked.variables = {{"target", wanted_.target.name},
                     {"batch", std::to_string(status_.current_batch)},
                     {"service", wanted_.plan.traffic ? wanted_.plan.traffic->service : ""}};
  if (!wanted_.sources.empty()) {
    asked.variables["source"] = wanted_.sources.back().name;
    asked.baseline_variables["target"] = wanted_.sources.back().name;
  }
  asked.owner = kube::owner_reference(rollout_);
  const auto record = std::ranges::find(status_.gates, key, &wave::GateRecord::key);
  const Time now = tools_.env.clock.now();
  asked.since = record != status_.gates.end() ? record->since.value_or(now) : now;
  asked.data_since = status_.batch_started.value_or(asked.since);
  asked.tries = record != status_.gates.end() ? record->tries : 0;
  if (const auto known = memory_.samples.find(key); known != memory_.samples.end()) asked.samples = known->second;
  return asked;
}

}  // namespace slipway::delivery::rollout
