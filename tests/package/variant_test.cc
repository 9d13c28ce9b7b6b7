// PackageVariants over real repositories: what a draft has from its first moment on, and what becomes of it.
#include <fmt/format.h>

#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class Variants : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    add_repository("blueprints");
    add_repository("edge", Deployment::Yes);
  }

  void variant(std::string_view more = "", std::string_view upstream = "revision: 1") {
    make(fmt::format(R"(
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata: {{name: web}}
spec:
  upstream: {{repo: blueprints, package: web, {}}}
  downstream: {{repo: edge, package: web}}
  {}
)",
                     upstream, more));
    advance(seconds{2});
  }
  Value variant_object() { return get(kHub, kVariants, "web"); }
};

TEST_F(Variants, a_draft_has_all_that_its_variant_wants_in_its_first_commit) {
  draft("blueprints", "web", "v1", {{"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"}});
  variant("packageContext: {data: {site: north}}\n  labels: {tier: edge}", "workspaceName: v1");
  ASSERT_EQ(lifecycle("edge.web.packagevariant-1"), "Draft") << json::print(variant_object()["status"]);
  const Value made = revision("edge.web.packagevariant-1");
  EXPECT_EQ(kube::label(made, "tier"), "edge");
  EXPECT_EQ(condition("edge.web.packagevariant-1", "Drafted"), "True Drafted");
  EXPECT_TRUE(files("edge.web.packagevariant-1")["package-context.yaml"].contains("site: north"));
  EXPECT_EQ(condition_in(variant_object(), "Ready"), "True NoErrors");
  EXPECT_EQ(condition_in(variant_object(), "Stalled"), "False Valid");
  EXPECT_EQ(variant_object()["status"]["downstreamTargets"].item(0)["name"].as_string(), "edge.web.packagevariant-1");
}

constexpr const char* kDraft = "edge.web.packagevariant-1";
constexpr const char* kNext = "edge.web.packagevariant-2";

std::string config_map_with(std::string_view name, std::string_view value) {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  k: {}\n", name, value);
}

TEST_F(Variants, a_missing_upstream_stalls_it_until_it_is_published) {
  variant();
  EXPECT_EQ(condition_in(variant_object(), "Stalled"), "True ValidationError");
  EXPECT_EQ(publish("blueprints", "web", "v1", {}), 1);
  EXPECT_TRUE(until([&] { return lifecycle(kDraft) == "Draft"; }, minutes{1}));
  EXPECT_EQ(condition_in(variant_object(), "Stalled"), "False Valid");
}

TEST_F(Variants, a_new_upstream_makes_an_upgrade_of_what_is_published) {
  publish("blueprints", "web", "v1", {{"a.yaml", config_map_with("a", "one")}});
  variant();
  propose(kDraft);
  approve(kDraft);
  EXPECT_EQ(publish("blueprints", "web", "v2", {{"a.yaml", config_map_with("a", "two")}}), 2);
  advance(seconds{5});
  EXPECT_EQ(revisions().size(), 3u + 2u) << "a revision upstream changes nothing by itself";  // with both placeholders
  set_spec(kVariants, "web", "{spec: {upstream: {revision: 2}}}");
  ASSERT_TRUE(until([&] { return lifecycle(kNext) == "Draft"; }, minutes{1})) << json::print(variant_object()["status"]);
  EXPECT_TRUE(files(kNext)["a.yaml"].contains("k: two"));
  EXPECT_EQ(condition(kNext, "Drafted"), "True Drafted");
  EXPECT_EQ(variant_object()["status"]["downstreamTargets"].item(0)["name"].as_string(), kNext);
}

