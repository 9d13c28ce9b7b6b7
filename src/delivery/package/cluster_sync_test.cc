// What is read out of RootSyncs, Kustomizations and Applications, and what several of them say together.
#include "delivery/package/cluster_sync.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using State = SyncReport::State;

std::vector<SyncReport> read(std::size_t row, const Value& object, const Value& other = {}) {
  return sync_rows()[row].read(
      object, [&](const kube::Resource&, const kube::ObjectKey& key) { return kube::key_of(other) == key ? other : Value(); });
}

Value root_sync(std::string_view status) {
  return yaml(
      "kind: RootSync\nmetadata: {name: root, namespace: sync, generation: 1}\n"
      "spec: {git: {repo: /r/edge.git, branch: main, dir: /apps}}\nstatus: " +
      std::string(status));
}

TEST(ClusterSync, reads_a_root_sync) {
  const auto healthy = read(0, root_sync("{observedGeneration: 1, sync: {commit: c1}}")).at(0);
  EXPECT_EQ(healthy, (SyncReport{.object = "RootSync sync/root",
                                 .url = "/r/edge.git",
                                 .branch = "main",
                                 .folder = "apps",
                                 .commit = "c1",
                                 .state = State::Healthy}));
  EXPECT_EQ(read(0, root_sync("{}")).at(0).state, State::Syncing);
  EXPECT_EQ(read(0, root_sync("{observedGeneration: 0, sync: {commit: c1}}")).at(0).state, State::Syncing);
  EXPECT_EQ(read(0, root_sync("{sync: {commit: c1}, conditions: [{type: Syncing, status: 'True'}]}")).at(0).state,
            State::Syncing);
  const auto failed =
      read(0, root_sync("{source: {commit: c2, errors: [{errorMessage: no such folder}]}, sync: {commit: c1}}")).at(0);
  EXPECT_EQ(failed.state, State::Failed);
  EXPECT_EQ(failed.commit, "c2");
  EXPECT_EQ(failed.text, "no such folder");
}

TEST(ClusterSync, a_commit_that_is_only_seen_takes_nothing_away) {
  const auto report = read(0, root_sync("{source: {commit: c2}, sync: {commit: c1}, "
                                        "conditions: [{type: Syncing, status: 'True'}]}"))
                          .at(0);
  EXPECT_EQ(report.state, State::Healthy);
  EXPECT_EQ(report.commit, "c1");
}

TEST(ClusterSync, reads_a_kustomization_with_its_source) {
  const Value source = yaml(
      "kind: GitRepository\nmetadata: {name: edge, namespace: flux}\nspec: {url: 'https://git.test/edge.git', ref: {branch: "
      "main}}");
  const auto object = [](std::string_view status) {
    return yaml(
        "kind: Kustomization\nmetadata: {name: web, namespace: flux}\n"
        "spec: {path: ./web, sourceRef: {kind: GitRepository, name: edge}}\nstatus: " +
        std::string(status));
  };
  const auto healthy =
      read(1, object("{lastAppliedRevision: 'main@sha1:c1', conditions: [{type: Ready, status: 'True'}]}"), source);
  EXPECT_EQ(healthy.at(0).commit, "c1");
  EXPECT_EQ(healthy.at(0).state, State::Healthy);
  EXPECT_EQ(healthy.at(0).folder, "web");
  const auto failed = read(1,
                           object("{lastAppliedRevision: 'main@sha1:c1', lastAttemptedRevision: 'main@sha1:c2', conditions: "
                                  "[{type: Ready, status: 'False', reason: HealthCheckFailed, message: timeout}]}"),
                           source);
  EXPECT_EQ(failed.at(0).commit, "c2");
  EXPECT_EQ(failed.at(0).state, State::Failed);
  EXPECT_TRUE(read(1, object("{}")).empty()) << "without its source nothing is known";
}

TEST(ClusterSync, reads_an_application) {
  const auto object = [](std::string_view status) {
    return yaml(
        "kind: Application\nmetadata: {name: web, namespace: argocd}\n"
        "spec: {source: {repoURL: 'https://git.test/edge', path: web, targetRevision: HEAD}}\nstatus: " +
        std::string(status));
  };
  EXPECT_EQ(read(2, object("{sync: {status: Synced, revision: c1}, health: {status: Healthy}}")).at(0).state, State::Healthy);
  EXPECT_EQ(read(2, object("{sync: {status: Synced, revision: c1}, health: {status: Progressing}}")).at(0).state,
            State::Synced);
  EXPECT_EQ(read(2, object("{sync: {status: OutOfSync, revision: c1}, health: {status: Healthy}}")).at(0).state,
            State::Syncing);
  const auto degraded = read(2, object("{sync: {status: Synced, revision: c1}, health: {status: Degraded}}")).at(0);
  EXPECT_EQ(degraded.state, State::Failed);
  const auto failed = read(2, object("{sync: {status: OutOfSync, revision: c1}, health: {status: Healthy}, operationState: "
                                     "{phase: Failed, message: denied, syncResult: {revision: c2}}}"))
                          .at(0);
  EXPECT_EQ(failed.commit, "c2");
  EXPECT_EQ(failed.text, "denied");
}

const SyncPlace kPlace{.url = "https://git.test/edge", .branch = "main", .path = "apps/web"};

SyncReport report(std::string commit, State state) {
  return {.object = "RootSync a/b",
          .url = "https://git.test/edge.git/",
          .branch = "main",
          .folder = "apps",
          .commit = std::move(commit),
          .state = state,
          .text = "boom"};
}

TEST(ClusterSync, is_about_packages_of_its_folder_only) {
  EXPECT_TRUE(is_about(report("c", State::Synced), kPlace));
  SyncPlace other = kPlace;
  other.path = "apps2/web";
  EXPECT_FALSE(is_about(report("c", State::Synced), other));
  other = kPlace;
  other.branch = "dev";
  EXPECT_FALSE(is_about(report("c", State::Synced), other));
}

TEST(ClusterSync, the_exact_commit_counts_or_one_that_contains_it) {
  EXPECT_EQ(look({report("c1", State::Healthy)}, kPlace, "c1", {}).state, State::Healthy);
  const SyncView unknown = look({report("c2", State::Healthy)}, kPlace, "c1", {});
  EXPECT_EQ(unknown.state, State::Syncing);
  EXPECT_EQ(unknown.unknown, std::vector<std::string>{"c2"});
  EXPECT_EQ(look({report("c2", State::Healthy)}, kPlace, "c1", {{"c2", "c1"}}).state, State::Healthy);
  EXPECT_EQ(look({report("c0", State::Failed)}, kPlace, "c1", {}).state, State::Syncing) << "an old failure is not its own";
}

TEST(ClusterSync, the_least_far_counts_and_a_failure_before_all) {
  EXPECT_EQ(look({report("c1", State::Healthy), report("c1", State::Synced)}, kPlace, "c1", {}).state, State::Synced);
  const SyncView failed = look({report("c1", State::Failed), report("", State::Syncing)}, kPlace, "c1", {});
  EXPECT_EQ(failed.state, State::Failed);
  EXPECT_EQ(failed.text, "RootSync a/b: boom");
}

TEST(ClusterSync, nobody_reporting_is_not_synced) {
  const SyncView view = look({}, kPlace, "c1", {});
  EXPECT_EQ(view.state, State::Syncing);
  EXPECT_FALSE(view.is_reported);
}

}  // namespace
}  // namespace slipway::delivery::package
