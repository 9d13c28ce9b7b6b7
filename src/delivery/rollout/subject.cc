#include "delivery/rollout/subject.h"

#include <fmt/format.h>

#include <charconv>

#include "delivery/rollout/kind.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using wave::Moment;

constexpr std::string_view kPlan = "spec.rolloutPlan";

std::string text_of(const ObjectReference& reference) { return fmt::format("{}/{}", reference.kind, reference.name); }

template <class Spec>
Result<Spec> read(const kube::Object& rollout) {
  return json::decode<Spec>(rollout["spec"], "spec", {.allow_unknown = true});
}

Result<Subject> read_trait(const kube::Object& rollout) {
  SLIPWAY_TRY(spec, read<RolloutTraitSpec>(rollout));
  Subject subject{.plan = std::move(spec.plan), .target = text_of(spec.target), .sources = {}};
  for (const ObjectReference& source : spec.sources) {
    if (!(source == spec.target)) subject.sources.push_back(text_of(source));
  }
  return subject;
}

/// Of kinds that name revisions.
template <class Spec>
Result<Subject> read_revisions(const kube::Object& rollout) {
  SLIPWAY_TRY(spec, read<Spec>(rollout));
  Subject subject{.plan = std::move(spec.plan), .target = std::move(spec.target_revision), .sources = {}};
  if (!spec.source_revision.empty()) subject.sources.push_back(std::move(spec.source_revision));
  if constexpr (requires { spec.revert_on_delete; }) subject.plan.revert_on_delete |= spec.revert_on_delete;
  return subject;
}

/// When a hook of the OAM rollout is called.
std::string moment_of_hook(const std::string& type) {
  if (type == "initialize-rollout") return "initialize";
  if (type == "finalize-rollout") return "finalize";
  if (type == "pre-batch-rollout") return "before";
  if (type == "post-batch-rollout") return "after";
  return type;
}

gate::GateSpec gate_of(const RolloutWebhook& hook) {
  gate::GateSpec made{.name = hook.name, .at = moment_of_hook(hook.type)};
  made.webhook = {.url = hook.url, .expected_status = hook.expected_status, .metadata = hook.metadata, .secret_ref = {}};
  if (!hook.method.empty()) made.webhook->method = hook.method;
  return made;
}

gate::GateSpec gate_of(const CanaryMetric& metric) {
  gate::GateSpec made{.name = metric.name, .at = "after"};
  made.metric.emplace();
  made.metric->template_ref = metric.template_ref;
  if (metric.range) made.metric->min = metric.range->min, made.metric->max = metric.range->max;
  if (const auto interval = parse_duration(metric.interval)) made.metric->interval = *interval;
  return made;
}

std::optional<Moment> moment_named(std::string_view name) {
  for (const Moment one : {Moment::Initialize, Moment::BeforeBatch, Moment::BeforeTraffic, Moment::AfterTraffic,
                           Moment::AfterBatch, Moment::Throughout, Moment::Finalize}) {
    if (json::enum_name(one) == name) return one;
  }
  return std::nullopt;
}

template <class Owner>
std::vector<PlacedGate> gates_in(const Owner& owner, const std::string& field, const char* hooks, bool is_of_plan) {
  std::vector<PlacedGate> out;
  const auto add = [&](gate::GateSpec spec, const char* list, std::size_t index) {
    const Moment at = moment_named(spec.at).value_or(Moment::AfterBatch);
    out.push_back({std::move(spec), at, is_of_plan, fmt::format("{}.{}[{}]", field, list, index)});
  };
  for (std::size_t i = 0; i < owner.webhooks.size(); ++i) add(gate_of(owner.webhooks[i]), hooks, i);
  for (std::size_t i = 0; i < owner.canary_metric.size(); ++i) add(gate_of(owner.canary_metric[i]), "canaryMetric", i);
  for (std::size_t i = 0; i < owner.gates.size(); ++i) add(owner.gates[i], "gates", i);
  return out;
}

bool is_of_batches(const PlacedGate& gate) {
  return gate.at != Moment::Initialize && gate.at != Moment::Finalize && gate.at != Moment::Throughout;
}

}  // namespace

Result<Subject> read_subject(const kube::Object& rollout) {
  const std::string_view kind = kube::kind(rollout);
  if (kind == kTraitKind.kind) return read_trait(rollout);
  if (kind == kRolloutKind.kind) return read_revisions<RolloutSpec>(rollout);
  return read_revisions<AppRolloutSpec>(rollout);
}

std::optional<std::int64_t> partition_of(const RolloutPlan& plan) {
  return plan.batch_partition ? plan.batch_partition : plan.last_batch_to_rollout;
}

Result<std::vector<wave::Batch>> sizes_of(const RolloutPlan& plan, const std::string& field) {
  std::vector<wave::Batch> sizes;
  for (const RolloutBatch& batch : plan.batches) {
    wave::Batch size{.amount = {}, .pods = batch.pod_list};
    if (batch.replicas) {
      SLIPWAY_TRY(amount, wave::parse_amount(*batch.replicas, fmt::format("{}[{}].replicas", field, sizes.size())));
      size.amount = amount;
    }
    sizes.push_back(std::move(size));
  }
  return sizes;
}

std::vector<PlacedGate> all_gates(const RolloutPlan& plan) {
  return gates_in(plan, std::string(kPlan), "rolloutWebhooks", true);
}

std::vector<PlacedGate> all_gates(const RolloutBatch& batch, std::int64_t index) {
  return gates_in(batch, fmt::format("{}.rolloutBatches[{}]", kPlan, index), "batchRolloutWebhooks", false);
}

std::vector<PlacedGate> gates_of(const RolloutPlan& plan, std::optional<std::int64_t> batch) {
  std::vector<PlacedGate> out;
  for (PlacedGate& gate : all_gates(plan)) {
    if (is_of_batches(gate) == batch.has_value()) out.push_back(std::move(gate));
  }
  if (!batch || *batch < 0 || static_cast<std::size_t>(*batch) >= plan.batches.size()) return out;
  for (PlacedGate& gate : all_gates(plan.batches[static_cast<std::size_t>(*batch)], *batch)) out.push_back(std::move(gate));
  return out;
}

std::optional<PlacedGate> find_gate(const RolloutPlan& plan, const std::string& key) {
  std::optional<std::int64_t> batch;
  if (!key.starts_with("-/")) {
    const std::size_t end = std::min(key.find('/'), key.size());
    std::int64_t number = 0;
    if (std::from_chars(key.data(), key.data() + end, number).ptr != key.data() + end || end == 0) return std::nullopt;
    batch = number;
  }
  for (PlacedGate& gate : gates_of(plan, batch)) {
    if (wave::gate_key(batch, gate.at, gate.spec.name) == key) return std::move(gate);
  }
  return std::nullopt;
}

std::string_view type_of(const gate::GateSpec& gate) {
  if (gate.webhook) return "webhook";
  if (gate.metric) return "metric";
  return gate.approval ? "approval" : "window";
}

}  // namespace slipway::delivery::rollout
