// What runs where, in the words of the RFC's stories, over a hub and three members in virtual time: the status of the Pipeline
// against what the clusters hold.
#include <fmt/format.h>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/status.h"
#include "landscape.h"

namespace slipway::pipeline_test {
namespace {

using delivery::pipeline::kGitopsClusters;
using delivery::pipeline::kPipelines;

const kube::Resource kReleases{"helm.toolkit.fluxcd.io", "v2", "helmreleases"};
const kube::Resource kSecrets{"", "v1", "secrets"};

class View : public Landscape {
 public:
  /// A HelmRelease podinfo/podinfo of chart podinfo.
  void install(const std::string& member, const std::string& version, const std::string& metadata = "",
               const std::string& values = "") {
    make_namespace(member, "podinfo");
    apply(member, fmt::format(R"(
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: podinfo, namespace: podinfo, {2}}}
spec:
  interval: 1m
  timeout: 1m
  chart: {{spec: {{chart: podinfo, version: {1}, sourceRef: {{kind: HelmRepository, name: podinfo}}}}}}
  values: {{{3}}}
)",
                              member, version, metadata, values));
  }
  /// Pipeline default/podinfo; `environments` as "dev: dev, prod: staging prod": the members each is in.
  void define(const std::vector<std::pair<std::string, std::vector<std::string>>>& environments,
              const std::string& annotations = "") {
    std::string list;
    for (const auto& [name, members] : environments) {
      std::string targets;
      for (const std::string& member : members) {
        targets += fmt::format("{{namespace: podinfo, clusterRef: {{kind: GitopsCluster, name: {}}}}}, ", member);
      }
      list += fmt::format("  - {{name: {}, targets: [{}]}}\n", name, targets);
    }
    apply(kHub,
          fmt::format("apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata: {{name: podinfo, annotations: "
                      "{{{}}}}}\nspec:\n  appRef: {{kind: HelmRelease, name: podinfo}}\n  environments:\n{}",
                      annotations, list));
  }
  Value status() { return get(kHub, kPipelines, "podinfo")["status"]; }
  std::string line() { return status()["line"].str(); }
  Value target(const std::string& environment, std::size_t index = 0) {
    return status()["environments"][environment]["targets"].item(index);
  }
  std::string condition(const std::string& type) {
    const Value& found = kube::condition(get(kHub, kPipelines, "podinfo"), type);
    return fmt::format("{} {} {}", found["status"].as_string(), found["reason"].as_string(), found["message"].as_string());
  }
  std::string cluster_condition(const std::string& cluster, const std::string& type) {
    const Value& found = kube::condition(get(kHub, kGitopsClusters, cluster), type);
    return fmt::format("{} {} {}", found["status"].as_string(), found["reason"].as_string(), found["message"].as_string());
  }
  bool until_line(const std::string& wanted) {
    return until([&] { return line() == wanted; }, minutes{3});
  }
  std::vector<std::string> events(const std::string& cluster) {
    std::vector<std::string> told;
    for (const Value& event : list(cluster, kube::kEvents)) {
      if (event["type"].as_string() == "Warning" && event["reportingComponent"].as_string() == "slipway-pipeline") {
        told.push_back(fmt::format("{} {}", event["reason"].as_string(), event["involvedObject"]["name"].as_string()));
      }
    }
    return told;
  }
};

