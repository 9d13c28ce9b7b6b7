#include "krm/merge.h"

#include <gtest/gtest.h>

namespace slipway::krm {
namespace {

std::string deployment(std::string_view replicas, std::string_view image) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  replicas: " + std::string(replicas) +
         "\n  template:\n    spec:\n      containers:\n      - name: c\n        image: " + std::string(image) + "\n";
}

Upgrade merged(const Files& origin, const Files& upstream, const Files& local, Strategy strategy = Strategy::ResourceMerge) {
  auto made = upgrade(origin, upstream, local, strategy);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : Upgrade{};
}

TEST(Merge, takes_upstreams_change_and_keeps_the_local_one) {
  const Upgrade made =
      merged({{"d.yaml", deployment("1", "a:1")}}, {{"d.yaml", deployment("1", "a:2")}}, {{"d.yaml", deployment("3", "a:1")}});
  EXPECT_EQ(made.files.at("d.yaml"), deployment("3", "a:2"));
  EXPECT_TRUE(made.conflicts.empty());
}

TEST(Merge, leaves_lists_in_brackets_in_brackets) {
  const auto pod = [](std::string_view image) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: " +
           std::string(image) + "\n    env: [{name: A, value: \"1\"}]\n    ports: [{containerPort: 80}]\n";
  };
  const Upgrade made = merged({{"p.yaml", pod("a:1")}}, {{"p.yaml", pod("a:2")}}, {{"p.yaml", pod("a:1")}});
  EXPECT_EQ(made.files.at("p.yaml"), pod("a:2"));
}

TEST(Merge, takes_upstreams_value_with_its_comment_and_quotes_only_what_is_new) {
  const auto map = [](std::string_view data) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n" + std::string(data);
  };
  const Upgrade made = merged({{"m.yaml", map("  a: red\n  b: x\n")}}, {{"m.yaml", map("  a: blue\n  b: yes\n  c: no\n")}},
                              {{"m.yaml", map("  a: green # ours\n  b: x\n")}});
  EXPECT_EQ(made.files.at("m.yaml"), map("  a: blue\n  b: yes\n  c: \"no\"\n"));
}

TEST(Merge, marks_what_has_no_namespace_as_kpt_does) {
  const auto made = with_merge_identity({{"a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n"}});
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->at("a.yaml").contains("'|Namespace|default|a'")) << made->at("a.yaml");
}

TEST(Merge, tells_what_both_changed_and_takes_upstreams) {
  const Upgrade made =
      merged({{"d.yaml", deployment("1", "a:1")}}, {{"d.yaml", deployment("5", "a:1")}}, {{"d.yaml", deployment("3", "a:1")}});
  EXPECT_EQ(made.files.at("d.yaml"), deployment("5", "a:1"));
  ASSERT_EQ(made.conflicts.size(), 1U);
  EXPECT_EQ(describe(made.conflicts[0]), "d.yaml Deployment d spec.replicas: 1 → upstream 5, local 3; upstream taken");
}

TEST(Merge, keeps_local_files_and_what_was_changed_before_it_was_deleted_upstream) {
  const Files origin{{"d.yaml", deployment("1", "a")}, {"e.yaml", deployment("1", "a")}, {"x.txt", "old"}, {"y.txt", "old"}};
  const Files local{{"d.yaml", deployment("2", "a")},
                    {"e.yaml", deployment("1", "a")},
                    {"x.txt", "mine"},
                    {"y.txt", "old"},
                    {"z.bin", std::string("\0", 1)}};
  const Upgrade made = merged(origin, {{"x.txt", "new"}, {"y.txt", "new"}}, local);
  EXPECT_EQ(made.files,
            (Files{{"d.yaml", deployment("2", "a")}, {"x.txt", "mine"}, {"y.txt", "new"}, {"z.bin", std::string("\0", 1)}}));
  EXPECT_EQ(made.conflicts.size(), 2U);
}

TEST(Merge, leaves_deleted_what_was_deleted_here) {
  const Upgrade made =
      merged({{"d.yaml", deployment("1", "a")}}, {{"d.yaml", deployment("2", "a")}, {"n.yaml", deployment("1", "n")}}, {});
  EXPECT_EQ(made.files, (Files{{"n.yaml", deployment("1", "n")}}));
  EXPECT_EQ(made.conflicts.size(), 1U);
}

