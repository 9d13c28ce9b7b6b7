// The stored form of objects (kube/stored_form.h) as writers of each verb meet it, and who then owns what.
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using client::PatchType;

const kube::Resource kDeploymentsOfApps{"apps", "v1", "deployments"};

class StoredForm : public ServerTest {
 protected:
  static Value deployment(std::string_view container) {
    return yaml(
        fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d, namespace: default}}, spec: {{replicas: 0, "
                    "selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: "
                    "[{{name: c, image: i{}{}}}]}}}}}}}}",
                    container.empty() ? "" : ", ", container));
  }
  static const Value& container(const Value& object) { return object["spec"]["template"]["spec"]["containers"].item(0); }
  /// What the manager owns of the container.
  static Value owned(const Value& object, std::string_view manager) {
    for (const Value& row : object["metadata"]["managedFields"].items()) {
      if (row["manager"].as_string() != manager) continue;
      return row["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"];
    }
    return {};
  }
  Result<Value> apply(const Value& body, std::string manager, bool is_dry_run = false) {
    Request asked = writing(Verb::Patch, kDeploymentsOfApps, body);
    asked.patch_type = PatchType::Apply;
    asked.field_manager = std::move(manager);
    asked.dry_run = is_dry_run;
    return object_of(std::move(asked));
  }
};

constexpr std::string_view kLoose = "resources: {limits: {cpu: '0.5', memory: 1024Mi}}, env: [], stdin: false, workingDir: ''";

TEST_F(StoredForm, is_what_a_create_stores) {
  for (const bool is_dry_run : {true, false}) {
    Request asked = writing(Verb::Create, kDeploymentsOfApps, deployment(kLoose));
    asked.dry_run = is_dry_run;
    const Value made = must(object_of(std::move(asked)));
    EXPECT_EQ(container(made)["resources"], yaml("{limits: {cpu: 500m, memory: 1Gi}}"));
    for (const char* gone : {"env", "stdin", "workingDir"}) EXPECT_FALSE(container(made).has(gone)) << gone;
    EXPECT_EQ(made["spec"]["replicas"], Value(0));
    EXPECT_FALSE(owned(made, "tester").has("f:env"));
  }
}

TEST_F(StoredForm, makes_an_update_in_other_words_write_nothing) {
  const Value made = must(create(kDeploymentsOfApps, deployment(kLoose)));
  EXPECT_EQ(must(update(kDeploymentsOfApps, deployment("resources: {limits: {cpu: 500m, memory: 1Gi}}, args: []"))), made);
  EXPECT_EQ(must(update(kDeploymentsOfApps, deployment(kLoose))), made);
  EXPECT_EQ(container(must(patch(kDeploymentsOfApps, "d", PatchType::StrategicMerge,
                                 "{spec: {template: {spec: {containers: [{name: c, tty: false, resources: {limits: {cpu: "
                                 "2}}}]}}}}")))["resources"]["limits"]["cpu"],
            Value("2"));
  EXPECT_EQ(kube::generation(must(get(kDeploymentsOfApps, "d"))), 2);
}

TEST_F(StoredForm, of_what_is_applied_lacks_zero_values_that_the_applier_owns) {
  const Value made = must(apply(deployment(kLoose), "mgr"));
  EXPECT_EQ(container(made)["resources"], yaml("{limits: {cpu: 500m, memory: 1Gi}}"));
  EXPECT_FALSE(container(made).has("env"));
  EXPECT_TRUE(owned(made, "mgr").has("f:stdin"));
  EXPECT_TRUE(owned(made, "mgr").has("f:workingDir"));
  env_.advance(Duration(std::chrono::seconds(5)));
  EXPECT_EQ(must(apply(deployment(kLoose), "mgr")), made) << "the same again writes nothing";
  EXPECT_EQ(must(apply(deployment(kLoose), "mgr", true)), made);
  // The same amount in other words is no conflict.
  const Value other = must(apply(deployment("resources: {limits: {cpu: 500m, memory: 1Gi}}"), "other"));
  EXPECT_EQ(container(other)["resources"], container(made)["resources"]);
}

TEST_F(StoredForm, of_metadata_holds_for_custom_resources) {
  define_widgets();
  const Value made = must(create(kWidgets, yaml("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: "
                                                "default, labels: {}, annotations: {}}, spec: {color: ''}}")));
  EXPECT_FALSE(made["metadata"].has("labels"));
  EXPECT_EQ(made["spec"]["color"], Value(""));
}

TEST_F(StoredForm, keeps_the_empty_list_that_forgets_owners) {
  must(create(kDeploymentsOfApps, deployment("")));
  const Value next = must(patch(kDeploymentsOfApps, "d", PatchType::Merge, "{metadata: {managedFields: []}}"));
  EXPECT_FALSE(next["metadata"].has("managedFields"));
}

}  // namespace
}  // namespace slipway::server
