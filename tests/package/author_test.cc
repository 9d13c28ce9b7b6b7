// Packages act as their author: no Repository, revision or variant reads, for a user, what that user may not read (A17).
#include <fmt/format.h>

#include "kube/well_known.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

const As kDave{.user = "dave", .is_admin = false};
const As kAlice{.user = "alice", .is_admin = false};
const kube::Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

/// dave may write packages and read no Secret; alice may edit the namespace.
class PackageAuthor : public PackageTest {
 public:
  void SetUp() override {
    PackageTest::SetUp();
    must(create(
        "{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {username: dbuser, password: DB-PASSWORD-1}}"));
    must(
        create("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: packages}, rules: [{apiGroups: "
               "[porch.kpt.dev, config.porch.kpt.dev], resources: ['*'], verbs: ['*']}]}"));
    bind("dave", "Role", "packages");
    bind("alice", "ClusterRole", "edit");
  }
  void bind(const std::string& user, const std::string& kind, const std::string& role) {
    must(create(
        fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}}}, roleRef: "
                    "{{apiGroup: rbac.authorization.k8s.io, kind: {1}, name: {2}}}, subjects: [{{kind: User, name: {0}}}]}}",
                    user, kind, role)));
  }
  Repository& bare(const std::string& name) {
    auto& made = repositories_[name];
    made = std::make_unique<Repository>(folder_ / (name + ".git"));
    made->commit({{"README.md", "packages\n"}}, "begin");
    return *made;
  }
  void create_repository(const std::string& name, As as) {
    must(create(
        fmt::format("{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {{name: {}}}, spec: {{type: "
                    "git, git: {{repo: '{}', secretRef: {{name: db}}}}}}}}",
                    name, bare(name).path()),
        as));
  }
  std::string ready(const kube::Resource& resource, const std::string& name) {
    const Value object = get(resource, name);
    const Value& found = kube::condition(object, "Ready");
    return fmt::format("{} {}", found["status"].as_string(), found["reason"].as_string());
  }
  std::string clone_of_foreign(As as) {
    return fault(
        create(fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: x}}, spec: "
                           "{{packageName: web, repository: edge, workspaceName: v1, tasks: [{{type: clone, clone: "
                           "{{upstreamRef: {{type: git, git: {{repo: '{}', ref: main, directory: /, secretRef: {{name: "
                           "db}}}}}}}}}}]}}}}",
                           repositories_.at("edge")->path()),
               as));
  }
};

TEST_F(PackageAuthor, a_clone_sends_no_secret_that_its_asker_may_not_get) {
  repository("edge");
  const std::string refused = clone_of_foreign(kDave);
  EXPECT_TRUE(refused.starts_with("Forbidden: secrets \"db\" is forbidden: User \"dave\" cannot get")) << refused;
  // The control: alice gets beyond the Secret. What she names is no package.
  const std::string taken = clone_of_foreign(kAlice);
  EXPECT_TRUE(taken.contains("is no package")) << taken;
}

TEST_F(PackageAuthor, a_repository_waits_while_its_author_may_not_get_its_secret_and_goes_on_when_the_right_is_there) {
  create_repository("edge", kDave);
  EXPECT_EQ(kube::annotation(get(kRepositories, "edge"), "packages.slipway.dev/author"), "dave");
  ASSERT_TRUE(until([&] { return ready(kRepositories, "edge") == "False AuthorLacksRight"; })) << ready(kRepositories, "edge");
  const Value object = get(kRepositories, "edge");
  const std::string said = kube::condition(object, "Ready")["message"].str();
  EXPECT_TRUE(said.contains("cannot get resource \"secrets\"") && said.contains("acts as its author dave")) << said;
  EXPECT_FALSE(said.contains("DB-PASSWORD-1"));
  advance(minutes{20});
  must(
      create("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: secrets}, rules: [{apiGroups: [''], "
             "resources: [secrets], verbs: [get]}]}"));
  must(
      create("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: secrets}, roleRef: {apiGroup: "
             "rbac.authorization.k8s.io, kind: Role, name: secrets}, subjects: [{kind: User, name: dave}]}"));
  EXPECT_TRUE(until([&] { return ready(kRepositories, "edge") == "True Ready"; }, seconds{60})) << ready(kRepositories, "edge");
}

