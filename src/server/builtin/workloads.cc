// Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision (apps/v1), ReplicationController, PodTemplate (v1).
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/count.h"
#include "kube/names.h"
#include "server/builtin/defaults.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kMaxGeneration = std::int64_t{1} << 62;
constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

Object with_spec(const Object& object, const Value& spec) {
  return spec.is_same(object["spec"]) ? object : object.with("spec", spec);
}

Object fill_template(const Object& object) { return with_spec(object, with_template_defaults(object["spec"])); }

/// The member `rollingUpdate` of an update strategy of that type.
Value with_rolling_defaults(const Value& strategy, const Value& rolling) {
  if (strategy["type"].as_string() != "RollingUpdate") return strategy;
  Defaults defaults(strategy);
  defaults.absent("rollingUpdate", Value::empty_object()).present("rollingUpdate", [&](const Value& given) {
    Defaults filled(given);
    for (const auto [key, value] : rolling.members()) filled.absent(key, value);
    return filled.value();
  });
  return defaults.value();
}

Object fill_deployment(const Object& object) {
  static const Value kRolling = json::object({{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
  Defaults spec(with_template_defaults(object["spec"]));
  spec.present("strategy", [](const Value& strategy) { return with_rolling_defaults(strategy, kRolling); });
  return with_spec(object, spec.value());
}

Object fill_daemon_set(const Object& object) {
  static const Value kRolling = json::object({{"maxUnavailable", 1}, {"maxSurge", 0}});
  Defaults spec(with_template_defaults(object["spec"]));
  spec.present("updateStrategy", [](const Value& strategy) { return with_rolling_defaults(strategy, kRolling); });
  return with_spec(object, spec.value());
}

Object fill_stateful_set(const Object& object) {
  static const Value kPending = json::object({{"phase", "Pending"}});
  Defaults spec(with_template_defaults(object["spec"]));
  // A strategy that only names its type stays without a partition.
  spec.present("updateStrategy", [](const Value& strategy) {
    return Defaults(strategy)
        .present("rollingUpdate", [](const Value& given) { return Defaults(given).absent("partition", 0).value(); })
        .value();
  });
  spec.each("volumeClaimTemplates", [](const Value& claim) {
    return Defaults(claim)
        .absent("apiVersion", "v1")
        .absent("kind", "PersistentVolumeClaim")
        .absent("status", kPending)
        .value();
  });
  return with_spec(object, spec.value());
}

/// Selector and labels of a ReplicationController are those of its template when it has none.
Object fill_replication_controller(const Object& object) {
  const Object next = fill_template(object);
  const Value& labels = next["spec"]["template"]["metadata"]["labels"];
  if (labels.empty()) return next;
  Object labelled = next["spec"]["selector"].empty() ? next.with_path({"spec", "selector"}, labels) : next;
  if (labelled["metadata"]["labels"].empty()) labelled = labelled.with_path({"metadata", "labels"}, labels);
  return labelled;
}

Object fill_pod_template(const Object& object) {
  return Defaults(object)
      .present("template",
               [](const Value& pod_template) { return Defaults(pod_template).present("spec", with_pod_defaults).value(); })
      .value();
}

Object prepare_deployment(const Object& object, const Surroundings&) { return object.with("status", Value::empty_object()); }

Object prepare_replicas(const Object& object, const Surroundings&) {
  static const Value kNone = json::object({{"replicas", 0}});
  return object.with("status", kNone);
}

/// maxUnavailable belongs to a feature that is off by default (MaxUnavailableStatefulSet): the server does not keep it.
Object without_stateful_unavailable(const Object& object) {
  if (!object["spec"]["updateStrategy"]["rollingUpdate"].has("maxUnavailable")) return object;
  return object.without_path({"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"});
}

Object prepare_stateful_set(const Object& object, const Surroundings&) {
  static const Value kNone = json::object({{"replicas", 0}, {"availableReplicas", 0}});
  return without_stateful_unavailable(object).with("status", kNone);
}

Object update_stateful_set(const Object& object, const Object&, const Surroundings&) {
  return without_stateful_unavailable(object);
}

/// How often the template of a DaemonSet has changed, from 1: internal to the server once, an annotation in apps/v1.
Object with_template_generation(const Object& object, const std::string& generation) {
  if (kube::annotation(object, kTemplateGeneration) == generation) return object;
  return object.with_path({"metadata", "annotations", kTemplateGeneration}, generation);
}

Object prepare_daemon_set(const Object& object, const Surroundings&) {
  static const Value kNone = json::object(
      {{"currentNumberScheduled", 0}, {"numberMisscheduled", 0}, {"desiredNumberScheduled", 0}, {"numberReady", 0}});
  return with_template_generation(object, "1").with("status", kNone);
}

Object update_daemon_set(const Object& object, const Object& old, const Surroundings&) {
  std::int64_t generation = std::min<std::int64_t>(leading_count(kube::annotation(old, kTemplateGeneration)), kMaxGeneration);
  if (object["spec"]["template"] != old["spec"]["template"]) ++generation;
  return with_template_generation(object, std::to_string(std::max<std::int64_t>(generation, 1)));
}

/// Annotations count as content: the controller copies them to ReplicaSets.
Object update_deployment(const Object& object, const Object& old, const Surroundings&) {
  if (object["metadata"]["annotations"] == old["metadata"]["annotations"]) return object;
  return object.with_path({"metadata", "generation"}, kube::generation(old) + 1);
}

void workload_counts_causes(const Value& spec, std::vector<Cause>& causes) {
  for (const char* key : {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
    not_negative(spec, "spec", key, causes);
  }
}

/// A number of pods or a share of them, at least zero; a share is at most all when `is_bounded`.
void amount_causes(const Value& amount, const std::string& path, bool is_bounded, std::vector<Cause>& causes) {
  if (amount.is_null()) return;
  if (!amount.is_string()) {
    if (amount.as_int() < 0) causes.push_back(field::invalid(path, quoted(amount), "must be greater than or equal to 0"));
    return;
  }
  const auto faults = kube::percent_faults(amount.as_string());
  for (const std::string& fault : faults) causes.push_back(field::invalid(path, quoted(amount), fault));
  if (faults.empty() && is_bounded && leading_count(amount.as_string()) > 100) {
    causes.push_back(field::invalid(path, quoted(amount), "must not be greater than 100%"));
  }
}

bool is_zero(const Value& amount) { return amount.is_string() ? leading_count(amount.as_string()) == 0 : amount.as_int() == 0; }

void deployment_strategy_causes(const Value& strategy, std::vector<Cause>& causes) {
  const Value& rolling = strategy["rollingUpdate"];
  const std::string path = "spec.strategy.rollingUpdate";
  if (strategy["type"].as_string() == "Recreate") {
    if (!rolling.is_null()) {
      causes.push_back(field::forbidden(path, "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  amount_causes(rolling["maxUnavailable"], path + ".maxUnavailable", true, causes);
  amount_causes(rolling["maxSurge"], path + ".maxSurge", false, causes);
  if (is_zero(rolling["maxUnavailable"]) && is_zero(rolling["maxSurge"])) {
    causes.push_back(
        field::invalid(path + ".maxUnavailable", quoted(rolling["maxUnavailable"]), "may not be 0 when `maxSurge` is 0"));
  }
}

void validate_deployment(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  workload_counts_causes(spec, causes);
  owned_template_causes(spec, {"deployment", "ReplicaSet"}, causes);
  deployment_strategy_causes(spec["strategy"], causes);
  if (const Value& deadline = spec["progressDeadlineSeconds"];
      deadline.is_number() && deadline.as_int() <= spec["minReadySeconds"].as_int()) {
    causes.push_back(field::invalid("spec.progressDeadlineSeconds", quoted(deadline), "must be greater than minReadySeconds"));
  }
  if (!old.is_null()) immutable(spec, old["spec"], "spec", "selector", causes);
}

void validate_replica_set(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  workload_counts_causes(spec, causes);
  owned_template_causes(spec, {"replicaset", "ReplicaSet"}, causes);
  if (!old.is_null()) immutable(spec, old["spec"], "spec", "selector", causes);
}

void validate_daemon_set(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  workload_counts_causes(spec, causes);
  owned_template_causes(spec, {"daemonset", "DaemonSet"}, causes);
  const Value& rolling = spec["updateStrategy"]["rollingUpdate"];
  const std::string path = "spec.updateStrategy.rollingUpdate";
  amount_causes(rolling["maxUnavailable"], path + ".maxUnavailable", true, causes);
  amount_causes(rolling["maxSurge"], path + ".maxSurge", true, causes);
  if (spec["updateStrategy"]["type"].as_string() == "RollingUpdate") {
    const bool takes_none = is_zero(rolling["maxUnavailable"]);
    const bool adds_none = is_zero(rolling["maxSurge"]);
    if (takes_none && adds_none) {
      causes.push_back(field::required(path + ".maxUnavailable", "cannot be 0 when maxSurge is 0"));
    } else if (!takes_none && !adds_none) {
      causes.push_back(
          field::invalid(path + ".maxSurge", quoted(rolling["maxSurge"]), "may not be set when maxUnavailable is non-zero"));
    }
  }
  if (!old.is_null()) immutable(spec, old["spec"], "spec", "selector", causes);
}

/// A StatefulSet's spec without what may change after creation.
Value fixed_stateful_spec(Value spec) {
  for (const char* key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    spec = spec.without(key);
  }
  return spec;
}

void validate_stateful_set(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  workload_counts_causes(spec, causes);
  owned_template_causes(spec, {"statefulset", "StatefulSet"}, causes);
  const Value& strategy = spec["updateStrategy"];
  const std::string path = "spec.updateStrategy.rollingUpdate";
  if (strategy["type"].as_string() == "OnDelete" && strategy.has("rollingUpdate")) {
    causes.push_back(
        field::invalid(path, quoted(strategy["rollingUpdate"]), "only allowed for updateStrategy 'RollingUpdate'"));
  }
  not_negative(strategy["rollingUpdate"], path, "partition", causes);
  amount_causes(strategy["rollingUpdate"]["maxUnavailable"], path + ".maxUnavailable", true, causes);
  not_negative(spec["ordinals"], "spec.ordinals", "start", causes);
  if (old.is_null() || fixed_stateful_spec(spec) == fixed_stateful_spec(old["spec"])) return;
  causes.push_back(field::forbidden(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
      "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
}

void validate_replication_controller(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  workload_counts_causes(spec, causes);
  const Value& pod_template = spec["template"];
  if (spec["selector"].empty()) causes.push_back(field::required("spec.selector"));
  if (pod_template.is_null()) {
    causes.push_back(field::required("spec.template"));
    return;
  }
  const Value& labels = pod_template["metadata"]["labels"];
  const bool matches = std::ranges::all_of(spec["selector"].members(),
                                           [&](const json::MemberView& one) { return labels[one.key] == one.value; });
  if (!matches) {
    causes.push_back(field::invalid("spec.template.metadata.labels", labels.is_null() ? "{}" : quoted(labels),
                                    "`selector` does not match template `labels`"));
  }
  pod_template_causes(pod_template, "spec.template", Value(), causes);
  const Value& restart = pod_template["spec"]["restartPolicy"];
  if (restart.as_string() == "Never" || restart.as_string() == "OnFailure") {
    causes.push_back(field::not_supported("spec.template.spec.restartPolicy", quoted(restart), {"Always"}));
  }
}

void validate_pod_template(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (object["template"].is_same(old["template"])) return;
  pod_template_causes(object["template"], "template", Value(), causes);
}

void validate_revision(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (object["revision"].as_int() < 0) {
    causes.push_back(field::invalid("revision", quoted(object["revision"]), "must be greater than or equal to 0"));
  }
  if (!old.is_null()) immutable(object, old, "", "data", causes);
}

}  // namespace

std::span<const Strategy> workload_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = "apps",
               .kind = "Deployment",
               .status_keeps = "labels",
               .fill_defaults = fill_deployment,
               .prepare_create = prepare_deployment,
               .prepare_update = update_deployment,
               .validate = validate_deployment},
      Strategy{.group = "apps",
               .kind = "ReplicaSet",
               .fill_defaults = fill_template,
               .prepare_create = prepare_replicas,
               .validate = validate_replica_set},
      Strategy{.group = "apps",
               .kind = "StatefulSet",
               .fill_defaults = fill_stateful_set,
               .prepare_create = prepare_stateful_set,
               .prepare_update = update_stateful_set,
               .validate = validate_stateful_set},
      Strategy{.group = "apps",
               .kind = "DaemonSet",
               .fill_defaults = fill_daemon_set,
               .prepare_create = prepare_daemon_set,
               .prepare_update = update_daemon_set,
               .validate = validate_daemon_set},
      Strategy{.group = "apps", .kind = "ControllerRevision", .validate = validate_revision},
      Strategy{.group = "",
               .kind = "ReplicationController",
               .orphans_by_default = true,
               .fill_defaults = fill_replication_controller,
               .prepare_create = prepare_replicas,
               .validate = validate_replication_controller},
      Strategy{.group = "", .kind = "PodTemplate", .fill_defaults = fill_pod_template, .validate = validate_pod_template}};
  return kRows;
}

}  // namespace slipway::server
