// The stories of the Pipelines RFC, in its order, over a hub and its members.
#include <fmt/format.h>

#include "stories_fixture.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;

TEST_F(Stories, story_1_define_a_pipeline_over_two_clusters) {
  join_all();
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"prod", {"prod"}}}));
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
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"prod", {"prod"}}}));
  apply("dev", release("6.1.6"));
  apply("prod", release("6.1.5", "podinfo", "  values: {image: {tag: 6.1.5-hotfix}}\n"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.6" && version("prod") == "6.1.5"; }));
  EXPECT_TRUE(target("dev")["images"].item(0).as_string().starts_with("podinfo:6.1.6")) << json::print(target("dev"));
  EXPECT_TRUE(target("prod")["images"].item(0).as_string().starts_with("podinfo:6.1.5-hotfix"));
  EXPECT_EQ(target("dev")["state"], Value("settled"));
  EXPECT_EQ(target("dev")["specified"]["version"], Value("6.1.6"));
  EXPECT_EQ(target("dev")["attempted"]["version"], Value("6.1.6"));
}

TEST_F(Stories, story_3_create_a_pipeline_and_commit_it) {
  Repository repository(folder_ / "fleet.git");
  repository.commit({{"README.md", "The fleet.\n"}}, "first");
  join_all();
  for (const std::string& member : members_) apply(member, release("6.1.5"));
  follow(kHub, repository.path(), "pipelines");
  const std::string said = command("", "create", {"podinfo"},
                                   {{"app", "HelmRelease/podinfo"},
                                    {"environment", "dev=dev/podinfo\nstaging=staging/podinfo\nprod=prod/podinfo"},
                                    {"promote-by", "commit"},
                                    {"repository", repository.path()},
                                    {"commit", "true"},
                                    {"git-url", repository.path()}});
  EXPECT_TRUE(said.starts_with("pipelines/podinfo.yaml: committed as ")) << said;
  EXPECT_EQ(repository.log("%s"), (std::vector<std::string>{"first", "pipeline podinfo"}));
  ASSERT_TRUE(until([&] { return line() == "dev 6.1.5 → staging 6.1.5 → prod 6.1.5"; })) << json::print_pretty(status());
  const Value made = get(kHub, kPipelines, "podinfo");
  EXPECT_EQ(made["spec"], yaml(repository.file("pipelines/podinfo.yaml"))["spec"]);
  EXPECT_EQ(kube::label(made, "kustomize.toolkit.fluxcd.io/name"), "apps");
}

TEST_F(Stories, story_4_an_environment_has_several_targets) {
  have({"dev-us", "dev-eu", "prod"});
  apply(kHub, pipeline_over({{"dev", {"dev-us", "dev-eu"}}, {"prod", {"prod"}}}));
  apply("dev-us", release("6.1.6"));
  apply("dev-eu", release("6.1.5"));
  ASSERT_TRUE(until([&] { return environment("dev")["readyCount"] == Value(2); })) << json::print_pretty(status());
  EXPECT_EQ(version("dev"), "");
  EXPECT_EQ(environment("dev")["versions"], json::object({{"6.1.5", 1}, {"6.1.6", 1}}));
  apply("dev-eu", release("6.1.6"));
  EXPECT_TRUE(until([&] { return version("dev") == "6.1.6"; })) << json::print_pretty(status());
}

TEST_F(Stories, story_11_query_chart_versions_over_all_clusters) {
  join_all();
  for (const char* name : {"podinfo", "web"}) {
    apply(kHub, pipeline_over({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}}}, "", name));
    apply("dev", release("6.1.6", name));
    apply("staging", release("6.1.5", name));
  }
  apply("prod", release("6.1.5", "web"));
  ASSERT_TRUE(until([&] { return version("staging") == "6.1.5" && version("prod", "web") == "6.1.5"; }));
  EXPECT_EQ(command("", "inventory", {}, {{"charts", "true"}}),
            "CHART    VERSION  DIGEST  RELEASE  PIPELINE         ENVIRONMENT  CLUSTER  NAMESPACE\n"
            "podinfo  6.1.5    -       podinfo  default/podinfo  staging      staging  podinfo\n"
            "podinfo  6.1.6    -       podinfo  default/podinfo  dev          dev      podinfo\n"
            "web      6.1.5    -       web      default/web      prod         prod     podinfo\n"
            "web      6.1.5    -       web      default/web      staging      staging  podinfo\n"
            "web      6.1.6    -       web      default/web      dev          dev      podinfo\n")
      << "and podinfo, which prod does not have, in no row";
}

