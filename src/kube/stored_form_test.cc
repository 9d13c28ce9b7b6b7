// The stored form of built-in kinds: what a round trip through Go's structs leaves of what was sent.
#include "kube/stored_form.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

const ResourceType& builtin_of_group(std::string_view kind, std::string_view group) {
  static const std::vector<ResourceType>& all = *new std::vector<ResourceType>(builtin_types());
  for (const ResourceType& type : all) {
    if (type.kind.kind == kind && type.kind.group == group) return type;
  }
  ADD_FAILURE() << kind;
  return all.front();
}

TEST(StoredForm, has_one_text_per_quantity) {
  struct Row {
    json::Value sent;
    json::Value stored;
  };
  const Row rows[] = {
      {"0.5", "500m"},    {"1024Mi", "1Gi"}, {2, "2"},        {"4096Mi", "4Gi"},
      {"1.5", "1500m"},   {0.5, "500m"},     {"1000m", "1"},  {"3000m", "3"},
      {"1000", "1k"},     {"0", "0"},        {0, "0"},        {"0m", "0"},
      {"00", "0"},        {"010m", "10m"},   {"1000Mi", ""},  {"128974848", ""},
      {"129e6", ""},      {"1e3", ""},       {"123Mi", ""},   {"1.5Gi", "1536Mi"},
      {"0.5Gi", "512Mi"}, {"100m", ""},      {"1000k", "1M"}, {"1024Gi", "1Ti"},
      {"0.0001", "100u"}, {"512Ki", ""},     {"-1.0", "-1"},  {"999999999999m", "999999999999m"},
      {"+2", "2"},        {"1Gb", ""},       {"", ""},        {true, true},
      {"2.0", "2"},       {"1E", ""},
  };
  for (const Row& row : rows) {
    const json::Value& wanted = row.stored == json::Value("") ? row.sent : row.stored;
    EXPECT_EQ(in_stored_form(row.sent, SchemaNode::StoredForm::Quantity), wanted) << json::print(row.sent);
  }
}

struct Pruned {
  std::string_view kind;
  std::string_view group;
  std::string_view sent;
  std::string_view stored;
};

