#include "delivery/rollout/kinds.h"

#include "delivery/family/field_table.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/spec.h"
#include "delivery/rollout/status.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::rollout {
namespace {

template <class Spec>
json::Value crd_of(const kube::GroupVersionKind& kind, const kube::Resource& resource, std::vector<std::string> short_names,
                   std::string doc) {
  kube::CrdSpec made;
  made.group = kind.group;
  made.version = kind.version;
  made.kind = kind.kind;
  made.plural = resource.plural;
  made.short_names = std::move(short_names);
  made.categories = {"oam"};
  made.columns = {kube::column("TARGET", ".status.rolloutTargetSize", "integer"),
                  kube::column("UPGRADED", ".status.upgradedReplicas", "integer"),
                  kube::column("READY", ".status.upgradedReadyReplicas", "integer"),
                  kube::column("BATCH-STATE", ".status.batchRollingState"),
                  kube::column("ROLLING-STATE", ".status.rollingState"),
                  kube::column("AGE", ".metadata.creationTimestamp", "date")};
  made.scale = kube::ScalePaths{.spec_replicas = ".spec.rolloutPlan.targetSize",
                                .status_replicas = ".status.upgradedReplicas",
                                .label_selector = ".status.selector"};
  made.doc = std::move(doc);
  made.spec_schema = kube::open_api_schema(json::describe<Spec>());
  made.status_schema = kube::open_api_schema(json::describe<RolloutStatus>());
  return kube::make_crd(made);
}

}  // namespace

std::vector<json::Value> custom_resource_definitions() {
  return {crd_of<RolloutTraitSpec>(kTraitKind, kTraits, {}, "Rolls out a workload in place of others, in batches."),
          crd_of<RolloutSpec>(kRolloutKind, kRollouts, {"rollout"}, "Rolls out a revision of a component, in batches."),
          crd_of<AppRolloutSpec>(kAppRolloutKind, kAppRollouts, {}, "Rolls out a revision of an application, in batches.")};
}

std::string field_table() {
  const auto without_plan = [](json::Description spec) {
    std::erase_if(spec.fields, [](const json::Description& field) { return field.name == "rolloutPlan"; });
    return spec;
  };
  return delivery::field_table({{"RolloutTrait spec", without_plan(json::describe<RolloutTraitSpec>())},
                                {"Rollout spec", without_plan(json::describe<RolloutSpec>())},
                                {"AppRollout spec", without_plan(json::describe<AppRolloutSpec>())},
                                {"spec.rolloutPlan", json::describe<RolloutPlan>()},
                                {"status", json::describe<RolloutStatus>()}});
}

}  // namespace slipway::delivery::rollout
