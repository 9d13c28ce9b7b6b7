// Conditions and gates of served revisions: who may say what, what holds for which content, and what binds.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;

class PackageConditions : public PackageTest {
 public:
  /// Server-side apply of one condition by a manager of that name.
  Result<Value> say(const std::string& name, const std::string& type, const std::string& status, const std::string& more = "") {
    return patch(kRevisions, name,
                 fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}}}, status: "
                             "{{conditions: [{{type: {}, status: '{}'{}}}]}}}}",
                             name, type, status, more),
                 PatchType::Apply, type + "-controller");
  }
  Result<Value> gate(const std::string& name, const std::string& type) {
    const Value now = revision(name);
    const std::size_t count = now["spec"]["readinessGates"].size();
    const Value gates = now["spec"]["readinessGates"].with_item(count, json::object({{"conditionType", type}}));
    return put(kRevisions, now.with_path({"spec", "readinessGates"}, gates));
  }
  std::string ready(const std::string& name) { return revision(name)["status"]["ready"].str(); }
};

TEST_F(PackageConditions, gates_bind_at_propose_and_at_approve_in_a_deployment_repository) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  must(gate(name, "ipam"));
  EXPECT_EQ(ready(name), "0/1");
  EXPECT_EQ(condition(name, "ReadyToPropose"), "False (GatesUnmet)");
  const auto refused = propose(name);
  EXPECT_EQ(fault(refused),
            "Invalid: PackageRevision.porch.kpt.dev \"edge.a.v1\" is invalid: spec.readinessGates[ipam]: Forbidden: readiness "
            "conditions not met: ipam has no condition yet");
  must(say(name, "ipam", "True"));
  EXPECT_EQ(ready(name), "1/1");
  must(propose(name));
  must(say(name, "ipam", "False", ", message: taken by others"));
  EXPECT_TRUE(fault(approve(name)).contains("ipam is False (owner ipam-controller"));
  EXPECT_EQ(lifecycle(name), "Proposed");
  must(say(name, "ipam", "True"));
  must(approve(name));
  EXPECT_TRUE(fault(say(name, "ipam", "False")).contains("conditions of a published revision")) << "they are what it had";
}

TEST_F(PackageConditions, elsewhere_open_gates_are_told_and_do_not_stop) {
  repository("blueprints");
  const std::string name = init("blueprints", "a", "v1");
  must(gate(name, "ipam"));
  const Value now = revision(name);
  client::Request request;
  request.verb = client::Verb::Update;
  request.resource = kRevisions;
  request.name = name;
  request.body = now.with_path({"spec", "lifecycle"}, "Proposed");
  const auto reply = call(request);
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_EQ(reply->warnings.size(), 1U);
  EXPECT_TRUE(reply->warnings.front().contains("ipam has no condition")) << reply->warnings.front();
  must(approve(name));
}

TEST_F(PackageConditions, the_annotation_of_a_repository_says_whether_gates_bind) {
  repository("blueprints");
  must(
      patch(kRepositories, "blueprints", "{metadata: {annotations: {packages.slipway.dev/gates: enforce}}}", PatchType::Merge));
  const std::string name = init("blueprints", "a", "v1");
  must(gate(name, "ipam"));
  EXPECT_EQ(fault(propose(name)).substr(0, 7), "Invalid");
  const std::string told = fault(
      patch(kRepositories, "blueprints", "{metadata: {annotations: {packages.slipway.dev/gates: bogus}}}", PatchType::Merge));
  EXPECT_TRUE(told.contains("metadata.annotations[packages.slipway.dev/gates]: Unsupported value: \"bogus\"")) << told;
  EXPECT_TRUE(told.contains("\"enforce\", \"report\"")) << told;
}

TEST_F(PackageConditions, a_change_of_content_asks_for_each_verdict_again_but_for_those_about_other_files) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(push(name, "ip.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip}\n"));
  must(say(name, "ipam", "True", ", scope: [ip.yaml]"));
  must(say(name, "policy", "True"));
  must(push(name, "other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"));
  EXPECT_EQ(condition(name, "ipam"), "True");
  EXPECT_EQ(condition(name, "policy"), "Unknown (ContentChanged)");
  must(push(name, "ip.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip2}\n"));
  EXPECT_EQ(condition(name, "ipam"), "Unknown (ContentChanged)");
}