TEST_F(Variants, an_upgrade_keeps_what_people_have_published_after_its_own_revision) {
  publish("blueprints", "web", "v1", {{"a.yaml", config_map_with("a", "one")}});
  variant();
  propose(kDraft);
  approve(kDraft);
  publish("edge", "web", "local", {{"local.yaml", config_map_with("local", "mine")}});
  EXPECT_EQ(publish("blueprints", "web", "v2", {{"a.yaml", config_map_with("a", "two")}}), 2);
  set_spec(kVariants, "web", "{spec: {upstream: {revision: 2}}}");
  ASSERT_TRUE(until([&] { return lifecycle(kNext) == "Draft"; }, minutes{1})) << json::print(variant_object()["status"]);
  EXPECT_TRUE(files(kNext)["a.yaml"].contains("k: two"));
  EXPECT_TRUE(files(kNext)["local.yaml"].contains("k: mine"));
}

TEST_F(Variants, other_changes_write_into_a_draft_and_make_a_new_one_of_what_is_published) {
  publish("blueprints", "web", "v1", {});
  variant("packageContext: {data: {site: north}}");
  set_spec(kVariants, "web", "{spec: {packageContext: {data: {site: south}}}}");
  advance(seconds{2});
  EXPECT_TRUE(files(kDraft)["package-context.yaml"].contains("site: south"));
  EXPECT_EQ(condition(kDraft, "Drafted"), "True Drafted") << "it has looked at what it wrote";
  propose(kDraft);
  approve(kDraft);
  advance(seconds{5});
  EXPECT_EQ(lifecycle(kNext), "");
  set_spec(kVariants, "web", "{spec: {packageContext: {data: {site: west}}}}");
  ASSERT_TRUE(until([&] { return lifecycle(kNext) == "Draft"; }, minutes{1}));
  EXPECT_TRUE(files(kNext)["package-context.yaml"].contains("site: west"));
}

TEST_F(Variants, drafted_is_said_again_of_a_content_that_somebody_changed) {
  publish("blueprints", "web", "v1", {});
  variant();
  edit(kDraft, [](Files& files) { files["b.yaml"] = config_map_with("b", "x"); });
  EXPECT_TRUE(until([&] { return condition(kDraft, "Drafted") == "True Drafted"; }, minutes{1}))
      << condition(kDraft, "Drafted");
}

TEST_F(Variants, objects_of_the_cluster_are_injected_and_what_is_missing_is_a_gate) {
  publish(
      "blueprints", "web", "v1",
      {{"site.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: site\n  annotations:\n    kpt.dev/config-injection: required\n"}});
  variant("injectors: [{kind: ConfigMap, name: edge-01}]");
  EXPECT_EQ(condition(kDraft, "config.injection.ConfigMap.site"), "False NoResourceSelected");
  EXPECT_EQ(condition(kDraft, "ReadyToPropose").substr(0, 5), "False");
  make(config_map_with("edge-01", "north"));
  ASSERT_TRUE(until([&] { return condition(kDraft, "config.injection.ConfigMap.site") == "True ConfigInjected"; }, minutes{1}));
  EXPECT_TRUE(files(kDraft)["site.yaml"].contains("k: north"));
  EXPECT_EQ(condition(kDraft, "ReadyToPropose").substr(0, 4), "True");
}

TEST_F(Variants, a_change_of_what_is_injected_reaches_drafts_and_what_is_published) {
  publish(
      "blueprints", "web", "v1",
      {{"site.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: site\n  annotations:\n    kpt.dev/config-injection: required\n"}});
  make(config_map_with("edge-01", "north"));
  variant("injectors: [{kind: ConfigMap, name: edge-01}]");
  ASSERT_TRUE(files(kDraft)["site.yaml"].contains("k: north")) << files(kDraft)["site.yaml"];
  make(config_map_with("edge-01", "south"));
  ASSERT_TRUE(until([&] { return files(kDraft)["site.yaml"].contains("k: south"); }, minutes{1}));
  propose(kDraft);
  approve(kDraft);
  make(config_map_with("other", "west"));
  advance(seconds{30});
  EXPECT_EQ(lifecycle(kNext), "") << "no injector names it";
  make(config_map_with("edge-01", "east"));
  ASSERT_TRUE(until([&] { return lifecycle(kNext) == "Draft"; }, minutes{1}));
  EXPECT_TRUE(files(kNext)["site.yaml"].contains("k: east"));
}

