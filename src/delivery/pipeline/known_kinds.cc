#include "delivery/pipeline/known_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/pipeline/health.h"
#include "delivery/pipeline/image.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/kind_row.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

constexpr KnownKind kKnown[] = {
    {"helm.toolkit.fluxcd.io", "HelmRelease", "v2", "helmreleases"},
    {"kustomize.toolkit.fluxcd.io", "Kustomization", "v1", "kustomizations"},
    {"source.toolkit.fluxcd.io", "HelmChart", "v1", "helmcharts"},
    {"source.toolkit.fluxcd.io", "HelmRepository", "v1", "helmrepositories"},
    {"source.toolkit.fluxcd.io", "OCIRepository", "v1", "ocirepositories"},
    {"source.toolkit.fluxcd.io", "GitRepository", "v1", "gitrepositories"},
    {"source.toolkit.fluxcd.io", "Bucket", "v1", "buckets"},
    {"notification.toolkit.fluxcd.io", "Alert", "v1beta3", "alerts"},
    {"notification.toolkit.fluxcd.io", "Provider", "v1beta3", "providers"},
    {"image.toolkit.fluxcd.io", "ImagePolicy", "v1beta2", "imagepolicies"},
    {"apps", "Deployment", "v1", "deployments"},
    {"apps", "StatefulSet", "v1", "statefulsets"},
    {"apps", "DaemonSet", "v1", "daemonsets"},
    {"batch", "CronJob", "v1", "cronjobs"},
    {"batch", "Job", "v1", "jobs"},
    {"", "Pod", "v1", "pods"},
    {"", "Namespace", "v1", "namespaces"},
};

