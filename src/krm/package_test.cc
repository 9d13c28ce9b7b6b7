#include "krm/package.h"

#include <gtest/gtest.h>

namespace slipway::krm {
namespace {

TEST(Ignore, reads_patterns_as_gitignore) {
  const Ignore ignore("# comment\n*.tmp\nbuild/\n!keep.tmp\n/top.yaml\na/**/z.yaml\n");
  EXPECT_TRUE(ignore.ignores("x.tmp"));
  EXPECT_TRUE(ignore.ignores("deep/x.tmp"));
  EXPECT_FALSE(ignore.ignores("keep.tmp"));
  EXPECT_TRUE(ignore.ignores("build/out.yaml"));
  EXPECT_FALSE(ignore.ignores("build"));
  EXPECT_TRUE(ignore.ignores("top.yaml"));
  EXPECT_FALSE(ignore.ignores("sub/top.yaml"));
  EXPECT_TRUE(ignore.ignores("a/b/c/z.yaml"));
  EXPECT_TRUE(ignore.ignores("a/z.yaml"));
}

TEST(Ignore, ends_on_patterns_made_to_take_long) {
  EXPECT_FALSE(matches_glob("a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
  EXPECT_FALSE(matches_glob("**/**/**/**/**/**/x", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"));
}

TEST(Package, finds_subpackages_and_what_is_theirs) {
  const Files files{{"Kptfile", ""}, {"a.yaml", ""}, {"db/Kptfile", ""}, {"db/x/b.yaml", ""}, {"dbx/c.yaml", ""}};
  const auto folders = package_folders(files);
  EXPECT_EQ(folders, (std::vector<std::string>{"", "db"}));
  EXPECT_EQ(package_of("db/x/b.yaml", folders), "db");
  EXPECT_EQ(package_of("dbx/c.yaml", folders), "");
}

TEST(Package, writes_what_it_read_and_leaves_other_files_alone) {
  const Files files{
      {"Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"},
      {"a.yaml", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: B\nmetadata:\n  name: b\n"},
      {"bytes.bin", std::string("\0\r\n\xff", 4)}};
  auto resources = read_resources(files);
  ASSERT_TRUE(resources.has_value());
  EXPECT_EQ(resources->size(), 3U);
  auto written = write_resources(files, *resources);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(*written, files);
}

TEST(Package, removes_files_whose_resources_are_gone_and_names_new_ones) {
  const Files files{{"a.yaml", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n"}};
  auto resources = read_resources(files);
  ASSERT_TRUE(resources.has_value());
  (*resources)[0].path.clear();
  (*resources)[0].root().mapping_at("metadata").set("namespace", Node::string("ns"));
  auto written = write_resources(files, *resources);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(*written, (Files{{"ns/a_a.yaml", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  namespace: ns\n"}}));
}

TEST(Package, refuses_places_outside_and_places_taken_twice) {
  const Files files{
      {"a.yaml", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: B\nmetadata:\n  name: b\n"}};
  auto resources = read_resources(files);
  ASSERT_TRUE(resources.has_value());
  auto outside = *resources;
  outside[0].path = "x/../../a.yaml";
  EXPECT_EQ(write_resources(files, outside).error().reason, Reason::Invalid);
  auto twice = *resources;
  twice[1].index = 0;
  EXPECT_EQ(write_resources(files, twice).error().message, "resource at path \"a.yaml\" and index \"0\" already exists");
}

TEST(Package, names_the_file_of_what_is_no_yaml_and_of_what_is_no_resource) {
  EXPECT_EQ(read_resources({{"a.yaml", "a: [\n"}}).error().message.substr(0, 8), "a.yaml: ");
  auto resources = read_resources({{"a.yaml", "apiVersion: v1\nkind: A\n"}});
  ASSERT_TRUE(resources.has_value());
  EXPECT_EQ(require_krm(*resources).error().message,
            "input resource list must contain only KRM resources: a.yaml: resource must have `metadata.name`");
}

}  // namespace
}  // namespace slipway::krm
