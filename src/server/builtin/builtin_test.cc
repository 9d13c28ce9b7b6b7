#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Builtin : public ServerTest {
 public:
  static Value pod(std::string_view spec = "{containers: [{name: c, image: i}]}") {
    return yaml(fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: default}}, spec: {}}}", spec));
  }
  static Value job(std::string_view spec = "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}") {
    return yaml(fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j, namespace: default}}, spec: {}}}", spec));
  }
  static Value secret(std::string_view rest) {
    Value made = yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}");
    for (auto [key, value] : yaml(rest).members()) made = made.with(key, value);
    return made;
  }
};

TEST_F(Builtin, bootstrap_namespaces_are_there) {
  const Value all = must(list(kNamespaces, ""));
  std::string names;
  for (const Value& item : all["items"].items()) names += item["metadata"]["name"].str() + " ";
  EXPECT_EQ(names, "default kube-node-lease kube-public kube-system ");
  const Value& first = all["items"].item(0);
  EXPECT_EQ(first["spec"], yaml("{finalizers: [kubernetes]}"));
  EXPECT_EQ(first["status"], yaml("{phase: Active}"));
  EXPECT_EQ(kube::label(first, "kubernetes.io/metadata.name"), "default");
}

TEST_F(Builtin, a_pod_is_completed) {
  const Value made = must(create(kPods, pod("{containers: [{name: c, image: 'a:1', ports: [{containerPort: 80}], resources: "
                                            "{limits: {cpu: 1}}}, {name: d, image: b}], "
                                            "volumes: [{name: v}, {name: w, configMap: {name: m}}]}")));
  const Value& spec = made["spec"];
  EXPECT_EQ(spec["restartPolicy"].str(), "Always");
  EXPECT_EQ(spec["dnsPolicy"].str(), "ClusterFirst");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(spec["enableServiceLinks"].as_bool(), true);
  EXPECT_EQ(spec["schedulerName"].str(), "default-scheduler");
  const Value& first = spec["containers"].item(0);
  EXPECT_EQ(first["imagePullPolicy"].str(), "IfNotPresent");
  EXPECT_EQ(first["terminationMessagePath"].str(), "/dev/termination-log");
  EXPECT_EQ(first["terminationMessagePolicy"].str(), "File");
  EXPECT_EQ(first["ports"], yaml("[{containerPort: 80, protocol: TCP}]"));
  EXPECT_EQ(first["resources"], yaml("{limits: {cpu: '1'}, requests: {cpu: '1'}}"));
  EXPECT_EQ(spec["containers"].item(1)["imagePullPolicy"].str(), "Always");
  EXPECT_EQ(spec["volumes"], yaml("[{name: v, emptyDir: {}}, {name: w, configMap: {name: m, defaultMode: 420}}]"));
  EXPECT_EQ(made["status"], yaml("{phase: Pending, qosClass: Burstable}"));
}

