// The well-known names of Kubernetes that are too long to lie inside a value. They are shared by all documents and never freed.
// Each is stored once behind "f:", so that the field sets of managedFields (fieldsV1) find their keys here too.
#include <array>
#include <cstdint>
#include <string_view>

#include "json/layout.h"

namespace slipway::json {

namespace {

constexpr std::string_view kNames[] = {
    "f:/dev/termination-log",
    "f:BackoffLimitExceeded",
    "f:ContainersReady",
    "f:CustomResourceDefinition",
    "f:DeadlineExceeded",
    "f:DisruptionTarget",
    "f:FallbackToLogsOnError",
    "f:NamespaceDefault",
    "f:PersistentVolumeClaim",
    "f:PodReadyToStartContainers",
    "f:ReadWriteOncePod",
    "f:RollingUpdate",
    "f:SuccessfulCreate",
    "f:SuccessfulDelete",
    "f:WorkflowCreated",
    "f:WorkflowStarted",
    "f:activeDeadlineSeconds",
    "f:additionalPrinterColumns",
    "f:additionalProperties",
    "f:admissionregistration.k8s.io/v1",
    "f:allowPrivilegeEscalation",
    "f:apiextensions.k8s.io/v1",
    "f:app.kubernetes.io/component",
    "f:app.kubernetes.io/instance",
    "f:app.kubernetes.io/managed-by",
    "f:app.kubernetes.io/name",
    "f:app.kubernetes.io/part-of",
    "f:app.kubernetes.io/version",
    "f:appArmorProfile",
    "f:automountServiceAccountToken",
    "f:availableReplicas",
    "f:backoffLimitPerIndex",
    "f:batch.kubernetes.io/controller-uid",
    "f:batch.kubernetes.io/job-completion-index",
    "f:batch.kubernetes.io/job-name",
    "f:batch.kubernetes.io/job-tracking",
    "f:batch.slipway.dev/v1alpha1",
    "f:blockOwnerDeletion",
    "f:collisionCount",
    "f:completedIndexes",
    "f:completionMode",
    "f:completionTime",
    "f:concurrencyPolicy",
    "f:conditionType",
    "f:configMapKeyRef",
    "f:containerPort",
    "f:containerStatuses",
    "f:controller-uid",
    "f:coordination.k8s.io/v1",
    "f:creationTimestamp",
    "f:currentReplicas",
    "f:currentRevision",
    "f:customResourceDefinition",
    "f:default-scheduler",
    "f:deletionGracePeriodSeconds",
    "f:deletionTimestamp",
    "f:deprecatedCount",
    "f:deprecatedFirstTimestamp",
    "f:deprecatedLastTimestamp",
    "f:deprecatedSource",
    "f:deprecationWarning",
    "f:enableServiceLinks",
    "f:ephemeralContainers",
    "f:exclusiveMaximum",
    "f:exclusiveMinimum",
    "f:failedIndexes",
    "f:failedJobsHistoryLimit",
    "f:failureThreshold",
    "f:firstTimestamp",
    "f:foregroundDeletion",
    "f:fsGroupChangePolicy",
    "f:fullyLabeledReplicas",
    "f:gracePeriodSeconds",
    "f:holderIdentity",
    "f:hostnameOverride",
    "f:imagePullPolicy",
    "f:imagePullSecrets",
    "f:initContainerStatuses",
    "f:initContainers",
    "f:initialDelaySeconds",
    "f:insecureSkipTLSVerify",
    "f:internalTrafficPolicy",
    "f:involvedObject",
    "f:kube-controller-manager",
    "f:kube-scheduler",
    "f:kubectl.kubernetes.io/last-applied-configuration",
    "f:kubernetes.io/hostname",
    "f:kubernetes.io/metadata.name",
    "f:kubernetes.io/pvc-protection",
    "f:kubernetes.io/service-account-token",
    "f:labelSelector",
    "f:labelSelectorPath",
    "f:lastProbeTime",
    "f:lastScheduleTime",
    "f:lastSuccessfulTime",
    "f:lastTimestamp",
    "f:lastTransitionTime",
    "f:lastUpdateTime",
    "f:leaseDurationSeconds",
    "f:leaseTransitions",
    "f:livenessProbe",
    "f:managedFields",
    "f:manualSelector",
    "f:matchConditions",
    "f:matchExpressions",
    "f:matchLabelKeys",
    "f:maxFailedIndexes",
    "f:maxProperties",
    "f:minProperties",
    "f:minReadySeconds",
    "f:mountPropagation",
    "f:namespaceSelector",
    "f:nodeSelectorTerms",
    "f:nominatedNodeName",
    "f:numberAvailable",
    "f:numberMisscheduled",
    "f:numberUnavailable",
    "f:objectReference",
    "f:observedGeneration",
    "f:onPodConditions",
    "f:openAPIV3Schema",
    "f:ownerReferences",
    "f:patternProperties",
    "f:periodSeconds",
    "f:persistentVolumeClaim",
    "f:persistentVolumeReclaimPolicy",
    "f:podAffinityTerm",
    "f:podAntiAffinity",
    "f:podFailurePolicy",
    "f:podManagementPolicy",
    "f:podReplacementPolicy",
    "f:preemptionPolicy",
    "f:preferredDuringSchedulingIgnoredDuringExecution",
    "f:priorityClassName",
    "f:progressDeadlineSeconds",
    "f:propagationPolicy",
    "f:rbac.authorization.k8s.io/v1",
    "f:readOnlyRootFilesystem",
    "f:readinessProbe",
    "f:readyReplicas",
    "f:reportingComponent",
    "f:reportingController",
    "f:reportingInstance",
    "f:requiredDuringSchedulingIgnoredDuringExecution",
    "f:resourceClaims",
    "f:resourceFieldRef",
    "f:resourceVersion",
    "f:restartPolicy",
    "f:retryAfterSeconds",
    "f:revisionHistoryLimit",
    "f:rollingUpdate",
    "f:runtimeClassName",
    "f:schedulerName",
    "f:schedulingGates",
    "f:seLinuxOptions",
    "f:seccompProfile",
    "f:securityContext",
    "f:serviceAccount",
    "f:serviceAccountName",
    "f:sessionAffinity",
    "f:sessionAffinityConfig",
    "f:setHostnameAsFQDN",
    "f:shareProcessNamespace",
    "f:specReplicasPath",
    "f:startingDeadlineSeconds",
    "f:statusReplicasPath",
    "f:storageClassName",
    "f:storedVersions",
    "f:succeededIndexes",
    "f:successPolicy",
    "f:successThreshold",
    "f:successfulJobsHistoryLimit",
    "f:supplementalGroups",
    "f:terminatingReplicas",
    "f:terminationGracePeriodSeconds",
    "f:terminationMessagePath",
    "f:terminationMessagePolicy",
    "f:timeoutSeconds",
    "f:tolerationSeconds",
    "f:topologySpreadConstraints",
    "f:ttlSecondsAfterFinished",
    "f:unavailableReplicas",
    "f:uncountedTerminatedPods",
    "f:updateStrategy",
    "f:updatedNumberScheduled",
    "f:updatedReplicas",
    "f:volumeClaimTemplate",
    "f:volumeClaimTemplates",
    "f:volumeDevices",
    "f:whenUnsatisfiable",
    "f:x-kubernetes-embedded-resource",
    "f:x-kubernetes-group-version-kind",
    "f:x-kubernetes-int-or-string",
    "f:x-kubernetes-list-map-keys",
    "f:x-kubernetes-list-type",
    "f:x-kubernetes-map-type",
    "f:x-kubernetes-patch-merge-key",
    "f:x-kubernetes-patch-strategy",
    "f:x-kubernetes-preserve-unknown-fields",
    "f:x-kubernetes-validations",
};

constexpr std::size_t kSlots = 2048;

constexpr std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return bytes;
}

// REQUIRES: at least eight bytes.
constexpr std::size_t slot_of(std::string_view text) {
  std::uint64_t mixed = eight_bytes(text.data()) * 0x9e3779b97f4a7c15;
  mixed ^= eight_bytes(text.data() + text.size() - 8) + text.size();
  mixed *= 0xd6e8feb86659fd93;
  return (mixed >> 40) % kSlots;
}

struct Table {
  std::array<std::string_view, kSlots> slots;
  std::size_t longest = 0;

  consteval Table() {
    for (std::string_view name : kNames) {
      add(name);
      add(name.substr(2));
    }
  }
  consteval void add(std::string_view name) {
    if (name.size() <= Layout::kInlineBytes) return;
    longest = name.size() > longest ? name.size() : longest;
    std::size_t at = slot_of(name);
    while (!slots[at].empty()) at = (at + 1) % kSlots;
    slots[at] = name;
  }
};

constexpr Table kTable;

}  // namespace

std::string_view well_known_name(std::string_view text) noexcept {
  if (text.size() <= Layout::kInlineBytes || text.size() > kTable.longest) return {};
  for (std::size_t at = slot_of(text); !kTable.slots[at].empty(); at = (at + 1) % kSlots) {
    if (kTable.slots[at] == text) return kTable.slots[at];
  }
  return {};
}

}  // namespace slipway::json
