// Deployments and their kin: what is filled in, what is judged, scale and eviction.
#include "kube/well_known.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using kube::kDeployments;
using kube::kReplicaSets;
const kube::Resource kStatefulSets{"apps", "v1", "statefulsets"};
const kube::Resource kDaemonSets{"apps", "v1", "daemonsets"};
using kube::kBudgets;
constexpr std::string_view kTemplate = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}";

class Workloads : public ServerTest {
 public:
  static Value workload(std::string_view kind, std::string_view rest = "", std::string_view pod_template = kTemplate) {
    return yaml(
        fmt::format("{{apiVersion: apps/v1, kind: {}, metadata: {{name: w, namespace: default}}, spec: {{selector: "
                    "{{matchLabels: {{app: a}}}}, template: {}{}{}}}}}",
                    kind, pod_template, rest.empty() ? "" : ", ", rest));
  }
  std::string fault(const kube::Resource& resource, Value body) {
    const std::string text = message(create(resource, std::move(body)));
    const std::size_t at = text.find(" is invalid: ");
    return at == std::string::npos ? text : text.substr(at + 13);
  }
  Result<Value> through(Verb verb, const kube::Resource& resource, std::string name, std::string subresource, Value body = {}) {
    Request made = request(verb, resource, std::move(name));
    made.subresource = std::move(subresource);
    made.body = std::move(body);
    made.patch_type = client::PatchType::Merge;
    return object_of(std::move(made));
  }
};

TEST_F(Workloads, a_deployment_is_completed) {
  const Value made = must(create(kDeployments, workload("Deployment")));
  EXPECT_EQ(kube::generation(made), 1);
  Value spec = made["spec"];
  EXPECT_EQ(spec["template"]["spec"]["dnsPolicy"].str(), "ClusterFirst");
  EXPECT_EQ(spec["template"]["spec"]["containers"].item(0)["imagePullPolicy"].str(), "Always");
  EXPECT_EQ(spec.without("template"),
            yaml("{selector: {matchLabels: {app: a}}, replicas: 1, progressDeadlineSeconds: 600, revisionHistoryLimit: 10, "
                 "strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 25%}}}"));
  EXPECT_EQ(must(update(kDeployments, made)), made);
}

TEST_F(Workloads, a_template_has_no_default_that_only_pods_have) {
  const Value made =
      must(create(kDeployments, workload("Deployment", "",
                                         "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i, "
                                         "resources: {limits: {cpu: 1}}}]}}")));
  const Value& spec = made["spec"]["template"]["spec"];
  EXPECT_FALSE(spec.has("enableServiceLinks"));
  EXPECT_EQ(spec["containers"].item(0)["resources"], yaml("{limits: {cpu: '1'}}"));
}

