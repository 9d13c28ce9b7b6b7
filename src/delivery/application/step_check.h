// What admission finds out about one step of a workflow: whether its `if` is an expression over what is there, and whether its
// properties are what its definition asks for; of a policy likewise. Every fault says where in the Application it is. Pure.
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
                                    const std::string& path);
/// Of a policy of a user's type.
std::vector<Cause> check_parameters(const PolicySpec& policy, const Definition& definition, const kube::Object& application,
                                    const std::string& path);

}  // namespace slipway::delivery::application
