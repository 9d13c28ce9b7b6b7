// How workloads are seen, and the patches that are written to them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/rollout/fields.h"
#include "delivery/rollout/workload_view.h"
#include "json/patch.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

const WorkloadRow& row_of(const char* group, const char* version, const char* kind) {
  const WorkloadRow* row = find_row(workload_rows(), {group, version, kind});
  EXPECT_NE(row, nullptr) << kind;
  return *row;
}

Value pod(const std::string& name, const std::string& label, const std::string& value, bool is_ready,
          std::string_view more = "") {
  return yaml(
      fmt::format("{{metadata: {{name: {}, labels: {{{}: {}}}}}, status: {{phase: Running, conditions: [{{type: Ready, "
                  "status: '{}'}}] {}}}}}",
                  name, label, value, is_ready ? "True" : "False", more));
}

Workload deployment() {
  Workload made;
  made.kind = {"apps", "v1", "Deployment"};
  made.id = set_id(made.kind, "web");
  made.row = &row_of("apps", "v1", "Deployment");
  made.object = yaml(
      "{metadata: {name: web, uid: u, resourceVersion: '7', generation: 2}, spec: {replicas: 3, paused: true, selector: "
      "{matchLabels: {app: web}}, template: {spec: {containers: [{name: m, image: 'a:2'}]}}}, status: {observedGeneration: "
      "2}}");
  for (const auto& [hash, number] : {std::pair("old", "1"), std::pair("new", "10"), std::pair("mid", "9")}) {
    made.revisions.push_back(
        yaml(fmt::format("{{metadata: {{labels: {{pod-template-hash: {}}}, annotations: "
                         "{{deployment.kubernetes.io/revision: '{}'}}}}}}",
                         hash, number)));
  }
  return made;
}

TEST(WorkloadView, ready_counts_pods_of_the_newest_revision_only) {
  Workload web = deployment();
  web.pods = {pod("a", "pod-template-hash", "old", true), pod("b", "pod-template-hash", "new", true),
              pod("c", "pod-template-hash", "new", false)};
  const wave::SetView view = view_of(web, "r");
  EXPECT_EQ(view.desired, 3);
  EXPECT_EQ(view.present, 3);
  EXPECT_EQ(view.ready, 1);
  EXPECT_EQ(view.owner, wave::Owner::Nobody);
  EXPECT_TRUE(view.is_current);
}

TEST(WorkloadView, pods_that_go_or_have_ended_are_not_there) {
  Workload web = deployment();
  web.pods = {pod("a", "pod-template-hash", "new", true).with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z"),
              pod("b", "pod-template-hash", "new", false).with_path({"status", "phase"}, "Failed")};
  EXPECT_EQ(view_of(web, "r").present, 0);
}

TEST(WorkloadView, trouble_is_the_first_bad_pods_reason) {
  Workload web = deployment();
  web.pods = {
      pod("b", "pod-template-hash", "new", false, ", containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]"),
      pod("a", "pod-template-hash", "new", false, ", containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]")};
  EXPECT_EQ(view_of(web, "r").trouble, "pod b: ImagePullBackOff");
}

TEST(WorkloadView, the_revision_is_that_of_the_template_alone) {
  Workload web = deployment();
  const std::string before = template_revision(web);
  web.object = web.object.with_path({"spec", "replicas"}, 9).with_path({"spec", "paused"}, false);
  EXPECT_EQ(template_revision(web), before);
  web.object = web.object.with_path({"spec", "template"}, yaml("{spec: {containers: [{image: 'a:2', name: m}]}}"));
  EXPECT_EQ(template_revision(web), before) << "the order of members does not count";
  web.object = web.object.with_path({"spec", "template"}, yaml("{spec: {containers: [{image: 'a:3', name: m}]}}"));
  EXPECT_NE(template_revision(web), before);
}

