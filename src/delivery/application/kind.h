// The kinds of core.oam.dev and cue.oam.dev, and the names of labels, annotations and finalizers that KubeVela's clients look
// for (kubevela/kubevela pkg/oam/labels.go).
#pragma once

#include <cstddef>

#include "delivery/family/managers.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::delivery::application {

using json::Value;

inline constexpr const char* kGroup = "core.oam.dev";
inline constexpr const char* kApiVersion = "core.oam.dev/v1beta1";
inline constexpr const char* kAlphaVersion = "core.oam.dev/v1alpha1";

inline const kube::GroupVersionKind kApplicationKind{kGroup, "v1beta1", "Application"};
inline const kube::GroupVersionKind kTrackerKind{kGroup, "v1beta1", "ResourceTracker"};
inline const kube::GroupVersionKind kRevisionKind{kGroup, "v1beta1", "ApplicationRevision"};
inline const kube::GroupVersionKind kWorkflowRunKind{kGroup, "v1alpha1", "WorkflowRun"};
inline const kube::Resource kApplications{kGroup, "v1beta1", "applications"};
inline const kube::Resource kRevisions{kGroup, "v1beta1", "applicationrevisions"};
inline const kube::Resource kTrackers{kGroup, "v1beta1", "resourcetrackers"};
inline const kube::Resource kComponentDefinitions{kGroup, "v1beta1", "componentdefinitions"};
inline const kube::Resource kTraitDefinitions{kGroup, "v1beta1", "traitdefinitions"};
inline const kube::Resource kPolicyDefinitions{kGroup, "v1beta1", "policydefinitions"};
inline const kube::Resource kStepDefinitions{kGroup, "v1beta1", "workflowstepdefinitions"};
inline const kube::Resource kWorkloadDefinitions{kGroup, "v1beta1", "workloaddefinitions"};
inline const kube::Resource kDefinitionRevisions{kGroup, "v1beta1", "definitionrevisions"};
inline const kube::Resource kPolicies{kGroup, "v1alpha1", "policies"};
inline const kube::Resource kWorkflows{kGroup, "v1alpha1", "workflows"};
inline const kube::Resource kWorkflowRuns{kGroup, "v1alpha1", "workflowruns"};

inline constexpr const char* kManager = kApplicationManager;
inline constexpr const char* kDefinitionNamespace = "vela-system";
/// The cluster that the application lives in.
inline constexpr const char* kHub = "local";

// Labels.
inline constexpr const char* kLabelName = "app.oam.dev/name";
inline constexpr const char* kLabelNamespace = "app.oam.dev/namespace";
inline constexpr const char* kLabelRevision = "app.oam.dev/appRevision";
inline constexpr const char* kLabelComponent = "app.oam.dev/component";
inline constexpr const char* kLabelCluster = "app.oam.dev/cluster";
inline constexpr const char* kLabelResourceType = "app.oam.dev/resourceType";
inline constexpr const char* kLabelWorkload = "workload.oam.dev/type";
inline constexpr const char* kLabelTrait = "trait.oam.dev/type";
inline constexpr const char* kLabelTraitResource = "trait.oam.dev/resource";
inline constexpr const char* kLabelUid = "app.oam.dev/uid";
inline constexpr const char* kLabelPause = "controller.core.oam.dev/pause";
// Annotations.
inline constexpr const char* kPublishVersion = "app.oam.dev/publishVersion";
inline constexpr const char* kAutoUpdate = "app.oam.dev/autoUpdate";
/// "true" on a revision that the plan of the application itself (spec.rolloutPlan) rolls out.
inline constexpr const char* kRolledOut = "app.oam.dev/appconfig-rollout";
/// "true" on a revision whose components' names of revisions do not depend on their plans of rollouts (rollout_plans.h).
inline constexpr const char* kPlanFree = "slipway.dev/plan-free";
/// Set by rollouts, on the workloads that they make; no application carries it.
inline constexpr const char* kCreating = "app.oam.dev/creating";
inline constexpr const char* kWorkflowName = "app.oam.dev/workflowName";
inline constexpr const char* kRestartWorkflow = "app.oam.dev/restart-workflow";
inline constexpr const char* kUserName = "app.oam.dev/username";
inline constexpr const char* kUserGroup = "app.oam.dev/group";
inline constexpr const char* kServiceAccount = "app.oam.dev/service-account-name";
/// "true": no policies but those that the application names.
inline constexpr const char* kSkipGlobalPolicies = "policy.oam.dev/skip-global";
inline constexpr const char* kForceParameters = "app.oam.dev/force-param-mutations";
/// Of a ComponentDefinition (needed_kinds.h): kinds that it cannot do without, "KIND.VERSION.GROUP, …".
inline constexpr const char* kNeedsKinds = "slipway.dev/needs-kinds";
/// Likewise: who brings the kinds of its objects. Where a cluster does not serve one yet, its components wait.
inline constexpr const char* kWaitsForKinds = "slipway.dev/waits-for-kinds";
/// Which controller may touch the object; "Disabled": none.
inline constexpr const char* kControllerRequirement = "app.oam.dev/controller-version-require";
inline constexpr const char* kRunControllerRequirement = "workflowrun.oam.dev/controller-version-require";
inline constexpr const char* kSharedBy = "app.oam.dev/shared-by";
// Finalizers.
inline constexpr const char* kFinalizer = "app.oam.dev/resource-tracker-finalizer";
inline constexpr const char* kOrphanFinalizer = "app.oam.dev/orphan-resource";
inline constexpr const char* kTrackerFinalizer = "resourcetracker.core.oam.dev/finalizer";

}  // namespace slipway::delivery::application