TEST_F(View, story_1_and_2_a_pipeline_over_two_clusters_shows_what_runs_in_each) {
  for (const char* member : {"dev", "prod"}) join(member);
  define({{"dev", {"dev"}}, {"prod", {"prod"}}});
  install("dev", "6.1.6");
  install("prod", "6.1.5");
  ASSERT_TRUE(until_line("dev 6.1.6 → prod 6.1.5")) << json::print_pretty(status());
  EXPECT_EQ(condition("Ready"), "True ReconciliationSucceeded All clusters checked");
  EXPECT_EQ(condition("PromotionPending"), "False NothingPending nothing waits to be promoted");
  const Value dev = target("dev");
  EXPECT_TRUE(dev["ready"].as_bool());
  EXPECT_EQ(dev["revision"].as_string(), "6.1.6");
  EXPECT_EQ(dev["state"].as_string(), "settled");
  EXPECT_EQ(dev["clusterAppRef"]["apiVersion"].as_string(), "helm.toolkit.fluxcd.io/v2");
  EXPECT_EQ(dev["images"].item(0).as_string(), "podinfo:6.1.6") << json::print(dev);
  EXPECT_EQ(dev["related"].item(0).as_string(), "HelmChart podinfo/podinfo-podinfo") << json::print(dev);
  EXPECT_EQ(dev["related"].item(1).as_string(), "HelmRepository podinfo/podinfo") << json::print(dev);
  EXPECT_EQ(status()["environments"]["prod"]["version"]["version"].as_string(), "6.1.5");
  EXPECT_EQ(status()["observedGeneration"].as_int(), 1);
  EXPECT_EQ(cluster_condition("dev", "Ready"), "True SecretFound Referenced secret is available");
  EXPECT_EQ(cluster_condition("dev", "ClusterConnectivity"), "True ClusterConnectionSucceeded the cluster answers");
}

TEST_F(View, story_4_an_environment_has_a_version_only_while_all_its_targets_are_settled_at_it) {
  for (const char* member : {"dev", "staging", "prod"}) join(member);
  define({{"dev", {"dev", "staging"}}, {"prod", {"prod"}}});
  install("dev", "1.0.0");
  install("staging", "1.0.0");
  install("prod", "1.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0 → prod 1.0.0")) << json::print_pretty(status());
  install("dev", "1.1.0");
  ASSERT_TRUE(until_line("dev 1.0.0, 1.1.0 (2/2 ready) → prod 1.0.0")) << json::print_pretty(status());
  EXPECT_EQ(condition("PromotionPending"), "True EnvironmentNotReady Waiting for all targets to have the same revision");
  EXPECT_TRUE(status()["environments"]["dev"]["version"].is_null());
  install("staging", "1.1.0");
  EXPECT_TRUE(until_line("dev 1.1.0 → prod 1.0.0")) << line();
}

TEST_F(View, story_9_a_failed_upgrade_says_what_was_tried_and_what_runs) {
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0"));
  install("dev", "1.1.0", "", "podAnnotations: {slipway.dev/ready-after: never}");
  ASSERT_TRUE(until([&] { return target("dev")["state"].as_string() == "progressing"; }, minutes{2}))
      << json::print(target("dev"));
  ASSERT_TRUE(until([&] { return target("dev")["state"].as_string() == "mixed"; }, minutes{10})) << json::print(target("dev"));
  EXPECT_EQ(target("dev")["attempted"]["version"].as_string(), "1.1.0");
  EXPECT_FALSE(target("dev")["ready"].as_bool());
}

TEST_F(View, a_cluster_that_stops_answering_keeps_its_last_values_and_holds_up_nobody) {
  for (const char* member : {"dev", "prod"}) join(member);
  define({{"dev", {"dev"}}, {"prod", {"prod"}}});
  install("dev", "1.0.0");
  install("prod", "1.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0 → prod 1.0.0"));
  cut("prod");
  ASSERT_TRUE(until([&] { return target("prod")["state"].as_string() == "unreachable"; })) << json::print(target("prod"));
  EXPECT_EQ(target("prod")["running"]["version"].as_string(), "1.0.0");
  EXPECT_FALSE(target("prod")["ready"].as_bool());
  EXPECT_TRUE(condition("Ready").starts_with(
      "False TargetClusterNotReady prod/podinfo in cluster prod: cluster default/prod does not answer: "))
      << condition("Ready");
  EXPECT_TRUE(until([&] {
    return cluster_condition("prod", "ClusterConnectivity").starts_with("False ClusterConnectionFailed");
  })) << cluster_condition("prod", "ClusterConnectivity");
  install("dev", "1.1.0");
  EXPECT_TRUE(until_line("dev 1.1.0 → prod 1.0.0 (0/1 ready)")) << line();
  mend("prod");
  EXPECT_TRUE(until_line("dev 1.1.0 → prod 1.0.0")) << json::print(target("prod"));
  EXPECT_EQ(target("prod")["error"].as_string(), "");
}

