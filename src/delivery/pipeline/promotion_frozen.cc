// A Freeze that names pipelines or environments binds what these deliver into: the targets are recorded in it as soon as the
// pipelines are observed, so neither renaming an environment nor using another pipeline bypasses the Freeze. The first
// reconcile that finds nothing recorded records the targets of all pipelines, so that many pipelines cost few writes; later
// ones add the targets of their own pipeline.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promotion_controller.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr int kMaxRecordTries = 5;  // between others who write the Freeze

/// Nothing needs recording where no name binds: the Freeze then binds all pipelines it can reach, or its `targets` alone.
bool records_targets(const FreezeSpec& freeze, Time now) {
  const bool has_names = !freeze.pipelines.empty() || !freeze.environments.empty();
  return has_names && (!freeze.until || now < *freeze.until) && freeze.recorded.size() < kMaxFrozenTargets;
}

}  // namespace

std::vector<FrozenTarget> PromotionController::bound_by_name(const FreezeSpec& freeze, const Key& pipeline,
                                                             const PipelineSpec& spec) const {
  std::vector<FrozenTarget> bound;
  for (const Environment& environment : spec.environments) {
    if (!is_named(freeze, pipeline.name, environment.name)) continue;
    for (const Target& target : environment.targets) {
      std::string cluster = watches_->home();
      if (target.cluster) {
        cluster = cluster_name(cluster, target.cluster->ns.empty() ? pipeline.ns : target.cluster->ns, target.cluster->name);
      }
      if (!freeze.cluster_labels.empty() && !is_in_labelled_cluster(freeze, watches_->clusters().labels(cluster))) continue;
      bound.push_back(frozen_target(target, pipeline.ns));
    }
  }
  return bound;
}

std::vector<FrozenTarget> PromotionController::all_bound_by_name(const std::string& ns, const FreezeSpec& freeze) const {
  std::vector<FrozenTarget> all;
  for (const Key& key : pipelines_in(ns)) {
    const auto spec = json::decode<PipelineSpec>(pipelines_->get(key)["spec"], "spec", {.allow_unknown = true});
    if (spec) std::ranges::move(bound_by_name(freeze, key, *spec), std::back_inserter(all));
  }
  return all;
}

Task<Result<void>> PromotionController::record_frozen(control::Reconcile& run, const PromotionInput& input) {
  std::vector<std::pair<Key, std::vector<FrozenTarget>>> missing;
  for (const Known<FreezeSpec>& freeze : input.freezes) {
    if (!records_targets(freeze.spec, input.now.time())) continue;
    std::vector<FrozenTarget> bound = bound_by_name(freeze.spec, {input.ns, input.pipeline}, input.spec);
    std::erase_if(bound, [&](const FrozenTarget& one) {
      return std::ranges::find(freeze.spec.recorded, one) != freeze.spec.recorded.end();
    });
    if (bound.empty()) continue;
    const std::size_t slash = freeze.name.find('/');  // those of another namespace are named NAMESPACE/NAME
    const bool is_near = slash == std::string::npos;
    missing.emplace_back(
        is_near ? Key{input.ns, freeze.name} : Key{freeze.name.substr(0, slash), freeze.name.substr(slash + 1)},
        std::move(bound));
  }
  for (auto& [key, bound] : missing) SLIPWAY_CO_TRY_VOID(co_await record_targets(run, key, std::move(bound)));
  co_return Result<void>{};
}

Task<Result<void>> PromotionController::record_targets(control::Reconcile& run, Key key, std::vector<FrozenTarget> bound) {
  Status conflict;
  for (int tries = 0; tries < kMaxRecordTries; ++tries) {
    auto freeze = co_await client::get(run.client, kFreezes, key);
    if (!freeze && freeze.error().reason == Reason::NotFound) co_return Result<void>{};
    if (!freeze) co_return fail(std::move(freeze).error());
    const auto spec = json::decode<FreezeSpec>((*freeze)["spec"], "spec", {.allow_unknown = true});
    if (!spec) co_return Result<void>{};
    std::set<FrozenTarget> targets(spec->recorded.begin(), spec->recorded.end());
    for (const FrozenTarget& one : targets.empty() ? all_bound_by_name(key.ns, *spec) : bound) {
      if (targets.size() < kMaxFrozenTargets) targets.insert(one);
    }
    if (targets.size() == spec->recorded.size()) co_return Result<void>{};
    json::ArrayBuilder list;
    for (const FrozenTarget& one : targets) list.add(json::encode(one));
    const Value& metadata = (*freeze)["metadata"];
    const Value patch =
        json::object({{"metadata", json::object({{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}})},
                      {"spec", json::object({{"recordedTargets", list.build()}})}});
    auto written = co_await client::merge_patch(run.client, kFreezes, key, patch, kPromotionManager);
    if (written || written.error().reason == Reason::NotFound) co_return Result<void>{};
    if (written.error().reason != Reason::Conflict) co_return fail(std::move(written).error());
    conflict = std::move(written).error();
  }
  co_return fail(std::move(conflict));
}

}  // namespace slipway::delivery::pipeline
