#include "delivery/rollout/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "delivery/family/text.h"

namespace slipway::delivery::rollout {
namespace {

using wave::Shape;

std::string gate_text(const PlanSettings& plan, std::optional<std::int64_t> batch, const wave::Gate& gate) {
  const gate::GateSpec* spec = plan.find_gate(wave::gate_key(batch, gate.at, gate.name));
  return fmt::format("{} {} ({})", json::enum_name(gate.at), gate.name, spec == nullptr ? "gate" : type_of(*spec));
}

std::string note_of(const wave::RollBatch& batch, const PlannedBatch& planned) {
  if (planned.added != 0) return "";
  const bool has_metric = std::ranges::any_of(batch.gates, &wave::Gate::needs_new_pods);
  return has_metric ? "adds no pod: hooks run, no metric can pass" : "adds no pod: hooks run";
}

/// The batches as they will be used: computed ones where only their number is given.
std::vector<wave::RollBatch> batches_of(const wave::Settings& settings, std::int64_t way) {
  if (!settings.batches.empty()) return settings.batches;
  std::vector<wave::RollBatch> made;
  for (wave::Batch& sizes : wave::equal_batches(way, settings.num_batches.value_or(1))) {
    made.push_back(settings.every_batch);
    made.back().sizes = std::move(sizes);
  }
  return made;
}

}  // namespace

Forecast forecast(const PlanSettings& plan, std::int64_t from) {
  const wave::Settings& settings = plan.settings;
  Forecast out{.shape = settings.shape, .from = from, .to = settings.target_size.value_or(from)};
  const bool is_scale = settings.shape == Shape::Scale;
  const std::int64_t start = is_scale ? from : 0;
  const std::int64_t way = std::abs(out.to - start);
  const std::vector<wave::RollBatch> batches = batches_of(settings, way);
  std::vector<wave::Batch> sizes;
  for (const wave::RollBatch& batch : batches) sizes.push_back(batch.sizes);
  const std::vector<std::int64_t> goals = wave::goals(sizes, start, out.to);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const wave::RollBatch& batch = batches[i];
    PlannedBatch made{.goal = goals[i], .added = std::abs(goals[i] - (i == 0 ? start : goals[i - 1]))};
    if (!is_scale) made.old_pods = out.to - goals[i];
    made.max_unavailable = wave::rounded_down(batch.max_unavailable, way);
    if (settings.has_traffic) made.weight = batch.weight.value_or(way == 0 ? 100 : (200 * goals[i] + way) / (2 * way));
    const auto index = static_cast<std::int64_t>(i);
    for (const wave::Gate& gate : batch.gates) made.gates.push_back(gate_text(plan, index, gate));
    made.note = note_of(batch, made);
    out.batches.push_back(std::move(made));
  }
  for (const wave::Gate& gate : settings.gates) {
    auto& list = gate.at == wave::Moment::Initialize ? out.first
                 : gate.at == wave::Moment::Finalize ? out.last
                                                     : out.throughout;
    list.push_back(gate_text(plan, std::nullopt, gate));
  }
  return out;
}

namespace {

std::string heading(const Forecast& forecast, const Subject& subject) {
  const std::string_view strategy = json::enum_name(subject.plan.strategy.value_or(wave::Strategy::IncreaseFirst));
  const std::string batches = fmt::format("{} batch{}", forecast.batches.size(), forecast.batches.size() == 1 ? "" : "es");
  if (forecast.shape == Shape::Scale) {
    return fmt::format("{}: from {} to {} pods in {}\n", subject.target, forecast.from, forecast.to, batches);
  }
  if (forecast.shape == Shape::Fields) return fmt::format("{}: fields in {}, of {}\n", subject.target, batches, forecast.to);
  const std::string sources = subject.sources.empty() ? "" : fmt::format("{} -> ", fmt::join(subject.sources, ", "));
  const std::string order = forecast.shape == Shape::Pair ? fmt::format(", {}", strategy) : "";
  return fmt::format("{}{}: {} pods in {}{}\n", sources, subject.target, forecast.to, batches, order);
}

std::string size_note(const Forecast& forecast) {
  if (forecast.shape != Shape::Pair || forecast.from == forecast.to || forecast.from == 0) return "";
  if (forecast.to > forecast.from) {
    return fmt::format("before the first batch the target gets {} pods, so that there are {}\n", forecast.to - forecast.from,
                       forecast.to);
  }
  return fmt::format("before the first batch the sources shrink by {} pods to {}\n", forecast.from - forecast.to, forecast.to);
}

std::string gates_line(const char* when, const std::vector<std::string>& gates) {
  return gates.empty() ? "" : fmt::format("{}: {}\n", when, fmt::join(gates, ", "));
}

std::string end_text(const Forecast& forecast, const RolloutPlan& plan) {
  std::string out;
  const auto partition = partition_of(plan);
  if (plan.is_paused) out += "paused: nothing is begun until spec.rolloutPlan.paused is false\n";
  if (partition && *partition + 1 < static_cast<std::int64_t>(forecast.batches.size())) {
    out += fmt::format("stops after batch {} until the partition grows\n", *partition);
  }
  return out;
}

}  // namespace

std::string print(const Forecast& forecast, const Subject& subject) {
  const bool is_scale = forecast.shape == Shape::Scale;
  std::vector<std::vector<std::string>> table = {{"BATCH",
                                                  is_scale                          ? "PODS"
                                                  : forecast.shape == Shape::Fields ? "AT"
                                                                                    : "NEW",
                                                  "OLD", "CHANGED", "UNAVAILABLE", "TRAFFIC", "GATES", "NOTE"}};
  for (std::size_t i = 0; i < forecast.batches.size(); ++i) {
    const PlannedBatch& batch = forecast.batches[i];
    table.push_back({std::to_string(i), std::to_string(batch.goal), batch.old_pods ? std::to_string(*batch.old_pods) : "-",
                     std::to_string(batch.added), std::to_string(batch.max_unavailable),
                     batch.weight ? fmt::format("{} %", *batch.weight) : "-",
                     batch.gates.empty() ? "-" : fmt::format("{}", fmt::join(batch.gates, ", ")), batch.note});
  }
  return heading(forecast, subject) + size_note(forecast) + gates_line("first", forecast.first) +
         gates_line("throughout", forecast.throughout) + aligned(table) + gates_line("last", forecast.last) +
         end_text(forecast, subject.plan);
}

}  // namespace slipway::delivery::rollout