TEST_F(PackageConditions, a_new_revision_asks_for_each_verdict_again) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  must(gate(name, "policy"));
  must(say(name, "policy", "True"));
  must(propose(name));
  must(approve(name));
  const std::string next = draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
  EXPECT_EQ(condition(next, "policy"), "Unknown (NewRevision)");
  EXPECT_EQ(ready(next), "0/1");
  EXPECT_EQ(fault(propose(next)).substr(0, 7), "Invalid");
}

TEST_F(PackageConditions, the_kptfile_shows_them_and_a_put_of_it_is_a_flip) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(say(name, "ipam", "False", ", reason: Pending"));
  const std::string kptfile = file(name, "Kptfile");
  EXPECT_TRUE(kptfile.contains("type: ipam")) << kptfile;
  advance(seconds{1});
  EXPECT_FALSE(edge.file("a/Kptfile", "drafts/a/v1").contains("ipam")) << "no commit for a flip";
  const std::string digest = revision(name)["status"]["digest"].str();

  std::string flipped = kptfile;
  flipped.replace(flipped.find("False"), 5, "True");
  must(push(name, "Kptfile", flipped));
  EXPECT_EQ(condition(name, "ipam").substr(0, 4), "True");
  EXPECT_EQ(revision(name)["status"]["digest"].str(), digest) << "no other content";

  const std::string with_gate = file(name, "Kptfile") + "";
  std::string gated = with_gate;
  gated.replace(gated.find("info:"), 5, "info:\n  readinessGates:\n  - conditionType: ipam");
  must(push(name, "Kptfile", gated));
  EXPECT_EQ(ready(name), "1/1");
  EXPECT_EQ(condition(name, "ipam").substr(0, 4), "True") << "a gate is no other content either";
}

TEST_F(PackageConditions, the_draft_in_git_catches_up_after_a_minute_of_rest) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  advance(seconds{1});
  const std::size_t commits = edge.log("%H", "drafts/a/v1").size();
  for (int i = 0; i < 5; ++i) {
    must(say(name, "ipam", i % 2 == 0 ? "False" : "True", fmt::format(", message: look {}", i)));
    advance(seconds{30});
  }
  EXPECT_EQ(edge.log("%H", "drafts/a/v1").size(), commits) << "it did not rest";
  advance(seconds{60});
  EXPECT_EQ(edge.log("%H", "drafts/a/v1").size(), commits + 1);
  EXPECT_TRUE(edge.file("a/Kptfile", "drafts/a/v1").contains("look 4"));
  advance(minutes{10});
  EXPECT_EQ(edge.log("%H", "drafts/a/v1").size(), commits + 1) << "once";
}

TEST_F(PackageConditions, a_proposal_and_what_is_published_have_the_conditions_in_git) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(say(name, "ipam", "True", ", message: allocated"));
  must(propose(name));
  advance(seconds{1});
  EXPECT_TRUE(edge.file("a/Kptfile", "proposed/a/v1").contains("allocated"));
  must(say(name, "seen", "True"));
  must(approve(name));
  EXPECT_TRUE(edge.file("a/Kptfile", "main").contains("type: seen"));
}

TEST_F(PackageConditions, somebody_without_the_right_to_approve_may_not_propose_a_deletion) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  must(approve(name));
  must(
      create("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: writer, namespace: default}, rules: "
             "[{apiGroups: [porch.kpt.dev], resources: [packagerevisions], verbs: [get, update]}]}"));
  must(
      create("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: writer, namespace: default}, "
             "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: writer}, subjects: [{kind: User, name: carl, "
             "apiGroup: rbac.authorization.k8s.io}]}"));
  const As carl{.user = "carl", .is_admin = false};
  EXPECT_TRUE(fault(move(name, "DeletionProposed", "", carl)).starts_with("Forbidden: "));
  EXPECT_TRUE(fault(move(name, "DeletionProposed", "approval", carl)).starts_with("Forbidden: "));
  must(move(name, "DeletionProposed"));
  must(move(name, "Published", "", carl));
}

