#include "kube/builtin_rows.h"

#include <algorithm>
#include <array>

namespace slipway::kube {
namespace {

// Columns that several kinds share.
#define SLIPWAY_POD_COLUMNS "|Containers=@template.containers; |Images=@template.images"
constexpr std::string_view kNameAge = "Name=@name; Age=@age";
constexpr std::string_view kCreatedAt = "Name=@name; Created At=.metadata.creationTimestamp";
constexpr std::string_view kReplicas =
    "Name=@name; #Desired=@count.spec.replicas; #Current=@count.status.replicas; #Ready=@count.status.readyReplicas; "
    "Age=@age; " SLIPWAY_POD_COLUMNS "; |Selector=@selector";
constexpr std::string_view kBinding =
    "Name=@name; Role=@binding.role; Age=@age; |Users=@binding.users; |Groups=@binding.groups; "
    "|ServiceAccounts=@binding.accounts";
constexpr std::string_view kEvent =
    "Last Seen=@event.last-seen; Type=.type; Reason=.reason; Object=@event.object; |Subobject=@event.subobject; "
    "|Source=@event.source; Message=@event.message; |First Seen=@event.first-seen; |#Count=@event.count; |Name=@name";
constexpr std::string_view kAutoscaler =
    "Name=@name; Reference=@hpa.reference; Targets=@hpa.targets; MinPods=@unset.spec.minReplicas; MaxPods=.spec.maxReplicas; "
    "Replicas=@count.status.currentReplicas; Age=@age";
constexpr std::string_view kWebhooks = "Name=@name; #Webhooks=@size.webhooks; Age=@age";
constexpr std::string_view kScale = ".spec.replicas .status.replicas @selector";
constexpr unsigned kStatusAndGeneration = kHasStatus | kCountsGeneration;

constexpr std::array kCore{
    BuiltinRow{"", "v1", "configmaps", "ConfigMap", "core.v1.ConfigMap", 0, "cm", "",
               "Name=@name; Data=@config.size; Age=@age"},
    BuiltinRow{"", "v1", "endpoints", "Endpoints", "core.v1.Endpoints", 0, "ep", "",
               "Name=@name; Endpoints=@endpoints.addresses; Age=@age"},
    BuiltinRow{"", "v1", "events", "Event", "core.v1.Event", 0, "ev", "", kEvent,
               "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion "
               "involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source type"},
    BuiltinRow{"", "v1", "limitranges", "LimitRange", "core.v1.LimitRange", 0, "limits", "", kCreatedAt},
    BuiltinRow{"", "v1", "namespaces", "Namespace", "core.v1.Namespace", kClusterScoped | kHasStatus, "ns", "",
               "Name=@name; Status=.status.phase; Age=@age", "status.phase"},
    BuiltinRow{"", "v1", "nodes", "Node", "core.v1.Node", kClusterScoped | kHasStatus, "no", "",
               "Name=@name; Status=@node.status; Roles=@node.roles; Age=@age; Version=.status.nodeInfo.kubeletVersion; "
               "|Internal-IP=@node.internal-ip; |External-IP=@node.external-ip; |OS-Image=@unknown.status.nodeInfo.osImage; "
               "|Kernel-Version=@unknown.status.nodeInfo.kernelVersion; "
               "|Container-Runtime=@unknown.status.nodeInfo.containerRuntimeVersion",
               "spec.unschedulable"},
    BuiltinRow{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "core.v1.PersistentVolumeClaim",
               kHasStatus | kShownWhenDeleted, "pvc", "",
               "Name=@name; Status=@claim.status; Volume=.spec.volumeName; Capacity=@claim.capacity; "
               "Access Modes=@claim.access-modes; StorageClass=.spec.storageClassName; "
               "VolumeAttributesClass=@unset.spec.volumeAttributesClassName; Age=@age; |VolumeMode=@unset.spec.volumeMode"},
    BuiltinRow{"", "v1", "persistentvolumes", "PersistentVolume", "core.v1.PersistentVolume",
               kClusterScoped | kHasStatus | kShownWhenDeleted, "pv", "",
               "Name=@name; Capacity=.spec.capacity.storage; Access Modes=@volume.access-modes; "
               "Reclaim Policy=.spec.persistentVolumeReclaimPolicy; Status=@claim.status; Claim=@volume.claim; "
               "StorageClass=.spec.storageClassName; VolumeAttributesClass=@unset.spec.volumeAttributesClassName; "
               "Reason=.status.reason; Age=@age; |VolumeMode=@unset.spec.volumeMode"},
    BuiltinRow{"", "v1", "pods", "Pod", "core.v1.Pod", kStatusAndGeneration | kShownWhenDeleted, "po", "all",
               "Name=@name; Ready=@pod.ready; Status=@pod.status; Restarts=@pod.restarts; Age=@age; "
               "|IP=@or-none.status.podIP; |Node=@or-none.spec.nodeName; |Nominated Node=@or-none.status.nominatedNodeName; "
               "|Readiness Gates=@pod.readiness-gates",
               "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase "
               "status.podIP status.podIPs status.nominatedNodeName"},
    BuiltinRow{"", "v1", "podtemplates", "PodTemplate", "core.v1.PodTemplate", kCountsGeneration | kShownWhenDeleted, "", "",
               "Name=@name; Containers=@podtemplate.containers; Images=@podtemplate.images; Pod Labels=@podtemplate.labels"},
    BuiltinRow{"", "v1", "replicationcontrollers", "ReplicationController", "core.v1.ReplicationController",
               kStatusAndGeneration, "rc", "all", kReplicas, "status.replicas", kScale},
    BuiltinRow{"", "v1", "resourcequotas", "ResourceQuota", "core.v1.ResourceQuota", kHasStatus | kShownWhenDeleted, "quota",
               "", "Name=@name; Age=@age; Request=@quota.requests; Limit=@quota.limits"},
    BuiltinRow{"", "v1", "secrets", "Secret", "core.v1.Secret", 0, "", "",
               "Name=@name; Type=.type; Data=@config.size; Age=@age", "type"},
    BuiltinRow{"", "v1", "serviceaccounts", "ServiceAccount", "core.v1.ServiceAccount", kShownWhenDeleted, "sa", "",
               "Name=@name; Secrets=@size.secrets; Age=@age"},
    BuiltinRow{"", "v1", "services", "Service", "core.v1.Service", kHasStatus | kShownWhenDeleted, "svc", "all",
               "Name=@name; Type=.spec.type; Cluster-IP=@service.cluster-ip; External-IP=@service.external-ip; "
               "Port(s)=@service.ports; Age=@age; |Selector=@selector",
               "spec.clusterIP spec.type"},
};

constexpr std::array kApps{
    BuiltinRow{"apps", "v1", "controllerrevisions", "ControllerRevision", "apps.v1.ControllerRevision", 0, "", "",
               "Name=@name; Controller=@revision.controller; #Revision=@count.revision; Age=@age"},
    BuiltinRow{"apps", "v1", "daemonsets", "DaemonSet", "apps.v1.DaemonSet", kStatusAndGeneration, "ds", "all",
               "Name=@name; #Desired=@count.status.desiredNumberScheduled; #Current=@count.status.currentNumberScheduled; "
               "#Ready=@count.status.numberReady; #Up-to-date=@count.status.updatedNumberScheduled; "
               "#Available=@count.status.numberAvailable; Node Selector=@daemonset.node-selector; "
               "Age=@age; " SLIPWAY_POD_COLUMNS "; |Selector=@selector"},
    BuiltinRow{"apps", "v1", "deployments", "Deployment", "apps.v1.Deployment", kStatusAndGeneration, "deploy", "all",
               "Name=@name; Ready=@workload.ready; Up-to-date=@count.status.updatedReplicas; "
               "Available=@count.status.availableReplicas; Age=@age; " SLIPWAY_POD_COLUMNS "; |Selector=@selector",
               "", kScale},
    BuiltinRow{"apps", "v1", "replicasets", "ReplicaSet", "apps.v1.ReplicaSet", kStatusAndGeneration, "rs", "all", kReplicas,
               "status.replicas", kScale},
    BuiltinRow{"apps", "v1", "statefulsets", "StatefulSet", "apps.v1.StatefulSet", kStatusAndGeneration, "sts", "all",
               "Name=@name; Ready=@workload.ready; Age=@age; " SLIPWAY_POD_COLUMNS, "", kScale},
};

constexpr std::array kWork{
    BuiltinRow{"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
               "autoscaling.v1.HorizontalPodAutoscaler", kHasStatus, "hpa", "all", kAutoscaler},
    BuiltinRow{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
               "autoscaling.v2.HorizontalPodAutoscaler", kHasStatus, "hpa", "all", kAutoscaler},
    BuiltinRow{"batch", "v1", "cronjobs", "CronJob", "batch.v1.CronJob", kStatusAndGeneration, "cj", "all",
               "Name=@name; Schedule=.spec.schedule; Timezone=@or-none.spec.timeZone; Suspend=@cronjob.suspend; "
               "#Active=@size.status.active; Last Schedule=@cronjob.last; Age=@age; |Containers=@cronjob.containers; "
               "|Images=@cronjob.images; |Selector=@cronjob.selector"},
    BuiltinRow{"batch", "v1", "jobs", "Job", "batch.v1.Job", kStatusAndGeneration, "", "all",
               "Name=@name; Status=@job.status; Completions=@job.completions; Duration=@job.duration; "
               "Age=@age; " SLIPWAY_POD_COLUMNS "; |Selector=@selector",
               "status.successful"},
    BuiltinRow{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "policy.v1.PodDisruptionBudget",
               kStatusAndGeneration | kNoBlindUpdate, "pdb", "",
               "Name=@name; Min Available=@n/a.spec.minAvailable; Max Unavailable=@n/a.spec.maxUnavailable; "
               "#Allowed Disruptions=@count.status.disruptionsAllowed; Age=@age"},
    BuiltinRow{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "scheduling.v1.PriorityClass",
               kClusterScoped | kCountsGeneration, "pc", "",
               "Name=@name; #Value=@count.value; ?Global-Default=@bool.globalDefault; Age=@age"},
    BuiltinRow{"coordination.k8s.io", "v1", "leases", "Lease", "coordination.v1.Lease", kNoBlindUpdate, "", "",
               "Name=@name; Holder=.spec.holderIdentity; Age=@age"},
    BuiltinRow{"events.k8s.io", "v1", "events", "Event", "events.v1.Event", 0, "ev", "", kEvent,
               "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion "
               "regarding.resourceVersion regarding.fieldPath reason reportingController type"},
    BuiltinRow{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", "node.v1.RuntimeClass", kClusterScoped | kNoBlindUpdate,
               "", "", "Name=@name; Handler=.handler; Age=@age"},
};

constexpr std::array kNetwork{
    BuiltinRow{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "discovery.v1.EndpointSlice", kCountsGeneration, "",
               "", "Name=@name; AddressType=.addressType; Ports=@slice.ports; Endpoints=@slice.endpoints; Age=@age"},
    BuiltinRow{"networking.k8s.io", "v1", "ingressclasses", "IngressClass", "networking.v1.IngressClass",
               kClusterScoped | kCountsGeneration, "", "",
               "Name=@name; Controller=.spec.controller; Parameters=@ingressclass.parameters; Age=@age"},
    BuiltinRow{"networking.k8s.io", "v1", "ingresses", "Ingress", "networking.v1.Ingress", kStatusAndGeneration, "ing", "",
               "Name=@name; Class=@ingress.class; Hosts=@ingress.hosts; Address=@ingress.addresses; Ports=@ingress.ports; "
               "Age=@age"},
    BuiltinRow{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "networking.v1.NetworkPolicy", kCountsGeneration,
               "netpol", "", "Name=@name; Pod-Selector=@policy.selector; Age=@age"},
};

constexpr std::array kRights{
    BuiltinRow{"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest",
               "certificates.v1.CertificateSigningRequest", kClusterScoped | kHasStatus, "csr", "",
               "Name=@name; Age=@age; SignerName=.spec.signerName; Requestor=.spec.username; "
               "RequestedDuration=@request.duration; Condition=@request.condition",
               "spec.signerName"},
    BuiltinRow{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", "rbac.v1.ClusterRoleBinding",
               kClusterScoped, "", "", kBinding},
    BuiltinRow{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", "rbac.v1.ClusterRole", kClusterScoped, "", "",
               kCreatedAt},
    BuiltinRow{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", "rbac.v1.RoleBinding", 0, "", "", kBinding},
    BuiltinRow{"rbac.authorization.k8s.io", "v1", "roles", "Role", "rbac.v1.Role", 0, "", "", kCreatedAt},
};

constexpr std::array kExtension{
    BuiltinRow{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
               "admissionregistration.v1.MutatingWebhookConfiguration", kClusterScoped | kCountsGeneration | kNoBlindUpdate, "",
               "api-extensions", kWebhooks},
    BuiltinRow{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
               "admissionregistration.v1.ValidatingWebhookConfiguration", kClusterScoped | kCountsGeneration | kNoBlindUpdate,
               "", "api-extensions", kWebhooks},
    BuiltinRow{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
               "apiextensions.v1.CustomResourceDefinition", kClusterScoped | kHasStatus | kCountsGeneration | kNoBlindUpdate,
               "crd crds", "api-extensions", kCreatedAt},
};

constexpr std::array kStorage{
    BuiltinRow{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", "storage.v1.CSIDriver",
               kClusterScoped | kCountsGeneration | kNoBlindUpdate | kShownWhenDeleted, "", "",
               "Name=@name; ?AttachRequired=@bool.spec.attachRequired; ?PodInfoOnMount=@bool.spec.podInfoOnMount; "
               "?StorageCapacity=@bool.spec.storageCapacity; TokenRequests=@driver.audiences; "
               "?RequiresRepublish=@bool.spec.requiresRepublish; Modes=@driver.modes; Age=@age"},
    BuiltinRow{"storage.k8s.io", "v1", "csinodes", "CSINode", "storage.v1.CSINode",
               kClusterScoped | kNoBlindUpdate | kShownWhenDeleted, "", "",
               "Name=@name; #Drivers=@size.spec.drivers; Age=@age"},
    BuiltinRow{"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", "storage.v1.CSIStorageCapacity", 0, "", "",
               kNameAge},
    BuiltinRow{"storage.k8s.io", "v1", "storageclasses", "StorageClass", "storage.v1.StorageClass",
               kClusterScoped | kShownWhenDeleted, "sc", "",
               "Name=@storageclass.name; Provisioner=.provisioner; ReclaimPolicy=.reclaimPolicy; "
               "VolumeBindingMode=.volumeBindingMode; ?AllowVolumeExpansion=@bool.allowVolumeExpansion; Age=@age"},
};

#undef SLIPWAY_POD_COLUMNS

template <class... Tables>
constexpr auto joined(const Tables&... tables) {
  std::array<BuiltinRow, (std::tuple_size_v<Tables> + ...)> all{};
  std::size_t at = 0;
  const auto take = [&](const auto& table) {
    for (const BuiltinRow& row : table) all[at++] = row;
  };
  (take(tables), ...);
  return all;
}

}  // namespace

std::span<const BuiltinRow> builtin_rows() {
  static constexpr auto kAll = joined(kCore, kApps, kWork, kNetwork, kRights, kExtension, kStorage);
  return kAll;
}

bool is_shown_when_deleted(std::string_view group, std::string_view kind) {
  return std::ranges::any_of(builtin_rows(), [&](const BuiltinRow& row) {
    return row.group == group && row.kind == kind && (row.traits & kShownWhenDeleted) != 0;
  });
}

}  // namespace slipway::kube
