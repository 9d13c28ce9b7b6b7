// The kinds batch.slipway.dev/v1alpha1 Workflow, its child WorkflowStepSet, and CronWorkflow, which starts Workflows by the
// clock: names and limits.
#pragma once

#include <cstddef>

#include "delivery/family/identity.h"
#include "json/value.h"
#include "kube/resource.h"
#include "kube/well_known.h"

namespace slipway::delivery::jobflow {

using json::Value;

inline const kube::GroupVersionKind kWorkflowKind{"batch.slipway.dev", "v1alpha1", "Workflow"};
inline const kube::GroupVersionKind kStepSetKind{"batch.slipway.dev", "v1alpha1", "WorkflowStepSet"};
inline const kube::GroupVersionKind kCronWorkflowKind{"batch.slipway.dev", "v1alpha1", "CronWorkflow"};
inline const kube::Resource kCronWorkflows{"batch.slipway.dev", "v1alpha1", "cronworkflows"};
inline const kube::Resource kWorkflows{"batch.slipway.dev", "v1alpha1", "workflows"};
inline const kube::Resource kStepSets{"batch.slipway.dev", "v1alpha1", "workflowstepsets"};
inline const kube::GroupVersionKind kJobKind{"batch", "v1", "Job"};
using kube::kJobs;

/// Who last wrote the spec of a CronWorkflow, or of a workflow that waits for objects elsewhere or creates objects: the user
/// whose rights serve for that.
inline constexpr const char* kUserName = "batch.slipway.dev/username";
inline constexpr const char* kUserGroups = "batch.slipway.dev/groups";
inline constexpr IdentityAnnotations kIdentity{.user = kUserName, .groups = kUserGroups};

inline constexpr std::size_t kMaxSteps = 20'000;
inline constexpr std::size_t kMaxStepName = 253;
inline constexpr std::size_t kMaxTemplates = 1'000;
/// More steps than this, and statuses moves to WorkflowStepSets.
inline constexpr std::size_t kMaxInlineStatuses = 1'000;
/// Entries of status.failures and status.frontier.
inline constexpr std::size_t kMaxListed = 100;
/// Bytes of a message kept in a step's status.
inline constexpr std::size_t kMaxMessage = 256;

}  // namespace slipway::delivery::jobflow