TEST(WorkloadView, a_partition_says_how_many_are_asked_for) {
  Workload db;
  db.kind = {"apps.kruise.io", "v1alpha1", "CloneSet"};
  db.row = &row_of("apps.kruise.io", "v1alpha1", "CloneSet");
  const std::pair<const char*, std::int64_t> rows[] = {{"4", 6}, {"'30%'", 7}, {"'25%'", 7}, {"null", 10}, {"20", 0}};
  for (const auto& [partition, asked] : rows) {
    db.object =
        yaml(fmt::format("{{metadata: {{name: db, uid: u}}, spec: {{replicas: 10, updateStrategy: {{partition: {}}}}}, "
                         "status: {{updateRevision: db-2}}}}",
                         partition));
    EXPECT_EQ(view_of(db, "r").asked_new, asked) << partition;
  }
}

TEST(WorkloadEdit, a_claim_takes_ownership_size_and_pause_in_one_patch_and_a_release_gives_all_back) {
  Workload web = deployment();
  const Value rollout = yaml("{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: r, uid: ru}}");
  const Snapshot before = snapshot_of(web);
  Edit claim;
  claim.claims = true;
  claim.size = 0;
  claim.stamp = "1:0";
  std::vector<std::string> kept;
  auto claimed = json::apply_json_patch(web.object, patch_of(web, claim, rollout, &before, kept));
  ASSERT_TRUE(claimed) << claimed.error().message;
  Workload owned = web;
  owned.object = *claimed;
  const wave::SetView view = view_of(owned, "ru");
  EXPECT_EQ(view.owner, wave::Owner::Us);
  EXPECT_EQ(view.desired, 0);
  EXPECT_EQ(view.stamp, 1);
  EXPECT_FALSE(owned.object["spec"]["paused"].as_bool());

  Edit release;
  release.releases = release.restores = true;
  auto released = json::apply_json_patch(owned.object, patch_of(owned, release, rollout, &before, kept));
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE((*released)["spec"]["paused"].as_bool());
  EXPECT_TRUE(kube::controller_of(*released).is_null());
  EXPECT_EQ(kube::annotation(*released, kStampAnnotation), "");
  EXPECT_TRUE(kept.empty());
}

TEST(WorkloadEdit, a_patch_for_an_older_object_fails_whole) {
  Workload web = deployment();
  Edit edit;
  edit.size = 5;
  edit.stamp = "2:5";
  std::vector<std::string> kept;
  const Value patch = patch_of(web, edit, Value(), nullptr, kept);
  EXPECT_TRUE(json::apply_json_patch(web.object, patch));
  EXPECT_FALSE(json::apply_json_patch(web.object.with_path({"metadata", "resourceVersion"}, "8"), patch));
  EXPECT_FALSE(json::apply_json_patch(web.object.with_path({"metadata", "uid"}, "other"), patch));
}

TEST(WorkloadEdit, nothing_to_change_is_no_patch) {
  Workload web = deployment();
  Edit edit;
  edit.size = 3;
  std::vector<std::string> kept;
  EXPECT_TRUE(patch_of(web, edit, Value(), nullptr, kept).empty());
}

TEST(Fields, parents_that_are_absent_are_made) {
  FieldPatch patch(yaml("{spec: {}}"));
  patch.set("spec.updateStrategy.rollingUpdate.partition", 3);
  const auto patched = json::apply_json_patch(yaml("{spec: {}}"), patch.build());
  ASSERT_TRUE(patched) << patched.error().message;
  EXPECT_EQ(field_at(*patched, "spec.updateStrategy.rollingUpdate.partition").as_int(), 3);
}

TEST(Fields, a_star_is_every_item_that_has_the_field) {
  const Value object = yaml("{a: [{b: 1}, {c: 2}, {b: 3}]}");
  EXPECT_EQ(paths_of(object, "a.*.b"), (std::vector<std::string>{"a.0.b", "a.2.b"}));
}

TEST(WorkloadRows, a_users_row_is_read_and_its_faults_are_named) {
  const auto row =
      row_from(yaml("{data: {row: '{apiVersion: x.dev/v1, kind: Game, size: spec.servers, partition: spec.old}'}}"));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->kind.kind, "Game");
  EXPECT_EQ(row->alone, wave::Shape::InPlace);
  EXPECT_EQ(row->size, "spec.servers");
  EXPECT_FALSE(row_from(yaml("{data: {row: '{kind: Game}'}}")));
}

}  // namespace
}  // namespace slipway::delivery::rollout
