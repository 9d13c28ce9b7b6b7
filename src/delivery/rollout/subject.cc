#include "delivery/rollout/subject.h"

#include "delivery/rollout/kind.h"
#include "delivery/rollout/workload_view.h"

namespace slipway::delivery::rollout {
namespace {

std::string text_of(const ObjectReference& reference) {
  const auto kind = kube::GroupVersionKind::of(json::object({{"apiVersion", reference.api_version}, {"kind", reference.kind}}));
  return kind ? set_id(*kind, reference.name) : reference.name;
}

template <class Spec>
Result<Spec> read(const kube::Object& rollout, json::DecodeOptions options) {
  return json::decode<Spec>(rollout["spec"], "spec", options);
}

Result<Subject> read_trait(const kube::Object& rollout, json::DecodeOptions options) {
  SLIPWAY_TRY(spec, read<RolloutTraitSpec>(rollout, options));
  Subject subject{.plan = std::move(spec.plan), .target = text_of(spec.target), .sources = {}};
  for (const ObjectReference& source : spec.sources) {
    if (!(source == spec.target)) subject.sources.push_back(text_of(source));
  }
  return subject;
}

/// Of kinds that name revisions.
template <class Spec>
Result<Subject> read_revisions(const kube::Object& rollout, json::DecodeOptions options) {
  SLIPWAY_TRY(spec, read<Spec>(rollout, options));
  Subject subject{.plan = std::move(spec.plan), .target = std::move(spec.target_revision), .sources = {}};
  if (!spec.source_revision.empty()) subject.sources.push_back(std::move(spec.source_revision));
  if constexpr (requires { spec.revert_on_delete; }) subject.plan.revert_on_delete |= spec.revert_on_delete;
  return subject;
}

}  // namespace

Result<Subject> read_subject(const kube::Object& rollout, json::DecodeOptions options) {
  const std::string_view kind = kube::kind(rollout);
  if (kind == kTraitKind.kind) return read_trait(rollout, options);
  if (kind == kRolloutKind.kind) return read_revisions<RolloutSpec>(rollout, options);
  return read_revisions<AppRolloutSpec>(rollout, options);
}

std::optional<std::int64_t> partition_of(const RolloutPlan& plan) {
  return plan.batch_partition ? plan.batch_partition : plan.last_batch_to_rollout;
}

std::string_view type_of(const gate::GateSpec& gate) {
  if (gate.webhook) return "webhook";
  if (gate.metric) return "metric";
  return gate.approval ? "approval" : "window";
}

}  // namespace slipway::delivery::rollout