TEST_F(Stories, story_12_query_image_tags_over_all_clusters) {
  join_all();
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"prod", {"staging", "prod"}}}));
  apply("dev", release("6.1.6"));
  apply("staging", release("6.1.5"));
  apply("prod", release("6.1.5", "podinfo", "  values: {image: {tag: 6.1.5-hotfix}}\n"));
  ASSERT_TRUE(until([&] { return environment("prod")["readyCount"] == Value(2) && version("dev") == "6.1.6"; }));
  EXPECT_EQ(command("", "inventory", {}, {{"images", "true"}}),
            "IMAGE    TAG           DIGEST  PIPELINE         ENVIRONMENT  CLUSTER  NAMESPACE\n"
            "podinfo  6.1.5         -       default/podinfo  prod         staging  podinfo\n"
            "podinfo  6.1.5-hotfix  -       default/podinfo  prod         prod     podinfo\n"
            "podinfo  6.1.6         -       default/podinfo  dev          dev      podinfo\n");
}

TEST_F(Stories, story_14_related_flux_objects_of_each_target) {
  Repository repository(folder_ / "config.git");
  deliver(repository);
  EXPECT_EQ(target("prod")["related"],
            yaml("[HelmChart podinfo/podinfo-podinfo, HelmRepository podinfo/podinfo, Kustomization podinfo/apps]"));
}

TEST_F(Stories, story_15_triggers_with_their_last_time) {
  join_all();
  apply("dev", R"(
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: promotions, namespace: podinfo}
spec: {type: generic-hmac, address: 'https://slipway.test/promotion/default/podinfo/dev'}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: podinfo, namespace: podinfo}
spec: {providerRef: {name: promotions}, eventSources: [{kind: HelmRelease, name: podinfo}]}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: others, namespace: podinfo}
spec: {providerRef: {name: promotions}, eventSources: [{kind: HelmRelease, name: others}]}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: podinfo, namespace: podinfo}
spec: {imageRepositoryRef: {name: podinfo}, policy: {semver: {range: 6.x}}}
)");
  apply(kHub, "{apiVersion: v1, kind: Secret, metadata: {name: hooks}, stringData: {hmac-key: a-key-of-the-test}}");
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"prod", {"prod"}}},
                            "  promotion: {strategy: {secretRef: {name: hooks}, notification: {}}}\n"));
  apply("dev", release("6.1.6"));
  ASSERT_TRUE(until([&] { return version("dev") == "6.1.6"; }));
  const std::string now = to_rfc3339(std::chrono::floor<seconds>(env_->now()));
  EXPECT_EQ(tell("dev", "6.1.6", "a-key-of-the-test"), 204);
  // As its controller would write it.
  const auto policy = env_->run(client::merge_patch(
      client("dev"), {"image.toolkit.fluxcd.io", "v1", "imagepolicies"}, {"podinfo", "podinfo"},
      json::object(
          {{"status", yaml(fmt::format("{{latestRef: {{name: podinfo, tag: 6.1.6}}, conditions: [{{type: Ready, status: "
                                       "'True', reason: Succeeded, message: '', lastTransitionTime: '{}'}}]}}",
                                       now))}}),
      "image-automation", "status"));
  ASSERT_TRUE(policy) << policy.error().message;
  ASSERT_TRUE(until([&] { return status()["triggers"].size() == 4; })) << json::print_pretty(status());
  EXPECT_EQ(status()["triggers"], yaml(fmt::format(R"(
- {{kind: Hook, object: dev, message: told of 6.1.6, last: '{0}'}}
- {{kind: Alert, object: Alert podinfo/podinfo in cluster default/dev, message: tells provider promotions}}
- {{kind: Provider, object: Provider podinfo/promotions in cluster default/dev, message: "of type generic-hmac, told by Alert podinfo"}}
- {{kind: ImagePolicy, object: ImagePolicy podinfo/podinfo in cluster default/dev, message: "chose podinfo:6.1.6", last: '{0}'}}
)",
                                                   now)));
}

TEST_F(Stories, story_16_an_upgrade_that_was_taken_back_shows_all_four_values) {
  join_all();
  apply(kHub, pipeline_over({{"dev", {"dev"}}}));
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
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}}}));
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
