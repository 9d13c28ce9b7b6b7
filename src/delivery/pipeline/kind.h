// The kinds of the room, by name: those that users of Weave GitOps know, and our own, one per right, so that RBAC says who may
// promote, approve, hold and freeze. And the annotations that lead from a workload to its pipeline.
#pragma once

#include <string>
#include <string_view>

#include "kube/resource.h"

namespace slipway::delivery::pipeline {

inline const kube::GroupVersionKind kPipelineKind{"pipelines.weave.works", "v1alpha1", "Pipeline"};
inline const kube::Resource kPipelines{"pipelines.weave.works", "v1alpha1", "pipelines"};
inline const kube::GroupVersionKind kGitopsClusterKind{"gitops.weave.works", "v1alpha1", "GitopsCluster"};
inline const kube::Resource kGitopsClusters{"gitops.weave.works", "v1alpha1", "gitopsclusters"};

inline constexpr std::string_view kOwnGroup = "pipelines.slipway.dev";
inline const kube::GroupVersionKind kReleaseKind{"pipelines.slipway.dev", "v1alpha1", "Release"};
inline const kube::Resource kReleases{"pipelines.slipway.dev", "v1alpha1", "releases"};
inline const kube::GroupVersionKind kPromotionKind{"pipelines.slipway.dev", "v1alpha1", "Promotion"};
inline const kube::Resource kPromotions{"pipelines.slipway.dev", "v1alpha1", "promotions"};
inline const kube::GroupVersionKind kApprovalKind{"pipelines.slipway.dev", "v1alpha1", "Approval"};
inline const kube::Resource kApprovals{"pipelines.slipway.dev", "v1alpha1", "approvals"};
inline const kube::GroupVersionKind kHoldKind{"pipelines.slipway.dev", "v1alpha1", "Hold"};
inline const kube::Resource kHolds{"pipelines.slipway.dev", "v1alpha1", "holds"};
inline const kube::GroupVersionKind kFreezeKind{"pipelines.slipway.dev", "v1alpha1", "Freeze"};
inline const kube::Resource kFreezes{"pipelines.slipway.dev", "v1alpha1", "freezes"};
inline const kube::GroupVersionKind kDeliveryLogKind{"pipelines.slipway.dev", "v1alpha1", "DeliveryLog"};
inline const kube::Resource kDeliveryLogs{"pipelines.slipway.dev", "v1alpha1", "deliverylogs"};

/// "NAMESPACE/NAME" or "NAME" of a Pipeline, and the name of one of its environments.
inline constexpr std::string_view kPipelineAnnotation = "pipelines.weave.works/pipeline";
inline constexpr std::string_view kEnvironmentAnnotation = "pipelines.weave.works/environment";

/// On Releases, Promotions and segments of the log, where it fits a label: the name of the Pipeline; and of the environment.
inline constexpr std::string_view kPipelineLabel = "pipelines.slipway.dev/pipeline";
inline constexpr std::string_view kEnvironmentLabel = "pipelines.slipway.dev/environment";
inline constexpr std::size_t kMostLabelBytes = 63;  // of a label's value

/// On a Pipeline: the last webhook that spoke of it, as "TIME ENVIRONMENT REVISION". A hint to look, nothing more.
inline constexpr std::string_view kHookAnnotation = "pipelines.slipway.dev/last-hook";
/// On a Pipeline: "true" lets the controller write the two annotations above on the applications of its targets.
inline constexpr std::string_view kAnnotateAnnotation = "pipelines.slipway.dev/annotate";

/// Freezes of this namespace bind the pipelines of all.
inline constexpr std::string_view kFreezesForAll = "vela-system";

/// The name under which Clusters knows the cluster of a GitopsCluster: "HOME/NAMESPACE/NAME", HOME being the cluster that the
/// object lives in; clusters that are known otherwise have no slash.
inline std::string cluster_name(std::string_view home, std::string_view ns, std::string_view name) {
  return std::string(home) + "/" + std::string(ns) + "/" + std::string(name);
}

}  // namespace slipway::delivery::pipeline
