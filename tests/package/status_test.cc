// What the status of a revision says: conditions as those of all Kubernetes objects, and how its pipeline ended.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;
using client::Verb;

const std::string kStatus = "status";

class PackageStatus : public PackageTest {
 public:
  Value said(const std::string& name, const std::string& type) { return kube::condition(revision(name), type); }
  Value with(const Value& object, const std::string& condition) {
    const Value& all = object["status"]["conditions"];
    return object.with_path({"status", "conditions"}, all.with_item(all.size(), json::parse_yaml(condition).value()));
  }
  client::Reply strict(const Value& object) {
    client::Request request;
    request.verb = Verb::Update;
    request.resource = kRevisions;
    request.name = kube::name(object);
    request.body = object;
    request.field_validation = "Strict";
    const auto reply = call(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : client::Reply{};
  }
};

TEST_F(PackageStatus, conditions_have_the_generation_that_they_are_about) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  EXPECT_EQ(revision(name)["metadata"]["generation"], Value(1));
  strict(with(revision(name), "{type: sec, status: 'True', observedGeneration: 1}"));
  EXPECT_EQ(said(name, "sec")["observedGeneration"], Value(1));
  EXPECT_EQ(revision(name)["metadata"]["generation"], Value(1)) << "a condition is no change of what is wanted";
  must(push(name, "more.txt", "more\n"));
  EXPECT_EQ(revision(name)["metadata"]["generation"], Value(2));
  EXPECT_EQ(said(name, "sec")["observedGeneration"], Value(1)) << "it was about the content before";
  must(put(kRevisions, with(revision(name), "{type: lint, status: 'True'}")));
  EXPECT_EQ(said(name, "lint")["observedGeneration"], Value(2)) << "what is said now is about what is there now";
  EXPECT_FALSE(file(name, "Kptfile").contains("observedGeneration")) << "kpt decodes strictly";
}

TEST_F(PackageStatus, what_the_server_computes_has_its_times) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  const Value begun = said(name, "ReadyToPropose")["lastTransitionTime"];
  ASSERT_FALSE(begun.is_null());
  advance(minutes{1});
  must(put(kRevisions,
           revision(name).with_path({"spec", "readinessGates"}, json::array({json::object({{"conditionType", "sec"}})}))));
  const Value stopped = said(name, "ReadyToPropose")["lastTransitionTime"];
  EXPECT_GT(stopped.as_string(), begun.as_string());
  EXPECT_EQ(said(name, "ReadyToApprove")["lastTransitionTime"], begun);
  advance(minutes{1});
  must(push(name, "more.txt", "more\n"));
  EXPECT_EQ(said(name, "ReadyToPropose")["lastTransitionTime"], stopped);
  EXPECT_EQ(said(name, "ReadyToPropose")["observedGeneration"], revision(name)["metadata"]["generation"]);
  advance(minutes{1});
  must(put(kRevisions, with(revision(name), "{type: sec, status: 'True'}")));
  EXPECT_GT(said(name, "ReadyToPropose")["lastTransitionTime"].as_string(), stopped.as_string());
}

