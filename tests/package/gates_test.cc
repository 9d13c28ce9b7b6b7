// Gates: whose they are to drop, whose word opens them, and at which step they are asked.
#include <fmt/format.h>

#include "json/text.h"
#include "kube/well_known.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;

class PackageGatesTest : public PackageTest {
 public:
  void SetUp() override {
    PackageTest::SetUp();
    repository("bp");
    edge_ = &repository("edge", Deployment::Yes);
    for (const char* role : {"edit", "admin"}) {
      for (const char* user : {"bob", "ann"}) {
        if ((std::string_view(role) == "admin") != (std::string_view(user) == "ann")) continue;
        must(
            create(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}}}, "
                               "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {1}}}, subjects: "
                               "[{{kind: User, name: {0}}}]}}",
                               user, role)));
      }
    }
    must(
        create("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: netops}, roleRef: {apiGroup: "
               "rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: Group, name: netops}]}"));
  }
  /// A PUT of the revision as a user in these groups.
  Result<Value> put_as(const Value& object, const std::string& user, std::vector<std::string> groups = {},
                       const std::string& subresource = "") {
    client::Request request;
    request.verb = client::Verb::Update;
    request.resource = kRevisions;
    request.ns = "default";
    request.name = kube::name(object);
    request.subresource = subresource;
    request.body = object;
    kube::UserInfo who;
    who.name = user;
    who.groups = std::move(groups);
    who.groups.emplace_back("system:authenticated");
    request.user = std::make_shared<const kube::UserInfo>(who);
    SLIPWAY_TRY(reply, env_->run(slipway_->server().call(std::move(request))));
    return reply.object;
  }
  Value with_gate(const std::string& name, const std::string& gate) {
    const Value now = revision(name);
    const Value& gates = now["spec"]["readinessGates"];
    return now.with_path({"spec", "readinessGates"}, gates.with_item(gates.size(), json::parse_yaml(gate).value()));
  }
  Value without_gates(const std::string& name) { return revision(name).with_path({"spec", "readinessGates"}, json::array({})); }
  Value with_condition(const std::string& name, const std::string& type, const std::string& status) {
    const Value now = revision(name);
    json::ArrayBuilder all;
    for (const Value& one : now["status"]["conditions"].items()) {
      if (one["type"].as_string() != type) all.add(one);
    }
    all.add(json::object({{"type", type}, {"status", status}}));
    return now.with_path({"status", "conditions"}, all.build());
  }
  std::string gates(const std::string& name) {
    std::string text;
    for (const Value& one : revision(name)["spec"]["readinessGates"].items()) {
      text += fmt::format("{}:{} ", one["conditionType"].as_string(), json::print(one["sources"]));
    }
    return text;
  }
  std::string publish_blueprint(const std::string& workspace, const std::string& task) {
    const std::string name = draft("bp", "web", workspace, task);
    must(push(name, "note.yaml", fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\n", workspace)));
    if (revision(name)["spec"]["readinessGates"].size() == 0) must(put(kRevisions, with_gate(name, "{conditionType: sec}")));
    must(propose(name));
    must(approve(name));
    return name;
  }
  std::string clone() {
    publish_blueprint("v1", "{type: init, init: {description: a test}}");
    return draft("edge", "web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: bp.web.v1}}}}");
  }

 protected:
  Repository* edge_ = nullptr;
};

TEST_F(PackageGatesTest, a_gate_of_the_upstream_is_dropped_by_who_may_approve_and_the_refusal_of_others_says_so) {
  const std::string name = clone();
  const std::string refused = fault(put_as(without_gates(name), "bob"));
  EXPECT_TRUE(refused.contains("spec.readinessGates[sec]: Forbidden: is asked for by upstream")) << refused;
  EXPECT_TRUE(refused.contains("update packagerevisions/approval")) << refused;
  const Value kptfile =
      files(name).with_path({"spec", "resources", "Kptfile"},
                            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\ninfo:\n  description: other\n");
  EXPECT_TRUE(
      fault(put(kResources, kptfile, "", {.user = "bob", .is_admin = false})).contains("update packagerevisions/approval"));
  must(put_as(without_gates(name), "ann"));
  EXPECT_EQ(gates(name), "");
  advance(minutes{2});
  EXPECT_FALSE(edge_->file("web/Kptfile", "drafts/web/v1").contains("sec"));
}

TEST_F(PackageGatesTest, a_clone_stays_without_the_gate_through_upgrades) {
  const std::string name = clone();
  must(put_as(without_gates(name), "ann"));
  must(propose(name));
  must(approve(name));
  publish_blueprint("v2", "{type: edit, edit: {sourceRef: {name: bp.web.v1}}}");
  ASSERT_EQ(revision("bp.web.v2")["spec"]["readinessGates"].size(), 1U);
  const std::string next = draft("edge", "web", "v2",
                                 "{type: upgrade, upgrade: {oldUpstreamRef: {name: bp.web.v1}, newUpstreamRef: {name: "
                                 "bp.web.v2}, localPackageRevisionRef: {name: edge.web.v1}, strategy: resource-merge}}");
  EXPECT_EQ(gates(next), "");
  EXPECT_FALSE(file(next, "Kptfile").contains("sec")) << file(next, "Kptfile");
}

TEST_F(PackageGatesTest, who_may_approve_drops_a_gate_whose_author_is_gone) {
  const std::string name = init("edge", "a", "v1");
  must(put_as(with_gate(name, "{conditionType: lint}"), "bob"));
  EXPECT_EQ(gates(name), "lint:[\"user:bob\"] ");
  EXPECT_EQ(fault(put_as(without_gates(name), "bob")), "none") << "it is its own";
  must(put_as(with_gate(name, "{conditionType: lint}"), "bob"));
  must(put_as(without_gates(name), "ann"));
  EXPECT_EQ(gates(name), "");
}

TEST_F(PackageGatesTest, only_the_owner_of_a_gate_sets_its_condition_true) {
  const std::string name = init("edge", "a", "v1");
  must(put(kRevisions, with_gate(name, "{conditionType: sec, owner: netops}")));
  for (const char* user : {"bob", "ann"}) {
    const std::string refused = fault(put_as(with_condition(name, "sec", "True"), user));
    EXPECT_TRUE(refused.starts_with("Forbidden: ")) << refused;
    EXPECT_TRUE(refused.contains("status.conditions[sec]") && refused.contains("netops")) << refused;
  }
  const auto applied =
      patch(kRevisions, name,
            "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: edge.a.v1}, status: {conditions: "
            "[{type: sec, status: 'True'}]}}",
            PatchType::Apply, "netops", {.user = "bob", .is_admin = false});
  EXPECT_TRUE(fault(applied).starts_with("Forbidden: ")) << "a field manager's name is nobody's word: " << fault(applied);
  const std::string text = file(name, "Kptfile") + "status:\n  conditions:\n  - type: sec\n    status: \"True\"\n";
  const Value pushed = files(name).with_path({"spec", "resources", "Kptfile"}, text);
  EXPECT_TRUE(fault(put(kResources, pushed, "", {.user = "bob", .is_admin = false})).starts_with("Forbidden: "));
  must(put_as(with_condition(name, "sec", "False"), "bob"));
  must(put_as(with_condition(name, "sec", "True"), "carl", {"netops"}));
  EXPECT_EQ(condition(name, "sec"), "True");
  must(propose(name));
}

TEST_F(PackageGatesTest, the_owner_of_a_gate_is_changed_by_who_asked_for_it_the_owner_or_who_may_approve) {
  const std::string name = init("edge", "a", "v1");
  must(put(kRevisions, with_gate(name, "{conditionType: sec, owner: netops}")));
  const auto owned_by = [&](const std::string& owner) {
    return revision(name).with_path({"spec", "readinessGates"},
                                    json::array({json::object({{"conditionType", "sec"}, {"owner", owner}})}));
  };
  EXPECT_TRUE(fault(put_as(owned_by("bob"), "bob")).contains("spec.readinessGates[sec]"));
  must(put_as(owned_by("carl"), "carl", {"netops"}));
  must(put_as(owned_by("bob"), "ann"));
  must(put_as(with_condition(name, "sec", "True"), "bob"));
  EXPECT_EQ(condition(name, "sec"), "True");
}

TEST_F(PackageGatesTest, what_others_had_said_before_a_gate_got_its_owner_is_asked_again) {
  const std::string name = init("edge", "a", "v1");
  must(put_as(with_condition(name, "sec", "True"), "bob"));
  must(put(kRevisions, with_gate(name, "{conditionType: sec, owner: netops}")));
  EXPECT_EQ(condition(name, "sec").substr(0, 7), "Unknown");
  EXPECT_EQ(revision(name)["status"]["ready"], Value("0/1"));
}

TEST_F(PackageGatesTest, a_gate_at_approve_does_not_hold_the_proposal) {
  const std::string name = init("edge", "a", "v1");
  must(put(kRevisions, with_gate(name, "{conditionType: canary, at: approve}")));
  EXPECT_EQ(condition(name, "ReadyToPropose"), "True (GatesMet)");
  EXPECT_EQ(revision(name)["status"]["ready"], Value("0/0"));
  must(propose(name));
  EXPECT_EQ(condition(name, "ReadyToApprove"), "False (GatesUnmet)");
  EXPECT_EQ(revision(name)["status"]["ready"], Value("0/1"));
  EXPECT_TRUE(fault(approve(name)).contains("canary"));
  must(put(kRevisions, with_condition(name, "canary", "True")));
  must(approve(name));
  EXPECT_TRUE(edge_->file("a/Kptfile").contains("conditionType: canary"));
  EXPECT_FALSE(edge_->file("a/Kptfile").contains("at:")) << "kpt decodes strictly";
}

TEST_F(PackageGatesTest, a_gate_at_propose_is_not_asked_again) {
  const std::string name = init("edge", "a", "v1");
  must(put(kRevisions, with_gate(name, "{conditionType: draftable, at: propose}")));
  EXPECT_TRUE(fault(propose(name)).contains("draftable"));
  must(put(kRevisions, with_condition(name, "draftable", "True")));
  must(propose(name));
  must(put(kRevisions, with_condition(name, "draftable", "False")));
  EXPECT_EQ(condition(name, "ReadyToApprove"), "True (GatesMet)");
  must(approve(name));
}

TEST_F(PackageGatesTest, a_gate_at_approve_may_be_added_to_a_proposal_and_no_other) {
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  const std::string refused = fault(put(kRevisions, with_gate(name, "{conditionType: late}")));
  EXPECT_TRUE(refused.starts_with("Invalid") && refused.contains("at: approve")) << refused;
  must(put(kRevisions, with_gate(name, "{conditionType: canary, at: approve}")));
  EXPECT_TRUE(fault(approve(name)).contains("canary"));
  EXPECT_EQ(condition(name, "ReadyToApprove"), "False (GatesUnmet)");
  EXPECT_TRUE(
      fault(put(kRevisions, with_gate(name, "{conditionType: x, at: sometime}"))).contains("spec.readinessGates[1].at"));
}

TEST_F(PackageGatesTest, an_editor_deletes_no_repository_whose_gates_are_enforced) {
  const As bob{.user = "bob", .is_admin = false};
  const std::string refused = fault(remove(kRepositories, "edge", bob));
  EXPECT_EQ(
      refused,
      "Forbidden: repositories.config.porch.kpt.dev \"edge\" is forbidden: metadata.annotations[packages.slipway.dev/gates]: "
      "Forbidden: it protects what is delivered: to weaken it user \"bob\" needs the right to update "
      "packagerevisions/approval.porch.kpt.dev in namespace default");
  must(remove(kRepositories, "bp", bob));
  must(remove(kRepositories, "edge", {.user = "ann", .is_admin = false}));
}

TEST_F(PackageGatesTest, a_policy_approves_once_its_conditions_are_true) {
  client::Request request;
  request.verb = client::Verb::Create;
  request.resource = kApprovalPolicies;
  request.body = json::parse_yaml(
                     "{apiVersion: packages.slipway.dev/v1alpha1, kind: ApprovalPolicy, metadata: {name: canary}, "
                     "spec: {approve: always, conditions: [canary-is-well]}}")
                     .value();
  const auto made = call(request);
  ASSERT_TRUE(made) << made.error().message;
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  must(put(kRevisions, with_condition(name, "canary-is-well", "False")));
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  must(put(kRevisions, with_condition(name, "canary-is-well", "True")));
  advance(seconds{10});
  EXPECT_EQ(lifecycle(name), "Published");
}

}  // namespace
}  // namespace slipway::package_test