TEST_F(View, each_thing_that_is_missing_has_a_text_of_its_own) {
  join("dev");
  join("prod");
  define({{"dev", {"dev"}}, {"staging", {"nowhere"}}, {"prod", {"prod"}}});
  make_namespace("prod", "podinfo");
  ASSERT_TRUE(until([&] { return target("dev")["error"].as_string() == "its cluster has no namespace podinfo"; }))
      << json::print(status());
  EXPECT_EQ(target("staging")["error"].as_string(), "GitopsCluster default/nowhere does not exist");
  EXPECT_EQ(target("prod")["error"].as_string(), "there is no HelmRelease podinfo/podinfo");
  EXPECT_EQ(condition("Ready"),
            "False TargetClusterNotFound staging/podinfo in cluster nowhere: GitopsCluster default/nowhere does not exist");
  EXPECT_EQ(status()["problems"].item(0)["kind"].as_string(), "MissingNamespace");
  apply("prod", "{apiVersion: v1, kind: Namespace, metadata: {name: other}}");
  apply(kHub, R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: odd}
spec:
  appRef: {apiVersion: example.org/v1, kind: Widget, name: w}
  environments:
  - {name: prod, targets: [{namespace: other, clusterRef: {kind: GitopsCluster, name: prod}}]}
)");
  const auto error = [&] {
    return get(kHub, kPipelines, "odd")["status"]["environments"]["prod"]["targets"].item(0)["error"].str();
  };
  EXPECT_TRUE(until([&] { return error() == "its cluster has no kind Widget (example.org)"; })) << error();
}

TEST_F(View, where_lists_of_the_whole_cluster_are_refused_namespaces_are_followed) {
  lines_["dev"].refuses = [](const client::Request& request) { return request.ns.empty() && request.name.empty(); };
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0")) << json::print(target("dev"));
  install("dev", "1.1.0");
  EXPECT_TRUE(until_line("dev 1.1.0")) << json::print(target("dev"));
  EXPECT_EQ(target("dev")["images"].item(0).as_string(), "podinfo:1.1.0");
}

TEST_F(View, what_may_not_be_listed_is_named_with_verb_and_resource) {
  lines_["dev"].refuses = [](const client::Request& request) { return request.resource.plural == kReleases.plural; };
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0");
  ASSERT_TRUE(until([&] { return !target("dev")["error"].empty() || target("dev")["state"].as_string() == "forbidden"; }))
      << json::print(target("dev"));
  EXPECT_TRUE(target("dev")["error"].as_string().starts_with(
      "no access: may not list and watch helmreleases.helm.toolkit.fluxcd.io in namespace podinfo: "))
      << json::print(target("dev"));
  EXPECT_EQ(status()["problems"].item(0)["kind"].as_string(), "NoAccess");
  lines_["dev"].refuses = nullptr;
  EXPECT_TRUE(until_line("dev 1.0.0")) << json::print(target("dev"));
}

