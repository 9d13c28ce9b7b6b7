#include "krm/command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "krm/corpus_test.h"
#include "krm/diff.h"

namespace slipway::krm {
namespace {

TEST(PackageCommand, makes_a_package_that_is_ready_until_a_gate_is_added) {
  CommandOutcome made = init_command({}, "web", "a web shop");
  ASSERT_TRUE(made.files.has_value());
  Files files = *made.files;
  EXPECT_EQ(ready_command(files).output, "ready\n");
  EXPECT_EQ(init_command(files, "web", "").code, 1);
  files = *gate_command(files, GateVerb::Add, "ipam").files;
  EXPECT_EQ(ready_command(files).code, 1);
  EXPECT_EQ(ready_command(files).output, "web: not ready\n  ipam: no condition yet\n");
  files = *condition_set_command(files, "ipam=False:Pending:no prefix").files;
  EXPECT_EQ(ready_command(files).output, "web: not ready\n  ipam: False, Pending: no prefix\n");
  files = *condition_set_command(files, "ipam=True").files;
  EXPECT_EQ(ready_command(files).code, 0);
  EXPECT_EQ(condition_set_command(files, "ipam=maybe").code, 1);
  EXPECT_EQ(gate_command(files, GateVerb::Remove, "nobody").code, 1);
}

TEST(PackageCommand, an_upgrade_follows_the_upstream_that_the_new_version_was_fetched_from) {
  const auto fetched = [](const std::string& ref, const std::string& commit) {
    const std::string git = "    repo: /r.git\n    directory: /p\n    ref: " + ref + "\n";
    return Files{{"Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\nupstream:\n  type: git\n  git:\n" +
                                 git + "  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n" + git +
                                 "    commit: " + commit + "\n"}};
  };
  Files other = fetched("v3", "cc");
  other.at("Kptfile").replace(other.at("Kptfile").find("/r.git"), 6, "/other");
  EXPECT_EQ(upgrade_command(fetched("v1", "aa"), fetched("v2", "bb"), fetched("v1", "aa"), "").files, fetched("v2", "bb"));
  EXPECT_EQ(upgrade_command(fetched("v1", "aa"), other, fetched("v1", "aa"), "").files, fetched("v1", "aa"));
}

TEST(PackageCommand, runs_a_function_over_the_wire) {
  const std::string input =
      "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    "
      "name: m\n"
      "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data:\n    a: b\n";
  const CommandOutcome made = fn_command("set-labels", input);
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_TRUE(made.output.contains("    labels:\n      a: b\n")) << made.output;
  EXPECT_TRUE(made.output.contains("results:\n- message: set 1 labels in total\n  severity: info\n")) << made.output;
  EXPECT_EQ(fn_command("starlark", input).code, 1);
  EXPECT_EQ(fn_command("set-labels", "a: b").code, 1);
}

TEST(PackageCommand, draws_folders_and_packages_as_kpt_does) {
  const auto object = [](std::string_view kind, std::string_view name) {
    return fmt::format("apiVersion: v1\nkind: {}\nmetadata:\n  name: {}\n", kind, name);
  };
  const Files files{{"Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: n\n"},
                    {"b.yaml", object("ConfigMap", "z") + "---\n" + object("Secret", "a")},
                    {"p/q/c.yaml", object("ConfigMap", "m")},
                    {"sub/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: s\n"},
                    {"sub/notes.txt", "no resource"}};
  EXPECT_EQ(tree_command(files, "web").output,
            "Package \"web\"\n"
            "├── [Kptfile]  Kptfile n\n"
            "├── [b.yaml]  Secret a\n"
            "├── [b.yaml]  ConfigMap z\n"
            "├── q\n"
            "│   └── [c.yaml]  ConfigMap m\n"
            "└── Package \"sub\"\n"
            "    └── [Kptfile]  Kptfile s\n");
}

TEST(Diff, shows_hunks_as_git_does) {
  EXPECT_EQ(diff({{"a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"}}, {{"a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n"}}),
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n");
  EXPECT_EQ(
      diff({}, {{"n", "x"}}),
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
  EXPECT_EQ(diff({{"a", "x\n"}}, {{"a", "x\n"}}), "");
}

TEST(Diff, applies_to_what_it_was_made_of) {
  Files before;
  Files after;
  std::uint32_t state = 7;
  const auto next = [&](std::uint32_t below) { return (state = state * 1664525U + 1013904223U) / 65536U % below; };
  for (int i = 0; i < 200; ++i) {
    std::string old;
    std::string now;
    for (std::uint32_t line = next(30); line > 0; --line) {
      const std::string text = std::string(1, static_cast<char>('a' + next(4))) + "\n";
      if (next(4) != 0) old += text;
      if (next(4) != 0) now += text;
    }
    before[std::to_string(i)] = old;
    after[std::to_string(i)] = now;
  }
  const auto applied = apply_diff(before, diff(before, after));
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(*applied, after);
}

}  // namespace
}  // namespace slipway::krm
