#include "delivery/package/names.h"

#include <gtest/gtest.h>

namespace slipway::delivery::package {
namespace {

RevisionKey key(std::string repository, std::string path, std::string workspace) {
  return {.package = {.repository = std::move(repository), .path = std::move(path)}, .workspace = std::move(workspace)};
}

TEST(PackageNames, names_are_made_and_read_back) {
  const std::vector<std::pair<RevisionKey, std::string>> rows{
      {key("edge", "basens", "v1"), "edge.basens.v1"},
      {key("edge", "network/ran/basens", "packagevariant-1"), "edge.network.ran.basens.packagevariant-1"},
      {key("e-1", "a/b", "1"), "e-1.a.b.1"}};
  for (const auto& [wanted, name] : rows) {
    EXPECT_EQ(wanted.object_name(), name);
    EXPECT_EQ(parse_revision_name(name), wanted) << name;
  }
  EXPECT_EQ((PackageKey{"edge", "a/b"}).object_name(), "edge.a.b");
  EXPECT_EQ(parse_package_name("edge.a.b"), (PackageKey{"edge", "a/b"}));
}

TEST(PackageNames, what_no_revision_is_called_is_not_read) {
  for (const char* name : {"", "edge", "edge.v1", "edge..v1", ".a.v1", "edge.a.", "Edge.a.v1", "edge.a_b.v1", "edge.-a.v1"}) {
    EXPECT_EQ(parse_revision_name(name), std::nullopt) << name;
  }
}

TEST(PackageNames, two_revisions_never_have_one_name) {
  std::map<std::string, RevisionKey> seen;
  for (const char* repository : {"a", "a-b", "b"}) {
    for (const char* path : {"a", "b", "a/b", "b/a", "a/b/a"}) {
      for (const char* workspace : {"a", "b", "v1"}) {
        const RevisionKey one = key(repository, path, workspace);
        EXPECT_TRUE(name_causes(one, "main").empty());
        EXPECT_TRUE(seen.emplace(one.object_name(), one).second) << one.object_name();
      }
    }
  }
}

TEST(PackageNames, faults_are_told_with_porchs_words_and_the_field) {
  const auto told = [](const RevisionKey& one) {
    std::vector<std::string> texts;
    for (const Cause& cause : name_causes(one, "main")) texts.push_back(cause.field + ": " + cause.message);
    return texts;
  };
  using Texts = std::vector<std::string>;
  const std::string label =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
      "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  EXPECT_EQ(told(key("edge", "basens", "v1")), Texts{});
  EXPECT_EQ(told(key("edge", "a//b", "v1")),
            Texts{"spec.packageName: Invalid value: \"a//b\": consecutive '/' characters are not allowed"});
  EXPECT_EQ(told(key("edge", "Basens", "v1")), Texts{"spec.packageName: Invalid value: \"Basens\": " + label});
  EXPECT_EQ(told(key("edge", "a.b", "v1")), Texts{"spec.packageName: Invalid value: \"a.b\": must not contain dots"});
  EXPECT_EQ(told(key("edge", "a/-b", "v1")),
            Texts{"spec.packageName: Invalid value: \"a/-b\": each part between '/' must be a lowercase RFC 1123 label"});
  EXPECT_EQ(told(key("edge", "a", "v1.2")), Texts{"spec.workspaceName: Invalid value: \"v1.2\": must not contain dots"});
  EXPECT_EQ(told(key("edge", "a", "main")),
            Texts{"spec.workspaceName: Invalid value: \"main\": is the repository's branch: the revision that follows it has "
                  "that workspace"});
  EXPECT_EQ(told(key("edge", "", "")).size(), 2U);
  EXPECT_EQ(plain_path("/a/b/"), "a/b");
}

TEST(PackageNames, the_longest_name_that_passes_is_as_long_as_an_objects_may_be) {
  std::string path = "a";
  for (int i = 1; i < 63; ++i) path += "/a";
  const RevisionKey one = key(std::string(63, 'r'), path, std::string(63, 'w'));
  EXPECT_TRUE(name_causes(one, "main").empty());
  EXPECT_EQ(one.object_name().size(), 253U);
  EXPECT_EQ(parse_revision_name(one.object_name()), one);
  EXPECT_EQ(name_causes(key("r", path + "/a", "w"), "main").size(), 1U);
}

TEST(PackageNames, packages_are_not_nested) {
  EXPECT_TRUE(paths_overlap("root/sub", "root/sub"));
  EXPECT_TRUE(paths_overlap("root", "root/sub/x"));
  EXPECT_TRUE(paths_overlap("root/sub/x", "root"));
  EXPECT_FALSE(paths_overlap("root", "root-other/sub"));
  EXPECT_FALSE(paths_overlap("root/a", "root/b"));
  EXPECT_FALSE(paths_overlap("test", "test-package"));
  const std::vector<std::string> there{"root/a", "root/b/c"};
  EXPECT_TRUE(check_nesting("root/b/d", there).has_value());
  const auto refused = check_nesting("root/b", there);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::BadRequest);
  EXPECT_EQ(refused.error().message,
            "package path \"root/b\" conflicts with existing package \"root/b/c\": packages cannot be nested");
}

TEST(PackageNames, numbers_and_workspaces_only_grow) {
  EXPECT_EQ(next_revision({}), 1);
  EXPECT_EQ(next_revision(std::vector<std::int64_t>{-1, 2, 7, 0, 3}), 8);
  EXPECT_EQ(next_workspace("packagevariant-", {}), "packagevariant-1");
  EXPECT_EQ(next_workspace("packagevariant-",
                           std::vector<std::string>{"v9", "packagevariant-2", "packagevariant-x", "packagevariant-10"}),
            "packagevariant-11");
}

struct RefRow {
  std::string name;
  std::string folder;
  PackageRef wanted;
};

TEST(PackageNames, references_are_read_as_porch_lays_them_out) {
  const std::vector<RefRow> rows{
      {"refs/heads/main", "", {.kind = RefKind::Branch, .path = "main"}},
      {"refs/heads/drafts/a/b/v1", "", {.kind = RefKind::Draft, .path = "a/b", .workspace = "v1"}},
      {"refs/heads/proposed/a/v1", "", {.kind = RefKind::Proposed, .path = "a", .workspace = "v1"}},
      {"refs/heads/deletionProposed/a/v3", "", {.kind = RefKind::DeletionProposed, .path = "a", .revision = 3}},
      {"refs/heads/deletionProposed/infra/a/main",
       "infra",
       {.kind = RefKind::DeletionProposed, .path = "a", .workspace = "main", .revision = kPlaceholder}},
      {"refs/tags/a/b/v12", "", {.kind = RefKind::Tag, .path = "a/b", .revision = 12}},
      {"refs/tags/infra/a/v1", "infra", {.kind = RefKind::Tag, .path = "a", .revision = 1}},
      {"refs/heads/drafts/infra/a/v1", "/infra/", {.kind = RefKind::Draft, .path = "a", .workspace = "v1"}},
  };
  for (const RefRow& row : rows) EXPECT_EQ(read_ref(row.name, "main", row.folder), row.wanted) << row.name;
  for (const char* name : {"refs/heads/feature", "refs/tags/v1", "refs/tags/a/1.0", "refs/tags/a/v0", "refs/tags/a/v01",
                           "refs/tags/a/v-1", "refs/heads/drafts/v1", "refs/heads/drafts/a.b/v1", "refs/heads/drafts/a/V1",
                           "refs/heads/deletionProposed/a/ws", "refs/notes/x", "HEAD"}) {
    EXPECT_EQ(read_ref(name, "main", ""), (PackageRef{.kind = RefKind::Other, .path = name})) << name;
  }
  EXPECT_EQ(read_ref("refs/tags/elsewhere/a/v1", "main", "infra").kind, RefKind::Other);
}

TEST(PackageNames, what_is_written_is_read_back) {
  const RevisionKey one = key("edge", "a/b", "v1");
  for (const std::string folder : {"", "infra", "x/y"}) {
    for (const Lifecycle lifecycle :
         {Lifecycle::Draft, Lifecycle::Proposed, Lifecycle::Published, Lifecycle::DeletionProposed}) {
      const PackageRef ref = read_ref(ref_of(one, 4, lifecycle, folder), "main", folder);
      EXPECT_EQ(ref.path, "a/b");
      EXPECT_EQ(ref.workspace, is_published(lifecycle) ? "" : "v1");
      EXPECT_EQ(ref.revision, is_published(lifecycle) ? 4 : 0);
    }
  }
  EXPECT_EQ(ref_of(one, 0, Lifecycle::Published, ""), "");
  const auto proposed = [](const std::string& branch) {
    return ref_of(key("edge", "a/b", branch), kPlaceholder, Lifecycle::DeletionProposed, "infra");
  };
  EXPECT_EQ(proposed("main"), "refs/heads/deletionProposed/infra/a/b/main");
  EXPECT_EQ(proposed("v3"), "") << "that is the number three";
}

TEST(PackageNames, commits_carry_porchs_note) {
  const CommitNote note{.package = "a/b", .workspace = "v1", .revision = "0"};
  const std::string message = with_note("Approve edge/a/b", note);
  EXPECT_EQ(message, "Approve edge/a/b\n\nkpt:{\"package\":\"a/b\",\"workspaceName\":\"v1\",\"revision\":\"0\"}\n");
  EXPECT_EQ(notes_of(message), std::vector<CommitNote>{note});
  EXPECT_EQ(notes_of("kpt:{\"package\":\"x\",\"revision\":3}"),
            (std::vector<CommitNote>{CommitNote{.package = "x", .revision = "3"}}));
  EXPECT_EQ(notes_of("kpt:{not json\n  kpt:{\"package\":\"x\",\"more\":1}\nkpt:7"),
            std::vector<CommitNote>{CommitNote{.package = "x"}});
}

}  // namespace
}  // namespace slipway::delivery::package