TEST_F(View, a_secret_that_is_missing_or_rotated_is_told_and_followed) {
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0");
  install("prod", "2.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0"));
  const Value secret = get(kHub, kSecrets, "dev-kubeconfig");
  join("prod");
  patch(kHub, kSecrets, "dev-kubeconfig",
        fmt::format("{{data: {{value: {}}}}}", get(kHub, kSecrets, "prod-kubeconfig")["data"]["value"].as_string()));
  EXPECT_TRUE(until_line("dev 2.0.0")) << "the Secret leads to another cluster now: " << line();
  remove(kHub, kSecrets, "dev-kubeconfig");
  EXPECT_TRUE(until([&] { return cluster_condition("dev", "Ready").starts_with("False WaitingForSecret"); }))
      << cluster_condition("dev", "Ready");
  EXPECT_TRUE(until([&] { return condition("Ready").starts_with("False TargetClusterNotReady"); })) << condition("Ready");
  EXPECT_EQ(target("dev")["running"]["version"].as_string(), "2.0.0");
  apply(kHub, fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: dev-kubeconfig}}, data: {{value: {}}}}}",
                          secret["data"]["value"].as_string()));
  EXPECT_TRUE(until_line("dev 1.0.0")) << line();
  remove(kHub, kGitopsClusters, "dev");
  EXPECT_TRUE(until([&] { return condition("Ready").starts_with("False TargetClusterNotFound"); })) << condition("Ready");
}

TEST_F(View, a_restart_changes_nothing_that_did_not_change) {
  for (const char* member : {"dev", "prod"}) join(member);
  define({{"dev", {"dev"}}, {"prod", {"prod"}}});
  install("dev", "1.0.0");
  install("prod", "1.0.0");
  ASSERT_TRUE(until_line("dev 1.0.0 → prod 1.0.0"));
  advance(minutes{2});
  const Value before = get(kHub, kPipelines, "podinfo");
  restart();
  advance(minutes{2});
  const Value after = get(kHub, kPipelines, "podinfo");
  EXPECT_EQ(json::print(before["status"]), json::print(after["status"]));
  EXPECT_EQ(kube::revision(before), kube::revision(after)) << "nothing was written";
}

TEST_F(View, a_restart_beside_a_dead_cluster_shows_what_ran_there) {
  join("prod");
  define({{"prod", {"prod"}}});
  install("prod", "1.0.0");
  ASSERT_TRUE(until_line("prod 1.0.0"));
  cut("prod");
  restart();
  ASSERT_TRUE(until([&] { return target("prod")["state"].as_string() == "unreachable"; })) << json::print(target("prod"));
  EXPECT_EQ(target("prod")["running"]["version"].as_string(), "1.0.0");
}

TEST_F(View, annotations_that_lead_nowhere_are_told_where_they_are) {
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0",
          "annotations: {pipelines.weave.works/pipeline: default/podinfo, pipelines.weave.works/environment: dev}");
  ASSERT_TRUE(until_line("dev 1.0.0"));
  EXPECT_TRUE(status()["problems"].empty()) << json::print(status()["problems"]);
  apply("dev", R"(
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: lost, namespace: podinfo, annotations: {pipelines.weave.works/pipeline: default/gone}}
spec: {interval: 1m, chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: podinfo}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: odd, namespace: podinfo, annotations: {pipelines.weave.works/pipeline: default/podinfo, pipelines.weave.works/environment: qa}}
spec: {interval: 1m, chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: podinfo}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: other, namespace: podinfo, annotations: {pipelines.weave.works/pipeline: default/podinfo, pipelines.weave.works/environment: dev}}
spec: {interval: 1m, chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: podinfo}}}}
)");
  ASSERT_TRUE(until([&] { return events("dev").size() == 3; })) << fmt::format("{}", fmt::join(events("dev"), ", "));
  std::vector<std::string> told = events("dev");
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"DanglingEnvironment odd", "DanglingPipeline lost", "NotATarget other"}));
  std::vector<std::string> problems;
  const Value now = status();
  for (const Value& problem : now["problems"].items()) problems.push_back(problem["kind"].str());
  EXPECT_EQ(problems, (std::vector<std::string>{"DanglingEnvironment", "NotATarget"}));
  EXPECT_TRUE(events(kHub).empty());
}

