// vela/query in steps of a real delivery: two clusters, simulated pods, virtual time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

constexpr const char* kQueriedApplication = R"({apiVersion: core.oam.dev/v1beta1, kind: Application,
  metadata: {name: shop, namespace: default}, spec: {
    components: [
      {name: web, type: webservice, properties: {image: a, ports: [{port: 8080, expose: true}]},
       traits: [{type: scaler, properties: {replicas: 2}}]},
      {name: worker, type: worker, properties: {image: b}}],
    policies: [{name: both, type: topology, properties: {clusters: [local, cluster-worker]}}],
    workflow: {steps: [{name: go, type: deploy, properties: {policies: [both]}}, {name: ask, type: ask}]}}})";

const Value kReference =
    *json::parse_yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: shop}");

/// What step `ask` says when its template is this one; lines of `told` in their order.
std::string answer(const std::string& query) {
  const std::string text = fmt::format(
      "import \"strings\"\nimport \"vela/builtin\"\nimport \"vela/query\"\nimport \"vela/ql\"\n"
      "_ql: ql.#List\n_query: query.#App\n{}\n"
      "say: builtin.#Message & {{$params: message: strings.Join(told, \"; \")}}\nparameter: {{}}\n",
      query);
  Plane plane(&image());
  plane.make_namespace("default");
  const Value definition =
      json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                    {"kind", "WorkflowStepDefinition"},
                    {"metadata", json::object({{"name", "ask"}, {"namespace", "default"}})},
                    {"spec", json::object({{"schematic", json::object({{"cue", json::object({{"template", text}})}})}})}});
  EXPECT_EQ(plane.apply(definition, "default"), "");
  EXPECT_EQ(plane.apply(*json::parse_yaml(kQueriedApplication), "default"), "");
  plane.pass(std::chrono::seconds{30});
  const Value application = plane.find(kHub, kReference);
  for (const Value& step : application["status"]["workflow"]["steps"].items()) {
    if (step["name"].as_string() == "ask") return step["message"].str();
  }
  return "the step was not reached: " + json::print(application["status"]);
}

struct QueryRow {
  const char* what;
  const char* query;
  const char* told;
};

TEST(Query, steps_are_told_what_became_of_the_application) {
  const QueryRow rows[] = {
      {"pods of one cluster",
       "q: query.#CollectPods & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: cluster: \"cluster-worker\"}}\n"
       "told: [if q.$returns.list != _|_ for p in q.$returns.list "
       "{\"\\(p.cluster) \\(p.component) \\(p.workload.kind) \\(p.object.status.phase)\"}]",
       "cluster-worker web ReplicaSet Running; cluster-worker web ReplicaSet Running; cluster-worker worker ReplicaSet "
       "Running"},
      {"pods of one component",
       "q: query.#CollectPods & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: components: [\"worker\"]}}\n"
       "told: [if q.$returns.list != _|_ for p in q.$returns.list {\"\\(p.cluster) \\(p.component)\"}]",
       "local worker; cluster-worker worker"},
      {"services",
       "q: query.#CollectServices & {$params: app: {name: context.name, namespace: context.namespace}}\n"
       "told: [if q.$returns.list != _|_ for s in q.$returns.list {\"\\(s.cluster) \\(s.object.metadata.name)\"}]",
       "local web; cluster-worker web"},
      {"endpoints",
       "q: query.#CollectServiceEndpoints & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: cluster: \"local\"}}\n"
       "told: [if q.$returns.list != _|_ for e in q.$returns.list "
       "{\"\\(e.component) \\(e.endpoint.host):\\(e.endpoint.port) \\(e.endpoint.appProtocol)\"}]",
       "web web.default:8080 http"},
      {"manifests",
       "q: query.#ListResourcesInApp & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: {kind: \"Deployment\", cluster: \"local\"}}}\n"
       "told: [if q.$returns.list != _|_ for r in q.$returns.list {\"\\(r.component) \\(r.object.metadata.name)\"}]",
       "web web; worker worker"},
      {"applied resources",
       "q: query.#ListAppliedResources & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: cluster: \"local\"}}\n"
       "told: [if q.$returns.list != _|_ for r in q.$returns.list {\"\\(r.kind)/\\(r.name) \\(r.revision) \\(r.latest)\"}]",
       "Deployment/web shop-v1 true; Service/web shop-v1 true; Deployment/worker shop-v1 true"},
      {"the tree",
       "q: query.#GetApplicationTree & {$params: app: {name: context.name, namespace: context.namespace, "
       "filter: {cluster: \"local\", components: [\"worker\"]}}}\n"
       "told: [if q.$returns.list != _|_ for r in q.$returns.list "
       "{\"\\(r.kind) > \\(r.resourceTree.leafNodes[0].kind) > \\(r.resourceTree.leafNodes[0].leafNodes[0].kind) "
       "\\(r.resourceTree.leafNodes[0].leafNodes[0].healthStatus.statusCode) "
       "\\(r.resourceTree.leafNodes[0].leafNodes[0].additionalInfo.Ready)\"}]",
       "Deployment > ReplicaSet > Pod Healthy 1/1"},
      {"events",
       "q: query.#SearchEvents & {$params: {value: {apiVersion: \"apps/v1\", kind: \"Deployment\", "
       "metadata: {name: \"worker\", namespace: \"default\"}}, cluster: \"cluster-worker\"}}\n"
       "told: [if q.$returns.list != _|_ for e in q.$returns.list {e.reason}]",
       "ScalingReplicaSet"},
      {"an application that is not there",
       "q: query.#CollectPods & {$params: app: {name: \"nobody\", namespace: \"default\"}}\n"
       "told: [if q.$returns.err != _|_ {q.$returns.err}]",
       "applications.core.oam.dev \"nobody\" not found"},
      {"the older package",
       "q: ql.#CollectPods & {app: {name: context.name, namespace: context.namespace, filter: components: [\"worker\"]}}\n"
       "told: [if q.list != _|_ for p in q.list {p.cluster}]",
       "local; cluster-worker"},
  };
  for (const QueryRow& row : rows) EXPECT_EQ(answer(row.query), row.told) << row.what;
}

}  // namespace
}  // namespace slipway::oracle_test
