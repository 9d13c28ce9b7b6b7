// What ordinary clients (client libraries, charts, conformance suites) rely on beside the plain verbs.
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

class Clients : public WireTest {
 public:
  Clients() { publishes_itself_ = true; }

  static std::string text(std::string_view object) { return json::print(yaml(object)); }
  static http::Headers merge_patch() { return {{"Content-Type", "application/merge-patch+json"}}; }
  Task<Heard> post(std::string path, std::string_view object) { return send("POST", std::move(path), text(object)); }
};

constexpr const char* kCore = "/api/v1/namespaces/default/";

TEST_F(Clients, the_node_tells_all_that_libraries_require) {
  serve([this]() -> Task<> {
    const Value node = (co_await get("/api/v1/nodes/local")).json();
    for (const char* key : {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
                            "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"}) {
      EXPECT_TRUE(node["status"]["nodeInfo"][key].is_string()) << key;
    }
    EXPECT_EQ(node["status"]["nodeInfo"]["machineID"].as_string().size(), 32U);
  });
}

TEST_F(Clients, an_account_without_a_namespace_is_of_the_binding_s) {
  serve([this]() -> Task<> {
    const std::string body = R"({apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b},
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: ServiceAccount, name: s}]})";
    const std::string group = "/apis/rbac.authorization.k8s.io/v1/";
    EXPECT_EQ((co_await post(group + "namespaces/default/rolebindings", body)).status, 201);
    const Value whole = yaml(body).with("kind", "ClusterRoleBinding");
    const Heard refused = co_await send("POST", group + "clusterrolebindings", json::print(whole));
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.json()["details"]["causes"].item(0)["field"].as_string(), "subjects[0].namespace");
  });
}

TEST_F(Clients, a_stateful_set_mounts_its_claims) {
  serve([this]() -> Task<> {
    const std::string set = R"({apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db,
        selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce],
        resources: {requests: {storage: 1Gi}}}}], template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c,
        image: i, volumeMounts: [{name: MOUNT, mountPath: /data}]}]}}}})";
    const auto mounting = [&](std::string_view name) { return std::string(set).replace(set.find("MOUNT"), 5, name); };
    const Heard refused = co_await post("/apis/apps/v1/namespaces/default/statefulsets", mounting("other"));
    EXPECT_EQ(refused.status, 422);
    EXPECT_TRUE(refused.body.contains("spec.template.spec.containers[0].volumeMounts[0].name")) << refused.body;
    EXPECT_EQ((co_await post("/apis/apps/v1/namespaces/default/statefulsets", mounting("data"))).status, 201);
  });
}

TEST_F(Clients, a_custom_resource_takes_a_plain_finalizer_with_a_warning) {
  serve([this]() -> Task<> {
    co_await define_widgets();
    const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
    const Heard made = co_await post(widgets,
                                     "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, "
                                     "finalizers: [cleanup, example.com/f]}}");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.header("Warning"),
              R"(299 - "metadata.finalizers: \"cleanup\": prefer a domain-qualified finalizer name to avoid accidental )"
              R"(conflicts with other finalizer writers")");
    const Heard changed = co_await send("PATCH", widgets + "/w", R"({"spec":{"size":1}})", merge_patch());
    EXPECT_EQ(changed.status, 200);
    EXPECT_EQ(changed.header("Warning"), "");
    const Heard refused =
        co_await post(kMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com]}}");
    EXPECT_EQ(refused.status, 422);
    EXPECT_TRUE(refused.body.contains("metadata.finalizers[0]")) << refused.body;
  });
}

