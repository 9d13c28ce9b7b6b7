// What the kinds beside pods and what makes them are told, and what is filled in for them.
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Kinds : public ServerTest {
 public:
  /// Creates what the YAML says; gives the faults of it, or "".
  std::string fault(const kube::Resource& resource, std::string_view text) {
    Value body = yaml(text);
    body = body.with_path({"metadata", "name"}, kube::name(body).empty() ? "x" : std::string(kube::name(body)));
    auto made = create(resource, std::move(body));
    if (made) return "";
    const std::string message = made.error().message;
    const std::size_t at = message.find(" is invalid: ");
    return at == std::string::npos ? message : message.substr(at + 13);
  }
  Value made(const kube::Resource& resource, std::string_view text) { return must(create(resource, yaml(text))); }
};

TEST_F(Kinds, an_ingress_is_judged) {
  const kube::Resource ingresses{"networking.k8s.io", "v1", "ingresses"};
  const auto with = [&](std::string_view spec) {
    return fault(
        ingresses,
        fmt::format("{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{namespace: default}}, spec: {}}}", spec));
  };
  EXPECT_EQ(with("{}"), "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified");
  EXPECT_EQ(with("{rules: [{http: {paths: []}}]}"), "spec.rules[0].http.paths: Required value");
  EXPECT_EQ(with("{rules: [{http: {paths: [{path: /, backend: {service: {name: s, port: {number: 80}}}}]}}]}"),
            "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified");
  EXPECT_EQ(with("{rules: [{http: {paths: [{path: a, pathType: Prefix, backend: {service: {name: s}}}]}}]}"),
            "[spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path, "
            "spec.rules[0].http.paths[0].backend: Required value: port name or number is required]");
  EXPECT_EQ(with("{rules: [{host: 1.2.3.4}]}"),
            "spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address");
  EXPECT_EQ(with("{rules: [{http: {paths: [{path: /, pathType: Other, backend: {service: {name: s, port: {name: http}}}}]}}]}"),
            "spec.rules[0].http.paths[0].pathType: Unsupported value: \"Other\": supported values: \"Exact\", "
            "\"ImplementationSpecific\", \"Prefix\"");
  EXPECT_EQ(with("{defaultBackend: {service: {name: s, port: {number: 80}}}}"), "");
}

TEST_F(Kinds, a_network_policy_says_what_it_governs) {
  const kube::Resource policies{"networking.k8s.io", "v1", "networkpolicies"};
  const Value policy = made(policies,
                            "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: np, namespace: "
                            "default}, spec: {egress: [{ports: [{port: 53}]}]}}");
  EXPECT_EQ(policy["spec"], yaml("{podSelector: {}, policyTypes: [Ingress, Egress], egress: [{ports: [{port: 53, protocol: "
                                 "TCP}]}]}"));
  EXPECT_EQ(fault(policies,
                  "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {namespace: default}, spec: "
                  "{ingress: [{from: [{}]}]}}"),
            "spec.ingress[0].from[0]: Required value: must specify a peer");
}

TEST_F(Kinds, an_autoscaler_is_completed_and_judged) {
  const kube::Resource scalers{"autoscaling", "v2", "horizontalpodautoscalers"};
  const auto with = [&](std::string_view spec) {
    return fault(scalers, fmt::format("{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{namespace: "
                                      "default}}, spec: {}}}",
                                      spec));
  };
  EXPECT_EQ(with("{scaleTargetRef: {kind: Deployment, name: d}}"),
            "spec.maxReplicas: Invalid value: 0: must be greater than 0");
  EXPECT_EQ(with("{scaleTargetRef: {kind: Deployment, name: d}, maxReplicas: 2, minReplicas: 3}"),
            "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`");
  EXPECT_EQ(with("{maxReplicas: 2}"), "[spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required value]");
  EXPECT_EQ(with("{scaleTargetRef: {kind: Deployment, name: d}, maxReplicas: 2, metrics: [{type: Pods}]}"),
            "spec.metrics[0].pods: Required value: must populate information for the given metric source");
  EXPECT_EQ(with("{scaleTargetRef: {kind: Deployment, name: d}, maxReplicas: 2}"), "");
  const Value scaler = must(get(scalers, "x"));
  EXPECT_EQ(scaler["spec"]["minReplicas"].as_int(), 1);
  EXPECT_EQ(scaler["spec"]["metrics"].item(0)["resource"]["target"]["averageUtilization"].as_int(), 80);
}

