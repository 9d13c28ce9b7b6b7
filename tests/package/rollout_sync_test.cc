// RootSync on a cluster of this process: what is in a repository is in the cluster, and what has gone from there goes.
#include <fmt/format.h>

#include "delivery/package/sync.h"
#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

std::string config_map(std::string_view name, std::string_view more = "") {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n{}data:\n  k: v\n", name, more);
}

class Syncs : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    repository_ = &add_repository("edge");
  }
  void sync(std::string_view git = "") {
    make(fmt::format(R"(
apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {{name: edge}}
spec: {{sourceFormat: unstructured, git: {{repo: '{}', branch: main, auth: none, dir: apps, {}}}}}
)",
                     repository_->path(), git));
    advance(seconds{1});
  }
  Value map(const std::string& name) { return get(kHub, {"", "v1", "configmaps"}, name); }
  Value status() { return get(kHub, kRootSyncs, "edge")["status"]; }

  pipeline_test::Repository* repository_ = nullptr;
};

TEST_F(Syncs, applies_what_is_in_the_folder_and_says_which_commit_that_is) {
  const std::string commit = repository_->commit(
      {{"apps/a.yaml", config_map("a")},
       {"apps/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\n"},
       {"apps/local.yaml", config_map("local", "  annotations: {config.kubernetes.io/local-config: 'true'}\n")},
       {"other/b.yaml", config_map("b")}},
      "second");
  sync();
  EXPECT_FALSE(map("a").is_null()) << json::print(status());
  EXPECT_TRUE(map("b").is_null());
  EXPECT_TRUE(map("local").is_null());
  EXPECT_EQ(status()["sync"]["commit"].as_string(), commit);
  EXPECT_EQ(status()["lastSyncedCommit"].as_string(), commit);
  EXPECT_EQ(status()["sync"]["errorSummary"]["totalCount"].as_int(), 0);
}

TEST_F(Syncs, an_object_of_another_sync_is_left_to_that_while_it_is_there) {
  repository_->commit({{"apps/a.yaml", config_map("a")}}, "second");
  sync();
  make(fmt::format(R"(
apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {{name: more}}
spec: {{sourceFormat: unstructured, git: {{repo: '{}', branch: main, auth: none, dir: apps}}}}
)",
                   repository_->path()));
  advance(seconds{1});
  const auto errors = [&] { return json::print(get(kHub, kRootSyncs, "more")["status"]["sync"]["errors"]); };
  EXPECT_TRUE(errors().contains("ConfigMap default/a: it is managed by RootSync default/edge")) << errors();
  EXPECT_EQ(map("a")["metadata"]["annotations"]["configsync.gke.io/manager"].as_string(), ":root_default_edge");
  remove(kHub, kRootSyncs, "edge");
  advance(seconds{16});
  EXPECT_EQ(errors(), "null");
  EXPECT_EQ(map("a")["metadata"]["annotations"]["configsync.gke.io/manager"].as_string(), ":root_default_more");
}

TEST_F(Syncs, an_object_that_is_declared_twice_is_an_error_and_nothing_is_applied) {
  repository_->commit({{"apps/a.yaml", config_map("a")},
                       {"apps/one/b.yaml", config_map("b")},
                       {"apps/two/b.yaml", config_map("b", "  namespace: default\n")}},
                      "second");
  sync();
  EXPECT_EQ(status()["sync"]["errors"].item(0)["errorMessage"].as_string(),
            "ConfigMap default/b is declared more than once: give one of them another name or namespace");
  EXPECT_TRUE(map("a").is_null());
}

TEST_F(Syncs, deletes_what_has_gone_but_nothing_that_is_somebody_elses) {
  repository_->commit({{"apps/a.yaml", config_map("a")}, {"apps/b.yaml", config_map("b")}}, "second");
  sync();
  patch(kHub, {"", "v1", "configmaps"}, "b", "{metadata: {annotations: {configsync.gke.io/manager: ':root_other'}}}");
  repository_->commit({{"apps/a.yaml", ""}, {"apps/b.yaml", ""}, {"apps/c.yaml", config_map("c")}}, "third");
  advance(seconds{16});
  EXPECT_TRUE(map("a").is_null()) << json::print(status());
  EXPECT_FALSE(map("b").is_null());
  EXPECT_FALSE(map("c").is_null());
}

TEST_F(Syncs, a_file_that_cannot_be_read_changes_nothing_and_is_told) {
  repository_->commit({{"apps/a.yaml", config_map("a")}}, "second");
  sync();
  const std::string bad = repository_->commit({{"apps/a.yaml", ""}, {"apps/b.yaml", "kind: [\n"}}, "third");
  advance(seconds{16});
  EXPECT_FALSE(map("a").is_null());
  EXPECT_EQ(status()["source"]["commit"].as_string(), bad);
  EXPECT_NE(status()["sync"]["commit"].as_string(), bad);
  EXPECT_TRUE(status()["source"]["errors"].item(0)["errorMessage"].as_string().contains("apps/b.yaml"));
}

TEST_F(Syncs, what_cannot_be_applied_deletes_nothing) {
  repository_->commit({{"apps/a.yaml", config_map("a")}}, "second");
  sync();
  repository_->commit(
      {{"apps/a.yaml", ""}, {"apps/x.yaml", "apiVersion: example.org/v1\nkind: Nothing\nmetadata: {name: x}\n"}}, "third");
  advance(seconds{16});
  EXPECT_FALSE(map("a").is_null());
  EXPECT_EQ(status()["sync"]["errorSummary"]["totalCount"].as_int(), 1);
}

TEST_F(Syncs, finds_what_it_had_applied_after_a_restart) {
  repository_->commit({{"apps/a.yaml", config_map("a")}}, "second");
  sync();
  repository_->commit({{"apps/a.yaml", ""}, {"apps/b.yaml", config_map("b")}}, "third");
  restart();
  advance(seconds{16});
  EXPECT_TRUE(map("a").is_null());
  EXPECT_FALSE(map("b").is_null());
}

TEST_F(Syncs, what_it_does_not_do_is_refused) {
  sync("secretRef: {name: token}");
  EXPECT_EQ(condition_in(get(kHub, kRootSyncs, "edge"), "Stalled"), "True Spec");
  EXPECT_EQ(not_synced(json::parse_yaml("{git: {repo: /r, auth: none}}").value()),
            "spec.sourceFormat: hierarchy, which is meant where it is absent, is not implemented here: use unstructured");
  EXPECT_EQ(not_synced(json::parse_yaml("{sourceFormat: unstructured, git: {repo: /r, auth: token}}").value()),
            "spec.git.auth: \"token\" is not implemented here: use none");
  EXPECT_EQ(not_synced(json::parse_yaml("{sourceFormat: unstructured, override: {}, git: {repo: /r, auth: none}}").value()),
            "spec.override: not implemented here: leave it out");
}

}  // namespace
}  // namespace slipway::package_test
