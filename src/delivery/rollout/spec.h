// What users write of a rollout, as described structs: the CRDs and the field table of docs/rollout.md are made from them. The
// plan is that of the OAM rollout (standard.oam.dev/v1alpha1); every manifest of the seed and of KubeVela 1.2.8 decodes.
// Slipway's own fields are optional. settings.h turns a plan into what delivery/wave decides on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"
#include "delivery/probe/notify.h"
#include "delivery/wave/roll.h"
#include "json/codec.h"

namespace slipway::delivery::rollout {

struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string ns;
  std::string uid;

  static void describe(auto& d) {
    d.doc("A workload.");
    d.ignore_unknown();
    d.field("apiVersion", &ObjectReference::api_version, "Its API version.").required().min_length(1);
    d.field("kind", &ObjectReference::kind, "Its kind.").required().min_length(1);
    d.field("name", &ObjectReference::name, "Its name.").required().min_length(1);
    d.field("namespace", &ObjectReference::ns, "The rollout's own namespace; others are refused.");
    d.field("uid", &ObjectReference::uid, "Only the object of this uid counts; absent: any of that name.");
  }
  bool operator==(const ObjectReference&) const = default;
};

struct RolloutWebhook {
  std::string type;
  std::string name;
  std::string url;
  std::string method;
  std::vector<std::int64_t> expected_status;
  std::map<std::string, std::string> metadata;

  static void describe(auto& d) {
    d.doc("A hook: a webhook gate in the OAM rollout's form.");
    d.field("type", &RolloutWebhook::type, "When it is called.")
        .required()
        .one_of({"initialize-rollout", "pre-batch-rollout", "post-batch-rollout", "finalize-rollout", "pre-traffic",
                 "post-traffic"});
    d.field("name", &RolloutWebhook::name, "Tells it apart.").required().min_length(1);
    d.field("url", &RolloutWebhook::url, "Where to send the request.").required().min_length(1);
    d.field("method", &RolloutWebhook::method, "HTTP method; POST when absent.").one_of({"POST", "GET", "PUT"});
    d.field("expectedStatus", &RolloutWebhook::expected_status, "The statuses that pass, in place of 2xx.").list_type("atomic");
    d.field("metadata", &RolloutWebhook::metadata, "Sent along in the body.");
  }
};

struct MetricsRange {
  std::optional<json::Value> min;
  std::optional<json::Value> max;

  static void describe(auto& d) {
    d.doc("The numbers that pass.");
    d.field("min", &MetricsRange::min, "The least number that passes; absent: no bound.");
    d.field("max", &MetricsRange::max, "The greatest number that passes; absent: no bound.");
  }
};

struct CanaryMetric {
  std::string name;
  std::string interval;
  std::optional<MetricsRange> range;
  std::optional<json::Value> template_ref;

  static void describe(auto& d) {
    d.doc("A metric gate in the OAM rollout's form.");
    d.field("name", &CanaryMetric::name, "Tells it apart.").required().min_length(1);
    d.field("interval", &CanaryMetric::interval, "Between two samples, e.g. `30s`.");
    d.field("metricsRange", &CanaryMetric::range, "The numbers that pass.");
    d.field("templateRef", &CanaryMetric::template_ref, "A MetricTemplate.").any_object();
  }
};

struct BatchTraffic {
  std::optional<std::int64_t> weight;
  std::vector<json::Value> matches;
  std::optional<std::int64_t> mirror_percent;

  static void describe(auto& d) {
    d.doc("What of the traffic goes to the new version in a batch.");
    d.field("weight", &BatchTraffic::weight, "Percent; absent: the share of new pods.").minimum(0).maximum(100);
    d.field("matches", &BatchTraffic::matches, "Requests that go there whatever the weight: HTTPRouteMatch of the Gateway API.")
        .list_type("atomic");
    d.field("mirrorPercent", &BatchTraffic::mirror_percent, "Percent of the requests that it also gets a copy of.")
        .minimum(0)
        .maximum(100);
  }
};

