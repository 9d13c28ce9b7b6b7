// A rollout whatever its kind, as those read it who check, plan, show and explain: what it rolls out in place of what, its
// plan, and the gates of a batch in one form, for the hooks and metrics of the OAM rollout are gates too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/rollout/spec.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

struct Subject {
  RolloutPlan plan;
  std::string target;                // "Deployment/web-v2", or the name of a revision
  std::vector<std::string> sources;  // likewise; empty: a first deploy, a scale, or one object that is updated in place
};
/// Invalid with the fields' paths when the spec does not fit its kind. Unknown fields are passed over unless `options` say so.
Result<Subject> read_subject(const kube::Object& rollout, json::DecodeOptions options = {.allow_unknown = true});

/// batchPartition by either name; nullopt: all batches may run.
std::optional<std::int64_t> partition_of(const RolloutPlan& plan);
/// "webhook", "metric", "approval", "window".
std::string_view type_of(const gate::GateSpec& gate);

}  // namespace slipway::delivery::rollout
