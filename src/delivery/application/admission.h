// What the family exports to admission of Applications: names that were left out, and every fault that can be known before
// anything is delivered, each with its place in what the user wrote. Definitions, shared policies and workflows are looked up
// among the objects of the cluster, the built-in definitions behind them.
#pragma once

#include <string>
#include <vector>

#include "delivery/application/kind.h"
#include "delivery/application/parsed.h"
#include "delivery/family.h"
#include "kube/admission.h"

namespace slipway::delivery::application {

/// Calls steps step-<i>, sub-steps step-<i>-<j> and policies <type>-auto-gen-<i> where they have no name.
kube::Object with_names(const kube::Object& application, const kube::Object& old);

/// "spec.components[0].traits[1]: …" for traits that go by their definitions with neither another trait nor the workload;
/// nothing comes of it.
std::vector<std::string> trait_warnings(const kube::Object& application, const kube::Object& old, const Lookup& lookup);

/// "spec.rolloutPlan: …" for a plan that nothing rolls out by.
std::vector<std::string> plan_warnings(const kube::Object& application, const kube::Object& old, const Lookup& lookup);

/// "spec.x: what is wrong with it".
std::vector<std::string> as_texts(const std::vector<Cause>& causes);

/// `definition_namespace`: of the definitions that all applications may use. Global policies are no part of what is checked.
/// `check_plan` may be empty: plans of rollouts pass.
std::vector<kube::AdmissionRow> admission_rows(OnFault on_fault, const std::string& definition_namespace = kDefinitionNamespace,
                                               CheckPlan check_plan = {});

}  // namespace slipway::delivery::application