const KindName kRolled[] = {{"apps", "Deployment"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"}};
const KindName kMade[] = {{"apps", "Deployment"},
                          {"apps", "StatefulSet"},
                          {"apps", "DaemonSet"},
                          {"batch", "CronJob"},
                          {"batch", "Job"},
                          {"helm.toolkit.fluxcd.io", "HelmRelease"},
                          {"kustomize.toolkit.fluxcd.io", "Kustomization"},
                          {"source.toolkit.fluxcd.io", "HelmRepository"},
                          {"source.toolkit.fluxcd.io", "OCIRepository"},
                          {"source.toolkit.fluxcd.io", "GitRepository"}};
const KindName kTriggers[] = {{"notification.toolkit.fluxcd.io", "Alert"},
                              {"notification.toolkit.fluxcd.io", "Provider"},
                              {"image.toolkit.fluxcd.io", "ImagePolicy"}};

constexpr std::string_view kHelmName = "helm.toolkit.fluxcd.io/name";
constexpr std::string_view kHelmNamespace = "helm.toolkit.fluxcd.io/namespace";
constexpr std::string_view kKustomizeName = "kustomize.toolkit.fluxcd.io/name";
constexpr std::string_view kKustomizeNamespace = "kustomize.toolkit.fluxcd.io/namespace";
constexpr std::string_view kReleaseName = "meta.helm.sh/release-name";
constexpr std::string_view kReleaseNamespace = "meta.helm.sh/release-namespace";
constexpr std::string_view kAppName = "app.oam.dev/name";
constexpr std::string_view kAppNamespace = "app.oam.dev/namespace";
constexpr std::string_view kChartLabel = "helm.sh/chart";
constexpr std::string_view kContentAnnotation = "slipway.dev/content";
constexpr std::size_t kContentDigits = 16;
constexpr std::size_t kMostMessageBytes = 300;
constexpr std::size_t kMostHistory = 5;

/// The members of `of` that are named; null when none is there.
Value picked(const Value& of, std::initializer_list<std::string_view> names) {
  Value made;
  for (const std::string_view name : names) {
    if (const Value* found = of.find(name); found != nullptr) made = made.with(name, *found);
  }
  return made;
}

Value with_some(Value to, std::string_view name, Value part) {
  return part.is_null() ? std::move(to) : to.with(name, std::move(part));
}

template <class Map>
Value mapped(const Value& array, Map map) {
  json::ArrayBuilder made;
  for (const Value& item : array.items()) made.add(map(item));
  return made.build();
}

Value controller_only(const Object& object) {
  const Value& controller = kube::controller_of(object);
  return controller.is_null() ? Value()
                              : json::array({picked(controller, {"apiVersion", "kind", "name", "uid", "controller"})});
}

Value reduced_metadata(const Object& object, const Value& labels) {
  const Value& from = object["metadata"];
  Value made = picked(from, {"name", "namespace", "resourceVersion", "generation", "deletionTimestamp"});
  // Events about claims name the object by its uid.
  if (from["annotations"].has(kPipelineAnnotation) || from["annotations"].has(kEnvironmentAnnotation)) {
    made = with_some(made, "uid", from["uid"]);
  }
  made = with_some(made, "labels", labels);
  made = with_some(made, "annotations",
                   picked(from["annotations"],
                          {kPipelineAnnotation, kEnvironmentAnnotation, kReleaseName, kReleaseNamespace, kPublishVersion}));
  return with_some(made, "ownerReferences", controller_only(object));
}

Value known_labels(const Object& object) {
  return picked(object["metadata"]["labels"],
                {kHelmName, kHelmNamespace, kKustomizeName, kKustomizeNamespace, kChartLabel, kAppName, kAppNamespace});
}

enum class Times : std::uint8_t { Dropped, Kept };

Value reduced_conditions(const Value& conditions, Times times) {
  return mapped(conditions, [times](const Value& one) {
    Value made = picked(one, {"type", "status", "reason", "observedGeneration"});
    if (times == Times::Kept) made = with_some(made, "lastTransitionTime", one["lastTransitionTime"]);
    return made.with("message", one["message"].as_string().substr(0, kMostMessageBytes));
  });
}

std::string digest_of(const Value& content) { return sha256_hex(json::print(content)).substr(0, kContentDigits); }

Value reduced_containers(const Value& containers) {
  return containers.is_null() ? Value() : mapped(containers, [](const Value& one) { return picked(one, {"name", "image"}); });
}

Value reduced_template(const Value& pods) {
  Value spec = with_some(Value(), "containers", reduced_containers(pods["spec"]["containers"]));
  spec = with_some(spec, "initContainers", reduced_containers(pods["spec"]["initContainers"]));
  return Value()
      .with_path({"metadata", "annotations", kContentAnnotation}, digest_of(without_restarts(pods)))
      .with("spec", spec);
}

Value reduced_status(const Value& status, std::initializer_list<std::string_view> names, Times times = Times::Dropped) {
  Value made = picked(status, names);
  return status.has("conditions") ? made.with("conditions", reduced_conditions(status["conditions"], times)) : made;
}

Object workload(const Object& object) {
  const Value& spec = object["spec"];
  Value kept = picked(spec, {"replicas", "paused", "suspend", "selector", "updateStrategy", "completions"});
  if (spec.has("template")) kept = kept.with("template", reduced_template(spec["template"]));
  if (spec.has("jobTemplate")) {
    kept = kept.with_path({"jobTemplate", "spec", "template"}, reduced_template(spec["jobTemplate"]["spec"]["template"]));
  }
  return Value()
      .with("apiVersion", object["apiVersion"])
      .with("kind", object["kind"])
      .with("metadata", reduced_metadata(object, known_labels(object)))
      .with("spec", kept)
      .with("status",
            reduced_status(object["status"], {"observedGeneration", "replicas", "updatedReplicas", "availableReplicas",
                                              "readyReplicas", "currentRevision", "updateRevision", "desiredNumberScheduled",
                                              "updatedNumberScheduled", "numberAvailable"}));
}

Object reduced_pod(const Object& object) {
  const bool is_counted = kube::is_true(object, "Ready") && !kube::is_deleting(object);
  Object made = Value().with("apiVersion", "v1").with("kind", "Pod");
  if (!is_counted) return made.with("metadata", picked(object["metadata"], {"name", "namespace", "resourceVersion"}));
  const auto statuses = [](const Value& all) {
    return mapped(all, [](const Value& one) { return picked(one, {"name", "imageID"}); });
  };
  Value status = json::object({{"conditions", json::array({json::object({{"type", "Ready"}, {"status", "True"}})})}});
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    if (const Value& all = object["status"][list]; !all.empty()) status = status.with(list, statuses(all));
  }
  Value labels = object["metadata"]["labels"];
  return made.with("metadata", picked(object["metadata"], {"name", "namespace", "resourceVersion", "labels"}))
      .with("status", status);
}

/// Of digests that are only told apart: as much as lies in a value itself.
Value end_of(const Value& digest) {
  const std::string_view text = digest.as_string();
  return text.empty() ? Value() : Value(text.substr(text.size() - std::min<std::size_t>(text.size(), 14)));
}

/// The newest entries, and the newest that is deployed.
Value reduced_history(const Value& history) {
  json::ArrayBuilder kept;
  std::size_t count = 0;
  bool has_deployed = false;
  for (const Value& entry : history.items()) {
    const bool is_deployed = entry["status"].as_string() == "deployed";
    if (++count > kMostHistory && (has_deployed || !is_deployed)) continue;
    has_deployed |= is_deployed;
    Value made = picked(entry, {"name", "namespace", "version", "status", "chartName", "chartVersion", "ociDigest",
                                "lastDeployed", "testHooks"});
    for (const char* name : {"digest", "configDigest"}) made = with_some(made, name, end_of(entry[name]));
    kept.add(made);
  }
  return kept.build();
}

Object flux(const Object& object) {
  const Value& spec = object["spec"];
  Value kept = picked(spec, {"suspend", "chartRef", "sourceRef", "ref", "version", "chart", "test", "releaseName",
                             "targetNamespace", "eventSources", "providerRef", "imageRepositoryRef", "type"});
  // Of a HelmRelease; in other kinds `chart` is a name.
  if (spec["chart"].is_object()) {
    kept = kept.with("chart", Value().with("spec", picked(spec["chart"]["spec"], {"chart", "version", "sourceRef"})));
  }
  // What a Kustomization made is told apart by its whole content.
  if (!kube::label(object, kKustomizeName).empty()) kept = kept.with(kContentAnnotation, digest_of(spec));
  const Value& status = object["status"];
  const bool is_trigger = std::ranges::any_of(kTriggers, [&](const KindName& one) { return one.kind == kube::kind(object); });
  Value told = reduced_status(status,
                              {"observedGeneration", "lastAttemptedRevision", "lastAttemptedRevisionDigest",
                               "lastAppliedRevision", "helmChart", "latestRef", "latestImage", "upgradeFailures"},
                              is_trigger ? Times::Kept : Times::Dropped);
  if (status.has("history")) told = told.with("history", reduced_history(status["history"]));
  if (status.has("artifact")) told = told.with("artifact", picked(status["artifact"], {"revision", "lastUpdateTime"}));
  Object made = Value()
                    .with("apiVersion", object["apiVersion"])
                    .with("kind", object["kind"])
                    .with("metadata", reduced_metadata(object, known_labels(object)))
                    .with("spec", kept);
  return status.is_null() ? made : made.with("status", told);
}

}  // namespace