TEST_F(Clients, a_delete_of_some_kinds_answers_with_the_object) {
  serve([this]() -> Task<> {
    struct Row {
      std::string path;
      std::string object;
    };
    const std::vector<Row> rows{
        {std::string(kCore) + "services", "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 1}]}}"},
        {std::string(kCore) + "serviceaccounts", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}}"},
        {std::string(kCore) + "podtemplates",
         "{apiVersion: v1, kind: PodTemplate, metadata: {name: x}, template: {spec: {containers: [{name: c, image: i}]}}}"},
        {std::string(kCore) + "resourcequotas", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}}"},
        {"/apis/storage.k8s.io/v1/storageclasses",
         "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: x}, provisioner: p}"},
        {"/apis/storage.k8s.io/v1/csidrivers",
         "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: x}, spec: {}}"},
        {"/apis/storage.k8s.io/v1/csinodes",
         "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: x}, spec: {drivers: []}}"}};
    for (const Row& row : rows) {
      const Heard made = co_await post(row.path, row.object);
      EXPECT_EQ(made.status, 201) << made.body;
      const Heard gone = co_await send("DELETE", row.path + "/x");
      EXPECT_EQ(gone.status, 200) << row.path;
      EXPECT_EQ(gone.json()["kind"], yaml(row.object)["kind"]);
      EXPECT_EQ(gone.json()["metadata"]["uid"], made.json()["metadata"]["uid"]);
      EXPECT_EQ((co_await get(row.path + "/x")).status, 404);
    }
    co_await send("POST", kMaps, config_map("x"));
    EXPECT_EQ((co_await send("DELETE", std::string(kMaps) + "/x")).json()["kind"].as_string(), "Status");
  });
}

TEST_F(Clients, every_namespace_has_the_authority_and_keeps_it) {
  serve([this]() -> Task<> {
    const std::string path = std::string(kMaps) + "/kube-root-ca.crt";
    EXPECT_EQ((co_await get(path)).json()["data"]["ca.crt"].as_string(), credentials_.authority_pem);
    co_await post("/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: fresh}}");
    const Heard fresh = co_await get("/api/v1/namespaces/fresh/configmaps/kube-root-ca.crt");
    EXPECT_EQ(fresh.json()["data"]["ca.crt"].as_string(), credentials_.authority_pem);
    EXPECT_EQ((co_await send("DELETE", path)).status, 200);
    EXPECT_EQ((co_await get(path)).status, 200);
    co_await send("PATCH", path, R"({"data":{"ca.crt":"another","more":"x"}})", merge_patch());
    EXPECT_EQ((co_await get(path)).json()["data"].size(), 1U);
  });
}

TEST_F(Clients, the_service_of_the_server_leads_to_it) {
  serve([this]() -> Task<> {
    const Value endpoints = (co_await get(std::string(kCore) + "endpoints/kubernetes")).json();
    const Value& subset = endpoints["subsets"].item(0);
    EXPECT_EQ(subset["addresses"], yaml("[{ip: 127.0.0.1}]"));
    EXPECT_TRUE(url("").ends_with(fmt::format(":{}", subset["ports"].item(0)["port"].as_int())));
    const Value slice = (co_await get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes")).json();
    EXPECT_EQ(slice["metadata"]["labels"]["kubernetes.io/service-name"].as_string(), "kubernetes");
    EXPECT_EQ(slice["endpoints"], yaml("[{addresses: [127.0.0.1], conditions: {ready: true}}]"));
    EXPECT_EQ(slice["ports"], subset["ports"]);
  });
}

/// The text of an object with every time of whole seconds written another way, as the Python or the JavaScript client does.
std::string with_times(const Value& object, const std::string& suffix) {
  std::string out = json::print(object);
  for (std::size_t at = 0; (at = out.find("Z\"", at)) != std::string::npos; at += suffix.size()) {
    const bool is_time = at >= 19 && out[at - 9] == 'T' && out[at - 3] == ':';
    if (is_time) out.replace(at, 1, suffix);
  }
  return out;
}

TEST_F(Clients, an_object_read_and_written_back_with_other_texts_of_its_times_is_unchanged) {
  serve([this]() -> Task<> {
    co_await define_widgets();
    co_await send("POST", kMaps, config_map("a"));
    co_await post("/apis/example.com/v1/namespaces/default/widgets",
                  "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}");
    for (const std::string path :
         {"/api/v1/namespaces/default", "/api/v1/namespaces/default/configmaps/a", "/api/v1/nodes/local",
          "/apis/example.com/v1/namespaces/default/widgets/w", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view",
          "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
          "/api/v1/namespaces/default/services/kubernetes"}) {
      const Value read = (co_await get(path)).json();
      for (const std::string suffix : {"+00:00", ".000Z"}) {
        const std::string body = with_times(read, suffix);
        EXPECT_NE(body, json::print(read)) << path;
        const Heard written = co_await send("PUT", path, body);
        EXPECT_EQ(written.status, 200) << path << " " << written.body;
        EXPECT_EQ(written.json(), read) << path;
      }
    }
  });
}

TEST_F(Clients, times_are_written_anew_by_the_type_of_their_field) {
  serve([this]() -> Task<> {
    const Heard lease =
        co_await post("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                      R"({apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l}, spec: {renewTime:
        '2026-01-02T05:04:05.1234567+02:00', acquireTime: '2026-01-02T03:04:05Z'}})");
    EXPECT_EQ(lease.json()["spec"], yaml("{renewTime: '2026-01-02T03:04:05.123456Z', acquireTime: "
                                         "'2026-01-02T03:04:05.000000Z'}"));
    const Heard event =
        co_await post(std::string(kCore) + "events",
                      R"({apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {namespace: default},
        firstTimestamp: '2026-01-02T03:04:05.9+00:00', eventTime: '2026-01-02T03:04:05Z', reportingComponent: c,
        reportingInstance: i, action: a, reason: r, type: Normal})");
    EXPECT_EQ(event.json()["firstTimestamp"].as_string(), "2026-01-02T03:04:05Z") << event.body;
    EXPECT_EQ(event.json()["eventTime"].as_string(), "2026-01-02T03:04:05.000000Z");
  });
}

