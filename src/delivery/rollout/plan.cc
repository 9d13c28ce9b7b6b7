#include "delivery/rollout/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "delivery/family/text.h"
#include "delivery/rollout/admission.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/workload.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
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
  std::vector<std::vector<std::string>> table = {
      {"BATCH", is_scale ? "PODS" : "NEW", "OLD", "CHANGED", "UNAVAILABLE", "TRAFFIC", "GATES", "NOTE"}};
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

namespace {

constexpr const char* kUnknownSize =
    "the size is not known: give --size N (pods before the rollout), or its workloads' manifests in the files";

bool is_rollout(const kube::Object& object) {
  return std::ranges::any_of(
      std::initializer_list<kube::GroupVersionKind>{kTraitKind, kRolloutKind, kAppRolloutKind},
      [&](const kube::GroupVersionKind& kind) { return kube::refers_to(object, kind.group, kind.kind); });
}

/// The kinds' rows, and the files' manifests by reference.
class Files {
 public:
  explicit Files(const CommandCall& call) : call_(call) {}

  std::optional<std::int64_t> size_of(const Value& reference) const {
    for (const SourceObject& one : call_.objects) {
      const auto kind = kube::GroupVersionKind::of(one.object);
      if (!kind || one.object["apiVersion"] != reference["apiVersion"] || kind->kind != reference["kind"].as_string()) continue;
      if (kube::name(one.object) != reference["name"].as_string()) continue;
      const WorkloadRow* row = find_row(workload_rows(), *kind);
      if (row == nullptr || row->size.empty()) return std::nullopt;
      return field_at(one.object, row->size).as_int(1);
    }
    return std::nullopt;
  }

  /// Pods before the rollout.
  std::optional<std::int64_t> size_before(const kube::Object& rollout) const {
    const Value& spec = rollout["spec"];
    if (spec["sourceRef"].size() == 0) return size_of(spec["targetRef"]);
    std::int64_t sum = 0;
    for (const Value& source : spec["sourceRef"].items()) {
      const auto size = size_of(source);
      if (!size) return std::nullopt;
      sum += *size;
    }
    return sum;
  }

 private:
  const CommandCall& call_;
};

Shape shape_of(const kube::Object& rollout, const Subject& subject) {
  const auto kind = kube::GroupVersionKind::of(rollout["spec"]["targetRef"]);
  const WorkloadRow* row = kind ? find_row(workload_rows(), *kind) : nullptr;
  if (row == nullptr) return subject.sources.empty() ? Shape::Scale : Shape::Pair;
  return subject.sources.empty() ? row->alone : row->with_sources;
}

Result<std::string> plan_text(const SourceObject& source, const Files& files, std::optional<std::int64_t> size) {
  const kube::Object rollout = mutate(source.object, {});
  const auto refused = [&](const std::string& field, const std::string& message) {
    return fail(Reason::Invalid, fmt::format("{}: {}{}{}", source.at(field), field, field.empty() ? "" : ": ", message));
  };
  for (const Cause& cause : check_spec(rollout)) return refused(cause.field, cause.message);
  SLIPWAY_TRY(subject, read_subject(rollout));
  SLIPWAY_TRY(plan, read_plan(subject.plan, shape_of(rollout, subject)));
  const std::optional<std::int64_t> before = size ? size : files.size_before(rollout);
  const bool is_scale = plan.settings.shape == Shape::Scale;
  if (is_scale && !plan.settings.target_size) {
    return refused("spec.rolloutPlan.targetSize", "a scale needs it: there is no source, so it is the size to go to");
  }
  if (!before && (is_scale || !plan.settings.target_size)) return refused("spec.rolloutPlan.targetSize", kUnknownSize);
  const std::int64_t from = before.value_or(*plan.settings.target_size);
  const std::int64_t to = plan.settings.target_size.value_or(from);
  for (const std::string& wrong : wave::check_settings(plan.settings, is_scale ? from : 0, to)) return refused("", wrong);
  return fmt::format("{}/{}: {}", kube::kind(rollout), kube::name(rollout), print(forecast(plan, from), subject));
}

Task<Result<CommandAnswer>> run_plan(CommandCall call) {
  std::optional<std::int64_t> size;
  if (const auto given = call.options.find("size"); given != call.options.end()) {
    const std::string& text = given->second;
    std::int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || number < 0) {
      co_return fail(Reason::BadRequest, fmt::format("--size {}: must be a number of pods", text));
    }
    size = number;
  }
  CommandAnswer answer;
  const Files files(call);
  for (const SourceObject& source : call.objects) {
    if (!is_rollout(source.object)) continue;
    SLIPWAY_CO_TRY(text, plan_text(source, files, size));
    answer.text += (answer.text.empty() ? "" : "\n") + text;
  }
  if (answer.text.empty()) co_return fail(Reason::BadRequest, "the files hold no RolloutTrait, Rollout or AppRollout");
  co_return answer;
}

}  // namespace

Command plan_command() {
  return {.verb = "rollout plan",
          .help = "print what a rollout in files would do, batch by batch; no cluster is asked",
          .options = {{.name = "size", .help = "pods before the rollout (default: as the manifests in the files say)"}},
          .run = run_plan};
}

}  // namespace slipway::delivery::rollout