TEST_F(Kinds, a_cron_job_is_completed_and_judged) {
  const kube::Resource crons{"batch", "v1", "cronjobs"};
  const auto with = [&](std::string_view schedule, std::string_view restart = "Never") {
    return fault(crons,
                 fmt::format("{{apiVersion: batch/v1, kind: CronJob, metadata: {{namespace: default}}, spec: {{schedule: "
                             "'{}', jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: {}, containers: [{{name: "
                             "c, image: i}}]}}}}}}}}}}}}",
                             schedule, restart));
  };
  EXPECT_EQ(with("* * *"), "spec.schedule: Invalid value: \"* * *\": expected exactly 5 fields, found 3: [* * *]");
  EXPECT_EQ(with("61 * * * *"), "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum (59): 61");
  EXPECT_EQ(with("TZ=UTC * * * * *"),
            "spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or CRON_TZ in schedule, "
            "use timeZone field instead");
  EXPECT_EQ(with("@often"), "spec.schedule: Invalid value: \"@often\": unrecognized descriptor: @often");
  EXPECT_EQ(with("0 0 * * *", "Always"),
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "
            "\"OnFailure\", \"Never\"");
  EXPECT_EQ(with("*/5 0-6,8 1 jan-mar MON"), "");
  const Value spec = must(get(crons, "x"))["spec"];
  EXPECT_EQ(spec["concurrencyPolicy"].str(), "Allow");
  EXPECT_EQ(spec["successfulJobsHistoryLimit"].as_int(), 3);
  EXPECT_FALSE(spec["jobTemplate"]["spec"].has("completions"));  // its Jobs get them
  EXPECT_EQ(spec["jobTemplate"]["spec"]["template"]["spec"]["dnsPolicy"].str(), "ClusterFirst");
}

TEST_F(Kinds, a_budget_has_one_bound) {
  const kube::Resource budgets{"policy", "v1", "poddisruptionbudgets"};
  EXPECT_EQ(
      fault(budgets,
            "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: default}, spec: "
            "{minAvailable: 1, maxUnavailable: 1}}"),
      "spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":1}: minAvailable and maxUnavailable cannot be both set");
  EXPECT_EQ(
      fault(budgets,
            "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: default}, spec: "
            "{minAvailable: 101%}}"),
      "spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:\"101%\"}: must not be greater than 100%");
}

