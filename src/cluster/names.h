// Resources, labels, annotations and finalizers that the controllers of this room share.
#pragma once

#include <string>
#include <string_view>

#include "kube/resource.h"
#include "kube/well_known.h"

namespace slipway::cluster {

using kube::kClaims;
using kube::kConfigMaps;
using kube::kDefinitions;
using kube::kDeployments;
using kube::kEvents;
using kube::kJobs;
using kube::kNamespaces;
using kube::kPods;
using kube::kReplicaSets;
using kube::kSecrets;

inline const kube::Resource kNodes{"", "v1", "nodes"};
inline const kube::Resource kStatefulSets{"apps", "v1", "statefulsets"};
inline const kube::Resource kDaemonSets{"apps", "v1", "daemonsets"};
inline const kube::Resource kControllerRevisions{"apps", "v1", "controllerrevisions"};

/// Keeps a claim until no pod uses it and what is kept for it is gone.
inline constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
/// Keeps a pod until its Job has counted it.
inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

/// Annotation of a pod: how often its index has failed before (backoffLimitPerIndex).
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";

/// Go duration, how long a simulated pod runs, e.g. "12.345678s"; absent: 0.
inline constexpr std::string_view kRunTime = "slipway.dev/run-time";
/// Exit code of a simulated pod. A list such as "1,1,0" gives one code per attempt, the last one for all further ones.
inline constexpr std::string_view kExitCode = "slipway.dev/exit-code";
/// Go duration after which the containers of a simulated pod are ready, counted from their start, or "never"; absent: 0.
inline constexpr std::string_view kReadyAfter = "slipway.dev/ready-after";
/// Images, separated by commas, that a simulated pod cannot pull.
inline constexpr std::string_view kMissingImages = "slipway.dev/missing-images";
/// Which attempt a pod is, from 0: chooses from kExitCode. Set by the Job controller unless the template has it.
inline constexpr std::string_view kAttempt = "slipway.dev/attempt";

/// Label of the pods of a StatefulSet (name of the ControllerRevision) and of a DaemonSet (its hash).
inline constexpr std::string_view kRevisionHash = "controller-revision-hash";

/// Labels of the pods of a StatefulSet: their own name, their ordinal.
inline constexpr std::string_view kPodName = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";

/// The pod condition of a pod that ended by no fault of its own; podFailurePolicy may ignore it.
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
/// Reasons of that condition: the process that watched over the pod was killed; the pod was stopped together with Slipway, and
/// is replaced at no cost when that starts again.
inline constexpr std::string_view kSupervisorLost = "PodSupervisorLost";
inline constexpr std::string_view kStoppedWithSlipway = "Terminated";

/// Annotation of a ReplicaSet: cluster/replica_set_plan.h, PodNumbers.
inline constexpr std::string_view kPodNumbers = "slipway.dev/pod-numbers";

/// The first node of a cluster, and the second, which is there when there are several (server::Options::nodes).
inline constexpr std::string_view kNodeName = "local";
inline constexpr std::string_view kSecondNode = "local-2";
/// Its address: this machine as it sees itself.
inline constexpr const char* kNodeAddress = "127.0.0.1";

}  // namespace slipway::cluster
