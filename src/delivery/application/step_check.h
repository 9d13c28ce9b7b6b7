// What admission finds out about one step of a workflow: whether its `if` is an expression over what is there, and whether its
// properties are what its definition asks for; of a policy likewise. Every fault says where in the Application it is. Pure, and
// heavy: for the compute pool.
#pragma once

#include <string>
#include <vector>

#include "delivery/application/definition.h"
#include "delivery/application/spec.h"
#include "delivery/workflow/step.h"
#include "kube/object.h"

namespace slipway::delivery::application {

/// `steps` are the names of all steps and sub-steps of the workflow.
std::vector<Cause> check_condition(const workflow::Step& step, const std::vector<std::string>& steps, const std::string& path);
/// What is only missing passes in a step with inputs, which may bring it.
std::vector<Cause> check_parameters(const workflow::Step& step, const Definition& definition, const kube::Object& application,
                                    const std::string& path, const cue::Limits& limits);
/// Of a policy of a user's type.
std::vector<Cause> check_parameters(const PolicySpec& policy, const Definition& definition, const kube::Object& application,
                                    const std::string& path, const cue::Limits& limits);
/// The first step that rolls out by traffic and has nothing that splits it; null when there is none.
const workflow::Step* step_without_traffic(const workflow::Steps& steps);
/// "spec.workflow.steps[1].properties.x: …" for what in the step at `path` has no effect, or another than the writer may
/// expect. `definition` is null for steps that the engine itself delivers components with.
std::vector<std::string> step_warnings(const workflow::Step& step, const Definition* definition, const std::string& path,
                                       const workflow::Step* without_traffic, const cue::Limits& limits);
/// "spec.policies[0].properties.x: …" for what no parameter of a policy's definition takes.
std::vector<std::string> policy_warnings(const PolicySpec& policy, const Definition& definition, const std::string& path,
                                         const cue::Limits& limits);
/// Properties that a definition has no parameter for.
std::vector<std::string> unknown_properties(const Value& properties, const Definition& definition, const cue::Limits& limits);

}  // namespace slipway::delivery::application
