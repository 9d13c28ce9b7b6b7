#include "cluster/advanced_statefulset.h"

#include <algorithm>

#include "cluster/clone_set_facts.h"
#include "json/text.h"
#include "kube/crd_schema.h"
#include "server/create_check.h"

namespace slipway::cluster {

namespace {

using json::Value;

struct Rolling {
  std::int64_t partition = 0;
  Value max_unavailable;
  UpdateType policy = UpdateType::ReCreate;
  bool paused = false;
  std::int64_t min_ready_seconds = 0;
  static void describe(auto& d) {
    d.doc("How a rolling update goes.");
    d.ignore_unknown();
    d.field("partition", &Rolling::partition, "Pods of lower ordinals keep their revision.").minimum(0);
    d.field("maxUnavailable", &Rolling::max_unavailable,
            "Pods that may be unavailable meanwhile, 1 by default; rounded down. Only under Parallel.")
        .int_or_string();
    d.field("podUpdatePolicy", &Rolling::policy,
            "Whether pods are replaced, or keep running while the images that changed are exchanged.");
    d.field("paused", &Rolling::paused, "No pod is updated.");
    d.field("minReadySeconds", &Rolling::min_ready_seconds, "How long a pod is ready before it counts as available.")
        .minimum(0)
        .maximum(300);
  }
};

struct Strategy {
  std::string type = "RollingUpdate";
  std::optional<Rolling> rolling;
  static void describe(auto& d) {
    d.doc("How pods of an old template become pods of the new one.");
    d.field("type", &Strategy::type, "When pods are updated.").one_of({"RollingUpdate", "OnDelete"}).with_default();
    d.field("rollingUpdate", &Strategy::rolling, "How a rolling update goes.");
  }
};

struct AdvancedSpec {
  std::int64_t replicas = 1;
  Value selector;
  Value pod_template;
  std::string service_name;
  std::string management = "OrderedReady";
  Strategy strategy;
  std::vector<Value> claims;
  std::int64_t history = 10;
  Value retention;
  Value ordinals;
  static void describe(auto& d) {
    d.doc("What the set is to be.");
    d.ignore_unknown();
    d.field("replicas", &AdvancedSpec::replicas, "How many pods there are to be.").minimum(0).with_default();
    d.field("selector", &AdvancedSpec::selector, "Selects the pods of the set.").required().any_object();
    d.field("template", &AdvancedSpec::pod_template, "A PodTemplateSpec: what the pods are made from.").required().any_object();
    d.field("serviceName", &AdvancedSpec::service_name, "The Service that gives the pods their names in DNS.");
    d.field("podManagementPolicy", &AdvancedSpec::management, "Whether pods are made one after another.")
        .one_of({"OrderedReady", "Parallel"})
        .with_default();
    d.field("updateStrategy", &AdvancedSpec::strategy, "How pods of an old template become pods of the new one.");
    d.field("volumeClaimTemplates", &AdvancedSpec::claims, "Claims that each pod has of its own.").items().any_object();
    d.field("revisionHistoryLimit", &AdvancedSpec::history, "Old revisions that are kept though no pod has them.").minimum(0);
    d.field("persistentVolumeClaimRetentionPolicy", &AdvancedSpec::retention, "When claims go: whenDeleted, whenScaled.")
        .any_object();
    d.field("ordinals", &AdvancedSpec::ordinals, "start: the first ordinal.").any_object();
  }
};

struct Status {
  std::int64_t generation = 0;
  std::int64_t replicas = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t current = 0;
  std::int64_t updated = 0;
  std::int64_t updated_ready = 0;
  std::int64_t updated_available = 0;
  std::string current_revision;
  std::string update_revision;
  std::int64_t collision_count = 0;
  std::string label_selector;
  std::vector<Value> conditions;
  static void describe(auto& d) {
    d.doc("How the set stands.");
    d.field("observedGeneration", &Status::generation, "The generation that this status is about.");
    d.field("replicas", &Status::replicas, "Pods there are.");
    d.field("readyReplicas", &Status::ready, "Pods that are ready.");
    d.field("availableReplicas", &Status::available, "Pods that have been ready for minReadySeconds.");
    d.field("currentReplicas", &Status::current, "Pods of the current revision.");
    d.field("updatedReplicas", &Status::updated, "Pods of the update revision.");
    d.field("updatedReadyReplicas", &Status::updated_ready, "Pods of the update revision that are ready.");
    d.field("updatedAvailableReplicas", &Status::updated_available, "Pods of the update revision that are available.");
    d.field("currentRevision", &Status::current_revision, "ControllerRevision of pods that are not updated yet.");
    d.field("updateRevision", &Status::update_revision, "ControllerRevision of the present template.");
    d.field("collisionCount", &Status::collision_count, "Clashes of names of revisions so far.");
    d.field("labelSelector", &Status::label_selector, "The selector as text, for autoscalers.");
    d.field("conditions", &Status::conditions, "FailedUpdatePod.").items().any_object();
  }
};

/// The set as one of apps/v1: without what that does not have.
kube::Object plain_set(const kube::Object& set) {
  Value spec = set["spec"];
  if (const Value& partition = spec["updateStrategy"]["rollingUpdate"]["partition"]; !partition.is_null()) {
    spec = spec.with_path({"updateStrategy", "rollingUpdate"}, json::object({{"partition", partition}}));
  } else {
    spec = spec.without_path({"updateStrategy", "rollingUpdate"});
  }
  const Value metadata = json::object({{"name", set["metadata"]["name"]}, {"namespace", kube::ns(set)}});
  return json::object({{"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"metadata", metadata}, {"spec", spec}});
}

void absent_causes(const Value& owner, const std::string& path, std::initializer_list<const char*> absent,
                   std::vector<Cause>& causes) {
  for (const char* name : absent) {
    if (owner.has(name)) causes.push_back(field::forbidden(path + name, "is not implemented in this cluster"));
  }
}

}  // namespace

AdvancedRollout::AdvancedRollout(const kube::Object& set) {
  const Value& rolling = set["spec"]["updateStrategy"]["rollingUpdate"];
  is_paused = rolling["paused"].as_bool();
  const auto most = scaled_share(rolling["maxUnavailable"], set["spec"]["replicas"].as_int(1), Rounding::Down);
  if (set["spec"]["podManagementPolicy"].as_string() == "Parallel")
    max_unavailable = std::max<std::int64_t>(most.value_or(1), 1);
  const auto name = rolling["podUpdatePolicy"].as_string();
  policy = name == "InPlaceIfPossible" ? UpdateType::InPlaceIfPossible
           : name == "InPlaceOnly"     ? UpdateType::InPlaceOnly
                                       : UpdateType::ReCreate;
}

Value advanced_statefulset_definition() {
  kube::CrdSpec spec;
  spec.group = kAdvancedStatefulSetKind.group;
  spec.version = kAdvancedStatefulSetKind.version;
  spec.kind = kAdvancedStatefulSetKind.kind;
  spec.plural = kAdvancedStatefulSets.plural;
  spec.short_names = {"asts"};
  spec.scale = kSetScale;
  spec.columns = {kube::column("DESIRED", ".spec.replicas", "integer", "Pods there are to be."),
                  kube::column("CURRENT", ".status.replicas", "integer", "Pods there are."),
                  kube::column("UPDATED", ".status.updatedReplicas", "integer", "Pods of the present template."),
                  kube::column("READY", ".status.readyReplicas", "integer", "Pods that are ready."),
                  kube::column("AGE", ".metadata.creationTimestamp", "date", "Since it was created.")};
  spec.doc = "OpenKruise's StatefulSet: one whose update may be paused, take several pods at a time, and go in place.";
  spec.spec_schema = kube::open_api_schema(json::describe<AdvancedSpec>());
  spec.status_schema = kube::open_api_schema(json::describe<Status>());
  return kube::make_crd(spec);
}

kube::AdmissionRow advanced_statefulset_admission() {
  const server::CreateCheck check({"apps", "v1", "StatefulSet"});
  const auto validate = [check](const kube::Object& set, const kube::Object& old) {
    const Value& spec = set["spec"];
    if (!old.is_null() && spec == old["spec"]) return std::vector<Cause>{};
    std::vector<Cause> causes = check(plain_set(set));
    if (!old.is_null() && spec["selector"] != old["spec"]["selector"]) {
      causes.push_back(field::invalid("spec.selector", json::print(spec["selector"]), "field is immutable"));
    }
    const Value& rolling = spec["updateStrategy"]["rollingUpdate"];
    const Value& share = rolling["maxUnavailable"];
    if (!share.is_null() && scaled_share(share, 100, Rounding::Down).value_or(-1) < 0) {
      causes.push_back(field::invalid("spec.updateStrategy.rollingUpdate.maxUnavailable", json::print(share),
                                      "must be a number from 0 or a percentage (12.5%)"));
    }
    absent_causes(spec, "spec.", {"reserveOrdinals", "lifecycle", "scaleStrategy", "volumeClaimUpdateStrategy"}, causes);
    absent_causes(rolling, "spec.updateStrategy.rollingUpdate.", {"unorderedUpdate", "inPlaceUpdateStrategy"}, causes);
    return causes;
  };
  return {kAdvancedStatefulSetKind.group, kAdvancedStatefulSetKind.kind, {}, validate};
}

}  // namespace slipway::cluster
