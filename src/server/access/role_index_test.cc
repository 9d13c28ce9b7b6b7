#include "server/access/role_index.h"

#include "server/access/access_fixture.h"

namespace slipway::server {
namespace {

class RoleIndexTest : public AccessTest {
 public:
  void SetUp() override {
    AccessTest::SetUp();
    index_ = std::make_unique<RoleIndex>(*store_);
  }
  void TearDown() override {
    index_.reset();
    AccessTest::TearDown();
  }
  /// What a user holds, a line each: "RoleBinding "b/default" of Role "r" to User "u"".
  std::vector<std::string> held(const UserPtr& who, std::string_view ns) {
    std::vector<std::string> lines;
    for (const auto* share : index_->shares(*who, ns)) lines.push_back(share->grant->description + " to " + share->subject);
    return lines;
  }

  using Lines = std::vector<std::string>;
  std::unique_ptr<RoleIndex> index_;
};

TEST_F(RoleIndexTest, gives_the_shares_of_a_user_and_its_groups_those_of_the_cluster_first) {
  must(create(kRoleBindings, binding("b", "Role", "r", "{kind: User, name: u}, {kind: Group, name: g}")));
  must(create(kRoleBindings, binding("a", "ClusterRole", "view", "{kind: ServiceAccount, name: s, namespace: default}")));
  must(create(kClusterRoleBindings, binding("z", "ClusterRole", "view", "{kind: Group, name: g}", "")));
  EXPECT_EQ(held(user("u", {"g"}), "default"), (Lines{R"(ClusterRoleBinding "z" of ClusterRole "view" to Group "g")",
                                                      R"(RoleBinding "b/default" of Role "r" to Group "g")",
                                                      R"(RoleBinding "b/default" of Role "r" to User "u")"}));
  EXPECT_EQ(held(user("u", {"g"}), "kube-system"), Lines{R"(ClusterRoleBinding "z" of ClusterRole "view" to Group "g")"});
  EXPECT_EQ(held(user("u", {}), ""), Lines{});
  EXPECT_EQ(held(user(account_user("default", "s"), {}), "default"),
            Lines{R"(RoleBinding "a/default" of ClusterRole "view" to ServiceAccount "s/default")"});
}

TEST_F(RoleIndexTest, is_the_same_whether_it_followed_or_was_made_afterwards) {
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [pods], verbs: [get]}]")));
  for (const char* name : {"a", "b", "c"}) {
    must(create(kRoleBindings,
                binding(name, "Role", "r", fmt::format("{{kind: User, name: {}}}, {{kind: User, name: u}}", name))));
  }
  must(remove(kRoleBindings, "b"));
  must(update(kRoleBindings, binding("c", "Role", "r", "{kind: User, name: v}")));
  const Lines followed = held(user("u", {}), "default");
  EXPECT_EQ(followed, Lines{R"(RoleBinding "a/default" of Role "r" to User "u")"});
  index_ = std::make_unique<RoleIndex>(*store_);
  EXPECT_EQ(held(user("u", {}), "default"), followed);
  EXPECT_EQ(held(user("b", {}), "default"), Lines{});
  EXPECT_EQ(held(user("v", {}), "default"), Lines{R"(RoleBinding "c/default" of Role "r" to User "v")"});
}

}  // namespace
}  // namespace slipway::server
