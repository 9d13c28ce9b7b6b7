// Writes of roles and bindings: validation, escalation, aggregation, what is there from the beginning.
#include "server/access/access_fixture.h"

namespace slipway::server {

class Roles : public AccessTest {
 public:
  static bool grants(const Value& role, std::string_view resource) {
    for (const PolicyRule& rule : policy_rules(role["rules"])) {
      if (std::ranges::find(rule.resources, resource) != rule.resources.end()) return true;
    }
    return false;
  }
  void SetUp() override {
    AccessTest::SetUp();
    must(create(kRoleBindings, binding("carol", "ClusterRole", "admin", "{kind: User, name: carol}")));
  }
};

TEST_F(Roles, nobody_grants_what_they_do_not_hold) {
  EXPECT_EQ(
      message(create_as(user("carol"), kRoles, role("r", "[{apiGroups: [''], resources: [nodes], verbs: [get]}]"))),
      "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"carol\" (groups=[\"system:authenticated\"]) is attempting "
      "to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\"]}");
  must(create_as(user("carol"), kRoles, role("r", "[{apiGroups: [''], resources: [pods], verbs: [get]}]")));
  EXPECT_EQ(reason(as(user("carol"),
                      writing(Verb::Update, kRoles, role("r", "[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")))),
            "Forbidden");
}

TEST_F(Roles, the_verb_escalate_lifts_that) {
  must(create(kRoles, role("esc", "[{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}]")));
  must(create(kRoleBindings, binding("esc", "Role", "esc", "{kind: User, name: carol}")));
  EXPECT_TRUE(create_as(user("carol"), kRoles, role("r", "[{apiGroups: [''], resources: [nodes], verbs: [get]}]")));
}

TEST_F(Roles, a_change_of_labels_needs_no_rights_on_the_rules) {
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [nodes], verbs: [get]}]")));
  Request made = request(Verb::Patch, kRoles, "r");
  made.body = yaml("{metadata: {labels: {a: b}}}");
  EXPECT_TRUE(as(user("carol"), made));
}

TEST_F(Roles, a_binding_needs_the_rules_of_its_role_or_the_verb_bind) {
  const Value powerful = binding("p", "ClusterRole", "cluster-admin", "{kind: User, name: dave}");
  EXPECT_TRUE(message(create_as(user("carol"), kRoleBindings, powerful))
                  .starts_with("rolebindings.rbac.authorization.k8s.io \"p\" is forbidden: user \"carol\""));
  EXPECT_TRUE(create_as(user("carol"), kRoleBindings, binding("v", "ClusterRole", "view", "{kind: User, name: dave}")));
  EXPECT_EQ(message(create_as(user("carol"), kRoleBindings, binding("n", "Role", "none", "{kind: User, name: dave}"))),
            "roles.rbac.authorization.k8s.io \"none\" not found");
  must(create(kRoles, role("bind",
                           "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], "
                           "resourceNames: [cluster-admin]}]")));
  must(create(kRoleBindings, binding("bind", "Role", "bind", "{kind: User, name: carol}")));
  EXPECT_TRUE(create_as(user("carol"), kRoleBindings, powerful));
}

TEST_F(Roles, gathering_roles_takes_all_rights) {
  must(create(kClusterRoles, role("maker", "[{apiGroups: ['*'], resources: [clusterroles], verbs: [create]}]", "")));
  must(create(kClusterRoleBindings, binding("maker", "ClusterRole", "maker", "{kind: User, name: carol}", "")));
  const Value gathering = role("g", "[]", "").with("aggregationRule", yaml("{clusterRoleSelectors: [{matchLabels: {a: b}}]}"));
  EXPECT_EQ(message(create_as(user("carol"), kClusterRoles, gathering)),
            "clusterroles.rbac.authorization.k8s.io \"g\" is forbidden: must have cluster-admin privileges to use the "
            "aggregationRule");
  EXPECT_TRUE(create_as(user("eve", {"system:masters"}), kClusterRoles, gathering));
}

