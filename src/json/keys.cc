// The well-known names of Kubernetes. Those too long to lie inside a value are shared by all documents and never freed; an
// object whose keys all stand here keeps two bytes per key. Each is stored once behind "f:", so that the field sets of
// managedFields (fieldsV1) find their keys here too: name number i has the ids 2i (with "f:") and 2i+1.
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "json/layout.h"

namespace slipway::json {

namespace {

// clang-format off
constexpr std::string_view kNames[] = {
    "f:.", "f:/dev/termination-log", "f:BackoffLimitExceeded", "f:ContainersReady", "f:CustomResourceDefinition",
    "f:DeadlineExceeded", "f:DisruptionTarget", "f:FallbackToLogsOnError", "f:NamespaceDefault", "f:PersistentVolumeClaim",
    "f:PodReadyToStartContainers", "f:ReadWriteOncePod", "f:RollingUpdate", "f:SuccessfulCreate", "f:SuccessfulDelete",
    "f:WorkflowCreated", "f:WorkflowStarted", "f:acceptedNames", "f:accessModes", "f:acquireTime", "f:action", "f:active",
    "f:activeDeadlineSeconds", "f:add", "f:additionalPrinterColumns", "f:additionalProperties", "f:addressType",
    "f:addresses", "f:admissionregistration.k8s.io/v1", "f:affinity", "f:after", "f:all", "f:allOf",
    "f:allocateLoadBalancerNodePorts", "f:allocatedResourceStatuses", "f:allocatedResources", "f:allowPrivilegeEscalation",
    "f:annotations", "f:anyOf", "f:apiGroup", "f:apiGroups", "f:apiVersion", "f:apiextensions.k8s.io/v1", "f:app",
    "f:app.kubernetes.io/component", "f:app.kubernetes.io/instance", "f:app.kubernetes.io/managed-by",
    "f:app.kubernetes.io/name", "f:app.kubernetes.io/part-of", "f:app.kubernetes.io/version", "f:appArmorProfile",
    "f:appProtocol", "f:appRef", "f:appVersion", "f:args", "f:artifact", "f:attempted", "f:attempts", "f:audience",
    "f:automountServiceAccountToken", "f:available", "f:availableReplicas", "f:awsElasticBlockStore", "f:azureDisk",
    "f:azureFile", "f:backoff", "f:backoffLimit", "f:backoffLimitPerIndex", "f:basic", "f:batch.kubernetes.io/controller-uid",
    "f:batch.kubernetes.io/job-completion-index", "f:batch.kubernetes.io/job-name", "f:batch.kubernetes.io/job-tracking",
    "f:binaryData", "f:bindMountOptions", "f:blockOwnerDeletion", "f:bound", "f:cachingMode", "f:cancelled", "f:cap",
    "f:capabilities", "f:capacity", "f:categories", "f:causes", "f:cells", "f:cephfs", "f:certificateChainPath",
    "f:chapAuthDiscovery", "f:chapAuthSession", "f:chart", "f:chartName", "f:chartRef", "f:chartVersion", "f:cidr",
    "f:cinder", "f:claimName", "f:claimRef", "f:claims", "f:clientCIDR", "f:clientIP", "f:clusterAppRef", "f:clusterIP",
    "f:clusterIPs", "f:clusterRef", "f:clusterTrustBundle", "f:code", "f:collisionCount", "f:columnDefinitions", "f:command",
    "f:complete", "f:completedIndexes", "f:completionMode", "f:completionTime", "f:completions", "f:component",
    "f:concurrencyPolicy", "f:condition", "f:conditionType", "f:conditions", "f:configDigest", "f:configMap",
    "f:configMapKeyRef", "f:configMapRef", "f:containerID", "f:containerName", "f:containerPort", "f:containerStatuses",
    "f:containers", "f:continue", "f:controller", "f:controller-uid", "f:controllerExpandSecretRef",
    "f:controllerPublishSecretRef", "f:conversion", "f:coordination.k8s.io/v1", "f:count", "f:counts", "f:cpu",
    "f:creationTimestamp", "f:credentialBundlePath", "f:csi", "f:currentHealthy", "f:currentNumberScheduled",
    "f:currentReplicas", "f:currentRevision", "f:currentVolumeAttributesClassName", "f:customResourceDefinition", "f:data",
    "f:dataSource", "f:dataSourceRef", "f:datasetName", "f:datasetUUID", "f:default", "f:default-scheduler", "f:defaultMode",
    "f:defaultUser", "f:deleteOptions", "f:deletionGracePeriodSeconds", "f:deletionTimestamp", "f:dependencies",
    "f:deployment.kubernetes.io/revision", "f:deprecatedCount", "f:deprecatedFirstTimestamp", "f:deprecatedLastTimestamp",
    "f:deprecatedSource", "f:deprecatedTopology", "f:deprecationWarning", "f:description", "f:desiredHealthy",
    "f:desiredNumberScheduled", "f:details", "f:devicePath", "f:digest", "f:directory", "f:diskName", "f:diskURI",
    "f:disruptedPods", "f:disruptionMode", "f:disruptionsAllowed", "f:divisor", "f:dnsConfig", "f:dnsPolicy", "f:downwardAPI",
    "f:drifted", "f:driver", "f:drop", "f:dryRun", "f:duration", "f:effect", "f:egress", "f:emptyDir", "f:enableServiceLinks",
    "f:endPort", "f:ended", "f:endpoints", "f:endpointsNamespace", "f:enum", "f:env", "f:envFrom", "f:environment",
    "f:environments", "f:ephemeral", "f:ephemeralContainers", "f:error", "f:eventTime", "f:events", "f:evictionResponders",
    "f:example", "f:except", "f:exclusiveMaximum", "f:exclusiveMinimum", "f:exec", "f:exitCode", "f:exitCodes",
    "f:expectedPods", "f:expirationSeconds", "f:externalDocs", "f:externalIPs", "f:externalName", "f:externalRef",
    "f:externalTrafficPolicy", "f:factor", "f:failed", "f:failedIndexes", "f:failedJobsHistoryLimit", "f:failureThreshold",
    "f:failures", "f:fc", "f:field", "f:fieldManager", "f:fieldPath", "f:fieldRef", "f:fieldsType", "f:fieldsV1",
    "f:fileKeyRef", "f:finalizers", "f:finishedAt", "f:first", "f:firstDeployed", "f:firstTimestamp", "f:flexVolume",
    "f:flocker", "f:forNodes", "f:forZones", "f:foregroundDeletion", "f:format", "f:from", "f:frontier", "f:fsGroup",
    "f:fsGroupChangePolicy", "f:fsType", "f:fullyLabeledReplicas", "f:gang", "f:gateway", "f:gcePersistentDisk",
    "f:generateName", "f:generation", "f:gitRepo", "f:globalDefault", "f:glusterfs", "f:gmsaCredentialSpec",
    "f:gmsaCredentialSpecName", "f:gracePeriodSeconds", "f:group", "f:groupVersion", "f:groups", "f:grpc",
    "f:healthCheckNodePort", "f:healthConditions", "f:healthStatus", "f:helm.sh/chart", "f:helm.toolkit.fluxcd.io/name",
    "f:helm.toolkit.fluxcd.io/namespace", "f:helmChart", "f:hints", "f:history", "f:holderIdentity", "f:host",
    "f:hostAliases", "f:hostIP", "f:hostIPC", "f:hostIPs", "f:hostNetwork", "f:hostPID", "f:hostPath", "f:hostPort",
    "f:hostProcess", "f:hostUsers", "f:hostname", "f:hostnameOverride", "f:hostnames", "f:httpGet", "f:httpHeaders", "f:id",
    "f:ignoreStoreReadErrorWithClusterBreakingPotential", "f:image", "f:imageID", "f:imagePullPolicy", "f:imagePullSecrets",
    "f:imageRef", "f:immutable", "f:indexes", "f:ingress", "f:initContainerStatuses", "f:initContainers",
    "f:initialDelaySeconds", "f:initiatorName", "f:insecureSkipTLSVerify", "f:internalTrafficPolicy", "f:interval",
    "f:inventory", "f:involvedObject", "f:ip", "f:ipBlock", "f:ipFamilies", "f:ipFamilyPolicy", "f:ipMode", "f:iqn",
    "f:iscsi", "f:iscsiInterface", "f:items", "f:job-name", "f:jobTemplate", "f:jsonPath", "f:k8s-app", "f:key", "f:keyPath",
    "f:keyType", "f:keyring", "f:kind", "f:kinds", "f:kube-controller-manager", "f:kube-scheduler",
    "f:kubectl.kubernetes.io/last-applied-configuration", "f:kubectl.kubernetes.io/restartedAt",
    "f:kubernetes.io/description", "f:kubernetes.io/hostname", "f:kubernetes.io/metadata.name",
    "f:kubernetes.io/pvc-protection", "f:kubernetes.io/service-account-token", "f:kustomize.toolkit.fluxcd.io/name",
    "f:kustomize.toolkit.fluxcd.io/namespace", "f:labelSelector", "f:labelSelectorPath", "f:labels", "f:last",
    "f:lastAppliedRevision", "f:lastAttemptedConfigDigest", "f:lastAttemptedGeneration", "f:lastAttemptedReleaseAction",
    "f:lastAttemptedRevision", "f:lastAttemptedRevisionDigest", "f:lastDeployed", "f:lastHandledReconcileAt",
    "f:lastObservedTime", "f:lastPhaseTransitionTime", "f:lastProbeTime", "f:lastReleaseRevision", "f:lastScheduleTime",
    "f:lastState", "f:lastSuccessfulTime", "f:lastTimestamp", "f:lastTransitionTime", "f:lastUpdateTime", "f:latestImage",
    "f:latestRef", "f:leaseDurationSeconds", "f:leaseTransitions", "f:level", "f:lifecycle", "f:limit", "f:limits", "f:line",
    "f:listKind", "f:livenessProbe", "f:loadBalancer", "f:loadBalancerClass", "f:loadBalancerIP",
    "f:loadBalancerSourceRanges", "f:local", "f:localhostProfile", "f:lun", "f:managedBy", "f:managedFields", "f:manager",
    "f:manualSelector", "f:matchConditions", "f:matchExpressions", "f:matchFields", "f:matchLabelKeys", "f:matchLabels",
    "f:maxExpirationSeconds", "f:maxFailedIndexes", "f:maxItems", "f:maxLength", "f:maxProperties", "f:maxSkew", "f:maxSurge",
    "f:maxUnavailable", "f:maximum", "f:medium", "f:memory", "f:message", "f:messageExpression",
    "f:meta.helm.sh/release-name", "f:meta.helm.sh/release-namespace", "f:metadata", "f:minAvailable", "f:minCount",
    "f:minDomains", "f:minItems", "f:minLength", "f:minProperties", "f:minReadySeconds", "f:minimum", "f:mismatchLabelKeys",
    "f:mode", "f:modifyVolumeStatus", "f:monitors", "f:mountOptions", "f:mountPath", "f:mountPropagation", "f:name",
    "f:names", "f:nameservers", "f:namespace", "f:namespaceSelector", "f:namespaces", "f:nfs", "f:nodeAffinity",
    "f:nodeAffinityPolicy", "f:nodeExpandSecretRef", "f:nodeName", "f:nodePort", "f:nodePublishSecretRef", "f:nodeSelector",
    "f:nodeSelectorTerms", "f:nodeStageSecretRef", "f:nodeTaintsPolicy", "f:nominatedNodeName", "f:nonResourceURLs", "f:not",
    "f:notReadyAddresses", "f:note", "f:nullable", "f:numberAvailable", "f:numberMisscheduled", "f:numberReady",
    "f:numberUnavailable", "f:object", "f:objectReference", "f:objects", "f:observedGeneration",
    "f:observedPostRenderersDigest", "f:ociDigest", "f:onExitCodes", "f:onPodConditions", "f:oneOf", "f:openAPIV3Schema",
    "f:operation", "f:operator", "f:optional", "f:optionalOldSelf", "f:options", "f:ordinals", "f:orphanDependents", "f:os",
    "f:overhead", "f:ownerReferences", "f:parallelism", "f:parameters", "f:partition", "f:path", "f:pattern",
    "f:patternProperties", "f:pdID", "f:pdName", "f:pending", "f:periodSeconds", "f:persistentVolumeClaim",
    "f:persistentVolumeClaimRetentionPolicy", "f:persistentVolumeReclaimPolicy", "f:phase", "f:photonPersistentDisk",
    "f:plural", "f:podAffinity", "f:podAffinityTerm", "f:podAntiAffinity", "f:podCertificate", "f:podFailurePolicy",
    "f:podGroupName", "f:podIP", "f:podIPs", "f:podManagementPolicy", "f:podReplacementPolicy", "f:podSelector",
    "f:policyTypes", "f:pool", "f:port", "f:portals", "f:ports", "f:portworxVolume", "f:postStart", "f:preStop",
    "f:preconditions", "f:preemptionPolicy", "f:preference", "f:preferredDuringSchedulingIgnoredDuringExecution",
    "f:preferredHolder", "f:preferredVersion", "f:prefix", "f:priority", "f:priorityClassName", "f:privileged", "f:problems",
    "f:procMount", "f:progressDeadlineSeconds", "f:projected", "f:promotion", "f:propagationPolicy", "f:properties",
    "f:protectionDomain", "f:protocol", "f:publishNotReadyAddresses", "f:pullPolicy", "f:pullRequest", "f:qosClass",
    "f:quobyte", "f:rbac.authorization.k8s.io/v1", "f:rbd", "f:readOnly", "f:readOnlyRootFilesystem", "f:readinessGates",
    "f:readinessProbe", "f:ready", "f:readyCount", "f:readyReplicas", "f:reason", "f:recursiveReadOnly", "f:ref",
    "f:reference", "f:regarding", "f:registry", "f:related", "f:release", "f:releaseName", "f:remainingItemCount",
    "f:renewTime", "f:replicas", "f:reportingComponent", "f:reportingController", "f:reportingInstance", "f:repository",
    "f:request", "f:requests", "f:required", "f:requiredDuringSchedulingIgnoredDuringExecution", "f:rerun", "f:resizePolicy",
    "f:resource", "f:resourceClaimName", "f:resourceClaimTemplateName", "f:resourceClaims", "f:resourceFieldRef",
    "f:resourceName", "f:resourceNames", "f:resourceVersion", "f:resources", "f:restartCount", "f:restartPolicy",
    "f:restartPolicyRules", "f:retry", "f:retryAfterSeconds", "f:revision", "f:revisionHistoryLimit", "f:role", "f:roleRef",
    "f:rollingUpdate", "f:rows", "f:rule", "f:rules", "f:runAsGroup", "f:runAsNonRoot", "f:runAsUser", "f:runAsUserName",
    "f:running", "f:runtimeClassName", "f:scaleIO", "f:schedule", "f:schedulerName", "f:scheduling",
    "f:schedulingConstraints", "f:schedulingGates", "f:schedulingGroup", "f:schedulingPolicy", "f:schema", "f:scheme",
    "f:scope", "f:seLinuxChangePolicy", "f:seLinuxOptions", "f:searches", "f:seccompProfile", "f:seconds", "f:secret",
    "f:secretFile", "f:secretKeyRef", "f:secretName", "f:secretNamespace", "f:secretRef", "f:secrets", "f:securityContext",
    "f:selector", "f:selfLink", "f:series", "f:served", "f:server", "f:serverAddress", "f:serverAddressByClientCIDRs",
    "f:service", "f:serviceAccount", "f:serviceAccountName", "f:serviceAccountToken", "f:serviceName", "f:serving",
    "f:sessionAffinity", "f:sessionAffinityConfig", "f:setHostnameAsFQDN", "f:shareName", "f:shareProcessNamespace",
    "f:shortNames", "f:signal", "f:signerName", "f:since", "f:single", "f:singular", "f:sizeLimit", "f:skipped", "f:sleep",
    "f:slipway.dev/content", "f:slipway.dev/exit-code", "f:slipway.dev/run-time", "f:soak", "f:source", "f:sourceRef",
    "f:sources", "f:spec", "f:specReplicasPath", "f:specified", "f:sslEnabled", "f:start", "f:startTime", "f:started",
    "f:startedAt", "f:startingDeadlineSeconds", "f:startupProbe", "f:state", "f:states", "f:status", "f:statusReplicasPath",
    "f:statuses", "f:stdin", "f:stdinOnce", "f:steps", "f:stopSignal", "f:storage", "f:storageClassName", "f:storageMode",
    "f:storagePolicyID", "f:storagePolicyName", "f:storagePool", "f:storageos", "f:storedVersions", "f:strategy",
    "f:stringData", "f:subPath", "f:subPathExpr", "f:subdomain", "f:subjects", "f:subresource", "f:subresources", "f:subsets",
    "f:succeeded", "f:succeededCount", "f:succeededIndexes", "f:successPolicy", "f:successThreshold",
    "f:successfulJobsHistoryLimit", "f:supplementalGroups", "f:supplementalGroupsPolicy", "f:suspend", "f:sysctls",
    "f:system", "f:targetContainerName", "f:targetCount", "f:targetNamespace", "f:targetPort", "f:targetPortal",
    "f:targetRef", "f:targetVolumeAttributesClassName", "f:targetWWNs", "f:targets", "f:targetsLeftOut", "f:tcpSocket",
    "f:template", "f:templates", "f:tenant", "f:terminated", "f:terminating", "f:terminatingReplicas",
    "f:terminationGracePeriodSeconds", "f:terminationMessagePath", "f:terminationMessagePolicy", "f:testHooks", "f:tier",
    "f:time", "f:timeZone", "f:timeoutSeconds", "f:times", "f:title", "f:to", "f:token", "f:tolerated", "f:tolerationSeconds",
    "f:tolerations", "f:topology", "f:topologyKey", "f:topologySpreadConstraints", "f:total", "f:trafficDistribution",
    "f:trigger", "f:triggers", "f:ttlSecondsAfterFinished", "f:tty", "f:type", "f:uid", "f:unavailableReplicas",
    "f:uncountedTerminatedPods", "f:unhealthyPodEvictionPolicy", "f:unreachable", "f:until", "f:updateRevision",
    "f:updateStrategy", "f:updatedNumberScheduled", "f:updatedReplicas", "f:url", "f:user", "f:userAnnotations", "f:value",
    "f:valueFrom", "f:values", "f:verbs", "f:version", "f:versions", "f:volume", "f:volumeAttributes",
    "f:volumeAttributesClassName", "f:volumeClaimTemplate", "f:volumeClaimTemplates", "f:volumeDevices", "f:volumeHandle",
    "f:volumeID", "f:volumeMode", "f:volumeMounts", "f:volumeName", "f:volumeNamespace", "f:volumePath", "f:volumes",
    "f:vsphereVolume", "f:waiting", "f:weight", "f:whenDeleted", "f:whenScaled", "f:whenUnsatisfiable", "f:windowsOptions",
    "f:workingDir", "f:wwids", "f:x-kubernetes-embedded-resource", "f:x-kubernetes-group-version-kind",
    "f:x-kubernetes-int-or-string", "f:x-kubernetes-list-map-keys", "f:x-kubernetes-list-type", "f:x-kubernetes-map-type",
    "f:x-kubernetes-patch-merge-key", "f:x-kubernetes-patch-strategy", "f:x-kubernetes-preserve-unknown-fields",
    "f:x-kubernetes-validations", "f:zone",
};
// clang-format on

constexpr std::size_t kSlots = 4096;
constexpr std::uint16_t kNoId = 0xffff;

static_assert(std::size(kNames) * 2 < kSlots * 3 / 4);

constexpr std::string_view text_of(std::size_t id) { return kNames[id / 2].substr(id % 2 == 0 ? 0 : 2); }

constexpr std::uint64_t eight_bytes(const char* at, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return bytes;
}

constexpr std::size_t slot_of(std::uint64_t head, std::uint64_t tail) {
  std::uint64_t mixed = (head * 0x9e3779b97f4a7c15) ^ tail;
  mixed *= 0xd6e8feb86659fd93;
  return (mixed >> 40) % kSlots;
}

// Names that lie in a value are found by the value's two words, longer ones by their first and last bytes and then the text.
struct Table {
  std::array<std::uint16_t, kSlots> short_ids, long_ids;
  std::array<std::array<std::uint64_t, 2>, std::size(kNames) * 2> words{};
  std::size_t longest = 0;

