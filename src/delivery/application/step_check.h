// What admission finds out about one step of a workflow: whether its `if` is an expression, and whether its properties are what
// its definition asks for. Every fault says where in the Application it is. Pure.
#pragma once

#include <string>
#include <vector>

#include "delivery/application/definition.h"
#include "delivery/workflow/step.h"
#include "kube/object.h"

namespace slipway::delivery::application {

std::vector<Cause> check_condition(const workflow::Step& step, const std::string& path);
/// What is only missing passes in a step with inputs, which may bring it.
std::vector<Cause> check_parameters(const workflow::Step& step, const Definition& definition, const kube::Object& application,
                                    const std::string& path);

}  // namespace slipway::delivery::application
