// What the policy debug and the annotation workflowrun.oam.dev/debug keep: the evaluated value of each step, in a ConfigMap
// `<owner>-<step id>-debug-<last five characters of the owner's uid>`, key `debug`, where `vela debug` looks for it. A step
// that has read a Secret, or what was made from one, is left out (the engine sees to that).
#pragma once

#include <map>
#include <string>

#include "client/client.h"
#include "kube/object.h"

namespace slipway::delivery::application {

inline constexpr const char* kDebugAnnotation = "workflowrun.oam.dev/debug";

/// Writes the values, by step id, that are not there as they are.
Task<Result<void>> keep_debug_values(client::Client& client, kube::Object owner, std::map<std::string, json::Value> values,
                                     std::string manager);

}  // namespace slipway::delivery::application
