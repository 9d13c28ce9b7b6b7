// Makes src/kube/builtin_schema.inc: the field tables of built-in kinds, as one line of compact JSON per type, without
// upstream's sentences. Three facts files are joined: an OpenAPI v2 document (types, formats, merge keys, enums), the schema of
// structured-merge-diff (list and map types, defaults, fields newer than the OpenAPI document), and what tools/type_facts reads
// in the types of the release that is served: which fields there are, what documents call required, list types,
// which zero values are not stored. To widen the set, add a kind.
//
//   gen_builtin --openapi v2.json --types types.json [--enums v2-with-enums.json] [--merge smd.yaml] KIND...
//       > src/kube/builtin_schema.inc
//   KIND: io.k8s.api.core.v1.Pod
//
// Beside OpenAPI's own words a node may have: x-slipway-empty-is-absent (kube/schema_node.h), x-slipway-omits-zero
// (kube/stored_form.h), x-slipway-micro (a time with microseconds), x-slipway-required and x-slipway-format (what documents
// say where the server enforces less).
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/text.h"

namespace {

using slipway::json::ArrayBuilder;
using slipway::json::ObjectBuilder;
using slipway::json::Value;

constexpr std::string_view kPatchStrategy = "x-kubernetes-patch-strategy";

/// Types with a meaning of their own, given as the schema that stands for them.
struct Special {
  std::string_view name;
  std::string_view schema;
};
constexpr std::array kSpecials{
    Special{"meta.v1.Time", R"({"type":"string","format":"date-time"})"},
    Special{"meta.v1.MicroTime", R"({"type":"string","format":"date-time","x-slipway-micro":true})"},
    Special{"api.resource.Quantity", R"({"format":"quantity"})"},
    Special{"util.intstr.IntOrString", R"({"x-kubernetes-int-or-string":true})"},
    Special{"runtime.RawExtension", R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"},
    Special{"meta.v1.FieldsV1", R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"},
    Special{"apiextensions.v1.JSON", R"({"x-kubernetes-preserve-unknown-fields":true,"nullable":true})"},
    Special{"apiextensions.v1.JSONSchemaPropsOrArray", R"({"x-kubernetes-preserve-unknown-fields":true})"},
    Special{"apiextensions.v1.JSONSchemaPropsOrBool", R"({"x-kubernetes-preserve-unknown-fields":true})"},
    Special{"apiextensions.v1.JSONSchemaPropsOrStringArray", R"({"x-kubernetes-preserve-unknown-fields":true})"},
};

/// Defaults that hold whatever else the object says. Those that depend on other fields are rules of the server.
struct Default {
  std::string_view type;
  std::string_view field;
  std::string_view value;
};
constexpr std::array kDefaults{
    Default{"core.v1.PodSpec", "restartPolicy", R"("Always")"},
    Default{"core.v1.PodSpec", "terminationGracePeriodSeconds", "30"},
    Default{"core.v1.PodSpec", "dnsPolicy", R"("ClusterFirst")"},
    Default{"core.v1.PodSpec", "schedulerName", R"("default-scheduler")"},
    Default{"core.v1.PodSpec", "securityContext", "{}"},
    Default{"core.v1.Container", "terminationMessagePath", R"("/dev/termination-log")"},
    Default{"core.v1.Container", "terminationMessagePolicy", R"("File")"},
    Default{"core.v1.Container", "resources", "{}"},
    Default{"core.v1.ContainerPort", "protocol", R"("TCP")"},
    Default{"core.v1.ServicePort", "protocol", R"("TCP")"},
    Default{"core.v1.Probe", "timeoutSeconds", "1"},
    Default{"core.v1.Probe", "periodSeconds", "10"},
    Default{"core.v1.Probe", "successThreshold", "1"},
    Default{"core.v1.Probe", "failureThreshold", "3"},
    Default{"core.v1.HTTPGetAction", "path", R"("/")"},
    Default{"core.v1.HTTPGetAction", "scheme", R"("HTTP")"},
    Default{"core.v1.SecretVolumeSource", "defaultMode", "420"},
    Default{"core.v1.ConfigMapVolumeSource", "defaultMode", "420"},
    Default{"core.v1.DownwardAPIVolumeSource", "defaultMode", "420"},
    Default{"core.v1.ProjectedVolumeSource", "defaultMode", "420"},
    Default{"core.v1.ServiceAccountTokenProjection", "expirationSeconds", "3600"},
    Default{"core.v1.ObjectFieldSelector", "apiVersion", R"("v1")"},
    Default{"core.v1.Secret", "type", R"("Opaque")"},
    Default{"core.v1.PersistentVolumeClaimSpec", "volumeMode", R"("Filesystem")"},
    Default{"core.v1.PersistentVolumeSpec", "volumeMode", R"("Filesystem")"},
    Default{"core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy", R"("Retain")"},
    Default{"core.v1.HostPathVolumeSource", "type", R"("")"},
    Default{"core.v1.GRPCAction", "service", R"("")"},
    Default{"core.v1.EndpointPort", "protocol", R"("TCP")"},
    Default{"core.v1.ServiceSpec", "type", R"("ClusterIP")"},
    Default{"core.v1.ServiceSpec", "sessionAffinity", R"("None")"},
    Default{"core.v1.ReplicationControllerSpec", "replicas", "1"},
    Default{"apps.v1.DeploymentSpec", "replicas", "1"},
    Default{"apps.v1.DeploymentSpec", "progressDeadlineSeconds", "600"},
    Default{"apps.v1.DeploymentSpec", "revisionHistoryLimit", "10"},
    Default{"apps.v1.DeploymentSpec", "strategy", "{}"},
    Default{"apps.v1.DeploymentStrategy", "type", R"("RollingUpdate")"},
    Default{"apps.v1.RollingUpdateDeployment", "maxUnavailable", R"("25%")"},
    Default{"apps.v1.RollingUpdateDeployment", "maxSurge", R"("25%")"},
    Default{"apps.v1.ReplicaSetSpec", "replicas", "1"},
    Default{"apps.v1.StatefulSetSpec", "replicas", "1"},
    Default{"apps.v1.StatefulSetSpec", "podManagementPolicy", R"("OrderedReady")"},
    Default{"apps.v1.StatefulSetSpec", "revisionHistoryLimit", "10"},
    Default{"apps.v1.StatefulSetSpec", "updateStrategy", R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"},
    Default{"apps.v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy", "{}"},
    Default{"apps.v1.StatefulSetUpdateStrategy", "type", R"("RollingUpdate")"},
    Default{"apps.v1.RollingUpdateStatefulSetStrategy", "partition", "0"},
    Default{"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", R"("Retain")"},
    Default{"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", R"("Retain")"},
    Default{"apps.v1.DaemonSetSpec", "revisionHistoryLimit", "10"},
    Default{"apps.v1.DaemonSetSpec", "updateStrategy", "{}"},
    Default{"apps.v1.DaemonSetUpdateStrategy", "type", R"("RollingUpdate")"},
    Default{"apps.v1.RollingUpdateDaemonSet", "maxUnavailable", "1"},
    Default{"apps.v1.RollingUpdateDaemonSet", "maxSurge", "0"},
    Default{"batch.v1.CronJobSpec", "concurrencyPolicy", R"("Allow")"},
    Default{"batch.v1.CronJobSpec", "suspend", "false"},
    Default{"batch.v1.CronJobSpec", "successfulJobsHistoryLimit", "3"},
    Default{"batch.v1.CronJobSpec", "failedJobsHistoryLimit", "1"},
    Default{"batch.v1.PodFailurePolicyOnPodConditionsPattern", "status", R"("True")"},
    Default{"networking.v1.NetworkPolicyPort", "protocol", R"("TCP")"},
    Default{"networking.v1.NetworkPolicySpec", "podSelector", "{}"},
    Default{"networking.v1.IngressClassParametersReference", "scope", R"("Cluster")"},
    Default{"discovery.v1.EndpointPort", "name", R"("")"},
    Default{"discovery.v1.EndpointPort", "protocol", R"("TCP")"},
    Default{"autoscaling.v1.HorizontalPodAutoscalerSpec", "minReplicas", "1"},
    Default{"autoscaling.v2.HorizontalPodAutoscalerSpec", "minReplicas", "1"},
    Default{"scheduling.v1.PriorityClass", "preemptionPolicy", R"("PreemptLowerPriority")"},
    Default{"storage.v1.StorageClass", "reclaimPolicy", R"("Delete")"},
    Default{"storage.v1.StorageClass", "volumeBindingMode", R"("Immediate")"},
    Default{"storage.v1.CSIDriverSpec", "attachRequired", "true"},
    Default{"storage.v1.CSIDriverSpec", "podInfoOnMount", "false"},
    Default{"storage.v1.CSIDriverSpec", "storageCapacity", "false"},
    Default{"storage.v1.CSIDriverSpec", "fsGroupPolicy", R"("ReadWriteOnceWithFSType")"},
    Default{"storage.v1.CSIDriverSpec", "requiresRepublish", "false"},
    Default{"storage.v1.CSIDriverSpec", "seLinuxMount", "false"},
    Default{"storage.v1.CSIDriverSpec", "volumeLifecycleModes", R"(["Persistent"])"},
    Default{"rbac.v1.RoleRef", "apiGroup", R"("rbac.authorization.k8s.io")"},
    Default{"admissionregistration.v1.MutatingWebhook", "failurePolicy", R"("Fail")"},
    Default{"admissionregistration.v1.MutatingWebhook", "matchPolicy", R"("Equivalent")"},
    Default{"admissionregistration.v1.MutatingWebhook", "namespaceSelector", "{}"},
    Default{"admissionregistration.v1.MutatingWebhook", "objectSelector", "{}"},
    Default{"admissionregistration.v1.MutatingWebhook", "timeoutSeconds", "10"},
    Default{"admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", R"("Never")"},
    Default{"admissionregistration.v1.ValidatingWebhook", "failurePolicy", R"("Fail")"},
    Default{"admissionregistration.v1.ValidatingWebhook", "matchPolicy", R"("Equivalent")"},
    Default{"admissionregistration.v1.ValidatingWebhook", "namespaceSelector", "{}"},
    Default{"admissionregistration.v1.ValidatingWebhook", "objectSelector", "{}"},
    Default{"admissionregistration.v1.ValidatingWebhook", "timeoutSeconds", "10"},
    Default{"admissionregistration.v1.RuleWithOperations", "scope", R"("*")"},
    Default{"admissionregistration.v1.ServiceReference", "port", "443"},
};

/// Enums that the facts files do not have: the value is the list.
constexpr std::array kNewEnums{
    Default{"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", R"(["Delete","Retain"])"},
    Default{"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", R"(["Delete","Retain"])"},
    Default{"core.v1.PersistentVolumeSpec", "volumeMode", R"(["Block","Filesystem"])"},
    Default{"core.v1.ServiceSpec", "internalTrafficPolicy", R"(["Cluster","Local"])"},
    Default{"core.v1.ServiceSpec", "ipFamilyPolicy", R"(["PreferDualStack","RequireDualStack","SingleStack"])"},
    Default{"discovery.v1.EndpointPort", "protocol", R"(["SCTP","TCP","UDP"])"},
    Default{"networking.v1.NetworkPolicyPort", "protocol", R"(["SCTP","TCP","UDP"])"},
    Default{"policy.v1.PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy", R"(["AlwaysAllow","IfHealthyBudget"])"},
    Default{"scheduling.v1.PriorityClass", "preemptionPolicy", R"(["Never","PreemptLowerPriority"])"},
    Default{"storage.v1.StorageClass", "reclaimPolicy", R"(["Delete","Retain"])"},
    Default{"storage.v1.StorageClass", "volumeBindingMode", R"(["Immediate","WaitForFirstConsumer"])"},
    Default{"storage.v1.CSIDriverSpec", "fsGroupPolicy", R"(["File","None","ReadWriteOnceWithFSType"])"},
    Default{"admissionregistration.v1.MutatingWebhook", "failurePolicy", R"(["Fail","Ignore"])"},
    Default{"admissionregistration.v1.MutatingWebhook", "matchPolicy", R"(["Equivalent","Exact"])"},
    Default{"admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", R"(["IfNeeded","Never"])"},
    Default{"admissionregistration.v1.MutatingWebhook", "sideEffects", R"(["None","NoneOnDryRun"])"},
    Default{"admissionregistration.v1.ValidatingWebhook", "failurePolicy", R"(["Fail","Ignore"])"},
    Default{"admissionregistration.v1.ValidatingWebhook", "matchPolicy", R"(["Equivalent","Exact"])"},
    Default{"admissionregistration.v1.ValidatingWebhook", "sideEffects", R"(["None","NoneOnDryRun"])"},
    Default{"admissionregistration.v1.RuleWithOperations", "scope", R"(["*","Cluster","Namespaced"])"},
};

/// Fields that the document calls required because Go always writes them: the server takes an object without them, or its own
/// rules for the kind speak about them in their own words. "*" is every field of the type.
struct Unrequired {
  std::string_view type;
  std::string_view fields;  // one, or "*"
};
constexpr std::array kUnrequired{
    Unrequired{"apps.v1.ControllerRevision", "revision"},
    Unrequired{"apps.v1.DaemonSetSpec", "*"},
    Unrequired{"apps.v1.DeploymentSpec", "*"},
    Unrequired{"apps.v1.ReplicaSetSpec", "*"},
    Unrequired{"apps.v1.StatefulSetSpec", "*"},
    Unrequired{"authentication.v1.TokenRequest", "*"},
    Unrequired{"authentication.v1.TokenRequestSpec", "*"},
    Unrequired{"authentication.v1.TokenReview", "*"},
    Unrequired{"authorization.v1.LocalSubjectAccessReview", "*"},
    Unrequired{"authorization.v1.NonResourceRule", "*"},
    Unrequired{"authorization.v1.ResourceRule", "*"},
    Unrequired{"authorization.v1.SelfSubjectAccessReview", "*"},
    Unrequired{"authorization.v1.SelfSubjectRulesReview", "*"},
    Unrequired{"authorization.v1.SubjectAccessReview", "*"},
    Unrequired{"autoscaling.v1.HorizontalPodAutoscalerSpec", "*"},
    Unrequired{"autoscaling.v1.CrossVersionObjectReference", "*"},
    Unrequired{"autoscaling.v2.HPAScalingPolicy", "*"},
    Unrequired{"autoscaling.v2.HorizontalPodAutoscalerSpec", "*"},
    Unrequired{"autoscaling.v2.CrossVersionObjectReference", "*"},
    Unrequired{"autoscaling.v2.MetricSpec", "*"},
    Unrequired{"batch.v1.CronJobSpec", "*"},
    Unrequired{"batch.v1.JobSpec", "*"},
    Unrequired{"core.v1.AttachedVolume", "*"},
    Unrequired{"core.v1.Binding", "*"},
    Unrequired{"core.v1.DaemonEndpoint", "*"},
    Unrequired{"core.v1.EndpointPort", "*"},
    Unrequired{"core.v1.Event", "*"},
    Unrequired{"core.v1.HTTPHeader", "value"},
    Unrequired{"core.v1.ISCSIPersistentVolumeSource", "lun"},
    Unrequired{"core.v1.ISCSIVolumeSource", "lun"},
    Unrequired{"core.v1.LimitRangeSpec", "*"},
    Unrequired{"core.v1.NodeAddress", "*"},
    Unrequired{"core.v1.NodeSystemInfo", "*"},
    Unrequired{"core.v1.PersistentVolumeClaimTemplate", "*"},
    Unrequired{"core.v1.PreferredSchedulingTerm", "*"},
    Unrequired{"core.v1.ServicePort", "*"},
    Unrequired{"core.v1.Sysctl", "value"},
    Unrequired{"core.v1.TopologySpreadConstraint", "*"},
    Unrequired{"core.v1.WeightedPodAffinityTerm", "*"},
    Unrequired{"discovery.v1.Endpoint", "*"},
    Unrequired{"discovery.v1.EndpointSlice", "endpoints"},
    Unrequired{"events.v1.Event", "*"},
    Unrequired{"events.v1.EventSeries", "*"},
    Unrequired{"networking.v1.HTTPIngressPath", "*"},
    Unrequired{"networking.v1.NetworkPolicySpec", "*"},
    Unrequired{"rbac.v1.ClusterRoleBinding", "*"},
    Unrequired{"rbac.v1.PolicyRule", "*"},
    Unrequired{"rbac.v1.RoleBinding", "*"},
    Unrequired{"rbac.v1.RoleRef", "*"},
    Unrequired{"rbac.v1.Subject", "*"},
    Unrequired{"scheduling.v1.PriorityClass", "value"},
    Unrequired{"storage.v1.CSIDriver", "spec"},
    Unrequired{"storage.v1.CSINode", "spec"},
    Unrequired{"storage.v1.CSINodeSpec", "*"},
    Unrequired{"storage.v1.TokenRequest", "*"},
};

/// Enum values newer than the facts files.
constexpr std::array kNewEnumValues{
    Default{"batch.v1.PodFailurePolicyRule", "action", R"("FailIndex")"},
    Default{"core.v1.ScopedResourceSelectorRequirement", "scopeName", R"("VolumeAttributesClass")"},
};

/// Fields newer than the facts files: the value is their schema.
constexpr std::array kNewFields{
    Default{
        "apiextensions.v1.CustomResourceDefinitionVersion", "selectableFields",
        R"({"type":"array","items":{"type":"object","required":["jsonPath"],"properties":{"jsonPath":{"type":"string"}}}})"},
    Default{"apiextensions.v1.ValidationRule", "fieldPath", R"({"type":"string"})"},
    Default{"apiextensions.v1.ValidationRule", "optionalOldSelf", R"({"type":"boolean"})"},
    Default{"apiextensions.v1.ValidationRule", "reason", R"({"type":"string"})"},
    Default{
        "authorization.v1.ResourceAttributes", "fieldSelector",
        R"({"type":"object","properties":{"rawSelector":{"type":"string"},"requirements":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"object","required":["key","operator"],"properties":{"key":{"type":"string"},"operator":{"type":"string"},"values":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}}}}}}})"},
    Default{
        "authorization.v1.ResourceAttributes", "labelSelector",
        R"({"type":"object","properties":{"rawSelector":{"type":"string"},"requirements":{"type":"array","x-kubernetes-list-type":"atomic","items":{"$ref":"meta.v1.LabelSelectorRequirement"}}}})"},
};

std::string short_name(std::string_view name) {
  for (const std::string_view prefix : {"#/definitions/", "io.k8s.api.", "io.k8s.apimachinery.pkg.apis.",
                                        "io.k8s.apiextensions-apiserver.pkg.apis.", "io.k8s.apimachinery.pkg."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return std::string(name);
}

Value parsed(std::string_view text) { return slipway::json::parse(text).value(); }

/// Status is written by controllers and never refused for a missing field.
bool is_status_type(std::string_view name) {
  return name.ends_with("Status") || name.ends_with("Condition") || name.find(".ContainerState") != std::string_view::npos;
}

class Generator {
 public:
  Generator(const Value& openapi, const Value& enums, const Value& merge, const Value& release) : release_(release) {
    for (const auto [name, type] : openapi["definitions"].members()) types_[short_name(name)] = type;
    for (const auto [name, type] : enums["definitions"].members()) enums_[short_name(name)] = type;
    for (const Value& type : merge["types"].items()) merges_[short_name(type["name"].as_string())] = type;
  }

  bool add(const std::string& name) {
    if (!types_.contains(name) && !merges_.contains(name)) return false;
    reach(name);
    return true;
  }

  std::string lines() {
    std::string out;
    while (!pending_.empty()) {
      const std::string name = *pending_.begin();
      pending_.erase(pending_.begin());
      done_[name] = slipway::json::print(type(name));
    }
    for (const auto& [name, text] : done_) out += (out.empty() ? "{\"" : ",\n\"") + name + "\":" + text;
    return out + "}\n";
  }

 private:
  void reach(const std::string& name) {
    if (!seen_.insert(name).second) return;
    pending_.insert(name);
  }

  Value reference(std::string_view full_name) {
    const std::string name = short_name(full_name);
    for (const Special& one : kSpecials) {
      if (one.name == name) return parsed(one.schema);
    }
    reach(name);
    return slipway::json::object({{"$ref", name}});
  }

  Value type(const std::string& name) {
    const Value& facts = types_[name];
    const Value& map = merges_[name]["map"];
    ObjectBuilder out;
    out.add("type", "object");
    if (map["elementRelationship"].as_string() == "atomic" || facts["x-kubernetes-map-type"].as_string() == "atomic") {
      out.add("x-kubernetes-map-type", "atomic");
    }
    const Value required = is_status_type(name) ? Value() : enforced(name, facts["required"]);
    if (!required.empty()) out.add("required", required);
    const Value& known = release_[name];
    const auto is_of_release = [&](std::string_view field) { return !known.is_object() || known.has(field); };
    std::map<std::string, Value> fields;
    for (const auto [field, schema] : facts["properties"].members()) {
      if (is_of_release(field)) fields[std::string(field)] = from_openapi(schema);
    }
    for (const Value& field : map["fields"].items()) {
      if (!is_of_release(field["name"].as_string())) continue;
      Value& one = fields[field["name"].str()];
      one = joined(one, field);
    }
    for (const Default& one : kNewFields) {
      if (one.type == name) fields.try_emplace(std::string(one.field), parsed(one.value));
    }
    for (auto& [field, schema] : fields) add_facts(name, field, schema, facts["required"]);
    for (auto& [field, schema] : fields) {
      schema = of_release(schema, known[field]);
      if (omits_zero(name, field, known[field])) schema = schema.with("x-slipway-omits-zero", true);
      if (is_exact_time(name, schema)) schema = schema.with("x-slipway-micro", true);
    }
    if (const Value documented = documented_fields(known, fields); !documented.empty() && documented != sorted(required)) {
      out.set("x-slipway-required", documented);
    }
    ObjectBuilder properties;
    for (const auto& [field, schema] : fields) properties.add(field, schema);
    out.add("properties", properties.build());
    return out.build();
  }

  static Value sorted(const Value& names) {
    std::vector<Value> all(names.items().begin(), names.items().end());
    std::ranges::sort(all, [](const Value& left, const Value& right) { return left.as_string() < right.as_string(); });
    return slipway::json::array(all);
  }

  /// The fields that documents of the release call required; null when there are none.
  static Value documented_fields(const Value& known, const std::map<std::string, Value>& fields) {
    ArrayBuilder out;
    for (const auto& [field, schema] : fields) {
      if (known[field]["required"].as_bool()) out.add(field);
    }
    return out.empty() ? Value() : out.build();
  }

  /// DIVERGES: the times of containers are kept to the microsecond; their documents say Time, as upstream's.
  static bool is_exact_time(std::string_view type, const Value& schema) {
    return type.starts_with("core.v1.ContainerState") && schema["format"].as_string() == "date-time";
  }

  /// An empty list of managed fields asks to forget all owners: it must reach those who read it.
  static bool omits_zero(std::string_view type, std::string_view field, const Value& facts) {
    return facts["omits"].as_bool() && !(type == "meta.v1.ObjectMeta" && field == "managedFields");
  }

  /// A field with the list and map type that the release gives it, and the format of bytes.
  static Value of_release(const Value& schema, const Value& facts) {
    Value out = schema;
    if (facts.has("list") && !out.has("x-kubernetes-list-type") && out["type"].as_string() == "array") {
      out = out.with("x-kubernetes-list-type", facts["list"]);
    }
    if (facts.has("map") && !out.has("x-kubernetes-map-type")) out = out.with("x-kubernetes-map-type", facts["map"]);
    if (out["type"].as_string() == "number") out = out.with("format", "double");
    if (!facts["bytes"].as_bool()) return out;
    if (!out.has("additionalProperties")) return out.with("x-slipway-format", "byte");
    return out.with("additionalProperties", out["additionalProperties"].with("x-slipway-format", "byte"));
  }

  Value from_openapi(const Value& schema) {
    if (schema.has("$ref")) {
      Value out = reference(schema["$ref"].as_string());
      if (schema.has(kPatchStrategy)) out = out.with(kPatchStrategy, schema[kPatchStrategy]);
      return out;
    }
    ObjectBuilder out;
    const std::string_view format = schema["format"].as_string();
    if (schema.has("type")) out.add("type", schema["type"]);
    if (format == "int32" || format == "int64") out.add("format", schema["format"]);
    if (schema.has("items")) out.add("items", from_openapi(schema["items"]));
    if (schema.has("additionalProperties"))
      out.add("additionalProperties", filled_by_null(from_openapi(schema["additionalProperties"])));
    for (const std::string_view key :
         {std::string_view("x-kubernetes-list-type"), std::string_view("x-kubernetes-list-map-keys"),
          std::string_view("x-kubernetes-map-type"), kPatchStrategy, std::string_view("x-kubernetes-patch-merge-key")}) {
      if (schema.has(key)) out.add(key, schema[key]);
    }
    return with_list_type_of_patch(out.build());
  }

  /// In a map of strings a null is the empty string, as when Go decodes it.
  static Value filled_by_null(const Value& schema) {
    return schema["type"].as_string() == "string" ? schema.with("default", "") : schema;
  }

  /// A list without a list type merges in server-side apply as it does in a strategic merge patch.
  static Value with_list_type_of_patch(const Value& schema) {
    const bool merges = schema[kPatchStrategy].as_string().find("merge") != std::string_view::npos;
    if (schema["type"].as_string() != "array" || schema.has("x-kubernetes-list-type") || !merges) return schema;
    const Value& key = schema["x-kubernetes-patch-merge-key"];
    if (key.is_null()) return schema.with("x-kubernetes-list-type", "set");
    return schema.with("x-kubernetes-list-type", "map").with("x-kubernetes-list-map-keys", slipway::json::array({key}));
  }

  /// What structured-merge-diff says about a field, over what OpenAPI said.
  Value joined(const Value& known, const Value& field) {
    const Value& type = field["type"];
    Value out = known.is_null() ? from_merge(type) : known;
    if (const Value& list = type["list"]; list.is_object() && !out.has("$ref")) {
      const Value fresh = from_merge(type);
      out = out.without("x-kubernetes-list-type").without("x-kubernetes-list-map-keys");
      for (const std::string_view key : {"x-kubernetes-list-type", "x-kubernetes-list-map-keys"}) {
        if (fresh.has(key)) out = out.with(key, fresh[key]);
      }
    }
    if (type["map"]["elementRelationship"].as_string() == "atomic") out = out.with("x-kubernetes-map-type", "atomic");
    const Value& value = field["default"];
    const bool is_zero =
        value.is_null() || value == Value("") || value == Value(0) || value == Value(false) || value.is_object();
    return is_zero ? out : out.with("default", value);
  }

  Value from_merge(const Value& type) {
    if (type.has("namedType")) return reference(type["namedType"].as_string());
    const std::string_view scalar = type["scalar"].as_string();
    if (scalar == "string" || scalar == "boolean") return slipway::json::object({{"type", scalar}});
    if (scalar == "numeric") return slipway::json::object({{"type", "integer"}});
    if (scalar == "untyped") return parsed(R"({"x-kubernetes-preserve-unknown-fields":true})");
    ObjectBuilder out;
    if (const Value& list = type["list"]; list.is_object()) {
      out.add("type", "array").add("items", from_merge(list["elementType"]));
      const bool is_associative = list["elementRelationship"].as_string() == "associative";
      if (is_associative) out.add("x-kubernetes-list-type", list.has("keys") ? "map" : "set");
      if (list.has("keys")) out.add("x-kubernetes-list-map-keys", list["keys"]);
    } else {
      out.add("type", "object").add("additionalProperties", filled_by_null(from_merge(type["map"]["elementType"])));
    }
    return out.build();
  }

  /// Required fields as the server enforces them: the document also lists what Go merely always writes.
  static Value enforced(const std::string& type, const Value& required) {
    if (type.ends_with("PodFailurePolicyRule")) return slipway::json::array({"action"});
    ArrayBuilder kept;
    for (const Value& field : required.items()) {
      const bool is_dropped = std::ranges::any_of(kUnrequired, [&](const Unrequired& one) {
        return one.type == type && (one.fields == "*" || one.fields == field.as_string());
      });
      if (!is_dropped) kept.add(field);
    }
    return kept.build();
  }

  /// The values a field may have, or null.
  Value values_of(const std::string& type, const std::string& field) {
    for (const Default& one : kNewEnums) {
      if (one.type == type && one.field == field) return parsed(one.value);
    }
    return enums_[type]["properties"][field]["enum"];
  }

  void add_facts(const std::string& type, const std::string& field, Value& schema, const Value& required) {
    if (const Value values = values_of(type, field); !values.empty() && !is_status_type(type)) {
      std::vector<Value> all(values.items().begin(), values.items().end());
      for (const Default& one : kNewEnumValues) {
        if (one.type == type && one.field == field) all.push_back(parsed(one.value));
      }
      schema = schema.with("enum", sorted(slipway::json::array(all)));
      const bool is_required = std::ranges::find(required.items(), Value(field)) != required.items().end();
      if (!is_required) schema = schema.with("x-slipway-empty-is-absent", true);
    }
    for (const Default& one : kDefaults) {
      const bool is_ephemeral = type == "core.v1.EphemeralContainer" && one.type == "core.v1.Container";
      if ((one.type != type && !is_ephemeral) || one.field != field) continue;
      schema = schema.with("default", parsed(one.value));
      if (schema["type"].as_string() == "string") schema = schema.with("x-slipway-empty-is-absent", true);
    }
  }

  Value release_;
  std::map<std::string, Value> types_;
  std::map<std::string, Value> enums_;
  std::map<std::string, Value> merges_;
  std::set<std::string> seen_;
  std::set<std::string> pending_;
  std::map<std::string, std::string> done_;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Value load(const std::string& path) {
  const slipway::json::Limits limits{.max_bytes = std::size_t{64} << 20};
  const auto value =
      path.ends_with(".yaml") ? slipway::json::parse_yaml(read(path), limits) : slipway::json::parse(read(path), limits);
  if (!value) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), value.error().message.c_str());
    std::exit(1);
  }
  return *value;
}

}  // namespace

int main(int count, char** words) {
  Value openapi;
  Value enums;
  Value merge;
  Value release;
  std::vector<std::string> kinds;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--openapi" && has_value) {
      openapi = load(words[++i]);
    } else if (word == "--enums" && has_value) {
      enums = load(words[++i]);
    } else if (word == "--types" && has_value) {
      release = load(words[++i]);
    } else if (word == "--merge" && has_value) {
      merge = load(words[++i]);
    } else {
      kinds.push_back(word);
    }
  }
  Generator generator(openapi, enums, merge, release);
  for (const std::string& kind : kinds) {
    if (generator.add(short_name(kind))) continue;
    std::fprintf(stderr, "no type %s\n", kind.c_str());
    return 1;
  }
  std::printf("// Made by tools/gen_builtin.cc. Do not edit. Kinds:\n");
  for (const std::string& kind : kinds) std::printf("// %s\n", kind.c_str());
  std::printf("R\"json(%s)json\"\n", generator.lines().c_str());
  return 0;
}
