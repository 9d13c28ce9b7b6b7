// The kinds of the room that users of Weave GitOps know, by name, and the annotations that lead from a workload to its
// pipeline.
#pragma once

#include <string_view>

#include "kube/resource.h"

namespace slipway::delivery::pipeline {

inline const kube::GroupVersionKind kPipelineKind{"pipelines.weave.works", "v1alpha1", "Pipeline"};
inline const kube::Resource kPipelines{"pipelines.weave.works", "v1alpha1", "pipelines"};
inline const kube::GroupVersionKind kGitopsClusterKind{"gitops.weave.works", "v1alpha1", "GitopsCluster"};
inline const kube::Resource kGitopsClusters{"gitops.weave.works", "v1alpha1", "gitopsclusters"};

/// "NAMESPACE/NAME" of a Pipeline, and the name of one of its environments.
inline constexpr std::string_view kPipelineAnnotation = "pipelines.weave.works/pipeline";
inline constexpr std::string_view kEnvironmentAnnotation = "pipelines.weave.works/environment";

}  // namespace slipway::delivery::pipeline