TEST_F(PackageAuthor, who_changes_a_repository_becomes_its_author_and_nobody_writes_the_stamp) {
  create_repository("edge", kAlice);
  ASSERT_TRUE(until([&] { return ready(kRepositories, "edge") == "True Ready"; })) << ready(kRepositories, "edge");
  const auto author = [&] { return std::string(kube::annotation(get(kRepositories, "edge"), "packages.slipway.dev/author")); };
  const auto merge = [&](const char* patch) {
    must(this->patch(kRepositories, "edge", patch, client::PatchType::Merge, "", kDave));
  };
  merge("{metadata: {labels: {a: b}, annotations: {packages.slipway.dev/author: root}}}");
  EXPECT_EQ(author(), "alice");
  merge("{metadata: {annotations: {packages.slipway.dev/tickets: 'secret:db'}}}");
  EXPECT_EQ(author(), "dave") << "the annotation names a Secret";
  EXPECT_TRUE(until([&] { return ready(kRepositories, "edge") == "False AuthorLacksRight"; })) << ready(kRepositories, "edge");
}

TEST_F(PackageAuthor, a_revision_in_a_repository_of_another_author_is_read_with_that_authors_right) {
  create_repository("edge", kAlice);
  ASSERT_TRUE(until([&] { return ready(kRepositories, "edge") == "True Ready"; }));
  const std::string made =
      fault(create("{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: x}, spec: "
                   "{packageName: web, repository: edge, workspaceName: v1, tasks: [{type: init, init: {}}]}}",
                   kDave));
  EXPECT_EQ(made, "none");
  must(remove(kRoleBindings, "alice"));
  const std::string refused = fault(try_get(kResources, "edge.web.v1"));
  EXPECT_TRUE(refused.contains("acts as its author alice")) << refused;
}

/// A published package of repository "up", and an empty repository "down".
class VariantAuthor : public PackageAuthor {
 public:
  void SetUp() override {
    PackageAuthor::SetUp();
    repository("up");
    repository("down");
    const std::string name = init("up", "web", "v1");
    must(propose(name));
    must(approve(name));
  }
  void create_variant(As as, const std::string& more = "") {
    must(create(
        fmt::format("{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: PackageVariant, metadata: {{name: one}}, spec: "
                    "{{upstream: {{repo: up, package: web, revision: 1}}, downstream: {{repo: down, package: web}}{}}}}}",
                    more),
        as));
  }
  std::vector<std::string> made() { return names(kRevisions, "spec.repository=down"); }
};

TEST_F(VariantAuthor, what_a_variant_makes_is_made_by_its_author) {
  create_variant(kAlice);
  ASSERT_TRUE(until([&] { return !made().empty(); }));
  const Value record = get(kRecords, made().front());
  EXPECT_EQ(record["spec"]["authors"].item(0).str(), "alice");
}

TEST_F(VariantAuthor, a_variant_makes_nothing_while_its_author_may_not_and_goes_on_when_the_right_is_back) {
  must(remove(kRoleBindings, "alice"));
  must(
      create("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: variants}, rules: [{apiGroups: "
             "[config.porch.kpt.dev], resources: ['*'], verbs: ['*']}]}"));
  bind("alice", "Role", "variants");
  create_variant(kAlice);
  ASSERT_TRUE(until([&] { return ready(kVariants, "one") == "False AuthorLacksRight"; })) << ready(kVariants, "one");
  advance(minutes{20});
  EXPECT_TRUE(made().empty());
  must(remove(kRoleBindings, "alice"));
  bind("alice", "ClusterRole", "edit");
  EXPECT_TRUE(until([&] { return !made().empty(); }, seconds{60}));
  EXPECT_TRUE(until([&] { return ready(kVariants, "one") == "True NoErrors"; })) << ready(kVariants, "one");
}

TEST_F(VariantAuthor, a_set_gives_its_variants_its_authors_stamp_and_lists_nothing_for_who_may_not) {
  const auto set = [](const std::string& name, const std::string& targets) {
    return fmt::format(
        "{{apiVersion: config.porch.kpt.dev/v1alpha2, kind: PackageVariantSet, metadata: {{name: {}}}, spec: "
        "{{upstream: {{repo: up, package: web, revision: 1}}, targets: [{}]}}}}",
        name, targets);
  };
  must(create(set("all", "{repositories: [{name: down}]}"), kDave));
  ASSERT_TRUE(until([&] { return !list(kVariants).empty(); }));
  EXPECT_EQ(kube::annotation(list(kVariants).front(), "packages.slipway.dev/author"), "dave");
  // The content of Secrets goes into no variant of who may not list them.
  must(create(set("spy",
                  "{objectSelector: {apiVersion: v1, kind: Secret}, template: {annotationExprs: [{key: a, "
                  "valueExpr: 'target.name'}]}}"),
              kDave));
  EXPECT_TRUE(until([&] { return ready(kVariantSets, "spy") == "False AuthorLacksRight"; })) << ready(kVariantSets, "spy");
  EXPECT_EQ(list(kVariants).size(), 1U);
}

}  // namespace
}  // namespace slipway::package_test
