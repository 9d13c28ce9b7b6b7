// Steps that create an object of any namespaced kind from a template. The object lives in the workflow's namespace, is owned by
// it, and is created, read and deleted with the rights of the workflow's author. Its labels and annotations name workflow, step
// and attempt; by them a later run of the controller recognises it. Each attempt has an object of its own: of a template with a
// name the object of the attempt before is deleted first, else the name is a function of workflow, step and attempt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "delivery/jobflow/external.h"
#include "delivery/jobflow/program.h"

namespace slipway::delivery::jobflow {

/// Violations in an object template at `path`. Whether a custom kind lives in namespaces is known only when it is created.
std::vector<Cause> check_object_template(const Value& object, std::string_view workflow_ns, const std::string& path);

/// Of a step that makes an object.
kube::GroupVersionKind object_kind(const Program& program, graph::StepIndex step);

/// Kind and name of the object of a step's attempt, from 1.
Reference object_reference(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt);
kube::Object make_object(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt);

/// What `object` (null: missing) means for the step: Foreign and Stale as ExternalView has them; else Reached by `until`. A
/// Workflow ends without it, another kind has Reached it by being there.
ExternalView view_object(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt,
                         const Value& object);

}  // namespace slipway::delivery::jobflow
