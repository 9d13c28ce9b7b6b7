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

/// Returns the spec without its plans. Two specs that are equal in this form are one revision. A trait with only a plan is left
/// out.
Value without_plans(const Value& spec);
/// A component likewise.
Value component_without_plan(const Value& component);
/// Returns `frozen` with each of its plans replaced by the one in `live`, where `live` has one.
Value with_plans_of(Value frozen, const Value& live);
/// Component → name of its revision, for components whose name differs from what component_revision() returns.
using ComponentNames = std::map<std::string, std::string>;
/// Returns the names in a revision made before kPlanFree existed, when the plan was part of the name's hash.
ComponentNames names_with_plans(const Value& spec);
/// Returns the names recorded for `revision`, whose application has the spec `held`.
ComponentNames component_names_in(const Value& revision, const Value& held);
/// Returns the revision, not created yet, with names that it keeps from the revision before it.
Value with_component_names(Value revision, const ComponentNames& names);
/// Returns the entries of components that are equal in `held` and `spec`, apart from their plans: these keep their names.
ComponentNames names_kept(const ComponentNames& names, const Value& held, const Value& spec);
Value with_named_components(Value spec, const ComponentNames& names);
/// The plans of a spec, in one value: equal for specs with equal plans. Null when there is none.
Value plans_in(const Value& spec);
bool has_trait_plans(const Value& spec);

/// An object that rolls something out by a plan, in whatever kind.
bool has_plan(const Value& object);
/// Returns the manifest to apply over `live`. After the end of a rollout a change of its plan alone waits for the next
/// revision, except targetSize, which scales at once. `recorded` is the manifest that was applied last, or null.
Value with_due_plan(Value manifest, const Value& live, const Value& recorded);

/// Returns the faults of plans that are new or changed. A plan that edits a rollout under way is always checked. A plan that a
/// new revision begins with is checked with OnFault::Refuse; with Warn the rollout reports its faults.
std::vector<Cause> check_plans(const kube::Object& application, const kube::Object& old, const kube::FindObject& find,
                               const CheckPlan& check, OnFault on_fault);

}  // namespace slipway::delivery::application
