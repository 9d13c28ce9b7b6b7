#include "delivery/rollout/watching.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/zone.h"
#include "delivery/family/text.h"
#include "delivery/gate/log.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/show.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

/// As the command line exits from `run`.
constexpr int kFailed = 1;
constexpr int kHeld = 3;
constexpr Duration kLookEvery = std::chrono::seconds{1};

/// The answer when there is nothing to wait for any more.
std::optional<CommandAnswer> end_of(const kube::Object& rollout) {
  if (const auto end = verdict(rollout)) {
    return CommandAnswer{.text = summary_text(rollout), .notes = {end->text}, .exit_code = end->is_success ? 0 : kFailed};
  }
  const auto held = hold(rollout);
  if (!held) return std::nullopt;
  return CommandAnswer{.text = summary_text(rollout),
                       .notes = {fmt::format("{}: {}; go on with: slipway {} {} -n {}", title(rollout), held->text,
                                             held->action, title(rollout), kube::ns(rollout))},
                       .exit_code = kHeld};
}

Result<std::optional<Duration>> timeout_of(const ActionCall& call) {
  const auto given = call.options.find("timeout");
  if (given == call.options.end()) return std::nullopt;
  SLIPWAY_TRY(duration, parse_duration(given->second));
  return std::optional(duration);
}

/// What is told at the end of each look; says whether to go on.
using Tell = std::function<bool(const kube::Object& before, const kube::Object& now)>;

Task<Result<CommandAnswer>> wait(ActionCall call, Tell tell) {
  SLIPWAY_CO_TRY(timeout, timeout_of(call));
  const Steady deadline = timeout ? call.env.clock.steady() + *timeout : Steady::max();
  kube::Object before;
  for (;;) {
    SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
    const bool goes_on = tell(before, rollout);
    if (auto end = end_of(rollout)) co_return std::move(*end);
    if (!goes_on) co_return CommandAnswer{.exit_code = kHeld};
    if (call.env.clock.steady() >= deadline) {
      co_return CommandAnswer{.text = summary_text(rollout), .notes = {"timed out"}, .exit_code = kHeld};
    }
    before = rollout;
    co_await sleep_for(call.env, std::min<Duration>(kLookEvery, deadline - call.env.clock.steady()));
  }
}

/// The gates of the present plan under the keys that the log has.
std::map<std::string, gate::GateSpec> gates_of(const RolloutStatus& status, const PlanSettings& plan) {
  std::map<std::string, gate::GateSpec> gates;
  for (const gate::LogEntry& entry : status.verdicts) {
    const gate::GateSpec* spec = plan.find_gate(entry.gate.substr(std::min(entry.gate.find('/') + 1, entry.gate.size())));
    if (spec != nullptr) gates[entry.gate] = *spec;
  }
  return gates;
}

}  // namespace

std::string title(const kube::Object& rollout) { return fmt::format("{}/{}", lower(kube::kind(rollout)), kube::name(rollout)); }

Task<Result<CommandAnswer>> show_status(ActionCall call) {
  if (call.options.contains("wait")) {
    const Tell quietly = [say = call.say](const kube::Object&, const kube::Object&) { return !say || say(""); };
    co_return co_await wait(std::move(call), quietly);
  }
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  CommandAnswer answer{.text = summary_text(rollout)};
  if (const auto held = hold(rollout)) {
    answer.notes = {fmt::format("{}; go on with: slipway {} {}", held->text, held->action, title(rollout))};
  }
  co_return answer;
}

Task<Result<CommandAnswer>> watch(ActionCall call) {
  const Tell told = [say = call.say, clock = &call.env.clock](const kube::Object& before, const kube::Object& now) {
    std::string lines;
    for (const News& one : news(before, now)) {
      lines += fmt::format("{} {}{}{}\n", to_rfc3339(clock->now()), one.part, one.part.empty() ? "" : ": ", one_line(one.text));
    }
    return !say || say(lines);
  };
  co_return co_await wait(std::move(call), told);
}

Task<Result<CommandAnswer>> tell_replay(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  SLIPWAY_CO_TRY(subject, read_subject(rollout));
  SLIPWAY_CO_TRY(plan, read_plan(subject.plan, wave::Shape::Pair));
  const RolloutStatus status = read_status(rollout);
  const auto gates = gates_of(status, plan);
  std::map<std::string, Zone> zones;
  for (const auto& [key, spec] : gates) {
    if (!spec.window) continue;
    SLIPWAY_CO_TRY(zone, load_zone(call.env.files, spec.window->time_zone));
    zones.emplace(spec.window->time_zone, std::move(zone));
  }
  CommandAnswer answer;
  std::vector<std::vector<std::string>> table = {{"TIME", "ATTEMPT/GATE", "DECIDED", "AGAIN", "MESSAGE"}};
  const std::vector<gate::Replayed> replayed = gate::replay(status.verdicts, gates, zones);
  for (const gate::Replayed& one : replayed) {
    if (!one.is_same()) answer.exit_code = kFailed;
    table.push_back({to_rfc3339(one.entry.at), one_line(one.entry.gate), std::string(json::enum_name(one.entry.verdict)),
                     std::string(json::enum_name(one.verdict.kind)), one_line(one.verdict.text)});
  }
  answer.text = replayed.empty() ? "the log has no decision\n" : aligned(table);
  if (const std::size_t left = status.verdicts.size() - replayed.size(); left > 0) {
    answer.notes.push_back(fmt::format("{} decisions are about gates that the plan no longer has", left));
  }
  co_return answer;
}

}  // namespace slipway::delivery::rollout