struct RolloutBatch {
  std::optional<json::Value> replicas;
  std::vector<std::string> pod_list;
  std::optional<json::Value> max_unavailable;
  std::optional<std::int64_t> instance_interval;
  std::vector<RolloutWebhook> webhooks;
  std::vector<CanaryMetric> canary_metric;
  std::optional<BatchTraffic> traffic;
  std::vector<gate::GateSpec> gates;

  static void describe(auto& d) {
    d.doc("Pods that become new together.");
    d.field("replicas", &RolloutBatch::replicas, "How many, or a percentage of all; absent in the last batch: the rest.")
        .int_or_string();
    d.field("podList", &RolloutBatch::pod_list, "In place of replicas: the old pods that go.").list_type("atomic");
    d.field("maxUnavailable", &RolloutBatch::max_unavailable, "New pods that may still be not ready, number or percentage.")
        .int_or_string();
    d.field("instanceInterval", &RolloutBatch::instance_interval, "Seconds between the starts of two replacements.").minimum(0);
    d.field("batchRolloutWebhooks", &RolloutBatch::webhooks, "Hooks of the batch.").list_type("atomic");
    d.field("canaryMetric", &RolloutBatch::canary_metric, "Metrics of the batch.").list_type("atomic");
    d.field("traffic", &RolloutBatch::traffic, "What of the traffic goes to the new version.");
    d.field("gates", &RolloutBatch::gates, "Gates of the batch.").list_type("atomic");
  }
};

struct Traffic {
  std::string provider;
  std::optional<json::Value> ingress_ref;
  std::string service;
  std::string source_service;
  std::string target_service;
  std::int64_t settle_seconds = 3;
  std::int64_t drain_seconds = 30;

  static void describe(auto& d) {
    d.doc("Who splits the traffic, and how.");
    d.field("provider", &Traffic::provider, "A row of the provider table, e.g. `gatewayapi`, `nginx`, `istio`.").required();
    d.field("ingressRef", &Traffic::ingress_ref, "The object whose weights are written.").any_object();
    d.field("service", &Traffic::service, "The Service that clients use.");
    d.field("sourceService", &Traffic::source_service, "The Service of the old version; absent: made.");
    d.field("targetService", &Traffic::target_service, "The Service of the new version; absent: made.");
    d.field("settleSeconds", &Traffic::settle_seconds,
            "Seconds until a weight takes effect, where the provider does not report it.")
        .minimum(0)
        .with_default();
    d.field("drainSeconds", &Traffic::drain_seconds, "Seconds between a weight that was lowered and the pods that go.")
        .minimum(0)
        .with_default();
  }
};

struct RolloutPlan {
  std::optional<wave::Strategy> strategy;
  std::optional<std::int64_t> target_size;
  std::optional<std::int64_t> num_batches;
  std::vector<RolloutBatch> batches;
  std::optional<std::int64_t> batch_partition;
  std::optional<std::int64_t> last_batch_to_rollout;
  bool is_paused = false;
  bool revert_on_delete = false;
  std::vector<RolloutWebhook> webhooks;
  std::vector<CanaryMetric> canary_metric;
  std::optional<Traffic> traffic;
  std::vector<gate::GateSpec> gates;
  std::optional<wave::OnFailure> on_failure;
  std::optional<std::int64_t> batch_deadline_seconds;
  std::vector<probe::Notifier> notifications;
  bool snapshot_config = false;

