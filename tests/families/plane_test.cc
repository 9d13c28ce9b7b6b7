// A second family with a kind Workflow of its own, in a whole plane in virtual time: served, admitted, explained, listed,
// described, acted on and collected, beside the Workflows of jobflow.
#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "delivery/jobflow/kind.h"
#include "json/text.h"
#include "plane/plane.h"
#include "plane/show.h"
#include "plane/store_view.h"
#include "second_family.h"
#include "server/registry.h"
#include "store/memory_vfs.h"

namespace slipway::families_test {
namespace {

using delivery::jobflow::kWorkflows;
using json::Value;
using kube::ObjectKey;

Value yaml(std::string_view text) { return *json::parse_yaml(text); }

class TwoFamilies : public testing::Test {
 public:
  void SetUp() override {
    open(families_);
    plane::Controllers::Options controllers;
    controllers.families = families_;
    controllers_ = std::make_unique<plane::Controllers>(env_.env(), api_->server(), controllers);
    controllers_->start();
  }
  void open(plane::Families families) {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    options.families = families;
    auto api = env_.run(plane::ApiServer::open(env_, options));
    ASSERT_TRUE(api) << api.error().message;
    api_ = std::move(*api);
  }
  void TearDown() override {
    env_.drop_all();
    controllers_.reset();
    api_.reset();
  }

  server::Server& server() { return api_->server(); }
  plane::StoreView view() { return {server(), api_->store(), env_.now()}; }
  Result<Value> create(const kube::Resource& resource, std::string_view text) {
    return env_.run(client::create(server(), resource, yaml(text), "tester"));
  }
  Result<Value> get(const kube::Resource& resource, const std::string& name) {
    return env_.run(client::get(server(), resource, {"default", name}));
  }
  /// One of each family, both called "same".
  void make_both() {
    const auto first = create(kWorkflows, R"(
apiVersion: batch.slipway.dev/v1alpha1
kind: Workflow
metadata: {name: same, namespace: default}
spec:
  steps:
    only: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}}
)");
    ASSERT_TRUE(first) << first.error().message;
    const auto second = create(kApprovals,
                               "{apiVersion: second.example.test/v1, kind: Workflow, metadata: {name: same, "
                               "namespace: default}, spec: {approved: false}}");
    ASSERT_TRUE(second) << second.error().message;
  }

 protected:
  store::MemoryVfs disk_;
  ManualEnv env_{ManualEnv::Options{.vfs = disk_.vfs()}};
  std::vector<const delivery::Family*> families_ = [] {
    std::vector<const delivery::Family*> all(plane::families().begin(), plane::families().end());
    all.push_back(&second_family());
    return all;
  }();
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
};

TEST_F(TwoFamilies, are_served_and_admitted_each_by_its_own_rows) {
  make_both();
  EXPECT_EQ((*get(kApprovals, "same"))["spec"]["by"].as_string(), "nobody");
  EXPECT_FALSE((*get(kWorkflows, "same"))["spec"].has("by"));
  const auto refused = create(kApprovals,
                              "{apiVersion: second.example.test/v1, kind: Workflow, metadata: {name: r, namespace: "
                              "default}, spec: {by: robot}}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Invalid);
  EXPECT_TRUE(refused.error().message.contains("must be a person")) << refused.error().message;
}

TEST_F(TwoFamilies, live_in_a_cluster_that_keeps_clone_sets_from_its_start) {
  const kube::Resource sets{"apps.kruise.io", "v1alpha1", "clonesets"};
  const auto made = create(sets, R"({apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet,
metadata: {name: web, namespace: default}, spec: {replicas: 2, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}, annotations: {slipway.dev/missing-images: bad}},
  spec: {containers: [{name: c, image: bad}]}}}})");
  ASSERT_TRUE(made) << made.error().message;
  env_.advance(std::chrono::seconds{5});
  const Value set = *get(sets, "web");
  EXPECT_EQ(set["status"]["replicas"].as_int(), 2);
  EXPECT_TRUE(plane::why(set, "", view(), families_).text.contains("ImagePullBackOff"));
  const kube::Resource roles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
  EXPECT_TRUE(env_.run(client::get(server(), roles, {"", "system:aggregate-to-edit:apps.kruise.io"})));
}

TEST_F(TwoFamilies, a_plural_of_both_is_that_of_the_first_group_unless_one_is_named) {
  EXPECT_EQ((*server().registry().find_word("workflows"))->resource, kWorkflows);
  EXPECT_EQ((*server().registry().find_word("workflow.second.example.test"))->resource, kApprovals);
  EXPECT_EQ((*server().registry().find_word("workflows.batch.slipway.dev"))->resource, kWorkflows);
  EXPECT_EQ((*server().registry().find_word("wf"))->resource, kWorkflows);
  EXPECT_EQ((*server().registry().find_word("pg"))->resource, kPages);
}

TEST_F(TwoFamilies, are_shown_and_explained_each_by_its_own_row) {
  make_both();
  env_.advance(std::chrono::seconds{1});
  const Value first = *get(kWorkflows, "same");
  const Value second = *get(kApprovals, "same");
  EXPECT_EQ(plane::description(second, {}, view(), families_), "Approval: same\nNotes: 1\nEvents: 0\n");
  EXPECT_TRUE(plane::description(first, {}, view(), families_).contains("only"));
  EXPECT_EQ(plane::summary(second, view(), families_), "approval of same by nobody\n");
  EXPECT_TRUE(plane::summary(first, view(), families_).starts_with("workflow/same  "));
  EXPECT_TRUE(plane::why(second, "", view(), families_).text.contains("nobody has approved it"));
  EXPECT_FALSE(plane::why(first, "", view(), families_).text.contains("approved"));
  EXPECT_FALSE(plane::why(first, "only", view(), families_).is_unknown_part);
  EXPECT_TRUE(plane::why(first, "none", view(), families_).is_unknown_part);
  const auto news = plane::news({}, second, families_);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news.front().text, "asked of nobody");
  // Without its row the kind is shown as any other.
  EXPECT_TRUE(plane::description(second, {}, view()).starts_with("apiVersion: second.example.test/v1\nkind: Workflow\n"));
}

