// What admission would say of an Application that runs all the same, since admission only warns or is not asked: the condition
// Valid. It is looked for when a step has failed or the spec cannot be read, not for applications that do well.
#pragma once

#include <string>

#include "delivery/application/parsed.h"
#include "delivery/application/status.h"

namespace slipway::delivery::application {

/// The faults of one spec.
struct KnownFaults {
  std::string key;   // of what was looked at
  std::string text;  // empty: none
};

/// Sets the condition Valid to False, or drops it. `known` is kept by the caller: what is the same is not judged again.
void tell_faults(const kube::Object& application, const Lookup& lookup, KnownFaults& known, ApplicationStatus& status,
                 Time now);
/// The same once a step of the run, or of a group in it, has failed by an error; until then the condition is dropped.
void tell_faults_of_steps(const kube::Object& application, const Lookup& lookup, KnownFaults& known, ApplicationStatus& status,
                          Time now);

}  // namespace slipway::delivery::application
