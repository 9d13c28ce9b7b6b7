// What the family exports to admission: defaults and checks of Workflows, pure functions of the object and the one before.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::jobflow {

/// At create: the finalizer, and the selector where there is none (the workflow's own label). At update: the selector is kept
/// when it was left out.
kube::Object mutate(const kube::Object& workflow, const kube::Object& old);

/// Every violation. At update also: the selector is immutable, what has started is pinned, a finished workflow takes only
/// `rerun`, and a rerun needs a finished workflow or a step that has ended.
std::vector<Cause> validate(const kube::Object& workflow, const kube::Object& old);

std::vector<kube::AdmissionRow> admission_rows();

/// Complete or Failed is True.
bool is_finished(const kube::Object& workflow);

}  // namespace slipway::delivery::jobflow