TEST(StoredForm, leaves_out_what_go_leaves_out) {
  const Pruned rows[] = {
      {"Pod", "",
       "{metadata: {name: a, labels: {}, annotations: {}, finalizers: [], generateName: '', ownerReferences: []}, spec: "
       "{containers: [{name: c, env: [], command: [], stdin: false, workingDir: '', volumeDevices: [], resources: {limits: "
       "{}}, "
       "volumeMounts: [{name: v, mountPath: '', readOnly: false, subPath: ''}], startupProbe: {initialDelaySeconds: 0, "
       "terminationGracePeriodSeconds: 0, httpGet: {port: 0}}}], volumes: [{name: v, emptyDir: {medium: ''}}]}}",
       "{metadata: {name: a}, spec: {containers: [{name: c, resources: {}, volumeMounts: [{name: v, mountPath: ''}], "
       "startupProbe: {terminationGracePeriodSeconds: 0, httpGet: {port: 0}}}], volumes: [{name: v, emptyDir: {}}]}}"},
      {"Pod", "",
       "{spec: {containers: [], hostNetwork: false, shareProcessNamespace: false, terminationGracePeriodSeconds: 0, priority: "
       "0, "
       "nodeName: '', securityContext: {runAsNonRoot: false, runAsUser: 0, sysctls: [], supplementalGroups: []}, volumes: "
       "[{name: v, secret: {optional: false, secretName: '', items: []}}, {name: p, projected: {sources: []}}]}}",
       "{spec: {containers: [], shareProcessNamespace: false, terminationGracePeriodSeconds: 0, priority: 0, securityContext: "
       "{runAsNonRoot: false, runAsUser: 0}, volumes: [{name: v, secret: {optional: false}}, {name: p, projected: {sources: "
       "[]}}]}}"},
      {"Deployment", "apps",
       "{spec: {replicas: 0, minReadySeconds: 0, paused: false, revisionHistoryLimit: 0, strategy: {}, template: {metadata: "
       "{labels: {}}, spec: {containers: []}}}, status: {replicas: 0, conditions: []}}",
       "{spec: {replicas: 0, revisionHistoryLimit: 0, strategy: {}, template: {metadata: {}, spec: {containers: []}}}, status: "
       "{}}"},
      {"ReplicaSet", "apps", "{status: {replicas: 0, readyReplicas: 0}}", "{status: {replicas: 0}}"},
      {"ConfigMap", "", "{data: {}, binaryData: {}, immutable: false}", "{immutable: false}"},
      {"ConfigMap", "", "{data: {k: ''}}", "{data: {k: ''}}"},
      {"Service", "", "{spec: {ports: [], externalName: '', publishNotReadyAddresses: false}, status: {loadBalancer: {}}}",
       "{spec: {}, status: {loadBalancer: {}}}"},
      {"ClusterRole", "rbac.authorization.k8s.io", "{rules: [], aggregationRule: {clusterRoleSelectors: []}}",
       "{rules: [], aggregationRule: {}}"},
      {"CustomResourceDefinition", "apiextensions.k8s.io",
       "{spec: {versions: [{name: v1, served: false, deprecated: false, schema: {openAPIV3Schema: {description: '', required: "
       "[], "
       "nullable: false, x-kubernetes-preserve-unknown-fields: false, properties: {p: {default: ''}}}}}]}}",
       "{spec: {versions: [{name: v1, served: false, schema: {openAPIV3Schema: {x-kubernetes-preserve-unknown-fields: false, "
       "properties: {p: {default: ''}}}}}]}}"},
      {"PersistentVolumeClaim", "", "{spec: {resources: {requests: {storage: 1024Mi}}, storageClassName: ''}}",
       "{spec: {resources: {requests: {storage: 1Gi}}, storageClassName: ''}}"},
      {"ResourceQuota", "", "{spec: {hard: {pods: 4, requests.cpu: '0.5'}}}",
       "{spec: {hard: {pods: '4', requests.cpu: 500m}}}"},
  };
  for (const Pruned& row : rows) {
    std::vector<std::string> dropped;
    const Schema& schema = *builtin_of_group(row.kind, row.group).schema;
    const json::Value stored = schema.prune(yaml(row.sent), &dropped);
    EXPECT_EQ(stored, yaml(row.stored)) << row.kind;
    EXPECT_TRUE(schema.prune(stored).is_same(stored)) << row.kind;
    EXPECT_TRUE(dropped.empty()) << "what is not stored is no unknown field: " << dropped.front();
  }
}

TEST(StoredForm, leaves_values_of_a_wrong_type_to_validation) {
  const json::Value pod = yaml("{spec: {containers: [{name: c, stdin: '', env: {}, workingDir: 0, command: false}]}}");
  EXPECT_TRUE(builtin_of_group("Pod", "").schema->prune(pod).is_same(pod));
}

TEST(StoredForm, can_keep_the_zero_values_for_an_applier) {
  const json::Value pod = yaml("{spec: {containers: [{name: c, env: [], stdin: false, resources: {limits: {cpu: '0.5'}}}]}}");
  EXPECT_EQ(builtin_of_group("Pod", "").schema->prune(pod, nullptr, Zeros::Kept),
            yaml("{spec: {containers: [{name: c, env: [], stdin: false, resources: {limits: {cpu: 500m}}}]}}"));
}

TEST(StoredForm, of_a_custom_resource_is_as_sent_but_for_its_metadata) {
  const auto schema = Schema::compile(
      yaml("{type: object, properties: {spec: {type: object, properties: {l: {type: array, items: {type: string}}, s: {type: "
           "string}, t: {type: string, format: date-time}, q: {x-kubernetes-int-or-string: true, format: quantity}}}}}"));
  ASSERT_TRUE(schema);
  EXPECT_EQ((*schema)->prune(yaml("{metadata: {name: a, labels: {}}, spec: {l: [], s: '', t: '2020-01-01T01:00:00+01:00', q: "
                                  "'0.5'}}")),
            yaml("{metadata: {name: a}, spec: {l: [], s: '', t: '2020-01-01T01:00:00+01:00', q: '0.5'}}"));
}

}  // namespace
}  // namespace slipway::kube
