// The stories of the Pipelines RFC, in its order, over a hub and its members.
#include <fmt/format.h>

#include "delivery/pipeline/kind.h"
#include "flux/kinds.h"
#include "landscape.h"
#include "plane/families.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;
using flux::kHelmReleases;

/// The HelmRelease web/NAME of chart NAME.
std::string release(const std::string& version, const std::string& name = "podinfo", const std::string& more = "") {
  return fmt::format(R"(apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: {0}
  namespace: podinfo
  annotations: {{pipelines.weave.works/pipeline: default/{0}}}
spec:
  interval: 1m
  timeout: 1m
  chart: {{spec: {{chart: {0}, version: "{1}", sourceRef: {{kind: HelmRepository, name: {0}}}}}}}
{2})",
                     name, version, more);
}

/// Without appRef.apiVersion, as the RFC has it; `more` are lines of its spec.
std::string pipeline(const std::vector<std::pair<std::string, std::vector<std::string>>>& environments,
                     const std::string& more = "") {
  std::string text =
      "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata: {name: podinfo}\nspec:\n"
      "  appRef: {kind: HelmRelease, name: podinfo}\n" +
      more + "  environments:\n";
  for (const auto& [name, clusters] : environments) {
    text += fmt::format("  - name: {}\n    targets:\n", name);
    for (const std::string& cluster : clusters) {
      text += fmt::format("    - {{namespace: podinfo, clusterRef: {{kind: GitopsCluster, name: {}}}}}\n", cluster);
    }
  }
  return text;
}

class Stories : public Landscape {
 protected:
  void have(const std::vector<std::string>& members) {
    members_ = members;
    close();
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
    open();
    join_all();
  }
  void join_all() {
    for (const std::string& member : members_) {
      join(member);
      make_namespace(member, "podinfo");
    }
  }
  Value status() { return get(kHub, kPipelines, "podinfo")["status"]; }
  Value environment(const std::string& name) { return status()["environments"][name]; }
  Value target(const std::string& name, std::size_t index = 0) { return environment(name)["targets"].item(index); }
  /// "6.1.6": what all targets run, ready; "" while they differ.
  std::string version(const std::string& name) { return environment(name)["version"]["version"].str(); }
  std::string condition(const std::string& type) {
    const Value object = get(kHub, kPipelines, "podinfo");
    const Value& found = kube::condition(object, type);
    return found["status"].str() + " " + found["reason"].str();
  }
};

TEST_F(Stories, story_1_define_a_pipeline_over_two_clusters) {
  join_all();
  apply(kHub, pipeline({{"dev", {"dev"}}, {"prod", {"prod"}}}));
  apply("dev", release("6.1.6"));
  apply("prod", release("6.1.5"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.6" && version("prod") == "6.1.5"; })) << json::print_pretty(status());
  EXPECT_EQ(target("dev")["revision"], Value("6.1.6"));
  EXPECT_EQ(target("dev")["ready"], Value(true));
  EXPECT_EQ(target("dev")["clusterAppRef"]["clusterRef"]["name"], Value("dev"));
  EXPECT_EQ(condition("Ready"), "True ReconciliationSucceeded");
  const Value cluster = get(kHub, kGitopsClusters, "dev");
  EXPECT_TRUE(kube::is_true(cluster, "Ready") && kube::is_true(cluster, "ClusterConnectivity")) << json::print(cluster);
}

TEST_F(Stories, story_2_view_the_state_and_all_image_tags) {
  join_all();
  apply(kHub, pipeline({{"dev", {"dev"}}, {"prod", {"prod"}}}));
  apply("dev", release("6.1.6"));
  apply("prod", release("6.1.5", "podinfo", "  values: {image: {tag: 6.1.5-hotfix}}\n"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.6" && version("prod") == "6.1.5"; }));
  EXPECT_TRUE(target("dev")["images"].item(0).as_string().starts_with("podinfo:6.1.6")) << json::print(target("dev"));
  EXPECT_TRUE(target("prod")["images"].item(0).as_string().starts_with("podinfo:6.1.5-hotfix"));
  EXPECT_EQ(target("dev")["state"], Value("settled"));
  EXPECT_EQ(target("dev")["specified"]["version"], Value("6.1.6"));
  EXPECT_EQ(target("dev")["attempted"]["version"], Value("6.1.6"));
}

TEST_F(Stories, story_4_an_environment_has_several_targets) {
  have({"dev-us", "dev-eu", "prod"});
  apply(kHub, pipeline({{"dev", {"dev-us", "dev-eu"}}, {"prod", {"prod"}}}));
  apply("dev-us", release("6.1.6"));
  apply("dev-eu", release("6.1.5"));
  ASSERT_TRUE(until([&] { return environment("dev")["readyCount"] == Value(2); })) << json::print_pretty(status());
  EXPECT_EQ(version("dev"), "");
  EXPECT_EQ(environment("dev")["versions"], json::object({{"6.1.5", 1}, {"6.1.6", 1}}));
  apply("dev-eu", release("6.1.6"));
  EXPECT_TRUE(until([&] { return version("dev") == "6.1.6"; })) << json::print_pretty(status());
}

TEST_F(Stories, story_16_an_upgrade_that_was_taken_back_shows_all_four_values) {
  join_all();
  apply(kHub, pipeline({{"dev", {"dev"}}}));
  apply("dev", release("6.1.5"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.5"; }));
  apply("dev",
        release("6.1.6", "podinfo",
                "  values: {podAnnotations: {slipway.dev/ready-after: never}}\n  upgrade: {remediation: {retries: 1}}\n"));
  ASSERT_TRUE(until([&] { return target("dev")["state"] == Value("rolled back"); })) << json::print_pretty(status());
  EXPECT_EQ(target("dev")["specified"]["version"], Value("6.1.6"));
  EXPECT_EQ(target("dev")["attempted"]["version"], Value("6.1.6"));
  EXPECT_EQ(target("dev")["running"]["version"], Value("6.1.5"));
  EXPECT_EQ(version("dev"), "");
}

TEST_F(Stories, a_dead_cluster_is_shown_and_holds_nobody_up) {
  join_all();
  apply(kHub, pipeline({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}}}));
  for (const std::string& member : members_) apply(member, release("6.1.5"));
  ASSERT_TRUE(until([&] { return version("prod") == "6.1.5"; }));
  cut("staging");
  apply("dev", release("6.1.6"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.6"; })) << json::print_pretty(status());
  ASSERT_TRUE(until([&] { return target("staging")["state"] == Value("unreachable"); })) << json::print_pretty(status());
  EXPECT_EQ(target("staging")["running"]["version"], Value("6.1.5"));
  EXPECT_EQ(version("staging"), "");
  EXPECT_FALSE(target("staging")["error"].as_string().empty());
  mend("staging");
  EXPECT_TRUE(until([&] { return version("staging") == "6.1.5"; })) << json::print_pretty(status());
}

}  // namespace
}  // namespace slipway::pipeline_test