TEST_F(Roles, what_a_binding_refers_to_is_for_ever) {
  must(create(kRoleBindings, binding("b", "ClusterRole", "view", "{kind: User, name: dave}")));
  EXPECT_EQ(message(update(kRoleBindings, binding("b", "ClusterRole", "edit", "{kind: User, name: dave}"))),
            "RoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef: Invalid value: "
            "{\"kind\":\"ClusterRole\",\"name\":\"edit\",\"apiGroup\":\"rbac.authorization.k8s.io\"}: cannot change roleRef");
}

TEST_F(Roles, faults_are_worded_as_upstream) {
  EXPECT_EQ(
      message(create(kRoles, role("r", "[{nonResourceURLs: [/x], verbs: [get]}]"))),
      "Role.rbac.authorization.k8s.io \"r\" is invalid: rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules "
      "cannot apply to non-resource URLs");
  EXPECT_EQ(
      message(create(kRoles, role("r", "[{verbs: [get], resources: [pods]}]"))),
      "Role.rbac.authorization.k8s.io \"r\" is invalid: rules[0].apiGroups: Required value: resource rules must supply at "
      "least one api group");
  EXPECT_EQ(message(create(kRoleBindings, binding("b", "Role", "r", "{kind: Robot, name: x}"))),
            "RoleBinding.rbac.authorization.k8s.io \"b\" is invalid: subjects[0].kind: Unsupported value: \"Robot\": supported "
            "values: \"ServiceAccount\", \"User\", \"Group\"");
  EXPECT_EQ(
      message(create(kClusterRoleBindings, binding("b", "Role", "r", "{kind: User, name: x}", ""))),
      "ClusterRoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef.kind: Unsupported value: \"Role\": supported "
      "values: \"ClusterRole\"");
  EXPECT_EQ(message(create(kRoles, role("a/b", "[]"))),
            "Role.rbac.authorization.k8s.io \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": may not contain '/'");
}

TEST_F(Roles, the_ones_of_every_cluster_are_there_and_stay_as_people_change_them) {
  EXPECT_TRUE(grants(must(get(kClusterRoles, "admin", "")), "rolebindings"));
  EXPECT_TRUE(grants(must(get(kClusterRoles, "edit", "")), "secrets"));
  EXPECT_FALSE(grants(must(get(kClusterRoles, "view", "")), "secrets"));
  EXPECT_FALSE(grants(must(get(kClusterRoles, "edit", "")), "rolebindings"));
  must(update(kClusterRoles, role("system:basic-user", "[]", "")));
  reopen();
  EXPECT_TRUE(must(get(kClusterRoles, "system:basic-user", ""))["rules"].empty());
}

TEST_F(Roles, rules_of_a_labelled_role_reach_those_that_gather_it) {
  Value plus = role("plus", "[{apiGroups: [example.com], resources: [widgets], verbs: [get]}]", "");
  plus = plus.with_path({"metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-view"}, "true");
  must(create(kClusterRoles, plus));
  for (const char* name : {"view", "edit", "admin"}) EXPECT_TRUE(grants(must(get(kClusterRoles, name, "")), "widgets")) << name;
  must(remove(kClusterRoles, "plus", "", ""));
  for (const char* name : {"view", "edit", "admin"})
    EXPECT_FALSE(grants(must(get(kClusterRoles, name, "")), "widgets")) << name;
}

TEST_F(Roles, what_gathers_cannot_be_given_rules_by_hand) {
  const Value view = must(get(kClusterRoles, "view", ""));
  must(update(kClusterRoles, view.with("rules", yaml("[]"))));
  EXPECT_EQ(must(get(kClusterRoles, "view", ""))["rules"], view["rules"]);
}

TEST_F(Roles, a_start_writes_nothing_when_all_is_there) {
  const auto before = store_->revision();
  reopen();
  EXPECT_EQ(store_->revision(), before);
}

}  // namespace slipway::server