TEST_F(TwoFamilies, an_action_is_run_and_brings_the_object_to_its_end) {
  make_both();
  EXPECT_EQ(plane::find_action(plane::find_row(*get(kWorkflows, "same"), families_), "approve"), nullptr);
  const Value object = *get(kApprovals, "same");
  EXPECT_FALSE(plane::verdict(object, families_));
  const delivery::Action* approve = plane::find_action(plane::find_row(object, families_), "approve");
  ASSERT_NE(approve, nullptr);
  const auto done = env_.run(approve->run({.env = env_.env(),
                                           .client = server(),
                                           .resource = kApprovals,
                                           .key = {"default", "same"},
                                           .part = "",
                                           .options = {{"by", "ann"}}}));
  ASSERT_TRUE(done) << done.error().message;
  env_.advance(std::chrono::seconds{1});
  const auto verdict = plane::verdict(*get(kApprovals, "same"), families_);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->is_success);
  EXPECT_EQ(verdict->text, "Complete: it was approved");
  std::vector<std::string> verbs;
  for (const delivery::Action& action : plane::actions(families_)) verbs.push_back(action.verb);
  ASSERT_FALSE(verbs.empty());
  EXPECT_EQ(verbs.front(), "rerun") << "in the order of the families";
  EXPECT_EQ(verbs.back(), "approve");
}

TEST_F(TwoFamilies, what_one_owns_goes_with_it_and_the_namesake_stays) {
  make_both();
  env_.advance(std::chrono::seconds{1});
  ASSERT_TRUE(get(kNotes, "same-note"));
  client::DeleteQuery query;
  query.propagation = "Background";
  ASSERT_TRUE(env_.run(client::remove(server(), kApprovals, {"default", "same"}, query)));
  env_.advance(std::chrono::seconds{5});
  EXPECT_FALSE(get(kApprovals, "same"));
  EXPECT_FALSE(get(kNotes, "same-note"));
  EXPECT_TRUE(get(kWorkflows, "same"));
}

class LaterFamily : public TwoFamilies {
 public:
  void SetUp() override { open(plane::families()); }
  bool may_edit(std::string_view group) {
    const auto role = env_.run(client::get(server(), {"rbac.authorization.k8s.io", "v1", "clusterroles"}, {"", "edit"}));
    return role && json::print((*role)["rules"]).contains(group);
  }
};

TEST_F(LaterFamily, its_rights_come_to_a_cluster_that_was_made_without_it) {
  EXPECT_TRUE(may_edit("batch.slipway.dev"));
  EXPECT_FALSE(may_edit(kApprovals.group));
  env_.run(api_->close());
  api_.reset();
  open(families_);
  EXPECT_TRUE(may_edit("batch.slipway.dev"));
  EXPECT_TRUE(may_edit(kApprovals.group));
  EXPECT_TRUE(
      create(kApprovals, "{apiVersion: second.example.test/v1, kind: Workflow, metadata: {name: w, namespace: default}}"));
}

TEST_F(TwoFamilies, kinds_that_descriptions_may_look_at_are_those_of_all_rows) {
  std::vector<std::string> kinds;
  for (const kube::GroupVersionKind& kind : plane::followed_kinds(families_)) {
    // Beside those of the two families that are looked at here.
    const bool is_other = kind.group.ends_with("oam.dev") || kind.group.ends_with("weave.works") ||
                          kind.group == "pipelines.slipway.dev" || kind.group.ends_with("porch.kpt.dev") ||
                          kind.group == "packages.slipway.dev";
    if (!is_other) kinds.push_back(kind.group + "/" + kind.kind);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{
                       "/Event", "/Pod", "apps/DaemonSet", "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet",
                       "apps.kruise.io/CloneSet", "apps.kruise.io/StatefulSet", "autoscaling/HorizontalPodAutoscaler",
                       "batch/Job", "batch.slipway.dev/CronWorkflow", "batch.slipway.dev/Workflow",
                       "batch.slipway.dev/WorkflowStepSet", "policy/PodDisruptionBudget", "second.example.test/Note",
                       "second.example.test/Page", "second.example.test/Workflow"}));
}

TEST_F(TwoFamilies, kinds_of_others_that_are_described_are_those_that_no_definition_of_ours_has) {
  const auto foreign = plane::foreign_kinds(families_);
  EXPECT_NE(std::ranges::find(foreign, kube::GroupVersionKind{"helm.toolkit.fluxcd.io", "", "HelmRelease"}), foreign.end());
  EXPECT_NE(std::ranges::find(foreign, kube::GroupVersionKind{"kustomize.toolkit.fluxcd.io", "", "Kustomization"}),
            foreign.end());
  for (const kube::GroupVersionKind& kind : foreign) {
    EXPECT_FALSE(plane::find_type(kind.group, kind.kind, families_)) << kind.group << "/" << kind.kind;
  }
}

}  // namespace
}  // namespace slipway::families_test
