// Resources, labels, annotations and finalizers that the controllers of this room share.
#pragma once

#include <string>
#include <string_view>

#include "kube/resource.h"
#include "kube/well_known.h"

namespace slipway::cluster {

using kube::kBudgets;
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
using kube::kServices;

inline const kube::Resource kCronJobs{"batch", "v1", "cronjobs"};
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

// How a simulated pod behaves, as annotations of the pod (docs/simulated-pods.md; pod_behaviour.h). Durations are Go's.

/// How long its containers run, e.g. "12.345678s"; absent: 0, or for ever under restartPolicy Always.
inline constexpr std::string_view kRunTime = "slipway.dev/run-time";
/// Its exit code, or "oom". A list such as "1,oom,0" gives one code per attempt, the last one for all further ones. With a run
/// time and restartPolicy Always it is a crash loop.
inline constexpr std::string_view kExitCode = "slipway.dev/exit-code";
/// After how long its containers are ready, counted from their start, or "never"; absent: 0.
inline constexpr std::string_view kReadyAfter = "slipway.dev/ready-after";
/// How long its containers take to start; absent: 0.
inline constexpr std::string_view kStartAfter = "slipway.dev/start-after";
/// How long it takes to end when it is deleted, within its grace period; absent: 0.
inline constexpr std::string_view kStopAfter = "slipway.dev/stop-after";
/// Images, separated by commas, that it cannot pull.
inline constexpr std::string_view kMissingImages = "slipway.dev/missing-images";
/// After how long its node falls silent, counted from its start: it is not ready from then on, and lost when it no longer
/// tolerates that (300 s, or its toleration of node.kubernetes.io/unreachable). Absent: never.
inline constexpr std::string_view kNodeLoss = "slipway.dev/node-loss";
/// Label of ConfigMaps whose entries change how running pods behave.
inline constexpr std::string_view kPodScript = "slipway.dev/pod-script";

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