TEST_F(Variants, a_proposal_that_is_out_of_date_is_told_until_it_is_rejected) {
  publish(
      "blueprints", "web", "v1",
      {{"site.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: site\n  annotations:\n    kpt.dev/config-injection: required\n"}});
  make(config_map_with("edge-01", "north"));
  variant("injectors: [{kind: ConfigMap, name: edge-01}]");
  propose(kDraft);
  const auto ready = [&] { return kube::condition(variant_object(), "Ready"); };
  advance(seconds{5});
  EXPECT_EQ(ready()["status"].as_string(), "True");
  EXPECT_EQ(condition(kDraft, "Drafted"), "True Drafted");
  make(config_map_with("edge-01", "south"));
  ASSERT_TRUE(until([&] { return ready()["status"].as_string() == "False"; }, minutes{1}));
  EXPECT_TRUE(ready()["message"].as_string().contains("slipway pkg reject " + std::string(kDraft))) << json::print(ready());
  EXPECT_EQ(condition(kDraft, "Drafted"), "False ProposalOutOfDate");
  EXPECT_TRUE(files(kDraft)["site.yaml"].contains("k: north")) << "a proposal stays what it is";
  set_spec(kRevisions, kDraft, "{spec: {lifecycle: Draft}}");
  ASSERT_TRUE(until([&] { return files(kDraft)["site.yaml"].contains("k: south"); }, minutes{1}));
  EXPECT_TRUE(until([&] { return condition(kDraft, "Drafted") == "True Drafted"; }, minutes{1}));
  EXPECT_TRUE(until([&] { return ready()["status"].as_string() == "True"; }, minutes{1}));
}

TEST_F(Variants, deletion_takes_drafts_along_and_proposes_that_of_what_is_published) {
  publish("blueprints", "web", "v1", {});
  variant();
  propose(kDraft);
  approve(kDraft);
  set_spec(kVariants, "web", "{spec: {packageContext: {data: {site: west}}}}");
  ASSERT_TRUE(until([&] { return lifecycle(kNext) == "Draft"; }, minutes{1}));
  remove(kHub, kVariants, "web");
  ASSERT_TRUE(until([&] { return variant_object().is_null(); }, minutes{1}));
  EXPECT_TRUE(until([&] { return lifecycle(kNext).empty(); }, minutes{1}));
  EXPECT_EQ(lifecycle(kDraft), "DeletionProposed");
  EXPECT_TRUE(revision(kDraft)["metadata"]["ownerReferences"].empty());
}

TEST_F(Variants, orphans_are_left_as_they_are) {
  publish("blueprints", "web", "v1", {});
  variant("deletionPolicy: orphan");
  remove(kHub, kVariants, "web");
  advance(seconds{5});
  EXPECT_EQ(lifecycle(kDraft), "Draft");
  EXPECT_TRUE(revision(kDraft)["metadata"]["ownerReferences"].empty());
}

TEST_F(Variants, an_existing_draft_is_adopted_where_that_is_asked_for) {
  publish("blueprints", "web", "v1", {});
  const std::string name = draft("edge", "web", "mine", {});
  variant("adoptionPolicy: adoptExisting\n  labels: {tier: edge}");
  EXPECT_EQ(lifecycle(kDraft), "");
  EXPECT_EQ(kube::label(revision(name), "tier"), "edge");
  EXPECT_EQ(variant_object()["status"]["downstreamTargets"].item(0)["name"].as_string(), name);
}

TEST_F(Variants, nothing_is_done_twice_when_the_process_dies) {
  publish("blueprints", "web", "v1", {});
  variant();
  for (int i = 0; i < 3; ++i) {
    restart();
    advance(seconds{10});
  }
  EXPECT_EQ(revisions("Draft"), std::vector<std::string>{kDraft});
}

}  // namespace
}  // namespace slipway::package_test
