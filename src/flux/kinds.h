// The kinds of Flux that this room knows, by name and in the versions of Flux 2.7.
#pragma once

#include "kube/resource.h"

namespace slipway::flux {

inline constexpr const char* kSourceGroup = "source.toolkit.fluxcd.io";
inline constexpr const char* kHelmGroup = "helm.toolkit.fluxcd.io";
inline constexpr const char* kKustomizeGroup = "kustomize.toolkit.fluxcd.io";
inline const kube::Resource kGitRepositories{kSourceGroup, "v1", "gitrepositories"};
inline const kube::Resource kHelmRepositories{kSourceGroup, "v1", "helmrepositories"};
inline const kube::Resource kHelmCharts{kSourceGroup, "v1", "helmcharts"};
inline const kube::Resource kOciRepositories{kSourceGroup, "v1", "ocirepositories"};
inline const kube::Resource kHelmReleases{kHelmGroup, "v2", "helmreleases"};
inline const kube::Resource kKustomizations{kKustomizeGroup, "v1", "kustomizations"};

/// The field manager of all of the source-controller.
inline constexpr const char* kSourceManager = "source-controller";
inline constexpr const char* kFinalizer = "finalizers.fluxcd.io";
/// On what a HelmRelease makes: whose it is.
inline constexpr const char* kReleaseName = "helm.toolkit.fluxcd.io/name";
inline constexpr const char* kReleaseNamespace = "helm.toolkit.fluxcd.io/namespace";
/// Followed by the name of a chart, on what has it: its versions.
inline constexpr const char* kChartVersions = "charts.slipway.dev/";
/// A new value asks for a look at once.
inline constexpr const char* kReconcileRequest = "reconcile.fluxcd.io/requestedAt";

}  // namespace slipway::flux
