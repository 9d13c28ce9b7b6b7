#include <fmt/format.h>

#include "delivery/rollout/admission.h"
#include "delivery/rollout/subject.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

constexpr const char* kPlanField = "spec.rolloutPlan";

enum class Stage : std::uint8_t { NotBegun, Running, Finished };

/// As the status says. Nothing has been touched while the target is looked for and the spec is checked.
Stage stage_of(const kube::Object& rollout) {
  const Value& state = rollout["status"]["rollingState"];
  const auto record = json::decode<wave::Record>(rollout["status"], "status", {.allow_unknown = true});
  if (state.is_null() || !record || record->rolling <= wave::Rolling::VerifyingSpec) return Stage::NotBegun;
  return record->position().is_end() ? Stage::Finished : Stage::Running;
}

/// The spec's members that say what is rolled out, in one value.
Value target_in(const Value& spec) {
  return json::object({{"ref", spec["targetRef"]},
                       {"revision", spec["targetRevisionName"]},
                       {"component", spec["componentName"]},
                       {"appRevision", spec["targetAppRevisionName"]},
                       {"components", spec["componentList"]}});
}

Value sources_in(const Value& spec) {
  return json::object(
      {{"refs", spec["sourceRef"]}, {"revision", spec["sourceRevisionName"]}, {"appRevision", spec["sourceAppRevisionName"]}});
}

std::vector<gate::GateSpec> without_deadlines(std::vector<gate::GateSpec> gates) {
  for (gate::GateSpec& gate : gates) gate.deadline_seconds.reset(), gate.on_deadline.reset();
  return gates;
}

/// The part of a plan that stays as long as the target does. Batches and the partition have rules of their own.
Value fixed_part(RolloutPlan plan) {
  plan.strategy = plan.strategy.value_or(wave::Strategy::IncreaseFirst);
  plan.batches.clear();
  plan.batch_partition.reset();
  plan.last_batch_to_rollout.reset();
  plan.canary_metric.clear();
  plan.is_paused = false;
  plan.revert_on_delete = false;
  plan.on_failure.reset();
  plan.batch_deadline_seconds.reset();
  plan.notifications.clear();
  plan.gates = without_deadlines(std::move(plan.gates));
  return json::encode(plan);
}

Value fixed_part(RolloutBatch batch) {
  batch.canary_metric.clear();
  batch.gates = without_deadlines(std::move(batch.gates));
  return json::encode(batch);
}

/// The part that stays after the end: all but what the design leaves free at any time.
Value finished_part(RolloutPlan plan) {
  plan.strategy = plan.strategy.value_or(wave::Strategy::IncreaseFirst);
  plan.is_paused = false;
  plan.revert_on_delete = false;
  plan.canary_metric.clear();
  for (RolloutBatch& batch : plan.batches) batch.canary_metric.clear();
  plan.batch_partition = partition_of(plan);
  plan.last_batch_to_rollout.reset();
  return json::encode(plan);
}

/// Names of the members in which two objects differ.
std::vector<std::string> differing(const Value& one, const Value& other) {
  std::vector<std::string> names;
  for (const auto& [name, value] : one.members()) {
    if (other[name] != value) names.emplace_back(name);
  }
  for (const auto& [name, value] : other.members()) {
    if (!one.has(name)) names.emplace_back(name);
  }
  return names;
}

std::string partition_text(std::optional<std::int64_t> partition) {
  return partition ? std::to_string(*partition) : "absent (all batches)";
}

class Update {
 public:
  Update(const kube::Object& rollout, const kube::Object& old, const Subject& now, const Subject& before)
      : rollout_(rollout), old_(old), now_(now.plan), before_(before.plan), is_pure_scale_(now.sources.empty()) {}

  std::vector<Cause> while_running() {
    if (has_new_target()) return {};
    check_partition();
    check_batches();
    check_rest();
    return std::move(causes_);
  }