TEST_F(Builtin, a_pod_is_judged) {
  const auto with = [&](std::string_view spec) {
    const std::string text = message(create(kPods, pod(spec)));
    const std::string head = "Pod \"p\" is invalid: ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  EXPECT_EQ(with("{containers: []}"), "spec.containers: Required value");
  EXPECT_EQ(with("{containers: [{name: c}]}"), "spec.containers[0].image: Required value");
  EXPECT_EQ(with("{containers: [{name: c, image: i}, {name: c, image: i}]}"),
            "spec.containers[1].name: Duplicate value: \"c\"");
  EXPECT_EQ(with("{restartPolicy: Sometimes, containers: [{name: c, image: i}]}"),
            "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"");
  EXPECT_EQ(with("{containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]}"),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
  EXPECT_EQ(with("{containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /v}]}], "
                 "volumes: [{name: v}]}"),
            "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/v\": must be unique");
  EXPECT_EQ(with("{containers: [{name: c, image: i}], volumes: [{name: v, configMap: {}}]}"),
            "spec.volumes[0].configMap.name: Required value");
  EXPECT_EQ(with("{containers: [{name: c, image: i}], volumes: [{name: v, emptyDir: {}, secret: {secretName: s}}]}"),
            "spec.volumes[0]: Forbidden: may not specify more than 1 volume type");
}

TEST_F(Builtin, a_file_of_a_volume_stays_inside_it) {
  const auto with = [&](const std::string& source) {
    const std::string text =
        message(create(kPods, pod("{containers: [{name: c, image: i}], volumes: [{name: v, " + source + "}]}")));
    const std::string head = "Pod \"p\" is invalid: spec.volumes[0].";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  const auto secret = [&](const std::string& item) { return with("secret: {secretName: s, items: [" + item + "]}"); };
  EXPECT_EQ(secret("{key: k, path: ''}"), "secret.items[0].path: Required value");
  EXPECT_EQ(secret("{key: '', path: p}"), "secret.items[0].key: Required value");
  EXPECT_EQ(secret("{key: k, path: ../../x}"), "secret.items[0].path: Invalid value: \"../../x\": must not contain '..'");
  EXPECT_EQ(secret("{key: k, path: a/../b}"), "secret.items[0].path: Invalid value: \"a/../b\": must not contain '..'");
  EXPECT_EQ(secret("{key: k, path: /x}"), "secret.items[0].path: Invalid value: \"/x\": must be a relative path");
  EXPECT_EQ(secret("{key: k, path: ..data}"), "secret.items[0].path: Invalid value: \"..data\": must not start with '..'");
  EXPECT_EQ(secret("{key: k, path: p, mode: 512}"),
            "secret.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive");
  EXPECT_EQ(with("configMap: {name: m, items: [{key: k, path: ..}]}"),
            "configMap.items[0].path: Invalid value: \"..\": must not contain '..'");
  EXPECT_EQ(with("projected: {sources: [{secret: {name: s, items: [{key: k, path: ../x}]}}]}"),
            "projected.sources[0].secret.items[0].path: Invalid value: \"../x\": must not contain '..'");
  EXPECT_EQ(with("downwardAPI: {items: [{path: ../x, fieldRef: {fieldPath: metadata.name}}]}"),
            "downwardAPI.items[0].path: Invalid value: \"../x\": must not contain '..'");
  must(create(kPods,
              pod("{containers: [{name: c, image: i}], volumes: [{name: v, secret: {secretName: s, defaultMode: 256, items: "
                  "[{key: k, path: a/b, mode: 511}, {key: k, path: 'c..'}]}}]}")));
}

TEST_F(Builtin, a_pod_changes_its_image_but_not_its_command) {
  const Value made = must(create(kPods, pod()));
  const Value image =
      must(patch(kPods, "p", client::PatchType::Json, "[{op: replace, path: /spec/containers/0/image, value: j}]"));
  EXPECT_EQ(kube::generation(image), 2);
  EXPECT_EQ(
      message(patch(kPods, "p", client::PatchType::Json, "[{op: add, path: /spec/containers/0/command, value: [x]}]")),
      "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to "
      "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)");
  EXPECT_TRUE(patch(kPods, "p", client::PatchType::Merge, "{spec: {nodeName: here}}"));
  EXPECT_EQ(reason(patch(kPods, "p", client::PatchType::Merge, "{spec: {nodeName: there}}")), "Invalid");
}

TEST_F(Builtin, a_job_is_completed) {
  const Value made = must(create(kJobs, job()));
  const std::string uid(kube::uid(made));
  const Value& spec = made["spec"];
  EXPECT_EQ(spec["completions"].as_int(), 1);
  EXPECT_EQ(spec["parallelism"].as_int(), 1);
  EXPECT_EQ(spec["backoffLimit"].as_int(), 6);
  EXPECT_EQ(spec["completionMode"].str(), "NonIndexed");
  EXPECT_EQ(spec["suspend"], Value(false));
  EXPECT_EQ(spec["podReplacementPolicy"].str(), "TerminatingOrFailed");
  EXPECT_EQ(spec["selector"]["matchLabels"], json::object({{"batch.kubernetes.io/controller-uid", uid}}));
  EXPECT_EQ(spec["template"]["metadata"]["labels"], json::object({{"batch.kubernetes.io/controller-uid", uid},
                                                                  {"controller-uid", uid},
                                                                  {"batch.kubernetes.io/job-name", "j"},
                                                                  {"job-name", "j"}}));
  EXPECT_EQ(spec["template"]["spec"]["dnsPolicy"].str(), "ClusterFirst");
  EXPECT_EQ(must(update(kJobs, made)), made);
}

TEST_F(Builtin, a_job_is_judged) {
  const auto with = [&](std::string_view spec) {
    const std::string text = message(create(kJobs, job(spec)));
    const std::string head = "Job.batch \"j\" is invalid: ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  EXPECT_EQ(with("{template: {spec: {containers: [{name: c, image: i}]}}}"),
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"");
  EXPECT_EQ(with("{parallelism: -1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"),
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0");
}

TEST_F(Builtin, an_indexed_job_needs_completions) {
  const auto made = create(kJobs, job("{parallelism: 2, completionMode: Indexed, template: {spec: {restartPolicy: Never, "
                                      "containers: [{name: c, image: i}]}}}"));
  EXPECT_EQ(message(made), "Job.batch \"j\" is invalid: spec.completions: Required value: when completion mode is Indexed");
}

TEST_F(Builtin, a_job_keeps_its_template) {
  must(create(kJobs, job()));
  EXPECT_TRUE(patch(kJobs, "j", client::PatchType::Merge, "{spec: {parallelism: 4, suspend: true}}"));
  const auto changed = patch(kJobs, "j", client::PatchType::Merge, "{spec: {completions: 3}}");
  EXPECT_EQ(message(changed), "Job.batch \"j\" is invalid: spec.completions: Invalid value: 3: field is immutable");
  const auto image =
      patch(kJobs, "j", client::PatchType::Json, "[{op: replace, path: /spec/template/spec/containers/0/image, value: x}]");
  EXPECT_TRUE(message(image).starts_with("Job.batch \"j\" is invalid: spec.template: Invalid value: ")) << message(image);
  EXPECT_TRUE(message(image).ends_with(": field is immutable"));
}

TEST_F(Builtin, a_job_with_a_selector_of_its_own_must_say_so) {
  const auto made =
      create(kJobs, job("{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {c: d}}, spec: {restartPolicy: Never, "
                        "containers: [{name: c, image: i}]}}}"));
  EXPECT_TRUE(message(made).contains("spec.template.metadata.labels: Invalid value: ")) << message(made);
  EXPECT_TRUE(message(made).contains("`selector` does not match template `labels`")) << message(made);
  const Value manual =
      must(create(kJobs, job("{manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
                             "spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}")));
  EXPECT_EQ(manual["spec"]["selector"], yaml("{matchLabels: {a: b}}"));
}

TEST_F(Builtin, a_secret_turns_text_into_data) {
  const Value made = must(create(kSecrets, secret("{data: {a: Yg==}, stringData: {c: d}}")));
  EXPECT_EQ(made["data"], yaml("{a: Yg==, c: ZA==}"));
  EXPECT_EQ(made["type"].str(), "Opaque");
  EXPECT_FALSE(made.has("stringData"));
  EXPECT_EQ(message(patch(kSecrets, "s", client::PatchType::Merge, "{type: other}")),
            "Secret \"s\" is invalid: type: Invalid value: \"other\": field is immutable");
}

TEST_F(Builtin, keys_of_config_are_judged) {
  EXPECT_EQ(message(create(kConfigMaps, config_map("a").with("data", yaml("{'a/b': x}")))),
            "ConfigMap \"a\" is invalid: data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric "
            "characters, '-', "
            "'_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
  EXPECT_EQ(reason(create(kSecrets, secret("{data: {a: '%%'}}"))), "Invalid");
  EXPECT_EQ(message(create(kConfigMaps, config_map("a").with("binaryData", yaml("{k: Yg==}")))),
            "ConfigMap \"a\" is invalid: data[k]: Invalid value: \"k\": duplicate of key present in binaryData");
}

TEST_F(Builtin, what_is_immutable_stays) {
  must(create(kConfigMaps, config_map("a").with("immutable", true)));
  EXPECT_EQ(message(patch(kConfigMaps, "a", client::PatchType::Merge, "{data: {k: '2'}}")),
            "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(message(patch(kConfigMaps, "a", client::PatchType::Merge, "{immutable: false}")),
            "ConfigMap \"a\" is invalid: immutable: Forbidden: field is immutable when `immutable` is set");
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{metadata: {labels: {a: b}}}"));
}

TEST_F(Builtin, a_claim_is_completed_and_keeps_its_spec) {
  const kube::Resource claims{"", "v1", "persistentvolumeclaims"};
  const Value body = yaml(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: {accessModes: "
      "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
  EXPECT_EQ(message(create(claims, body.with_path({"spec", "accessModes"}, Value::empty_array()))),
            "PersistentVolumeClaim \"c\" is invalid: spec.accessModes: Required value: at least 1 access mode is required");
  EXPECT_EQ(message(create(claims, body.without_path({"spec", "resources", "requests"}))),
            "PersistentVolumeClaim \"c\" is invalid: spec.resources[storage]: Required value");
  const Value made = must(create(claims, body));
  EXPECT_EQ(made["spec"]["volumeMode"].str(), "Filesystem");
  EXPECT_EQ(made["status"]["phase"].str(), "Pending");
  EXPECT_EQ(
      message(patch(claims, "c", client::PatchType::Merge, "{spec: {resources: {requests: {storage: 2Gi}}}}")),
      "PersistentVolumeClaim \"c\" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims");
}

TEST_F(Builtin, events_and_leases_are_judged) {
  EXPECT_EQ(message(create({"", "v1", "events"}, yaml("{apiVersion: v1, kind: Event, metadata: {name: e, namespace: default}, "
                                                      "involvedObject: {kind: Pod, name: p, namespace: other}}"))),
            "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"other\": does not match event.namespace");
  EXPECT_EQ(
      message(create({"coordination.k8s.io", "v1", "leases"},
                     yaml("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l, namespace: default}, spec: "
                          "{leaseDurationSeconds: 0}}"))),
      "Lease.coordination.k8s.io \"l\" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0");
}

TEST_F(Builtin, types_are_checked) {
  const auto made =
      create(kJobs, job("{parallelism: two, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"));
  EXPECT_EQ(reason(made), "Invalid");
  EXPECT_TRUE(message(made).starts_with("Job.batch \"j\" is invalid: spec.parallelism: Invalid value: ")) << message(made);
}

}  // namespace
}  // namespace slipway::server
