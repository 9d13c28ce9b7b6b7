// What may be written of the kinds of pipelines, and what is filled in. Who asks for a promotion, says something of a release,
// holds or freezes is written into `by` here, over whatever was there: clients cannot say it. The rights themselves are those
// of RBAC on the kinds: to create a Promotion is to promote, an Approval to approve, a Hold to pause (to delete it is to
// resume), a Freeze to freeze. Whether a user may approve what is their own is judged by the gate, not here.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::pipeline {

/// Every violation of an object of any of the kinds by itself. What stays as it is, or is being deleted, is let alone.
std::vector<Cause> validate(const kube::Object& object, const kube::Object& old);

/// Sets spec.by to the asker and the time where the spec is new or changed, else to what it was. What the process itself writes
/// is left as it is.
kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// The pipeline, its environment, gate and release must be there; a refusal says what is.
std::vector<Cause> check_references(const kube::Object& object, const kube::Object& old, const kube::FindObject& find);

std::vector<kube::AdmissionRow> admission_rows();

}  // namespace slipway::delivery::pipeline
