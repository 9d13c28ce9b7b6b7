#include "delivery/pipeline/inventory.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/next_change.h"
#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

TEST(Inventory, lists_every_chart_in_every_place) {
  EXPECT_EQ(chart_table(charts_in({web_scene()})),
            "CHART     VERSION  DIGEST           RELEASE  PIPELINE  ENVIRONMENT  CLUSTER  NAMESPACE\n"
            "webchart  1.0.0    sha256:aaaaaaaa  web      shop/web  prod         -        web-prod\n"
            "webchart  1.1.0    -                web      shop/web  staging      eu       web\n"
            "webchart  1.1.0    -                web      shop/web  staging      us       web\n"
            "webchart  1.1.0    sha256:bbbbbbbb  web      shop/web  dev          -        web-dev\n");
}

TEST(Inventory, what_releases_no_chart_is_no_chart) {
  const kube::Object deployment =
      web_pipeline()
          .with_path({"spec", "appRef", "kind"}, "Deployment")
          .without_path({"status", "environments", "prod", "targets"})
          .without_path({"status", "environments", "prod", "targetCount"})
          .without_path({"status", "environments", "staging"})
          .with_path({"status", "environments", "dev", "targets"},
                     yaml_object("[{clusterAppRef: {kind: Deployment, name: web}, namespace: web-dev, "
                                 "running: {version: 'web:1'}}]"));
  EXPECT_TRUE(charts_in({web_scene({}, deployment)}).empty());
}

TEST(Inventory, lists_releases_of_connected_clusters_that_are_targets_of_no_pipeline) {
  const ReleaseStatus target{.ns = "web", .name = "web", .chart = "webchart", .version = "1.1.0"};
  const ReleaseStatus other{.ns = "db", .name = "main", .chart = "postgres", .version = "15.2.0", .is_ready = true};
  const ReleaseStatus fresh{.ns = "db", .name = "fresh", .chart = "postgres"};
  const std::string table = chart_table(charts_in(
      {web_scene()}, {{.cluster = "shop/eu", .releases = {other, target, fresh}}, {.cluster = "", .releases = {other}}}));
  EXPECT_TRUE(
      table.contains("postgres  15.2.0   -                main     -         -            -        db\n"
                     "postgres  15.2.0   -                main     -         -            shop/eu  db\n"))
      << table;
  EXPECT_EQ(std::ranges::count(table, '\n'), 7) << "a target is listed once, what runs nothing yet is not\n" << table;
}

TEST(Inventory, a_problem_of_a_target_is_told_once) {
  const kube::Object pipeline =
      web_pipeline().with_path({"status", "problems"}, yaml_object("[{kind: DanglingPipeline, object: HelmRelease web/web in "
                                                                   "cluster eu, message: names Pipeline shop/gone}, "
                                                                   "{kind: DanglingPipeline, object: HelmRelease web-dev/web, "
                                                                   "message: names Pipeline shop/gone}]"));
  const auto of = [](const std::string& cluster, const std::string& object) {
    return PlacedProblem{.pipeline = "",
                         .cluster = cluster,
                         .problem = {.kind = "DanglingPipeline", .object = object, .text = "names Pipeline shop/gone"}};
  };
  const auto problems =
      problems_in({web_scene({}, pipeline)}, {of("shop/eu", "HelmRelease web/web"), of("", "HelmRelease web-dev/web"),
                                              of("shop/us", "HelmRelease web/web"), of("other/eu", "HelmRelease web/web")});
  EXPECT_EQ(problem_table(problems),
            "PROBLEM           OBJECT                             PIPELINE  CLUSTER   MESSAGE\n"
            "DanglingPipeline  HelmRelease web/web in cluster eu  shop/web  -         names Pipeline shop/gone\n"
            "DanglingPipeline  HelmRelease web-dev/web            shop/web  -         names Pipeline shop/gone\n"
            "DanglingPipeline  HelmRelease web/web                -         shop/us   names Pipeline shop/gone\n"
            "DanglingPipeline  HelmRelease web/web                -         other/eu  names Pipeline shop/gone\n");
}

