// What people push to a package on the branch is not undone by the next publication without somebody's word.
#include <fmt/format.h>

#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;

class PackageOutsideChanges : public PackageTest {
 public:
  /// edge.a.v1 is published, somebody changes one file and adds another, and edge.a.v2 is a copy of v1.
  void begin() {
    edge_ = &repository("edge", Deployment::Yes);
    const std::string first = init("edge", "a", "v1");
    must(push(first, "own.txt", "own\n"));
    must(propose(first));
    must(approve(first));
    edge_->commit({{"a/own.txt", "by hand\n"}, {"a/more.txt", "more\n"}}, "a person");
    look();
    second_ = draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
    must(push(second_, "new.txt", "new\n"));
  }
  void look() { advance(minutes{6}); }

 protected:
  Repository* edge_ = nullptr;
  std::string second_;
};

TEST_F(PackageOutsideChanges, an_approval_that_would_undo_them_is_refused_and_names_the_files) {
  begin();
  EXPECT_EQ(condition(second_, "Drift"), "True (ChangedOnBranch)");
  must(propose(second_));
  EXPECT_EQ(condition(second_, "ReadyToApprove"), "False (Drift)");
  const std::string refusal = fault(approve(second_));
  EXPECT_TRUE(refusal.starts_with("Conflict: ")) << refusal;
  EXPECT_TRUE(refusal.contains("in more.txt, own.txt: take them over")) << refusal;
  EXPECT_TRUE(refusal.contains("edge.a.v2 with packages.slipway.dev/drift=ours")) << refusal;
  EXPECT_EQ(edge_->file("a/own.txt"), "by hand\n");
  EXPECT_EQ(edge_->file("a/more.txt"), "more\n");
  EXPECT_EQ(edge_->git("tag"), "a/v1\n");
}

TEST_F(PackageOutsideChanges, a_draft_that_has_taken_them_over_is_published) {
  begin();
  must(push(second_, "own.txt", "by hand\n"));
  must(push(second_, "more.txt", "more\n"));
  EXPECT_EQ(condition(second_, "Drift"), "absent");
  must(propose(second_));
  must(approve(second_));
  EXPECT_EQ(edge_->file("a/own.txt"), "by hand\n");
  EXPECT_EQ(edge_->file("a/new.txt"), "new\n");
}

TEST_F(PackageOutsideChanges, somebody_may_say_that_the_revision_wins) {
  begin();
  must(patch(kRevisions, second_, "{metadata: {annotations: {packages.slipway.dev/drift: ours}}}", PatchType::Merge));
  must(propose(second_));
  must(approve(second_));
  EXPECT_EQ(edge_->file("a/own.txt"), "own\n");
  EXPECT_TRUE(edge_->git("log --format=%s main").contains("a person")) << "it stays in the history";
  const std::string third = draft("edge", "a", "v3", "{type: edit, edit: {sourceRef: {name: edge.a.v2}}}");
  must(propose(third));
  must(approve(third));
}

TEST_F(PackageOutsideChanges, a_push_after_the_draft_was_made_is_told_of_it_too) {
  edge_ = &repository("edge");
  const std::string first = init("edge", "a", "v1");
  must(propose(first));
  must(approve(first));
  const std::string name = draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
  EXPECT_EQ(condition(name, "Drift"), "absent");
  advance(seconds{1});
  edge_->commit({{"a/more.txt", "more\n"}}, "a person");
  look();
  EXPECT_EQ(condition(name, "Drift"), "True (ChangedOnBranch)");
}

TEST_F(PackageOutsideChanges, a_deleted_revision_leaves_nothing_that_counts_as_a_change_of_others) {
  edge_ = &repository("edge");
  for (const char* workspace : {"v1", "v2"}) {
    const bool is_first = std::string_view(workspace) == "v1";
    const std::string name =
        is_first ? init("edge", "a", "v1") : draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
    must(push(name, "own.txt", fmt::format("{}\n", workspace)));
    must(propose(name));
    must(approve(name));
  }
  must(move("edge.a.v2", "DeletionProposed"));
  must(remove(kRevisions, "edge.a.v2"));
  const std::string next = draft("edge", "a", "v3", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
  must(propose(next));
  must(approve(next));
  EXPECT_EQ(edge_->file("a/own.txt"), "v1\n");
}

}  // namespace
}  // namespace slipway::package_test