TEST_F(View, a_target_that_is_annotated_with_another_pipeline_is_a_problem_of_the_pipeline_that_has_it) {
  join("dev");
  define({{"dev", {"dev"}}});
  install("dev", "1.0.0", "annotations: {pipelines.weave.works/pipeline: default/gone}");
  ASSERT_TRUE(until_line("dev 1.0.0"));
  const auto problem = [&] { return status()["problems"].item(0); };
  EXPECT_EQ(problem()["kind"].as_string(), "DanglingPipeline") << json::print(status()["problems"]);
  EXPECT_EQ(problem()["object"].as_string(), "HelmRelease podinfo/podinfo in cluster dev");
  EXPECT_EQ(problem()["message"].as_string(),
            "annotation pipelines.weave.works/pipeline names Pipeline default/gone, which does not exist");
  apply(
      kHub,
      "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: gone}, spec: {appRef: {kind: HelmRelease, "
      "name: x}, environments: [{name: dev, targets: [{namespace: x}]}]}}");
  ASSERT_TRUE(until([&] { return problem()["kind"].as_string() == "OtherPipeline"; })) << json::print(status()["problems"]);
  install("dev", "1.0.0", "annotations: {pipelines.weave.works/pipeline: default/podinfo}");
  EXPECT_TRUE(until([&] { return status()["problems"].empty(); })) << json::print(status()["problems"]);
}

TEST_F(View, story_11_releases_of_connected_clusters_are_listed_in_pipelines_or_not) {
  for (const char* member : {"dev", "prod"}) join(member);
  install("dev", "6.1.6");
  apply("dev", R"(
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: myshop, namespace: podinfo, annotations: {pipelines.weave.works/pipeline: default/gone}}
spec: {interval: 1m, chart: {spec: {chart: podinfo, version: 6.2.0, sourceRef: {kind: HelmRepository, name: podinfo}}}}
)");
  const auto cluster = [&](const char* name) { return get(kHub, kGitopsClusters, name)["status"]; };
  ASSERT_TRUE(until([&] { return cluster("dev")["releases"].item(1)["version"].as_string() == "6.1.6"; }))
      << json::print_pretty(cluster("dev"));
  ASSERT_TRUE(until([&] { return cluster("dev")["releases"].item(0)["ready"].as_bool(); }))
      << json::print_pretty(cluster("dev"));
  const Value myshop = cluster("dev")["releases"].item(0);
  EXPECT_EQ(myshop["name"].as_string(), "myshop");
  EXPECT_EQ(myshop["chart"].as_string(), "podinfo");
  EXPECT_EQ(myshop["version"].as_string(), "6.2.0");
  EXPECT_EQ(myshop["pipeline"].as_string(), "default/gone");
  EXPECT_EQ(cluster("dev")["problems"].item(0)["object"].as_string(), "HelmRelease podinfo/myshop")
      << json::print(cluster("dev"));
  EXPECT_EQ(cluster_condition("dev", "Ready"), "True SecretFound Referenced secret is available")
      << "both controllers keep theirs";
  EXPECT_TRUE(cluster("prod")["releases"].empty());
  define({{"dev", {"dev"}}});
  ASSERT_TRUE(until_line("dev 6.1.6"));
  EXPECT_EQ(target("dev")["chart"].as_string(), "podinfo");
  remove("dev", kReleases, "myshop", "podinfo");
  EXPECT_TRUE(until([&] { return cluster("dev")["releases"].size() == 1 && cluster("dev")["problems"].empty(); }))
      << json::print_pretty(cluster("dev"));
}