  std::vector<Cause> after_end() {
    const bool is_same_size = now_.target_size == before_.target_size;
    if (differs(target_in) || differs(sources_in) || !is_same_size) return {};
    for (const std::string& name : differing(finished_part(now_), finished_part(before_))) {
      refuse(
          fmt::format("{}.{}", kPlanField, name), "FinishedNeedsNewTarget",
          "the rollout has ended and works only once: its plan changes only together with a new target, source or targetSize");
    }
    return std::move(causes_);
  }

 private:
  void refuse(std::string field, std::string_view rule, const std::string& text) {
    causes_.push_back(field::forbidden(std::move(field), fmt::format("{}: {}", rule, text)));
  }

  bool differs(Value (*part)(const Value&)) const { return part(rollout_["spec"]) != part(old_["spec"]); }

  bool has_new_target() const { return differs(target_in) || (is_pure_scale_ && now_.target_size != before_.target_size); }

  void check_partition() {
    const auto before = partition_of(before_);
    const auto now = partition_of(now_);
    if (!now || (before && *now >= *before)) return;
    refuse(fmt::format("{}.batchPartition", kPlanField), "PartitionOnlyGrows",
           fmt::format("the rollout is running: the partition may not go from {} to {}", partition_text(before), *now));
  }

  /// The last batch that may have begun; nullopt: all.
  std::optional<std::int64_t> released() const {
    const auto partition = partition_of(before_);
    if (!partition) return std::nullopt;
    return std::max(*partition, old_["status"]["currentBatch"].as_int());
  }

  void check_batches() {
    const auto count = static_cast<std::int64_t>(before_.batches.size());
    const auto now_count = static_cast<std::int64_t>(now_.batches.size());
    const std::int64_t fixed = std::min(count, released() ? *released() + 1 : count);
    for (std::int64_t i = 0; i < fixed; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i < now_count && fixed_part(now_.batches[at]) == fixed_part(before_.batches[at])) continue;
      return refuse_batch(i, i < now_count ? "may not change" : "may not be removed");
    }
    // The last batch goes to the end whatever its own size says: which one is the last changes what it does.
    const bool was_last = fixed == count;
    const bool is_last = fixed == now_count;
    if (count > 0 && was_last != is_last) {
      refuse_batch(fixed - 1, is_last ? "may not become the last one" : "is the last one: none may follow it");
    }
  }

  void refuse_batch(std::int64_t batch, std::string_view what) {
    refuse(fmt::format("{}.rolloutBatches[{}]", kPlanField, batch), "ReleasedBatchesAreFixed",
           fmt::format("the rollout is running with partition {} at batch {}: batch {} {}",
                       partition_text(partition_of(before_)), old_["status"]["currentBatch"].as_int(), batch, what));
  }

  void check_rest() {
    const auto refuse_rest = [this](std::string field) {
      refuse(std::move(field), "OnlyWithNewTarget",
             "the rollout is running: this changes only together with a new target, which begins a new attempt");
    };
    if (differs(sources_in)) {
      for (const char* name : {"sourceRef", "sourceRevisionName", "sourceAppRevisionName"}) {
        if (rollout_["spec"][name] != old_["spec"][name]) refuse_rest(fmt::format("spec.{}", name));
      }
    }
    for (const std::string& name : differing(fixed_part(now_), fixed_part(before_))) {
      refuse_rest(fmt::format("{}.{}", kPlanField, name));
    }
    if (now_.batches.empty() != before_.batches.empty() && before_.batches.empty()) {
      refuse_rest(fmt::format("{}.rolloutBatches", kPlanField));
    }
  }

  const kube::Object& rollout_;
  const kube::Object& old_;
  const RolloutPlan& now_;
  const RolloutPlan& before_;
  bool is_pure_scale_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> check_update(const kube::Object& rollout, const kube::Object& old) {
  const Stage stage = stage_of(old);
  const auto now = read_subject(rollout);
  const auto before = read_subject(old);
  // An old spec that cannot be read, of a time when the rules were others, binds nothing.
  if (stage == Stage::NotBegun || !now || !before) return {};
  Update update(rollout, old, *now, *before);
  return stage == Stage::Running ? update.while_running() : update.after_end();
}

}  // namespace slipway::delivery::rollout