TEST_F(Workloads, a_deployment_is_judged) {
  EXPECT_EQ(fault(kDeployments, workload("Deployment").without_path({"spec", "selector"})), "spec.selector: Required value");
  EXPECT_EQ(fault(kDeployments, workload("Deployment", "",
                                         "{metadata: {labels: {app: b}}, spec: {containers: [{name: c, image: "
                                         "i}]}}")),
            "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`");
  EXPECT_EQ(fault(kDeployments, workload("Deployment", "replicas: -1")),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(fault(kDeployments, workload("Deployment", "strategy: {type: Recreate, rollingUpdate: {}}")),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'");
  EXPECT_EQ(fault(kDeployments, workload("Deployment", "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0%}}")),
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0");
  EXPECT_EQ(fault(kDeployments, workload("Deployment", "",
                                         "{metadata: {labels: {app: a}}, spec: {restartPolicy: Never, "
                                         "containers: [{name: c, image: i}]}}")),
            "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"");
}

TEST_F(Workloads, the_placement_of_pods_is_judged) {
  struct Row {
    std::string_view spec;
    std::string_view fault;  // after spec.template.spec.
  };
  constexpr std::string_view kTwice = "{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}";
  const std::string twice = fmt::format("topologySpreadConstraints: [{}, {}]", kTwice, kTwice);
  const Row rows[] = {
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 1}, {maxSkew: "
       "1, "
       "topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 1}]",
       "topologySpreadConstraints[1].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, "
       "not ScheduleAnyway"},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 0}]",
       "topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero"},
      {"topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule}]",
       "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
      {"topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
       "topologySpreadConstraints[0].topologyKey: Required value: can not be empty"},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z}]",
       "topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"\": supported values: \"DoNotSchedule\", "
       "\"ScheduleAnyway\""},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never}]",
       "topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Never\": supported values: \"DoNotSchedule\", "
       "\"ScheduleAnyway\""},
      {twice, "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, DoNotSchedule}\""},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Never}]",
       "topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"Never\": supported values: \"Honor\", \"Ignore\""},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]",
       "topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a], "
       "labelSelector: {matchLabels: {a: b}}}]",
       "topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and labelSelector"},
      {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
       "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at "
       "least one node selector term"},
      {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
       "[{key: k, operator: In}]}]}}}",
       "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: "
       "Required value: must be specified when `operator` is 'In' or 'NotIn'"},
      {"affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: "
       "{topologyKey: z, labelSelector: {matchExpressions: [{key: k, operator: Exists}]}}}]}}",
       "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the "
       "range 1-100"},
      {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: "
       "{matchExpressions: [{key: k, operator: Exists, values: [v]}]}}]}}",
       "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values: "
       "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
  };
  for (const Row& row : rows) {
    const std::string pod_template =
        fmt::format("{{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: c, image: i}}], {}}}}}", row.spec);
    EXPECT_EQ(fault(kDeployments, workload("Deployment", "", pod_template)), fmt::format("spec.template.spec.{}", row.fault));
  }
  must(create(kDeployments,
              workload("Deployment", "",
                       "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}], "
                       "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, "
                       "minDomains: 2}, {maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, "
                       "nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [c]}], "
                       "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                       "preference: {matchExpressions: [{key: k, operator: Gt, values: ['1']}]}}]}}}}")));
}

TEST_F(Workloads, containers_and_names_of_a_template_are_judged) {
  struct Row {
    std::string_view spec;
    std::string_view fault;  // after spec.template.spec.
  };
  const Row rows[] = {
      {"containers: [{name: c, image: ''}]", "containers[0].image: Required value"},
      {"containers: [{name: c, image: i, lifecycle: {preStop: {}}}]",
       "containers[0].lifecycle.preStop: Required value: must specify a handler type"},
      {"containers: [{name: c, image: i, lifecycle: {postStart: {exec: {command: []}}}}]",
       "containers[0].lifecycle.postStart.exec.command: Required value"},
      {"volumes: [{name: v}], containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /a, subPath: /b}]}]",
       "containers[0].volumeMounts[0].subPath: Invalid value: \"/b\": must be a relative path"},
      {"volumes: [{name: v}], containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /a, subPath: b/../../c}]}]",
       "containers[0].volumeMounts[0].subPath: Invalid value: \"b/../../c\": must not contain '..'"},
      {"initContainers: [{name: i, image: i, readinessProbe: {tcpSocket: {port: 1}}}], containers: [{name: c, image: i}]",
       "initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always"},
  };
  for (const Row& row : rows) {
    const std::string pod_template = fmt::format("{{metadata: {{labels: {{app: a}}}}, spec: {{{}}}}}", row.spec);
    EXPECT_EQ(fault(kDeployments, workload("Deployment", "", pod_template)), fmt::format("spec.template.spec.{}", row.fault));
  }
  for (const char* key : {"serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName", "hostname", "subdomain"}) {
    const std::string pod_template =
        fmt::format("{{metadata: {{labels: {{app: a}}}}, spec: {{{}: A_B, containers: [{{name: c, image: i}}]}}}}", key);
    const std::string said = fault(kDeployments, workload("Deployment", "", pod_template));
    EXPECT_TRUE(said.starts_with(fmt::format("spec.template.spec.{}: Invalid value: \"A_B\": a lowercase RFC 1123", key)))
        << said;
  }
  must(create(
      kDeployments,
      workload("Deployment", "",
               "{metadata: {labels: {app: a}}, spec: {initContainers: [{name: i, image: i, restartPolicy: Always, "
               "readinessProbe: {tcpSocket: {port: 1}}}], volumes: [{name: v}], containers: [{name: c, image: i, "
               "volumeMounts: [{name: v, mountPath: /a, subPath: b/c}], lifecycle: {preStop: {sleep: {seconds: 1}}}}]}}")));
}