TEST_F(PackageStatus, the_status_has_an_endpoint_of_its_own) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const Value changed = with(revision(name), "{type: sec, status: 'True'}")
                            .with_path({"spec", "lifecycle"}, "Proposed")
                            .with_path({"metadata", "labels", "team"}, "net");
  must(put(kRevisions, changed, kStatus));
  EXPECT_EQ(condition(name, "sec"), "True");
  EXPECT_EQ(lifecycle(name), "Draft");
  EXPECT_TRUE(revision(name)["metadata"]["labels"]["team"].is_null());
  must(patch(kRevisions, name,
             "{spec: {lifecycle: Proposed}, status: {conditions: [{type: sec, status: 'False', reason: Why}]}}",
             PatchType::Merge, "", {}, kStatus));
  EXPECT_EQ(condition(name, "sec"), "False (Why)");
  EXPECT_EQ(lifecycle(name), "Draft");
  must(patch(kRevisions, name,
             "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: edge.a.v1, labels: {a: b}}, status: "
             "{conditions: [{type: lint, status: 'True'}]}}",
             PatchType::Apply, "linter", {}, kStatus));
  EXPECT_EQ(condition(name, "lint"), "True");
  EXPECT_TRUE(revision(name)["metadata"]["labels"]["a"].is_null());
  must(patch(kRevisions, name,
             "[{op: test, path: /spec/lifecycle, value: Draft}, {op: add, path: /status/conditions/-, value: "
             "{type: third, status: 'True'}}]",
             PatchType::Json, "", {}, kStatus));
  EXPECT_EQ(condition(name, "third"), "True");
  EXPECT_TRUE(fault(put(kRevisions, changed.with_path({"metadata", "resourceVersion"}, ""), kStatus)).starts_with("Invalid"));
}

TEST_F(PackageStatus, true_in_any_case_asks_for_proposals_and_other_words_are_warned_of) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const std::string annotation = "config.porch.kpt.dev/auto-lifecycle-mgmt";
  const auto reply = strict(revision(name).with_path({"metadata", "annotations", annotation}, "yes"));
  ASSERT_EQ(reply.warnings.size(), 1U);
  EXPECT_TRUE(reply.warnings.front().contains(annotation) && reply.warnings.front().contains("\"yes\""))
      << reply.warnings.front();
  advance(seconds{20});
  EXPECT_EQ(lifecycle(name), "Draft");
  EXPECT_TRUE(strict(revision(name).with_path({"metadata", "annotations", annotation}, "True")).warnings.empty());
  advance(seconds{20});
  EXPECT_EQ(lifecycle(name), "Proposed");
}

TEST_F(PackageStatus, how_the_pipeline_ended_is_kept_with_its_results) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  EXPECT_EQ(condition(name, "Rendered"), "absent") << "there is nothing to run";
  const std::string valid = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n";
  must(push(name, "ns.yaml", valid));
  const std::string kptfile =
      "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\npipeline:\n  mutators:\n  - image: set-namespace\n    "
      "configMap:\n      namespace: prod\n  validators:\n  - image: kubeconform\n";
  must(push(name, "Kptfile", kptfile));
  EXPECT_EQ(condition(name, "Rendered"), "True (RenderSuccess)");
  const Value render = revision(name)["status"]["renderStatus"];
  ASSERT_EQ(render["result"]["items"].size(), 2U) << json::print(revision(name)["status"]);
  EXPECT_EQ(render["result"]["items"].item(0)["image"], Value("set-namespace"));
  EXPECT_EQ(files(name)["status"]["renderStatus"]["result"]["items"].size(), 2U) << "a GET has what the PUT said";
  EXPECT_FALSE(file(name, "Kptfile").contains("Rendered")) << "it is the server's to say";
  must(patch(kRevisions, name, "{metadata: {annotations: {porch.kpt.dev/push-on-render-failure: 'true'}}}", PatchType::Merge));
  must(push(name, "web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: many\n  selector: {}\n  "
            "template: {}\n"));
  EXPECT_EQ(condition(name, "Rendered"), "False (RenderFailed)");
  const Value failed = revision(name)["status"]["renderStatus"]["result"];
  EXPECT_EQ(failed["exitCode"], Value(1));
  bool names_field = false;
  for (const Value& item : failed["items"].items()) {
    for (const Value& result : item["results"].items()) {
      names_field |=
          result["field"]["path"].as_string() == "spec.replicas" && result["resourceRef"]["name"].as_string() == "web";
    }
  }
  EXPECT_TRUE(names_field) << json::print(failed);
  restart();
  EXPECT_EQ(revision(name)["status"]["renderStatus"]["result"], failed);
}

}  // namespace
}  // namespace slipway::package_test
