// What the repository's branch has of a package is a revision too, numbered -1: proposing its deletion and deleting it removes
// the package's folder by a commit, and nothing else.
#include <fmt/format.h>

#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageBranch : public PackageTest {
 public:
  /// Published as REPOSITORY.a.v1, and read from the branch: the name of what follows it.
  std::string publish(const std::string& repository, const std::string& package = "a") {
    const std::string name = init(repository, package, "v1");
    must(push(name, "deep/own.txt", "own\n"));
    must(propose(name));
    must(approve(name));
    const std::string placeholder = fmt::format("{}.{}.main", repository, package);
    EXPECT_TRUE(until([&] { return !revision(placeholder).is_null(); }));
    return placeholder;
  }
  void look() { advance(seconds{10}); }
  void set_finalizers(const std::string& name, const Value& finalizers) {
    must(put(kRevisions, revision(name).with_path({"metadata", "finalizers"}, finalizers)));
  }
  /// Deleted, but put off by a finalizer while `meanwhile` happens.
  void delete_slowly(const std::string& name, const std::function<void()>& meanwhile) {
    must(move(name, "DeletionProposed"));
    set_finalizers(name, json::array({"example.com/wait"}));
    must(remove(kRevisions, name));
    meanwhile();
    set_finalizers(name, json::array({}));
    ASSERT_TRUE(until([&] { return revision(name).is_null(); }));
  }
};

TEST_F(PackageBranch, a_package_is_deleted_from_the_branch_by_a_commit_and_its_tags_stay) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  publish("edge", "ab");
  EXPECT_TRUE(fault(remove(kRevisions, name)).starts_with("Forbidden: ")) << "it is not proposed yet";
  must(move(name, "DeletionProposed"));
  advance(seconds{1});
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*' --format='%(refname:short)'"), "deletionProposed/a/main\n");
  must(remove(kRevisions, name));
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(edge.git("log -1 --format='%s %an' main"), "Delete a alice\n");
  EXPECT_EQ(edge.git("ls-tree -r main --name-only"),
            "README.md\nab/Kptfile\nab/README.md\nab/deep/own.txt\nab/package-context.yaml\n");
  EXPECT_EQ(edge.git("tag"), "a/v1\nab/v1\n");
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*'"), "");
  look();
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(lifecycle("edge.a.v1"), "Published");
  EXPECT_EQ(file("edge.a.v1", "deep/own.txt"), "own\n");
  EXPECT_EQ(lifecycle("edge.ab.main"), "Published");
}

TEST_F(PackageBranch, what_is_published_afterwards_is_on_the_branch_again) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  must(move(name, "DeletionProposed", "approval"));
  must(remove(kRevisions, name));
  const std::string next = draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
  must(propose(next));
  must(approve(next));
  EXPECT_EQ(edge.file("a/deep/own.txt"), "own\n");
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Published"; }));
}

TEST_F(PackageBranch, its_deletion_can_be_taken_back_though_the_branch_has_moved_on) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  must(move(name, "DeletionProposed"));
  advance(seconds{1});
  edge.commit({{"a/by-hand.txt", "by hand\n"}}, "a person");
  ASSERT_TRUE(until([&] { return file(name, "by-hand.txt") == "by hand\n"; }));
  EXPECT_EQ(lifecycle(name), "DeletionProposed");
  must(move(name, "Published"));
  look();
  EXPECT_EQ(lifecycle(name), "Published");
  EXPECT_EQ(condition(name, "Drift"), "absent");
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*'"), "");
  EXPECT_EQ(edge.file("a/deep/own.txt"), "own\n");
}

TEST_F(PackageBranch, a_proposal_of_others_is_seen_and_what_they_changed_is_not_deleted_unseen) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  edge.git("branch deletionProposed/a/main main");
  ASSERT_TRUE(until([&] { return lifecycle(name) == "DeletionProposed"; }));
  edge.commit({{"a/by-hand.txt", "by hand\n"}}, "a person");
  EXPECT_EQ(
      fault(remove(kRevisions, name)),
      "Conflict: Operation cannot be fulfilled on packagerevisions.porch.kpt.dev \"edge.a.main\": the package has changed "
      "on branch main since: look at it again");
  EXPECT_EQ(edge.file("a/by-hand.txt"), "by hand\n");
  look();
  must(remove(kRevisions, name));
  EXPECT_EQ(edge.git("ls-tree -r main --name-only"), "README.md\n");
}

TEST_F(PackageBranch, what_was_pushed_between_the_decision_and_the_removal_stays) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  delete_slowly(name, [&] { edge.commit({{"notes.txt", "by hand\n"}}, "a person"); });
  look();
  EXPECT_EQ(edge.git("ls-tree -r main --name-only"), "README.md\nnotes.txt\n");
  EXPECT_EQ(edge.git("log --first-parent -2 --format=%s main"), "Delete a\na person\n");
  EXPECT_TRUE(revision(name).is_null());
}

TEST_F(PackageBranch, a_package_that_was_changed_between_the_decision_and_the_removal_stays_and_is_seen_again) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  delete_slowly(name, [&] { edge.commit({{"a/by-hand.txt", "by hand\n"}}, "a person"); });
  ASSERT_TRUE(until([&] { return file(name, "by-hand.txt") == "by hand\n"; }));
  EXPECT_EQ(edge.git("log -1 --format=%s main"), "a person\n");
  EXPECT_EQ(lifecycle(name), "DeletionProposed") << "as it was, until somebody looks at it";
}

TEST_F(PackageBranch, what_somebody_has_removed_already_is_only_forgotten) {
  Repository& edge = repository("edge");
  const std::string name = publish("edge");
  must(move(name, "DeletionProposed"));
  advance(seconds{1});
  edge.commit({{"a/Kptfile", ""}, {"a/README.md", ""}, {"a/deep/own.txt", ""}, {"a/package-context.yaml", ""}}, "a person");
  must(remove(kRevisions, name));
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(edge.git("log -1 --format=%s main"), "a person\n");
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*'"), "");
}

TEST_F(PackageBranch, a_branch_that_is_called_as_a_revision_is_says_so) {
  Repository& edge = repository("edge");
  edge.git("branch v3 main");
  must(
      create(fmt::format("{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {{name: odd}}, spec: "
                         "{{type: git, git: {{repo: '{}', branch: v3}}}}}}",
                         edge.path())));
  advance(seconds{2});
  const std::string name = init("odd", "a", "w");
  must(propose(name));
  must(approve(name));
  ASSERT_TRUE(until([&] { return !revision("odd.a.v3").is_null(); }));
  EXPECT_EQ(fault(move("odd.a.v3", "DeletionProposed")),
            "NotImplemented: branch \"v3\" is called as a revision is, so that there is no name for the proposal to delete its "
            "package: remove that with git");
}

}  // namespace
}  // namespace slipway::package_test
