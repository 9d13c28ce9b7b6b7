// The kinds of the room, by name: what Porch serves (porch.kpt.dev), what it keeps as objects (config.porch.kpt.dev), and our
// own policies (packages.slipway.dev). A package revision is one version of a folder of configuration in a Git repository.
#pragma once

#include <string_view>

#include "kube/resource.h"

namespace slipway::delivery::package {

inline constexpr std::string_view kServedGroup = "porch.kpt.dev";
inline constexpr std::string_view kConfigGroup = "config.porch.kpt.dev";
inline constexpr std::string_view kOwnGroup = "packages.slipway.dev";

// Answered by functions, never stored: content is in Git, the rest in the log.
inline const kube::GroupVersionKind kRevisionKind{"porch.kpt.dev", "v1alpha1", "PackageRevision"};
inline const kube::Resource kRevisions{"porch.kpt.dev", "v1alpha1", "packagerevisions"};
inline const kube::GroupVersionKind kResourcesKind{"porch.kpt.dev", "v1alpha1", "PackageRevisionResources"};
inline const kube::Resource kResources{"porch.kpt.dev", "v1alpha1", "packagerevisionresources"};
inline const kube::GroupVersionKind kPackageKind{"porch.kpt.dev", "v1alpha1", "PorchPackage"};
inline const kube::Resource kPackages{"porch.kpt.dev", "v1alpha1", "packages"};

// Objects.
inline const kube::GroupVersionKind kRepositoryKind{"config.porch.kpt.dev", "v1alpha1", "Repository"};
inline const kube::Resource kRepositories{"config.porch.kpt.dev", "v1alpha1", "repositories"};
inline const kube::GroupVersionKind kVariantKind{"config.porch.kpt.dev", "v1alpha1", "PackageVariant"};
inline const kube::Resource kVariants{"config.porch.kpt.dev", "v1alpha1", "packagevariants"};
inline const kube::GroupVersionKind kVariantSetKind{"config.porch.kpt.dev", "v1alpha2", "PackageVariantSet"};
inline const kube::Resource kVariantSets{"config.porch.kpt.dev", "v1alpha2", "packagevariantsets"};
inline const kube::GroupVersionKind kFunctionConfigKind{"config.porch.kpt.dev", "v1alpha1", "FunctionConfig"};
inline const kube::Resource kFunctionConfigs{"config.porch.kpt.dev", "v1alpha1", "functionconfigs"};
inline const kube::GroupVersionKind kApprovalPolicyKind{"packages.slipway.dev", "v1alpha1", "ApprovalPolicy"};
inline const kube::Resource kApprovalPolicies{"packages.slipway.dev", "v1alpha1", "approvalpolicies"};
inline const kube::GroupVersionKind kRolloutKind{"packages.slipway.dev", "v1alpha1", "PackageRollout"};
inline const kube::Resource kRollouts{"packages.slipway.dev", "v1alpha1", "packagerollouts"};
// The log's object of a revision, of the same namespace and name; only the server itself writes it.
inline const kube::GroupVersionKind kRecordKind{"packages.slipway.dev", "v1alpha1", "PackageRecord"};
inline const kube::Resource kRecords{"packages.slipway.dev", "v1alpha1", "packagerecords"};

/// Of a record: the revision whose content it was made from, which may not be deleted before it.
inline constexpr std::string_view kUpstreamField = "spec.upstreamName";

// Of Config Sync: what a cluster has of a repository.
inline const kube::GroupVersionKind kRootSyncKind{"configsync.gke.io", "v1beta1", "RootSync"};
inline const kube::Resource kRootSyncs{"configsync.gke.io", "v1beta1", "rootsyncs"};

/// The subresource through which a proposal is approved or rejected.
inline constexpr std::string_view kApproval = "approval";
/// The subresource through which conditions are written and nothing else.
inline constexpr std::string_view kStatusEndpoint = "status";
/// The subresource through which people say what they think of a proposal.
inline constexpr std::string_view kVotes = "votes";
/// "true" on the newest published revision of a package. Written by the server only.
inline constexpr std::string_view kLatestLabel = "kpt.dev/latest-revision";
/// "true": the revision is proposed as soon as it is ready (kptdev/kpt#3455).
inline constexpr std::string_view kAutoLifecycle = "config.porch.kpt.dev/auto-lifecycle-mgmt";
/// On a Repository: "enforce" or "report", what unmet gates do there.
inline constexpr std::string_view kGateMode = "packages.slipway.dev/gates";
/// "true" on a Repository whose gates only report, written last by a user who may approve. Set by admission.
inline constexpr const char* kGatesWaived = "slipway.dev/gates-waived";
/// On a PackageVariant, or the set that makes it: "replace" deletes its drafts of another upstream revision than the wanted
/// one, so that a new one can be made. Without it they stand in the way, as in Porch.
inline constexpr std::string_view kSupersededDrafts = "packages.slipway.dev/superseded-drafts";
/// Of PackageVariants: the uid of the set that made one, and the finalizer.
inline constexpr std::string_view kVariantSetLabel = "config.porch.kpt.dev/packagevariantset";
inline constexpr std::string_view kVariantFinalizer = "config.porch.kpt.dev/packagevariants";

}  // namespace slipway::delivery::package