TEST_F(Workloads, a_selector_is_immutable) {
  must(create(kDeployments, workload("Deployment")));
  const auto changed = patch(kDeployments, "w", client::PatchType::Merge,
                             "{spec: {selector: {matchLabels: {b: b}}, template: {metadata: {labels: {b: b}}}}}");
  EXPECT_TRUE(message(changed).ends_with(": field is immutable")) << message(changed);
}

TEST_F(Workloads, annotations_of_a_deployment_count_as_content) {
  must(create(kDeployments, workload("Deployment")));
  EXPECT_EQ(kube::generation(must(patch(kDeployments, "w", client::PatchType::Merge, "{metadata: {annotations: {a: b}}}"))), 2);
  EXPECT_EQ(kube::generation(must(patch(kDeployments, "w", client::PatchType::Merge, "{metadata: {labels: {a: b}}}"))), 2);
}

TEST_F(Workloads, stateful_and_daemon_sets_are_completed) {
  const Value stateful =
      must(create(kStatefulSets, workload("StatefulSet",
                                          "serviceName: s, volumeClaimTemplates: [{metadata: {name: d}, spec: "
                                          "{accessModes: [ReadWriteOnce]}}]")));
  EXPECT_EQ(stateful["spec"]["updateStrategy"], yaml("{type: RollingUpdate, rollingUpdate: {partition: 0}}"));
  EXPECT_EQ(stateful["spec"]["persistentVolumeClaimRetentionPolicy"], yaml("{whenDeleted: Retain, whenScaled: Retain}"));
  EXPECT_EQ(stateful["spec"]["volumeClaimTemplates"].item(0)["kind"].str(), "PersistentVolumeClaim");
  EXPECT_EQ(must(update(kStatefulSets, stateful)), stateful);
  EXPECT_TRUE(message(patch(kStatefulSets, "w", client::PatchType::Merge, "{spec: {serviceName: t}}"))
                  .starts_with(
                      "StatefulSet.apps \"w\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than"));
  const Value daemon = must(create(kDaemonSets, workload("DaemonSet")));
  EXPECT_EQ(daemon["spec"]["updateStrategy"], yaml("{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}"));
}

