// Who may approve: the role edit drafts and proposes, packagerevisions-approval approves, admin does both.
#include <fmt/format.h>

#include "kube/well_known.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageRights : public PackageTest {
 public:
  void SetUp() override {
    PackageTest::SetUp();
    repository("edge");
    for (const char* role : {"edit", "admin", "view", "packagerevisions-approval"}) {
      must(
          create(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}}}, roleRef: "
                             "{{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {0}}}, subjects: [{{kind: User, "
                             "name: {0}}}]}}",
                             role)));
    }
  }
  static As who(const std::string& role) { return {.user = role, .is_admin = false}; }
  std::string vote(const std::string& name, const As& as) {
    const Value said = json::object({{"decision", "approve"}});
    return fault(put(kRevisions, revision(name).with_path({"status", "votes"}, json::array({said})), std::string(kVotes), as));
  }
};

TEST_F(PackageRights, edit_drafts_and_proposes_and_does_not_approve) {
  const std::string name = init("edge", "web", "v1");
  must(propose(name, who("edit")));
  const std::string refused = fault(approve(name, who("edit")));
  EXPECT_TRUE(
      refused.starts_with("Forbidden: packagerevisions.porch.kpt.dev \"edge.web.v1\" is forbidden: User \"edit\" cannot "
                          "update resource \"packagerevisions/approval\""))
      << refused;
  EXPECT_TRUE(fault(patch(kRevisions, name, "{spec: {lifecycle: Published}}", client::PatchType::Merge, "", who("edit")))
                  .starts_with("Invalid"));
  EXPECT_TRUE(vote(name, who("edit")).starts_with("Forbidden"));
  EXPECT_EQ(lifecycle(name), "Proposed");
  must(approve(name, who("packagerevisions-approval")));
  // A plain PUT that proposes a deletion needs the right to approve.
  EXPECT_TRUE(fault(move(name, "DeletionProposed", "", who("edit"))).starts_with("Forbidden"));
  EXPECT_EQ(lifecycle(name), "Published");
}

TEST_F(PackageRights, an_approver_reads_and_approves_and_writes_nothing_else) {
  const std::string name = init("edge", "web", "v1");
  EXPECT_TRUE(fault(propose(name, who("packagerevisions-approval"))).starts_with("Forbidden"));
  must(propose(name));
  EXPECT_TRUE(fault(remove(kRevisions, name, who("packagerevisions-approval"))).starts_with("Forbidden"));
  EXPECT_TRUE(fault(approve(name, who("view"))).starts_with("Forbidden"));
  must(approve(name, who("packagerevisions-approval")));
  EXPECT_EQ(lifecycle(name), "Published");
}

TEST_F(PackageRights, admin_does_both) {
  const std::string name = init("edge", "web", "v1");
  must(propose(name, who("admin")));
  must(approve(name, who("admin")));
  must(move(name, "DeletionProposed", "", who("admin")));
}

TEST_F(PackageRights, edit_of_an_older_cluster_is_narrowed_and_a_changed_one_left) {
  const std::string role = "system:aggregate-to-edit:porch.kpt.dev";
  const auto with_rules = [&](const std::string& verbs) {
    must(patch(kube::kClusterRoles, role,
               fmt::format("{{rules: [{{apiGroups: [porch.kpt.dev], resources: ['*'], verbs: [{}]}}]}}", verbs),
               client::PatchType::Merge));
  };
  const Value now = get(kube::kClusterRoles, role)["rules"];
  with_rules("create, update, patch, delete, deletecollection");
  restart();
  EXPECT_EQ(get(kube::kClusterRoles, role)["rules"], now);
  with_rules("create, update");
  restart();
  EXPECT_NE(get(kube::kClusterRoles, role)["rules"], now) << "it was changed on purpose";
}

}  // namespace
}  // namespace slipway::package_test
