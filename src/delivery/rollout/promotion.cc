#include "delivery/rollout/promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/lookup.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/show.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

Value plan_patch(json::ObjectBuilder plan) { return json::object({{"spec", json::object({{"rolloutPlan", plan.build()}})}}); }

/// The partition by the name that the user wrote; null: all batches.
Value partition_patch(const kube::Object& rollout, const Value& partition) {
  const Value& plan = rollout["spec"]["rolloutPlan"];
  json::ObjectBuilder patch;
  if (plan.has("lastBatchToRollout")) patch.set("lastBatchToRollout", partition);
  if (plan.has("batchPartition") || !plan.has("lastBatchToRollout")) patch.set("batchPartition", partition);
  return plan_patch(std::move(patch));
}

std::int64_t count_of(const Subject& subject, const RolloutStatus& status) {
  if (!status.goals.empty()) return static_cast<std::int64_t>(status.goals.size());
  if (!subject.plan.batches.empty()) return static_cast<std::int64_t>(subject.plan.batches.size());
  return subject.plan.num_batches.value_or(1);
}

Result<std::int64_t> read_batch(const std::string& text) {
  std::int64_t batch = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), batch);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size() && batch >= 0) return batch;
  return fail(Reason::BadRequest, fmt::format("--to {}: must be the number of a batch, from 0", text));
}

/// Why there is nothing to promote.
std::unexpected<Status> nothing_to_do(const RolloutStatus& status) {
  std::string text = "no partition holds it";
  if (!status.waits.empty()) text += fmt::format("; it waits for {}: {}", status.waits.front().on, status.waits.front().text);
  return fail(Reason::BadRequest, text);
}

Promotion to_partition(const kube::Object& rollout, std::int64_t partition) {
  return {.spec_patch = partition_patch(rollout, partition),
          .approvals = {},
          .skips_gates = false,
          .text = fmt::format("batches up to {} may run", partition)};
}

Promotion in_full(const kube::Object& rollout, bool skips_gates) {
  const Value& plan = rollout["spec"]["rolloutPlan"];
  json::ObjectBuilder patch;
  for (const char* name : {"batchPartition", "lastBatchToRollout"}) {
    if (plan.has(name)) patch.set(name, Value());
  }
  if (plan["paused"].as_bool()) patch.set("paused", false);
  Promotion made{
      .spec_patch = {}, .approvals = approvals_left(rollout), .skips_gates = skips_gates, .text = "all batches may run"};
  if (!patch.empty()) made.spec_patch = plan_patch(std::move(patch));
  if (!made.approvals.empty()) made.text += fmt::format(", {} approved", made.approvals.size());
  if (skips_gates) made.text += ", other gates are skipped";
  return made;
}

}  // namespace

std::vector<std::string> approvals_left(const kube::Object& rollout) {
  const RolloutStatus status = read_status(rollout);
  const auto subject = read_subject(rollout);
  if (!subject || status.attempt == 0 || status.position().is_end()) return {};
  const auto plan = read_plan(subject->plan, wave::Shape::Pair);
  if (!plan) return {};
  std::vector<std::string> keys;
  const auto add = [&](std::optional<std::int64_t> batch, const std::vector<wave::Gate>& gates) {
    for (const wave::Gate& gate : gates) {
      const std::string key = wave::gate_key(batch, gate.at, gate.name);
      const gate::GateSpec* spec = plan->find_gate(key);
      const auto known = std::ranges::find(status.gates, key, &wave::GateRecord::key);
      const bool is_decided = known != status.gates.end() && known->state != "Asked";
      if (spec != nullptr && spec->approval && !is_decided) keys.push_back(key);
    }
  };
  const wave::Settings& settings = plan->settings;
  add(std::nullopt, settings.gates);
  for (std::int64_t batch = status.current_batch; batch < count_of(*subject, status); ++batch) {
    const auto at = static_cast<std::size_t>(batch);
    add(batch, at < settings.batches.size() ? settings.batches[at].gates : settings.every_batch.gates);
  }
  return keys;
}

Result<Promotion> promotion(const kube::Object& rollout, const std::map<std::string, std::string>& options) {
  const RolloutStatus status = read_status(rollout);
  if (status.position().is_end()) return fail(Reason::BadRequest, "it has ended: give it a new target");
  const bool is_full = options.contains("full");
  if (is_full && options.contains("to")) return fail(Reason::BadRequest, "--to and --full exclude each other");
  if (options.contains("skip-gates") && !is_full) return fail(Reason::BadRequest, "--skip-gates goes with --full only");
  if (is_full) return in_full(rollout, options.contains("skip-gates"));
  SLIPWAY_TRY(subject, read_subject(rollout));
  const std::optional<std::int64_t> before = partition_of(subject.plan);
  const bool is_held = before && *before + 1 < count_of(subject, status);
  if (!options.contains("to")) return is_held ? to_partition(rollout, *before + 1) : Result<Promotion>(nothing_to_do(status));
  SLIPWAY_TRY(batch, read_batch(value_at(options, "to")));
  const std::int64_t count = count_of(subject, status);
  if (batch >= count) {
    return fail(Reason::BadRequest, fmt::format("--to {}: there {} {} {}, the last is {}", batch, count == 1 ? "is" : "are",
                                                count, count == 1 ? "batch" : "batches", count - 1));
  }
  if (before && batch > *before) return to_partition(rollout, batch);
  return fail(Reason::BadRequest, before ? fmt::format("--to {}: batches up to {} may run already", batch, *before)
                                         : fmt::format("--to {}: all batches may run already", batch));
}

}  // namespace slipway::delivery::rollout