TEST_F(Workloads, a_deployment_is_scaled_through_its_subresource) {
  must(create(kDeployments, workload("Deployment")));
  const Value scale = must(through(Verb::Get, kDeployments, "w", "scale"));
  EXPECT_EQ(scale["kind"].str(), "Scale");
  EXPECT_EQ(scale["spec"], yaml("{replicas: 1}"));
  EXPECT_EQ(scale["status"], yaml("{replicas: 0, selector: app=a}"));
  EXPECT_EQ(must(through(Verb::Patch, kDeployments, "w", "scale", yaml("{spec: {replicas: 3}}")))["spec"]["replicas"].as_int(),
            3);
  const Value object = must(get(kDeployments, "w"));
  EXPECT_EQ(object["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(kube::generation(object), 2);
  bool has_entry = false;
  for (const Value& entry : object["metadata"]["managedFields"].items()) {
    has_entry |= entry["subresource"].as_string() == "scale" && entry["fieldsV1"] == yaml("{'f:spec': {'f:replicas': {}}}");
  }
  EXPECT_TRUE(has_entry);
  EXPECT_EQ(
      message(through(Verb::Update, kDeployments, "w", "scale", scale)),
      "Operation cannot be fulfilled on deployments.apps \"w\": the object has been modified; please apply your changes to "
      "the latest version and try again");
  EXPECT_EQ(message(through(Verb::Patch, kDeployments, "w", "scale", yaml("{spec: {replicas: -1}}"))),
            "Scale.autoscaling \"w\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(reason(through(Verb::Update, kDeployments, "w", "scale", object)), "BadRequest");
  EXPECT_EQ(reason(through(Verb::Get, kDaemonSets, "w", "scale")), "NotFound");
}

TEST_F(Workloads, a_budget_guards_its_pods_against_eviction) {
  const auto evict = [&](std::string name) {
    return through(Verb::Create, kPods, name, "eviction",
                   yaml(fmt::format("{{apiVersion: policy/v1, kind: Eviction, metadata: {{name: {}}}}}", name)));
  };
  for (const char* name : {"a", "b"}) {
    must(create(kPods,
                yaml(fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: default, labels: {{app: "
                                 "x}}}}, spec: {{terminationGracePeriodSeconds: 0, containers: [{{name: c, image: i}}]}}}}",
                                 name))));
    must(update_status(kPods, must(get(kPods, name))
                                  .with("status", yaml("{phase: Running, conditions: [{type: Ready, status: "
                                                       "'True'}]}"))));
  }
  const Value budget = must(
      create(kBudgets, yaml("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: default}, spec: "
                            "{minAvailable: 1, selector: {matchLabels: {app: x}}}}")));
  must(update_status(kBudgets, budget.with("status", yaml("{observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, "
                                                          "desiredHealthy: 1, expectedPods: 2}"))));
  EXPECT_EQ(must(evict("a"))["status"].str(), "Success");
  EXPECT_EQ(reason(get(kPods, "a")), "NotFound");
  const auto second = evict("b");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::TooManyRequests);
  EXPECT_EQ(second.error().causes.front().reason, "DisruptionBudget");
  EXPECT_EQ(second.error().causes.front().message, "The disruption budget p needs 1 healthy pods and has 2 currently");
}

/// A pod "a" of app x and the budget "p" over it.
class Evictions : public Workloads {
 protected:
  void SetUp() override {
    Workloads::SetUp();
    must(create(kPods, yaml("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {app: x}}, spec: "
                            "{terminationGracePeriodSeconds: 30, nodeName: n1, containers: [{name: c, image: i}]}}")));
  }
  void set_pod(bool is_ready, const char* phase = "Running") {
    must(update_status(kPods, must(get(kPods, "a"))
                                  .with("status", yaml(fmt::format("{{phase: {}, conditions: [{{type: Ready, "
                                                                   "status: '{}'}}]}}",
                                                                   phase, is_ready ? "True" : "False")))));
  }
  void make_budget(const std::string& status, const std::string& policy = "IfHealthyBudget", const std::string& name = "p") {
    const Value made = must(create(
        kBudgets, yaml(fmt::format("{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {}, namespace: "
                                   "default}}, spec: {{minAvailable: 1, unhealthyPodEvictionPolicy: {}, selector: "
                                   "{{matchLabels: {{app: x}}}}}}}}",
                                   name, policy))));
    must(update_status(kBudgets, made.with("status", yaml("{" + status + "}"))));
  }
  Result<Value> evict(const std::string& options = "") {
    return through(Verb::Create, kPods, "a", "eviction", yaml("{apiVersion: policy/v1, kind: Eviction" + options + "}"));
  }
  std::string cause(const Result<Value>& answer) {
    return answer ? "" : answer.error().causes.empty() ? answer.error().message : answer.error().causes.front().message;
  }
};

TEST_F(Evictions, are_refused_in_the_words_of_the_budgets_state) {
  struct Row {
    const char* status;
    const char* cause;
  };
  const Row rows[] = {
      {"", "The disruption budget p is still being processed by the server."},
      {"observedGeneration: 1, desiredHealthy: 2, currentHealthy: 1",
       "The disruption budget p needs 2 healthy pods and has 1 "
       "currently"},
      {"observedGeneration: 1, conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: why, "
       "lastTransitionTime: '2026-01-01T00:00:00Z'}]",
       "The disruption budget p does not allow evicting pods currently because it failed sync: why"}};
  set_pod(true);
  for (const Row& row : rows) {
    make_budget(row.status);
    const auto answer = evict();
    EXPECT_EQ(reason(answer), "TooManyRequests") << row.status;
    EXPECT_EQ(cause(answer), row.cause);
    must(remove(kBudgets, "p"));
  }
}

TEST_F(Evictions, of_pods_that_are_not_ready_follow_the_policy) {
  struct Row {
    const char* policy;
    const char* status;
    bool is_granted;
  };
  const Row rows[] = {{"IfHealthyBudget", "observedGeneration: 1, desiredHealthy: 1, currentHealthy: 0", false},
                      {"IfHealthyBudget", "observedGeneration: 1, desiredHealthy: 1, currentHealthy: 1", true},
                      {"AlwaysAllow", "observedGeneration: 1, desiredHealthy: 1, currentHealthy: 0", true}};
  set_pod(false);
  for (const Row& row : rows) {
    make_budget(row.status, row.policy);
    EXPECT_EQ(evict(", deleteOptions: {dryRun: [All]}").has_value(), row.is_granted) << row.policy;
    must(remove(kBudgets, "p"));
  }
}

TEST_F(Evictions, take_a_disruption_mark_the_pod_and_leave_it_its_grace) {
  set_pod(true);
  make_budget("observedGeneration: 1, desiredHealthy: 1, currentHealthy: 2, disruptionsAllowed: 1");
  EXPECT_TRUE(evict(", deleteOptions: {dryRun: [All]}"));
  EXPECT_EQ(must(get(kBudgets, "p"))["status"]["disruptionsAllowed"].as_int(), 1);
  EXPECT_FALSE(kube::is_deleting(must(get(kPods, "a"))));
  EXPECT_EQ(reason(evict(", deleteOptions: {preconditions: {uid: other}}")), "Conflict");
  must(update_status(kBudgets, must(get(kBudgets, "p")).with_path({"status", "disruptionsAllowed"}, 1)));
  EXPECT_TRUE(evict());
  const Value budget = must(get(kBudgets, "p"));
  EXPECT_EQ(budget["status"]["disruptionsAllowed"].as_int(), 0);
  EXPECT_TRUE(budget["status"]["disruptedPods"].has("a"));
  const Value pod = must(get(kPods, "a"));
  EXPECT_EQ(pod["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(kube::condition(pod, "DisruptionTarget")["reason"].str(), "EvictionByEvictionAPI");
  EXPECT_TRUE(evict()) << "what goes already needs no budget";
}

TEST_F(Evictions, fail_where_several_budgets_claim_the_pod) {
  set_pod(true);
  make_budget("observedGeneration: 1, disruptionsAllowed: 1");
  make_budget("observedGeneration: 1, disruptionsAllowed: 1", "IfHealthyBudget", "q");
  const auto answer = evict();
  ASSERT_FALSE(answer);
  EXPECT_EQ(http_code(answer.error().reason), 500);
  EXPECT_EQ(answer.error().message,
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
}

TEST_F(Workloads, one_store_serves_an_autoscaler_and_an_event_in_two_forms) {
  const kube::Resource first{"autoscaling", "v1", "horizontalpodautoscalers"};
  const kube::Resource second{"autoscaling", "v2", "horizontalpodautoscalers"};
  must(
      create(first, yaml("{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: default}, "
                         "spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, "
                         "kind: Deployment, name: w}}}")));
  const Value shown = must(get(second, "h"));
  EXPECT_EQ(shown["apiVersion"].str(), "autoscaling/v2");
  EXPECT_EQ(shown["spec"]["metrics"],
            yaml("[{type: Resource, resource: {name: cpu, target: {averageUtilization: 50, type: Utilization}}}]"));
  EXPECT_EQ(must(get(first, "h"))["spec"]["targetCPUUtilizationPercentage"].as_int(), 50);
  const kube::Resource core{"", "v1", "events"};
  const kube::Resource events{"events.k8s.io", "v1", "events"};
  must(create(core, yaml("{apiVersion: v1, kind: Event, metadata: {name: e, namespace: default}, involvedObject: {kind: Pod, "
                         "name: p, namespace: default}, message: hello, reason: R, type: Normal}")));
  const Value event = must(get(events, "e"));
  EXPECT_EQ(event["note"].str(), "hello");
  EXPECT_EQ(event["regarding"]["name"].str(), "p");
}

}  // namespace
}  // namespace slipway::server