  static void describe(auto& d) {
    d.doc("How a target is rolled out.");
    d.field("rolloutStrategy", &RolloutPlan::strategy, "What comes first in a batch; absent: IncreaseFirst.");
    d.field("targetSize", &RolloutPlan::target_size, "Number of pods after the rollout; absent: as many as before.").minimum(0);
    d.field("numBatches", &RolloutPlan::num_batches, "That many equal batches, where rolloutBatches is absent.")
        .minimum(1)
        .maximum(1000);
    d.field("rolloutBatches", &RolloutPlan::batches, "The batches.").list_type("atomic").max_items(1000);
    d.field("batchPartition", &RolloutPlan::batch_partition, "The last batch that may run, from 0; absent: all.").minimum(0);
    d.field("lastBatchToRollout", &RolloutPlan::last_batch_to_rollout, "The same by its older name.").minimum(0);
    d.field("paused", &RolloutPlan::is_paused, "Nothing new is begun.");
    d.field("revertOnDelete", &RolloutPlan::revert_on_delete, "Undo what was done when the rollout is deleted before its end.");
    d.field("rolloutWebhooks", &RolloutPlan::webhooks, "Hooks of the whole rollout.").list_type("atomic");
    d.field("canaryMetric", &RolloutPlan::canary_metric, "Metrics of every batch.").list_type("atomic");
    d.field("traffic", &RolloutPlan::traffic, "Splits the traffic along with the pods.");
    d.field("gates", &RolloutPlan::gates, "Gates of every batch, and of the beginning and the end.").list_type("atomic");
    d.field("onFailure", &RolloutPlan::on_failure, "What a failure does; absent: Stop.");
    d.field("batchDeadlineSeconds", &RolloutPlan::batch_deadline_seconds,
            "Seconds until the pods of a batch must be ready; absent: 600.")
        .minimum(1);
    d.field("notifications", &RolloutPlan::notifications, "Who is told how it goes: each may hear of a line more than once.")
        .list_type("atomic");
    d.field("snapshotConfig", &RolloutPlan::snapshot_config,
            "The new version keeps its ConfigMaps and Secrets as they are now, in immutable copies.");
  }
};

struct RolloutTraitSpec {
  ObjectReference target;
  std::vector<ObjectReference> sources;
  RolloutPlan plan;

  static void describe(auto& d) {
    d.doc("Rolls out one workload in place of others.");
    d.field("targetRef", &RolloutTraitSpec::target, "The new workload, or the one that is updated in place.").required();
    d.field("sourceRef", &RolloutTraitSpec::sources, "The old workloads.").list_type("atomic");
    d.field("rolloutPlan", &RolloutTraitSpec::plan, "How.").required();
  }
};

/// The final form of the trait: revisions of a component in place of references.
struct RolloutSpec {
  std::string target_revision;
  std::string source_revision;
  std::string component;
  RolloutPlan plan;

  static void describe(auto& d) {
    d.doc("Rolls out a revision of a component.");
    d.field("targetRevisionName", &RolloutSpec::target_revision, "ControllerRevision of the component.")
        .required()
        .min_length(1);
    d.field("sourceRevisionName", &RolloutSpec::source_revision, "The revision that is replaced.");
    d.field("componentName", &RolloutSpec::component, "The component.").required().min_length(1);
    d.field("rolloutPlan", &RolloutSpec::plan, "How.").required();
  }
};

struct AppRolloutSpec {
  std::string target_revision;
  std::string source_revision;
  std::vector<std::string> components;
  RolloutPlan plan;
  bool revert_on_delete = false;

  static void describe(auto& d) {
    d.doc("Rolls out a revision of an application.");
    d.field("targetAppRevisionName", &AppRolloutSpec::target_revision, "The ApplicationRevision.").required().min_length(1);
    d.field("sourceAppRevisionName", &AppRolloutSpec::source_revision, "The revision that is replaced.");
    d.field("componentList", &AppRolloutSpec::components, "The component; one at most.").list_type("atomic").max_items(1);
    d.field("rolloutPlan", &AppRolloutSpec::plan, "How.").required();
    d.field("revertOnDelete", &AppRolloutSpec::revert_on_delete, "As the plan's.");
  }
};

}  // namespace slipway::delivery::rollout
