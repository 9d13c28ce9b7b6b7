// The plans of rollouts that an Application carries: spec.rolloutPlan, and those fields of the trait `rollout` that say how and
// not what (targetSize, rolloutBatches, batchPartition, …). A plan is not a version: a change of it makes no revision and is
// written into the rollout that is under way. Whether there is a plan belongs to the revision: one that is added or removed
// takes effect with the next. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/application/kind.h"
#include "delivery/family.h"
#include "kube/admission.h"

namespace slipway::delivery::application {

/// The trait that carries a plan.
inline constexpr const char* kRolloutTrait = "rollout";

/// A spec without its plans: what two specs must have in common to be one revision. A trait that has nothing but a plan is
/// left out.
Value without_plans(const Value& spec);
/// A component likewise.
Value component_without_plan(const Value& component);
/// `frozen`, each plan of it as it is in `live`, where that has one too.
Value with_plans_of(Value frozen, const Value& live);
/// Names of the revisions of components that are not the ones that component_revision() makes, by component.
using ComponentNames = std::map<std::string, std::string>;
/// Those of a revision of before kPlanFree, in which the plan of a component was part of its name.
ComponentNames names_with_plans(const Value& spec);
/// Those that a revision with this spec has.
ComponentNames component_names_in(const Value& revision, const Value& held);
/// The revision, to be created, with names that it keeps from the one before it.
Value with_component_names(Value revision, const ComponentNames& names);
/// Those of components that `spec` has as `held` has them, whatever their plans: what has not changed keeps its name.
ComponentNames names_kept(const ComponentNames& names, const Value& held, const Value& spec);
Value with_named_components(Value spec, const ComponentNames& names);
/// The plans of a spec, in one value: equal for specs with equal plans. Null when there is none.
Value plans_in(const Value& spec);
bool has_trait_plans(const Value& spec);

/// An object that rolls something out by a plan, in whatever kind.
bool has_plan(const Value& object);
/// What may be applied of `manifest` on `live`: after the end of a rollout a change of its plan alone waits for the next
/// revision, unless it is one of targetSize, which is a scale. `recorded` is the manifest that was applied last, or null.
Value with_due_plan(Value manifest, const Value& live, const Value& recorded);

/// What rollouts refuse of plans that are new or changed. Those under way have the last word in any case; faults of a plan
/// that a new revision is to begin with are refused or, with OnFault::Warn, left to the rollout.
std::vector<Cause> check_plans(const kube::Object& application, const kube::Object& old, const kube::FindObject& find,
                               const CheckPlan& check, OnFault on_fault);

}  // namespace slipway::delivery::application
