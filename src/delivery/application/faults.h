// What admission would say of an Application that runs all the same, since admission only warns or is not asked: the condition
// Valid. It is looked for when a step has failed or the spec cannot be read, not for applications that do well.
#pragma once

#include <string>

#include "base/env.h"
#include "delivery/application/parsed.h"
#include "delivery/application/status.h"

namespace slipway::delivery::application {

/// The faults of one spec.
struct KnownFaults {
  std::string key;   // of what was looked at
  std::string text;  // empty: none
};

/// Sets the condition Valid to False, or drops it. `known` is kept by the caller: what is the same is not judged again.
/// Computes on the compute pool, for a second at most; what was not looked at by then is left out. All arguments outlive the
/// task.
Task<> tell_faults(Env& env, const kube::Object& application, Lookup lookup, KnownFaults& known, ApplicationStatus& status);
/// The same once a step of the run, or of a group in it, has failed by an error; until then the condition is dropped.
Task<> tell_faults_of_steps(Env& env, const kube::Object& application, Lookup lookup, KnownFaults& known,
                            ApplicationStatus& status);

}  // namespace slipway::delivery::application
