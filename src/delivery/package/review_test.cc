#include "delivery/package/review.h"

#include <gtest/gtest.h>

#include "delivery/package/explain.h"
#include "delivery/package/readiness.h"
#include "delivery/package/show.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using std::chrono::seconds;

Review review(const std::string& repository, const std::string& diff) {
  Review made{.diff = diff};
  made.revision.spec = {.package_name = "shop/web", .repository = repository, .workspace = "v2"};
  made.revision.object = json::object({{"metadata", json::object({{"name", json::Value(repository + ".shop.web.v2")}})}});
  return made;
}

std::string hunk(const std::string& line) { return "diff --git a/a.yaml b/a.yaml\n@@ -1 +1 @@\n+" + line + "\n"; }

TEST(Review, groups_diffs_that_are_equal_but_for_the_names_of_repository_and_package) {
  const auto groups =
      grouped({review("edge-2", hunk("host: web.edge-2.example")), review("edge-1", hunk("host: web.edge-1.example")),
               review("edge-3", hunk("host: web.edge-1.example"))});
  ASSERT_EQ(groups.size(), 2U);
  ASSERT_EQ(groups[0].members.size(), 2U);
  EXPECT_EQ(groups[0].members[0].revision.name(), "edge-1.shop.web.v2");
  EXPECT_EQ(groups[0].members[1].revision.name(), "edge-2.shop.web.v2");
  EXPECT_EQ(groups[1].members[0].revision.name(), "edge-3.shop.web.v2");
  EXPECT_NE(groups[0].id, groups[1].id);
  const std::string text = groups_text(groups);
  EXPECT_TRUE(text.starts_with("== " + groups[0].id + ": 2 revisions, 1 file\n   edge-1.shop.web.v2 (new)\n")) << text;
}

TEST(Review, replaces_names_only_where_they_are_whole_words) {
  EXPECT_EQ(plain_diff(review("edge", "edge edgeless web-1 x.web.y")), "‹repository› edgeless web-1 x.‹package›.y");
}

TEST(Review, replaces_the_name_of_the_variant_in_the_names_of_its_functions) {
  const auto of_variant = [](const std::string& repository) {
    const std::string name = "grp-" + repository + "-web";
    Review made = review(repository, hunk("name: PackageVariant." + name + ".ns.0"));
    const json::Value owner = json::object({{"kind", json::Value("PackageVariant")}, {"name", json::Value(name)}});
    made.revision.object = made.revision.object.with_path({"metadata", "ownerReferences"}, json::array({owner}));
    return made;
  };
  const auto groups = grouped({of_variant("c1"), of_variant("c2")});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(plain_diff(of_variant("c1")), hunk("name: PackageVariant.‹variant›.ns.0"));
}

TEST(Review, leaves_only_the_status_out_of_kptfiles) {
  const auto kept =
      without_verdicts({{"Kptfile",
                         "kind: Kptfile\nupstream:\n  git:\n    ref: v1\nupstreamLock:\n  type: git\ninfo:\n  site: x\n"
                         "status:\n  conditions:\n  - type: a\n\n  - type: b\n"},
                        {"sub/Kptfile", "status:\n  x: y"},
                        {"a.yaml", "status: kept\n"}});
  EXPECT_EQ(kept.at("Kptfile"),
            "kind: Kptfile\nupstream:\n  git:\n    ref: v1\nupstreamLock:\n  type: git\ninfo:\n  site: x\n");
  EXPECT_EQ(kept.at("sub/Kptfile"), "");
  EXPECT_EQ(kept.at("a.yaml"), "status: kept\n");
}