TEST_F(Kinds, classes_keep_what_they_promise) {
  const kube::Resource priorities{"scheduling.k8s.io", "v1", "priorityclasses"};
  made(priorities, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 5}");
  EXPECT_EQ(message(patch(priorities, "p", client::PatchType::Merge, "{value: 6}", "", "")),
            "PriorityClass.scheduling.k8s.io \"p\" is invalid: value: Forbidden: may not be changed in an update.");
  EXPECT_EQ(fault(priorities, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1000000001}"),
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
  const kube::Resource classes{"storage.k8s.io", "v1", "storageclasses"};
  const Value storage =
      made(classes, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: p}");
  EXPECT_EQ(storage["reclaimPolicy"].str(), "Delete");
  EXPECT_EQ(storage["volumeBindingMode"].str(), "Immediate");
  EXPECT_EQ(message(patch(classes, "s", client::PatchType::Merge, "{provisioner: q}", "", "")),
            "StorageClass.storage.k8s.io \"s\" is invalid: provisioner: Forbidden: updates to provisioner are forbidden.");
}

TEST_F(Kinds, a_volume_has_one_source_for_ever) {
  const kube::Resource volumes{"", "v1", "persistentvolumes"};
  EXPECT_EQ(fault(volumes,
                  "{apiVersion: v1, kind: PersistentVolume, spec: {accessModes: [ReadWriteOnce], capacity: {storage: "
                  "1Gi}}}"),
            "spec: Required value: must specify a volume type");
  const Value volume = made(volumes,
                            "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {accessModes: "
                            "[ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /a}}}");
  EXPECT_EQ(volume["spec"]["persistentVolumeReclaimPolicy"].str(), "Retain");
  EXPECT_EQ(volume["status"]["phase"].str(), "Pending");
  EXPECT_EQ(
      message(patch(volumes, "v", client::PatchType::Merge, "{spec: {hostPath: {path: /b}}}", "", "")),
      "PersistentVolume \"v\" is invalid: spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable "
      "after creation");
}

TEST_F(Kinds, a_container_is_judged) {
  const auto with = [&](std::string_view rest) {
    return fault(kPods, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{namespace: default}}, spec: {{containers: "
                                    "[{{name: c, image: i, {}}}]}}}}",
                                    rest));
  };
  EXPECT_EQ(with("livenessProbe: {}"), "spec.containers[0].livenessProbe: Required value: must specify a handler type");
  EXPECT_EQ(with("readinessProbe: {httpGet: {port: 80}, exec: {command: [a]}}"),
            "spec.containers[0].readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type");
  EXPECT_EQ(with("livenessProbe: {successThreshold: 2, tcpSocket: {port: http}}"),
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1");
  EXPECT_EQ(with("resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}"),
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1500m");
  EXPECT_EQ(with("ports: [{name: a, containerPort: 1}, {name: a, containerPort: 2}]"),
            "spec.containers[0].ports[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(with("envFrom: [{}]"),
            "spec.containers[0].envFrom[0]: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`");
}

TEST_F(Kinds, a_pod_takes_more_tolerations_and_loses_none) {
  made(kPods,
       "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {tolerations: [{key: a, operator: "
       "Exists}], containers: [{name: c, image: i}]}}");
  EXPECT_EQ(must(get(kPods, "p"))["spec"]["serviceAccountName"].str(), "default");
  EXPECT_TRUE(patch(kPods, "p", client::PatchType::Merge,
                    "{spec: {tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}]}}"));
  EXPECT_EQ(reason(patch(kPods, "p", client::PatchType::Merge, "{spec: {tolerations: []}}")), "Invalid");
}

TEST_F(Kinds, a_signing_request_says_who_asks_and_is_approved_apart) {
  const kube::Resource requests{"certificates.k8s.io", "v1", "certificatesigningrequests"};
  Value made = must(create(requests, yaml("{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: "
                                          "{name: r}, spec: {request: Zm9v, signerName: example.com/x, usages: [client auth], "
                                          "username: somebody}}")));
  EXPECT_FALSE(made["spec"].has("username"));
  Request approval =
      writing(Verb::Update, requests,
              made.with("status", yaml("{conditions: [{type: Approved, status: 'True', lastTransitionTime: null}]}")));
  approval.subresource = "approval";
  EXPECT_TRUE(kube::is_true(must(object_of(std::move(approval))), "Approved"));
}

TEST_F(Kinds, unknown_field_labels_are_refused_by_name) {
  Request made = request(Verb::List, {"", "v1", "nodes"}, "", "");
  made.field_selector = "spec.podCIDR=x";
  EXPECT_EQ(message(object_of(made)), "field label not supported: spec.podCIDR");
  made.field_selector = "spec.unschedulable=false";
  EXPECT_TRUE(object_of(made));
}

}  // namespace
}  // namespace slipway::server