TEST_F(Clients, fields_of_later_releases_are_unknown) {
  serve([this]() -> Task<> {
    const std::string pods = std::string(kCore) + "pods?fieldValidation=Strict";
    const Heard refused = co_await post(pods, R"({apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c,
        image: i, env: [{name: A, valueFrom: {fileKeyRef: {key: k, path: p, volumeName: v}}}], restartPolicyRules: []}],
        volumes: [{name: v, emptyDir: {mode: 0777}}]}})");
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(refused.json()["message"].as_string().ends_with(
        R"(strict decoding error: unknown field "spec.containers[0].env[0].valueFrom.fileKeyRef", unknown field )"
        R"("spec.containers[0].restartPolicyRules", unknown field "spec.volumes[0].emptyDir.mode")"))
        << refused.body;
  });
}

TEST_F(Clients, metadata_is_written_through_subresources_of_built_in_kinds) {
  serve([this]() -> Task<> {
    const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
    co_await post(deployments, R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {a: b}}, spec:
        {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}})");
    const std::string both =
        R"({"metadata":{"annotations":{"x":"y"},"labels":{"x":"y"}},"spec":{"replicas":9},"status":{"replicas":3}})";
    const Value deployment = (co_await send("PATCH", deployments + "/d/status", both, merge_patch())).json();
    EXPECT_EQ(deployment["metadata"]["annotations"]["x"].as_string(), "y");
    EXPECT_EQ(deployment["metadata"]["labels"], yaml("{a: b}"));  // the strategy of Deployments keeps them
    EXPECT_EQ(deployment["status"]["replicas"].as_int(), 3);
    EXPECT_EQ(deployment["spec"]["replicas"].as_int(), 1);
    EXPECT_EQ(kube::generation(deployment), 1);

    const Heard space = co_await send("PATCH", "/api/v1/namespaces/default/status", both, merge_patch());
    EXPECT_EQ(space.json()["metadata"]["labels"]["x"].as_string(), "y") << space.body;

    const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const Heard made = co_await post(requests, R"({apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest,
        metadata: {name: r}, spec: {request: Y3Ny, signerName: example.com/s, usages: [client auth]}})");
    EXPECT_EQ(made.status, 201) << made.body;
    const Heard approved = co_await send("PATCH", requests + "/r/approval",
                                         R"({"metadata":{"annotations":{"x":"y"}},"status":{"conditions":[{"type":"Approved",)"
                                         R"("status":"True","reason":"t","message":"m"}]}})",
                                         merge_patch());
    EXPECT_EQ(approved.json()["metadata"]["annotations"]["x"].as_string(), "y") << approved.body;
    EXPECT_EQ(approved.json()["status"]["conditions"].item(0)["type"].as_string(), "Approved");
  });
}

TEST_F(Clients, a_status_write_of_a_custom_resource_leaves_its_metadata) {
  serve([this]() -> Task<> {
    co_await define_widgets();
    const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
    co_await post(widgets, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}");
    const Heard written = co_await send("PATCH", widgets + "/w/status",
                                        R"({"metadata":{"annotations":{"x":"y"}},"status":{"phase":"p"}})", merge_patch());
    EXPECT_FALSE(written.json()["metadata"].has("annotations"));
    EXPECT_EQ(written.json()["status"]["phase"].as_string(), "p");
  });
}

}  // namespace
}  // namespace slipway::serve
