#include <fmt/format.h>

#include <algorithm>

#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {

std::string gate_key(std::optional<std::int64_t> batch, Moment at, const std::string& name) {
  return fmt::format("{}/{}/{}", batch ? std::to_string(*batch) : "-", json::enum_name(at), name);
}

GateRecord& Pass::gate_record(const std::string& key) {
  const auto found = std::ranges::find(r_.gates, key, &GateRecord::key);
  if (found != r_.gates.end()) return *found;
  GateRecord& record = r_.gates.emplace_back();
  record.key = key, record.state = "Asked", record.since = world_.now;
  return record;
}

/// Those of one moment in their order; each has to pass before the next is asked.
bool Pass::pass_gates(Moment at) {
  const bool is_of_whole = at == Moment::Initialize || at == Moment::Finalize;
  for (const Gate& gate : is_of_whole ? settings_.gates : batch().gates) {
    const std::optional<std::int64_t> of = is_of_whole ? std::nullopt : std::optional(r_.current_batch);
    if (gate.at == at && !pass_gate(gate, gate_key(of, at, gate.name))) return false;
  }
  return true;
}

bool Pass::pass_gate(const Gate& gate, const std::string& key) {
  GateRecord& record = gate_record(key);
  if (record.state == "Passed" || record.state == "Skipped") return true;
  const bool is_winding_up =
      r_.rolling == Rolling::Failing || r_.rolling == Rolling::Abandoning || r_.rolling == Rolling::Deleting;
  if (record.state == "Failed") return is_winding_up;
  if (r_.rolling == Rolling::RollingInBatches && gate.needs_new_pods && adds_no_pod()) {
    record.state = "Skipped", record.ended = world_.now;
    record.text = fmt::format("batch {} adds no pod that could be judged", r_.current_batch);
    out_.news.push_back(fmt::format("gate {} is not asked: {}", gate.name, record.text));
    return true;
  }
  if (judge(gate, record)) return true;
  if (record.state != "Failed") {
    out_.effects.push_back({.kind = Effect::Kind::Ask, .key = key, .batch = r_.current_batch});
    return wait("gate " + gate.name, record.text.empty() ? std::string(kNoAnswerYet) : record.text, record.since);
  }
  out_.news.push_back(fmt::format("gate {} failed: {}", gate.name, record.text));
  if (is_winding_up) return true;  // what is undone is not stopped by a hook
  fail(fmt::format("gate {} of batch {} failed: {}", gate.name, r_.current_batch, record.text), batch_failing);
  return false;
}

/// Takes what came of it, or its deadline, into the record.
bool Pass::judge(const Gate& gate, GateRecord& record) {
  const auto end = [&](std::string_view state) {
    record.state = state;
    record.ended = world_.now;
  };
  if (const auto answer = world_.answers.find(record.key); answer != world_.answers.end()) {
    ++record.tries;
    record.text = answer->second.text.substr(0, 256);
    record.by = answer->second.by;
    record.has_no_data = answer->second.has_no_data;
    if (answer->second.kind == GateAnswer::Kind::Pass) end("Passed");
    if (answer->second.kind == GateAnswer::Kind::Fail) end("Failed");
  }
  if (record.state != "Asked" || !gate.deadline) return record.state == "Passed";
  const Time deadline = later(*record.since, *gate.deadline);
  if (world_.now.time() < deadline) {
    wake_at(deadline);
    return false;
  }
  const OnDeadline then = record.has_no_data ? gate.on_no_data.value_or(gate.on_deadline) : gate.on_deadline;
  if (then != OnDeadline::Hold) {
    record.text = ("no answer in time; " + record.text).substr(0, 256);
    end(then == OnDeadline::Pass ? "Passed" : "Failed");
  }
  return record.state == "Passed";
}

/// Only their failing counts. They are asked again and again; a gate that judges new pods, once there are some.
bool Pass::ask_throughout() {
  const auto ask = [&](const Gate& gate, std::optional<std::int64_t> of) {
    if (gate.at != Moment::Throughout || (gate.needs_new_pods && new_ready() == 0)) return true;
    GateRecord& record = gate_record(gate_key(of, Moment::Throughout, gate.name));
    if (record.state == "Failed") return true;  // it has been heeded; the rest is up to a retry
    record.state = "Asked";
    judge({.name = gate.name, .at = gate.at}, record);
    if (record.state == "Failed") {
      fail(fmt::format("gate {} failed: {}", gate.name, record.text), batch_failing);
      return false;
    }
    record.state = "Asked";
    out_.effects.push_back({.kind = Effect::Kind::Ask, .key = record.key, .batch = r_.current_batch});
    return true;
  };
  const auto of_plan = [&](const Gate& gate) { return ask(gate, std::nullopt); };
  const auto of_batch = [&](const Gate& gate) { return ask(gate, r_.current_batch); };
  return std::ranges::all_of(settings_.gates, of_plan) && std::ranges::all_of(batch().gates, of_batch);
}

}  // namespace slipway::delivery::wave