TEST(Why, finds_the_object_that_a_condition_is_called_after) {
  const json::Value claim = object_of_condition("ipam.resource.nephio.org/v1alpha1.IPClaim.upf-n3.a");
  EXPECT_EQ(claim["apiVersion"].as_string(), "ipam.resource.nephio.org/v1alpha1");
  EXPECT_EQ(claim["kind"].as_string(), "IPClaim");
  EXPECT_EQ(claim["name"].as_string(), "upf-n3.a");
  EXPECT_EQ(object_of_condition("config.injection.ConfigMap.region")["name"].as_string(), "region");
  for (const char* other :
       {"ipam", "nephio.org.Specializer.specialize", "a/b", "a/v1.kind.name", "a/v1.Kind.", "config.injection.x"}) {
    EXPECT_TRUE(object_of_condition(other).is_null()) << other;
  }
}

class NoObjects : public control::View {
 public:
  json::Value find(const json::Value&) const override { return {}; }
  std::vector<json::Value> owned_by(const json::Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return {}; }
};

TEST(Why, tells_what_a_rollout_waits_for) {
  const json::Value rollout =
      json::parse_yaml(
          "{apiVersion: packages.slipway.dev/v1alpha1, kind: PackageRollout, metadata: {name: web, namespace: "
          "default}, spec: {steps: [{percent: 1}]}, status: {phase: Progressing, step: 0, approved: 0, targets: "
          "7, healthy: 0, failed: 0, conditions: [{type: Progressing, status: 'True', reason: Progressing, "
          "message: '1 not proposed: edge/ffy'}]}}")
          .value();
  const NoObjects view;
  const auto told = control::explain(explain_rows(), rollout, "", view);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].wait.message, "0 of 7 approved, 0 healthy, 0 failed; 1 not proposed: edge/ffy");
  EXPECT_EQ(rollout_summary(rollout, view),
            "web: Progressing, step 1 (1 %): 0 of 7 approved, 0 healthy, 0 failed; 1 not proposed: edge/ffy\n");
}

TEST(Why, repeats_the_condition_of_a_policy_that_is_not_followed) {
  const json::Value policy =
      json::parse_yaml(
          "{apiVersion: packages.slipway.dev/v1alpha1, kind: ApprovalPolicy, metadata: {name: two}, status: {conditions: "
          "[{type: Ready, status: 'False', reason: Invalid, message: 'no such time zone'}]}}")
          .value();
  const auto told = control::explain(explain_rows(), policy, "", NoObjects());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].wait.message, "no such time zone");
}

ShownRevision shown(const std::string& name, Lifecycle lifecycle, Gates gates, Conditions conditions) {
  ShownRevision made;
  made.object = json::object({{"metadata", json::object({{"name", json::Value(name)}})}});
  made.spec.lifecycle = json::enum_name(lifecycle);
  made.spec.gates = std::move(gates);
  made.status.conditions = std::move(conditions);
  return made;
}

TEST(Inbox, lists_what_waits_by_who_has_to_see_to_it) {
  const Time now{seconds{1000}};
  const Condition full{.type = "ipam", .status = Truth::False, .message = "no address left", .since = now - seconds{90}};
  const Condition met{.type = "ipam", .status = Truth::True};
  const Gates gates{{.type = "ipam", .sources = {"package"}, .owner = "ann"}};
  const std::vector<ShownRevision> all{shown("a", Lifecycle::Proposed, gates, {met}),
                                       shown("b", Lifecycle::Draft, gates, {full}), shown("c", Lifecycle::Draft, gates, {met}),
                                       shown("d", Lifecycle::Published, gates, {full}),
                                       shown("e", Lifecycle::DeletionProposed, {}, {})};
  EXPECT_EQ(inbox_table(all, "", now),
            "OWNER  WAITS FOR     REVISION  LIFECYCLE         AGE  MESSAGE\n"
            "ann    gate ipam     b         Draft             90s  no address left\n"
            "-      an approval   a         Proposed          -    -\n"
            "-      its deletion  e         DeletionProposed  -    -\n");
  EXPECT_EQ(inbox_table(all, "bob", now), "");
}

}  // namespace
}  // namespace slipway::delivery::package