TEST(Merge, follows_renamed_resources_by_their_comment) {
  const std::string local =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: # kpt-merge: a/m\n  name: mine\n  namespace: b\ndata:\n  k: v\n";
  const std::string origin = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  namespace: a\ndata:\n  k: v\n";
  const std::string upstream = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  namespace: a\ndata:\n  k: w\n";
  const Upgrade made = merged({{"m.yaml", origin}}, {{"m.yaml", upstream}}, {{"m.yaml", local}});
  EXPECT_EQ(made.files.at("m.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: # kpt-merge: a/m\n  name: mine\n  namespace: b\ndata:\n  k: w\n");
}

TEST(Merge, marks_of_a_clone_leave_all_other_bytes) {
  const std::string text =
      "# head\r\napiVersion: apps/v1\r\nkind:   Deployment\r\nmetadata:   \r\n    name: 'web' # the front\r\n\r\nspec: "
      "{}\r\n---\r\n"
      "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: m}\r\n";
  const std::string marked =
      "# head\r\napiVersion: apps/v1\r\nkind:   Deployment\r\nmetadata: # kpt-merge: /web\r\n    name: 'web' # the front\r\n"
      "    annotations:\r\n      internal.kpt.dev/upstream-identifier: 'apps|Deployment|default|web'\r\n\r\nspec: {}\r\n---\r\n"
      "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: m, annotations: "
      "{\"internal.kpt.dev/upstream-identifier\":\"|ConfigMap|default|m\"}}\r\n";
  const Files files{{"a.yaml", text},
                    {"Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"},
                    {"broken.yaml", "a: ["},
                    {"ignored.yaml", "kind: A\nmetadata:\n  name: a\n"},
                    {"list.yaml", "- kind: A\n"},
                    {"note.txt", "metadata:\n  name: x\n"},
                    {".krmignore", "ignored.yaml\n"}};
  Files expected = files;
  expected["a.yaml"] = marked;
  const Files made = with_merge_marks(files);
  EXPECT_EQ(made, expected) << made.at("a.yaml");
  EXPECT_EQ(with_merge_marks(made), made) << "what is marked stays";
}

TEST(Merge, marks_of_a_clone_are_those_that_kpt_writes) {
  const Files files{{"a.yaml", deployment("1", "a")},
                    {"b.yaml",
                     "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  namespace: n\n  annotations:\n    x: y\n---\n"
                     "apiVersion: v1\nkind: ConfigMap\nmetadata: # kpt-merge: n/old\n  name: m2\n  namespace: n\n"}};
  const auto theirs = with_merge_identity(files);
  const auto ours = with_merge_identity(with_merge_marks(files));
  ASSERT_TRUE(theirs && ours);
  for (const auto& [path, text] : *theirs) {
    std::string unquoted = text;
    std::erase(unquoted, '\'');
    std::string made = ours->at(path);
    std::erase(made, '\'');
    EXPECT_EQ(made, unquoted);
  }
}

TEST(Merge, a_large_file_is_marked_in_one_pass) {
  std::string text;
  std::string marked;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata: {a: b}\n";
    marked += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: # kpt-merge: /" + name + "\n  name: " + name +
              "\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|" + name + "'\ndata: {a: b}\n";
  }
  EXPECT_TRUE(with_merge_marks({{"a.yaml", text}}).at("a.yaml") == marked);
}

TEST(Merge, refuses_a_subpackage_that_both_added) {
  const std::string kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ";
  auto made = upgrade({}, {{"db/Kptfile", kptfile + "a\n"}}, {{"db/Kptfile", kptfile + "b\n"}}, Strategy::ResourceMerge);
  EXPECT_EQ(made.error().reason, Reason::Invalid);
}

TEST(Merge, goes_fast_forward_only_over_untouched_packages) {
  const Files origin{{"d.yaml", deployment("1", "a")}};
  const Files upstream{{"d.yaml", deployment("2", "a")}};
  EXPECT_EQ(merged(origin, upstream, origin, Strategy::FastForward).files, upstream);
  EXPECT_EQ(upgrade(origin, upstream, {{"d.yaml", deployment("3", "a")}}, Strategy::FastForward).error().reason,
            Reason::Conflict);
}

TEST(Merge, replaces_or_copies_when_told_so) {
  const Files origin{{"d.yaml", deployment("1", "a")}};
  const Files upstream{{"d.yaml", deployment("2", "a")}};
  const Files local{{"d.yaml", deployment("3", "a")}, {"mine.txt", "x"}};
  EXPECT_EQ(merged(origin, upstream, local, Strategy::ForceDeleteReplace).files, upstream);
  EXPECT_EQ(merged(origin, upstream, local, Strategy::CopyMerge).files,
            (Files{{"d.yaml", deployment("2", "a")}, {"mine.txt", "x"}}));
  EXPECT_EQ(strategy_of("merge-magic").error().reason, Reason::Invalid);
}

TEST(Merge, loses_no_gate_of_the_deployer_even_when_upstream_drops_all_of_its_own) {
  const std::string head = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";
  const auto gates = [&](std::string_view list) { return head + "info:\n  readinessGates:\n" + std::string(list); };
  auto made = merge_kptfiles(gates("  - conditionType: up\n"), head, gates("  - conditionType: up\n  - conditionType: mine\n"),
                             Locks::Local);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(*made, gates("  - conditionType: mine\n"));
}

}  // namespace
}  // namespace slipway::krm