TEST(Inventory, a_release_is_read_as_its_agent_tells_it) {
  const ReleaseStatus read = release_status(yaml_object(
      "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: myshop, namespace: a, annotations: "
      "{pipelines.weave.works/pipeline: p, pipelines.weave.works/environment: dev}}, spec: {chart: {spec: {chart: podinfo}}}, "
      "status: "
      "{history: [{chartName: podinfo, chartVersion: 6.2.0, status: deployed, name: myshop, namespace: a}], conditions: "
      "[{type: "
      "Ready, status: 'True'}]}}"));
  EXPECT_EQ(read, (ReleaseStatus{.ns = "a",
                                 .name = "myshop",
                                 .chart = "podinfo",
                                 .version = "6.2.0",
                                 .is_ready = true,
                                 .pipeline = "a/p",
                                 .environment = "dev"}));
}

TEST(Inventory, lists_every_image_with_tag_and_digest) {
  EXPECT_EQ(image_table(images_in({web_scene()})),
            "IMAGE  TAG    DIGEST     PIPELINE  ENVIRONMENT  CLUSTER  NAMESPACE\n"
            "proxy  2      -          shop/web  dev          -        web-dev\n"
            "proxy  2      -          shop/web  prod         -        web-prod\n"
            "proxy  2      -          shop/web  staging      eu       web\n"
            "proxy  2      -          shop/web  staging      us       web\n"
            "web    1.0.0  sha256:a1  shop/web  prod         -        web-prod\n"
            "web    1.1.0  sha256:b1  shop/web  dev          -        web-dev\n"
            "web    1.1.0  sha256:b1  shop/web  staging      eu       web\n"
            "web    1.1.0  sha256:b1  shop/web  staging      us       web\n");
}

TEST(Inventory, targets_that_are_not_listed_are_a_row_with_their_number) {
  const kube::Object many = web_pipeline()
                                .with_path({"status", "environments", "prod", "targets"}, yaml_object("[]"))
                                .with_path({"status", "environments", "prod", "targetCount"}, 300);
  const auto charts = charts_in({web_scene({}, many)});
  EXPECT_EQ(
      json::print(json::encode(charts.front())),
      R"({"chart":"webchart","version":"1.0.0","digest":"sha256:aaaaaaaa","release":"web","pipeline":"shop/web","environment":"prod","targets":300})");
  EXPECT_TRUE(image_table(images_in({web_scene({}, many)}))
                  .contains("web    1.0.0  sha256:a1  shop/web  prod         -        300 targets\n"));
}

std::string changes(const Scene& scene, const std::string& environment = "") {
  const auto change = next_change(scene, environment);
  return change ? print(scene, *change) : change.error().message;
}

TEST(Change, the_next_promotion_is_of_the_first_environment_that_is_behind) {
  EXPECT_EQ(changes(web_scene()),
            "staging → prod\n- version 1.0.0\n+ version 1.1.0 (release web-2)\n- image web:1.0.0@sha256:a1\n+ image "
            "web:1.1.0@sha256:b1\n");
  EXPECT_EQ(changes(web_scene(), "staging"), "dev → staging\nnothing: staging runs 1.1.0 already\n");
  EXPECT_EQ(changes(web_scene(), "dev"), "pipeline/web: nothing comes before dev: new versions get in there from outside");
  EXPECT_EQ(changes(web_scene(), "qa"), "pipeline/web: it has no environment qa: it has dev, staging, prod");
  const kube::Object same = web_pipeline().with_path({"status", "environments", "prod", "version"},
                                                     yaml_object("{version: 1.1.0, digest: 'sha256:bbbbbbbb'}"));
  EXPECT_EQ(changes(web_scene({}, same)), "pipeline/web: every environment runs what the one before it runs");
}

TEST(Change, what_has_not_settled_is_no_candidate) {
  const kube::Object torn =
      web_pipeline()
          .without_path({"status", "environments", "staging", "version"})
          .with_path({"status", "environments", "staging", "versions"}, yaml_object("{1.0.0: 1, 1.1.0: 1}"));
  EXPECT_EQ(changes(web_scene({}, torn), "prod"),
            "staging → prod\nprod runs 1.0.0; staging has not settled at one version: 1.0.0 (1), 1.1.0 (1)\n");
}

TEST(Change, values_differ_by_path) {
  const auto different = differing(yaml_object("{replicas: 1, image: {tag: a}, hosts: [x, z], same: 1}"),
                                   yaml_object("{replicas: 3, hosts: [x], extra: {}, same: 1}"));
  const std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"replicas", {"1", "3"}}, {"image.tag", {"\"a\"", ""}}, {"hosts[1]", {"\"z\"", ""}}, {"extra", {"", "{}"}}};
  EXPECT_EQ(different, expected);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
