// How a target stands, in the words of the oracle's lines: phase, steps, services, conditions of an Application or WorkflowRun.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace slipway::oracle_test {

using json::Value;

/// Of an Application or WorkflowRun.
std::string phase_of(const Value& target);
/// {name, type, phase, reason} of steps and sub-steps, in order; reason only where there is one.
Value steps_of(const Value& target);
/// {name, namespace, cluster, healthy, message, traits: [{type, healthy, message}]}; text only where there is some.
Value services_of(const Value& target);
/// As steps_of and services_of, from what a line says.
Value expected_steps(const Value& line);
Value expected_services(const Value& line);
const Value& conditions_of(const Value& target);
/// What must not change any more at an end.
Value digest_of(const Value& target);
/// How long a phase must have stood to count as an end.
Duration rest_of(const std::string& phase);

}  // namespace slipway::oracle_test