TEST_F(View, annotations_are_written_where_the_pipeline_asks_for_them) {
  join("dev");
  define({{"dev", {"dev"}}}, "pipelines.slipway.dev/annotate: 'true'");
  install("dev", "1.0.0");
  const auto annotation = [&](const char* name) {
    return std::string(
        kube::annotation(get("dev", kReleases, "podinfo", "podinfo"), fmt::format("pipelines.weave.works/{}", name)));
  };
  ASSERT_TRUE(until([&] { return annotation("pipeline") == "default/podinfo"; }));
  EXPECT_EQ(annotation("environment"), "dev");
  const Value release = get("dev", kReleases, "podinfo", "podinfo");
  bool is_managed = false;
  for (const Value& entry : release["metadata"]["managedFields"].items()) {
    is_managed |= entry["manager"].as_string() == "slipway-pipeline-annotations";
  }
  EXPECT_TRUE(is_managed);
}

TEST_F(View, story_14_to_16_related_objects_triggers_and_artifacts_are_named) {
  join("dev");
  define({{"dev", {"dev"}}}, "pipelines.slipway.dev/last-hook: '2026-01-01T00:00:00Z dev 1.0.0'");
  install("dev", "1.0.0",
          "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}");
  apply("dev", R"(
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: promote, namespace: podinfo}
spec: {providerRef: {name: hub}, eventSources: [{kind: HelmRelease, name: '*'}]}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: hub, namespace: podinfo}
spec: {type: generic-hmac}
)");
  ASSERT_TRUE(until([&] { return status()["triggers"].size() == 3; })) << json::print(status()["triggers"]);
  const Value triggers = status()["triggers"];
  EXPECT_EQ(triggers.item(0)["kind"].as_string(), "Hook");
  EXPECT_EQ(triggers.item(1)["object"].as_string(), "Alert podinfo/promote in cluster default/dev");
  EXPECT_EQ(triggers.item(2)["message"].as_string(), "of type generic-hmac, told by Alert promote");
  ASSERT_TRUE(until_line("dev 1.0.0"));
  EXPECT_EQ(json::print(target("dev")["related"]),
            R"(["HelmChart podinfo/podinfo-podinfo","HelmRepository podinfo/podinfo","Kustomization flux-system/apps"])");
}

TEST_F(View, a_deployment_of_the_pipelines_own_cluster_is_versioned_by_its_images) {
  apply(kHub, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: 'web:1'}]}}
---
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: podinfo}
spec: {appRef: {apiVersion: apps/v1, kind: Deployment, name: web}, environments: [{name: here, targets: [{namespace: default}]}]}
)");
  EXPECT_TRUE(until_line("here web:1")) << json::print(status());
}

TEST_F(View, many_targets_leave_a_status_of_counts_and_exceptions) {
  join("dev");
  std::string targets;
  for (int i = 0; i < 300; ++i) {
    const std::string ns = fmt::format("n{}", i);
    make_namespace("dev", ns);
    if (i != 7) {
      apply("dev",
            fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: {}}}, spec: {{replicas: "
                        "0, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: "
                        "{{containers: [{{name: main, image: 'web:{}'}}]}}}}}}}}",
                        ns, i == 9 ? 2 : 1));
    }
    targets += fmt::format("{{namespace: {}, clusterRef: {{kind: GitopsCluster, name: dev}}}},", ns);
  }
  apply(kHub, fmt::format(
                  "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: podinfo}}, spec: {{appRef: "
                  "{{apiVersion: apps/v1, kind: Deployment, name: web}}, environments: [{{name: all, targets: [{}]}}]}}}}",
                  targets));
  ASSERT_TRUE(until([&] { return status()["environments"]["all"]["readyCount"].as_int() == 299; })) << line();
  const Value all = status()["environments"]["all"];
  EXPECT_EQ(all["targets"].size(), 2U) << json::print(all["targets"]).substr(0, 3000);
  EXPECT_EQ(status()["targetsLeftOut"].as_int(), 298);
  EXPECT_EQ(all["states"]["absent"].as_int(), 1);
  EXPECT_EQ(all["versions"]["web:1"].as_int(), 298);
  EXPECT_LT(json::print(status()).size(), 8000U);
}

}  // namespace
}  // namespace slipway::pipeline_test