const KnownKind* find_known_kind(std::string_view group, std::string_view kind) {
  const auto found = std::ranges::find_if(
      kKnown, [&](const KnownKind& one) { return one.kind == kind && (group.empty() || one.group == group); });
  return found == std::end(kKnown) ? nullptr : &*found;
}

bool is_built_in(std::string_view group) { return !group.contains('.'); }

std::span<const KindName> rolled_kinds() { return kRolled; }
std::span<const KindName> made_kinds() { return kMade; }
const KindName& release_kind() {
  static const KindName kKind = find_known_kind("", "HelmRelease")->name();
  return kKind;
}
std::span<const KindName> trigger_kinds() { return kTriggers; }

std::vector<std::string> maker_keys(const Object& object) {
  std::vector<std::string> keys;
  const auto add = [&](std::string_view what, std::string_view ns, std::string_view name) {
    if (!name.empty()) keys.push_back(fmt::format("{} {}/{}", what, ns, name));
  };
  add("helm", kube::label(object, kHelmNamespace), kube::label(object, kHelmName));
  // The agent labels all that is in its releases.
  if (keys.empty()) add("release", kube::annotation(object, kReleaseNamespace), kube::annotation(object, kReleaseName));
  add("kustomize", kube::label(object, kKustomizeNamespace), kube::label(object, kKustomizeName));
  add("app", kube::label(object, kAppNamespace), kube::label(object, kAppName));
  return keys;
}

Object reduced(const Object& object) {
  const std::string_view group = group_of(object);
  if (group == "apps" || group == "batch") return workload(object);
  if (group.empty() && kube::kind(object) == "Pod") return reduced_pod(object);
  if (group.ends_with(".fluxcd.io")) return flux(object);
  if (group.empty() || kube::kind(object) == "PartialObjectMetadata" || kube::kind(object) == "CustomResourceDefinition") {
    return Value()
        .with("apiVersion", object["apiVersion"])
        .with("kind", object["kind"])
        .with("metadata", picked(object["metadata"], {"name", "uid", "resourceVersion", "generation", "deletionTimestamp"}));
  }
  return object.without_path({"metadata", "managedFields"})
      .without_path({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
}

}  // namespace slipway::delivery::pipeline