TEST_F(PackageConditions, whole_objects_with_an_old_version_are_merged_by_type_and_only_one_type_conflicts) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const Value old = revision(name);
  const auto with = [](const Value& object, const char* type, const char* status) {
    const Value& all = object["status"]["conditions"];
    return object.with_path({"status", "conditions"},
                            all.with_item(all.size(), json::object({{"type", type}, {"status", status}})));
  };
  must(put(kRevisions, with(old, "one", "True")));
  must(put(kRevisions, with(old, "two", "False")));
  EXPECT_EQ(condition(name, "one"), "True");
  EXPECT_EQ(condition(name, "two"), "False");
  const auto refused = put(kRevisions, with(old, "one", "False"));
  EXPECT_EQ(fault(refused).substr(0, 8), "Conflict");
  must(put(kRevisions, old.with_path({"metadata", "labels", "team"}, "net")));
  EXPECT_EQ(revision(name)["metadata"]["labels"]["team"], Value("net"));
  EXPECT_EQ(condition(name, "one"), "True") << "what is left out against nothing is nothing";
}

TEST_F(PackageConditions, a_draft_whose_kptfile_cannot_be_read_is_not_ready_and_keeps_its_lists) {
  Repository& edge = repository("edge", Deployment::Yes);
  const auto kptfile = [](const std::string& name, const std::string& more) {
    return fmt::format(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {}\n{}info:\n  readinessGates:\n  - "
        "conditionType: sec\n",
        name, more);
  };
  const std::string maybe = "status:\n  conditions:\n  - type: sec\n    status: Maybe\n";
  edge.commit({{"g/Kptfile", kptfile("g", "bogus: 1\n")}}, "draft", "drafts/g/v1");
  edge.commit({{"h/Kptfile", kptfile("h", maybe)}}, "draft", "drafts/h/v1");
  ASSERT_TRUE(until([&] { return !revision("edge.g.v1").is_null() && !revision("edge.h.v1").is_null(); }));
  EXPECT_EQ(condition("edge.g.v1", "ReadyToPropose"), "False (KptfileUnreadable)");
  EXPECT_TRUE(fault(propose("edge.g.v1")).contains("the Kptfile cannot be read")) << fault(propose("edge.g.v1"));
  EXPECT_TRUE(fault(propose("edge.g.v1")).contains("field bogus not found")) << fault(propose("edge.g.v1"));
  EXPECT_TRUE(fault(propose("edge.h.v1")).contains("the Kptfile cannot be read"));
  must(gate("edge.g.v1", "ipam"));
  advance(minutes{2});
  EXPECT_EQ(edge.file("g/Kptfile", "drafts/g/v1"), kptfile("g", "bogus: 1\n"));
  // Where gates do not bind it can be published, as it is.
  must(patch(kRepositories, "edge", "{metadata: {annotations: {packages.slipway.dev/gates: report}}}", PatchType::Merge));
  must(propose("edge.h.v1"));
  must(approve("edge.h.v1"));
  EXPECT_EQ(edge.file("h/Kptfile"), kptfile("h", maybe));
  // Mended, it has the gates of both, the Kptfile and the log.
  edge.commit({{"g/Kptfile", kptfile("g", "")}}, "mended", "drafts/g/v1");
  ASSERT_TRUE(until([&] { return condition("edge.g.v1", "ReadyToPropose") == "False (GatesUnmet)"; }));
  EXPECT_EQ(ready("edge.g.v1"), "0/2");
}

TEST_F(PackageConditions, a_kptfile_without_its_last_gate_and_condition_takes_them_back) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const std::string bare = file(name, "Kptfile");
  must(push(name, "Kptfile",
            bare + "  readinessGates:\n    - conditionType: ipam\nstatus:\n  conditions:\n    - type: ipam\n      status: "
                   "'True'\n"));
  ASSERT_EQ(revision(name)["spec"]["readinessGates"].size(), 1U) << file(name, "Kptfile");
  ASSERT_EQ(condition(name, "ipam"), "True");
  must(push(name, "Kptfile", bare));
  EXPECT_EQ(revision(name)["spec"]["readinessGates"].size(), 0U);
  EXPECT_EQ(condition(name, "ipam"), "absent");
  EXPECT_EQ(file(name, "Kptfile"), bare);
}

}  // namespace
}  // namespace slipway::package_test
