// A rollout whatever its kind, as those read it who check, plan, show and explain: what it rolls out in place of what, its
// plan, and the gates of a batch in one form, for the hooks and metrics of the OAM rollout are gates too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/rollout/spec.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

struct Subject {
  RolloutPlan plan;
  std::string target;                // "Deployment/web-v2", or the name of a revision
  std::vector<std::string> sources;  // likewise; empty: a first deploy, a scale, or one object that is updated in place
};
/// Invalid with the fields' paths when the spec does not fit its kind. Fields that nobody knows are passed over.
Result<Subject> read_subject(const kube::Object& rollout);

/// batchPartition by either name; nullopt: all batches may run.
std::optional<std::int64_t> partition_of(const RolloutPlan& plan);
/// The sizes of rolloutBatches. Invalid for amounts that are none; `field` is the list's.
Result<std::vector<wave::Batch>> sizes_of(const RolloutPlan& plan, const std::string& field);

struct PlacedGate {
  gate::GateSpec spec;
  wave::Moment at = wave::Moment::AfterBatch;
  bool is_of_plan = false;
  std::string field;  // where it is written: "spec.rolloutPlan.rolloutBatches[1].gates[0]"
};
/// What is asked in a batch, in order: the plan's first. Without a batch: what is asked at the beginning, at the end and
/// throughout. In each list hooks come first, then metrics (after the batch), then gates.
std::vector<PlacedGate> gates_of(const RolloutPlan& plan, std::optional<std::int64_t> batch);
/// Of one list, whatever its moments.
std::vector<PlacedGate> all_gates(const RolloutPlan& plan);
std::vector<PlacedGate> all_gates(const RolloutBatch& batch, std::int64_t index);
/// The gate that a key (wave::gate_key) means; nullopt for a key of none.
std::optional<PlacedGate> find_gate(const RolloutPlan& plan, const std::string& key);
/// "webhook", "metric", "approval", "window".
std::string_view type_of(const gate::GateSpec& gate);

}  // namespace slipway::delivery::rollout
