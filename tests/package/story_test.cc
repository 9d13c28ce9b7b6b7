// The day of a package: registered, begun, edited, proposed, approved, deleted, in a real repository.
#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageStory : public PackageTest {};

TEST_F(PackageStory, a_package_is_begun_edited_proposed_and_published) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "net/basens", "v1");
  EXPECT_EQ(name, "edge.net.basens.v1") << "whatever name was sent";
  Value revision_now = revision(name);
  EXPECT_EQ(revision_now["spec"]["lifecycle"], Value("Draft"));
  EXPECT_EQ(revision_now["spec"]["revision"], Value(0));
  advance(seconds{1});
  EXPECT_TRUE(edge.git("branch --list 'drafts/*'").contains("drafts/net/basens/v1"));

  const std::string space = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: old # its name\n";
  const Value pushed = must(push(name, "ns.yaml", space));
  EXPECT_EQ(pushed["status"]["renderStatus"]["error"], Value(""));
  EXPECT_EQ(file(name, "ns.yaml"), space);
  advance(seconds{1});
  EXPECT_EQ(edge.file("net/basens/ns.yaml", "drafts/net/basens/v1"), space);

  must(propose(name));
  EXPECT_EQ(lifecycle(name), "Proposed");
  advance(seconds{1});
  EXPECT_FALSE(edge.git("branch --list 'drafts/*'").contains("basens"));
  EXPECT_TRUE(edge.git("branch --list 'proposed/*'").contains("proposed/net/basens/v1"));

  const Value published = must(approve(name, {.user = "bob"}));
  EXPECT_EQ(published["spec"]["lifecycle"], Value("Published")) << json::print_pretty(published);
  EXPECT_EQ(published["spec"]["revision"], Value(1));
  EXPECT_EQ(published["status"]["publishedBy"], Value("bob"));
  EXPECT_EQ(published["metadata"]["labels"]["kpt.dev/latest-revision"], Value("true"));
  EXPECT_EQ(edge.file("net/basens/ns.yaml", "main"), space);
  EXPECT_EQ(edge.file("net/basens/ns.yaml", "net/basens/v1"), space) << "the tag";
  EXPECT_EQ(edge.git("branch --list 'proposed/*'"), "");
  EXPECT_EQ(edge.file("README.md"), "packages\n");

  // The package as the branch has it is a revision too.
  EXPECT_TRUE(until([&] { return !revision("edge.net.basens.main").is_null(); }));
  EXPECT_EQ(revision("edge.net.basens.main")["spec"]["revision"], Value(-1));
  EXPECT_EQ(names(kPackages), std::vector<std::string>{"edge.net.basens"});
  const Value object = get(kRepositories, "edge");
  EXPECT_EQ(kube::condition(object, "Ready")["status"], Value("True")) << json::print_pretty(object);
  EXPECT_EQ(object["status"]["packageCount"], Value(2));
}

TEST_F(PackageStory, a_deletion_is_proposed_approved_and_carried_out) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  must(approve(name));
  EXPECT_EQ(fault(remove(kRevisions, name)).substr(0, 9), "Forbidden");
  must(move(name, "DeletionProposed"));
  advance(seconds{1});
  EXPECT_TRUE(edge.git("branch --list 'deletionProposed/*'").contains("deletionProposed/a/v1"));
  must(move(name, "Published"));
  advance(seconds{1});
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*'"), "");
  must(move(name, "DeletionProposed"));
  must(remove(kRevisions, name));
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(edge.git("tag"), "");
  EXPECT_EQ(edge.git("branch --list 'deletionProposed/*'"), "");
}

TEST_F(PackageStory, a_draft_that_is_deleted_goes_from_the_repository_too) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  const std::string uid = revision(name)["metadata"]["uid"].str();
  must(remove(kRevisions, name));
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(edge.git("branch --list 'drafts/*'"), "");
  EXPECT_EQ(init("edge", "a", "v1"), name);
  EXPECT_NE(revision(name)["metadata"]["uid"].str(), uid) << "it is another one";
}

TEST_F(PackageStory, what_a_repository_has_is_found_when_it_is_registered) {
  repository("edge");
  const std::string name = init("edge", "a", "one");
  must(propose(name));
  must(approve(name));
  const std::string next = draft("edge", "a", "two", "{type: edit, edit: {sourceRef: {name: edge.a.one}}}");
  const std::string proposed = draft("edge", "a", "three", "{type: edit, edit: {sourceRef: {name: edge.a.one}}}");
  must(propose(proposed));
  advance(seconds{2});
  must(remove(kRepositories, "edge"));
  advance(seconds{2});
  EXPECT_EQ(names(kRevisions), std::vector<std::string>{}) << "unregistered, and still in Git";

  register_repository("edge", Deployment::No);
  EXPECT_EQ(names(kRevisions), (std::vector<std::string>{"edge.a.main", "edge.a.one", "edge.a.three", "edge.a.two"}));
  EXPECT_EQ(lifecycle("edge.a.one"), "Published");
  EXPECT_EQ(revision("edge.a.one")["spec"]["revision"], Value(1)) << "its commit says the workspace";
  EXPECT_EQ(lifecycle("edge.a.two"), "Draft");
  EXPECT_EQ(lifecycle("edge.a.three"), "Proposed");
}

}  // namespace
}  // namespace slipway::package_test