  consteval Table() {
    short_ids.fill(kNoId);
    long_ids.fill(kNoId);
    for (std::size_t id = 0; id < std::size(kNames) * 2; ++id) add(id);
  }
  consteval void add(std::size_t id) {
    const std::string_view name = text_of(id);
    longest = name.size() > longest ? name.size() : longest;
    const bool is_short = name.size() <= Layout::kInlineBytes;
    if (is_short) words[id] = Layout::short_words(name);
    auto& ids = is_short ? short_ids : long_ids;
    std::size_t at = is_short ? slot_of(words[id][0], words[id][1]) : long_slot(name);
    while (ids[at] != kNoId) at = (at + 1) % kSlots;
    ids[at] = static_cast<std::uint16_t>(id);
  }
  static constexpr std::size_t long_slot(std::string_view name) {
    return slot_of(eight_bytes(name.data(), 8), eight_bytes(name.data() + name.size() - 8, 8) + name.size());
  }
};

constexpr Table kTable;

}  // namespace

std::optional<std::uint16_t> Layout::short_name_id(std::uint64_t low, std::uint64_t high) noexcept {
  for (std::size_t at = slot_of(low, high); kTable.short_ids[at] != kNoId; at = (at + 1) % kSlots) {
    const std::uint16_t id = kTable.short_ids[at];
    if (kTable.words[id][0] == low && kTable.words[id][1] == high) return id;
  }
  return std::nullopt;
}

std::optional<std::uint16_t> Layout::long_name_id(std::string_view text) noexcept {
  if (text.size() <= kInlineBytes || text.size() > kTable.longest) return std::nullopt;
  for (std::size_t at = Table::long_slot(text); kTable.long_ids[at] != kNoId; at = (at + 1) % kSlots) {
    const std::uint16_t id = kTable.long_ids[at];
    if (text_of(id) == text) return id;
  }
  return std::nullopt;
}

std::string_view well_known_name(std::uint16_t id) noexcept { return text_of(id); }

}  // namespace slipway::json
