#include <fmt/format.h>

#include <algorithm>

#include "delivery/probe/probe.h"
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
  return answer;
}

}  // namespace

Task<Result<void>> Pass::ask(std::string key) {
  const Time now = tools_.env.clock.now();
  const gate::GateSpec* spec = plan_.find_gate(key);
  if (spec == nullptr) co_return Result<void>{};
  OpenGate& open = memory_.open[key];
  open.key = key;
  if (open.next && now < *open.next) co_return Result<void>{};
  probe::Answer answer;
  if (status_.skips_gates && !spec->approval) {
    answer.verdict = {.kind = Kind::Pass, .text = "skipped", .by = ""};
  } else {
    probe::Question asked = question(key, *spec);
    answer = co_await probe::ask({tools_.env, run_.client, tools_.http}, std::move(asked));
  }
  take_answer(key, answer);
  co_return Result<void>{};
}

void Pass::take_answer(const std::string& key, const probe::Answer& answer) {
  const Time now = tools_.env.clock.now();
  const wave::GateAnswer taken = answer_of(answer.verdict);
  OpenGate& open = memory_.open[key];
  open.key = key;
  open.next = now + answer.ask_again.value_or(kAskPause);
  memory_.samples[key] = answer.samples;
  memory_.answers[key] = taken;
  if (taken.kind == wave::GateAnswer::Kind::Wait) return;
  gate::LogEntry entry;
  entry.at = now;
  entry.gate = log_key(status_.attempt, key);
  entry.verdict = answer.verdict.kind;
  entry.text = answer.verdict.text;
  entry.by = answer.verdict.by;
  entry.samples = answer.samples;
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
  asked.variables = {{"name", run_.key.name},
                     {"namespace", run_.key.ns},
                     {"target", wanted_.target.name},
                     {"batch", std::to_string(status_.current_batch)}};
  if (!wanted_.sources.empty()) asked.variables["source"] = wanted_.sources.back().name;
  const auto record = std::ranges::find(status_.gates, key, &wave::GateRecord::key);
  const Time now = tools_.env.clock.now();
  asked.since = record != status_.gates.end() ? record->since.value_or(now) : now;
  asked.data_since = status_.batch_started.value_or(asked.since);
  asked.tries = record != status_.gates.end() ? record->tries : 0;
  if (const auto known = memory_.samples.find(key); known != memory_.samples.end()) asked.samples = known->second;
  return asked;
}

}  // namespace slipway::delivery::rollout
