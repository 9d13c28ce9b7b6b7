// What one change costs does not grow with what else there is.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageMany : public PackageTest {
 public:
  void publish(const std::string& name) {
    must(propose(name));
    must(approve(name));
    advance(seconds{5});
  }
  std::string version(const std::string& name) { return get(kRecords, name)["metadata"]["resourceVersion"].str(); }
  std::string commit(const std::string& name) { return get(kRecords, name)["spec"]["commit"].str(); }
};

TEST_F(PackageMany, a_branch_that_moves_leaves_the_packages_that_it_did_not_change_where_they_are) {
  Repository& edge = repository("edge");
  publish(init("edge", "a", "v1"));
  publish(init("edge", "b", "v1"));
  ASSERT_FALSE(revision("edge.a.main").is_null());
  const std::string a = version("edge.a.main");
  publish(init("edge", "c", "v1"));
  EXPECT_EQ(version("edge.a.main"), a) << "nothing was written about a package that did not change";
  EXPECT_NE(commit("edge.a.main"), commit("edge.c.main"));

  restart();
  advance(minutes{1});
  EXPECT_EQ(version("edge.a.main"), a) << "nor after a restart";
  EXPECT_TRUE(file("edge.a.main", "Kptfile").contains("name: a"));

  edge.commit({{"a/own.txt", "by hand\n"}}, "a person");
  const std::string task = "{type: edit, edit: {sourceRef: {name: edge.b.v1}}}";
  publish(draft("edge", "b", "v2", task));
  EXPECT_NE(version("edge.a.main"), a);
  EXPECT_EQ(file("edge.a.main", "own.txt"), "by hand\n");

  const std::string before = version("edge.a.main");
  edge.git("update-ref refs/heads/main " + edge.git("commit-tree 'main^{tree}' -m rewritten"));
  restart();
  advance(minutes{1});
  EXPECT_NE(version("edge.a.main"), before) << "a commit that the branch has no more is not kept";
}

TEST_F(PackageMany, publications_one_after_the_other_are_looked_at_together) {
  repository("edge");
  const auto names_of = [&](const char* package) { return fmt::format("edge.{}.main", package); };
  for (const char* package : {"a", "b", "c"}) must(propose(init("edge", package, "v1")));
  advance(seconds{20});
  must(approve("edge.a.v1"));
  ASSERT_TRUE(until([&] { return !revision(names_of("a")).is_null(); }, seconds{1})) << "the first at once";
  must(approve("edge.b.v1"));
  must(approve("edge.c.v1"));
  advance(seconds{2});
  EXPECT_TRUE(revision(names_of("b")).is_null());
  EXPECT_TRUE(until([&] { return !revision(names_of("b")).is_null() && !revision(names_of("c")).is_null(); }, seconds{5}));
}

TEST_F(PackageMany, an_upstream_knows_its_dependents_also_after_a_restart) {
  repository("edge");
  publish(init("edge", "a", "v1"));
  const std::string clone = draft("edge", "b", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: edge.a.v1}}}}");
  EXPECT_EQ(get(kRecords, clone)["spec"]["upstreamName"], Value("edge.a.v1"));
  restart();
  must(move("edge.a.v1", "DeletionProposed"));
  EXPECT_TRUE(fault(remove(kRevisions, "edge.a.v1")).contains("is the upstream of edge.b.v1"));
  must(remove(kRevisions, clone));
  must(remove(kRevisions, "edge.a.v1"));
}

}  // namespace
}  // namespace slipway::package_test
