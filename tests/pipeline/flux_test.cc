// The simulated Flux (src/flux) on a whole cluster: what its kinds do, and what their status says.
#include "flux/kinds.h"
#include "landscape.h"

namespace slipway::pipeline_test {
namespace {

using flux::kGitRepositories;
using flux::kHelmReleases;
using flux::kKustomizations;

std::string release(const std::string& version, const std::string& more = "") {
  return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\nspec:\n  interval: 1m\n  timeout: "
         "1m\n"
         "  chart: {spec: {chart: web, version: \"" +
         version + "\", sourceRef: {kind: HelmRepository, name: charts}}}\n" + more;
}

class Flux : public Landscape {
 protected:
  std::string ready(const kube::Resource& resource, const std::string& name) {
    const Value object = get("dev", resource, name);
    const Value& condition = kube::condition(object, "Ready");
    return condition["status"].str() + " " + condition["reason"].str();
  }
  std::string image() {
    return get("dev", kube::kDeployments, "web")["spec"]["template"]["spec"]["containers"].item(0)["image"].str();
  }
  /// "1.1.0 deployed, 1.0.0 superseded"
  std::string history() {
    std::string text;
    const Value object = get("dev", kHelmReleases, "web");
    for (const Value& entry : object["status"]["history"].items()) {
      if (!text.empty()) text += ", ";
      text += entry["chartVersion"].str() + " " + entry["status"].str();
    }
    return text;
  }
};

constexpr const char* kBadPods =
    "  values: {podAnnotations: {slipway.dev/ready-after: never}}\n  upgrade: {remediation: {retries: 1}}\n";

TEST_F(Flux, installs_and_upgrades_a_release) {
  apply("dev", release("1.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; }));
  EXPECT_EQ(image(), "web:1.0.0");
  apply("dev", release("1.1.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True UpgradeSucceeded"; }));
  EXPECT_EQ(image(), "web:1.1.0");
  EXPECT_EQ(history(), "1.1.0 deployed, 1.0.0 superseded");
  EXPECT_EQ(get("dev", kHelmReleases, "web")["status"]["lastAttemptedRevision"], Value("1.1.0"));
}

TEST_F(Flux, rolls_a_failed_upgrade_back_and_rests_stalled) {
  apply("dev", release("1.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; }));
  apply("dev", release("1.1.0", kBadPods));
  ASSERT_TRUE(until([&] { return kube::is_true(get("dev", kHelmReleases, "web"), "Stalled"); }));
  EXPECT_EQ(ready(kHelmReleases, "web"), "False RollbackSucceeded");
  EXPECT_EQ(history(), "1.0.0 deployed, 1.1.0 failed, 1.0.0 superseded, 1.1.0 failed, 1.0.0 superseded");
  advance(minutes{1});
  EXPECT_EQ(image(), "web:1.0.0");
  const Value status = get("dev", kHelmReleases, "web")["status"];
  EXPECT_EQ(status["lastAttemptedRevision"], Value("1.1.0"));
  EXPECT_EQ(status["upgradeFailures"], Value(2));
}

TEST_F(Flux, deletes_what_a_release_made) {
  apply("dev", release("1.0.0"));
  ASSERT_TRUE(until([&] { return image() == "web:1.0.0"; }));
  remove("dev", kHelmReleases, "web");
  EXPECT_TRUE(until([&] { return image().empty() && get("dev", kHelmReleases, "web").is_null(); }));
}

TEST_F(Flux, says_what_it_does_not_simulate) {
  apply("dev", release("1.0.0", "  valuesFrom: [{kind: ConfigMap, name: more}]\n"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "False ArtifactFailed"; }));
  const Value object = get("dev", kHelmReleases, "web");
  EXPECT_EQ(kube::condition(object, "Ready")["message"].as_string(), "spec.valuesFrom: the simulated Flux takes spec.values");
}

std::string charts(const std::string& versions) {
  return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, annotations: "
         "{charts.slipway.dev/web: '" +
         versions + "'}}\nspec: {url: 'https://charts.example'}\n";
}

TEST_F(Flux, a_range_is_the_newest_version_of_the_repository_and_follows_it) {
  apply("dev", release("1.x"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "False SourceNotReady"; }));
  const auto chart = [&] {
    const Value object = get("dev", kHelmReleases, "web");
    const std::string place = object["status"]["helmChart"].str();
    return get("dev", flux::kHelmCharts, place.substr(place.find('/') + 1));
  };
  ASSERT_TRUE(until([&] { return kube::condition(chart(), "Ready")["reason"].as_string() == "InvalidChartReference"; }));
  apply("dev", charts("1.0.0 1.1.0-rc.1 2.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; }));
  EXPECT_EQ(image(), "web:1.0.0");
  EXPECT_EQ(chart()["spec"]["version"], Value("1.x"));
  EXPECT_EQ(chart()["status"]["artifact"]["revision"], Value("1.0.0"));
  apply("dev", charts("1.0.0 1.1.0-rc.1 1.10.0 1.9.0 2.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True UpgradeSucceeded"; }));
  EXPECT_EQ(history(), "1.10.0 deployed, 1.0.0 superseded");
  // A version that is not there: the release goes on as it is.
  apply("dev", release("3.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "False SourceNotReady"; }));
  advance(minutes{2});
  EXPECT_EQ(image(), "web:1.10.0");
  apply("dev", release("^1.1.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True UpgradeSucceeded"; }));
  EXPECT_EQ(history(), "1.10.0 deployed, 1.0.0 superseded") << "it was what ran all along";
  remove("dev", kHelmReleases, "web");
  EXPECT_TRUE(until([&] { return list("dev", flux::kHelmCharts).empty(); }));
}

TEST_F(Flux, a_release_takes_its_chart_from_an_oci_repository_that_it_names) {
  const auto repository = [](const std::string& versions) {
    return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web, annotations: "
           "{charts.slipway.dev/web: '" +
           versions + "'}}\nspec: {interval: 10s, url: 'oci://registry.example/web', ref: {semver: '>=1.0.0 <2'}}\n";
  };
  apply(
      "dev",
      "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\nspec: {interval: 20s, chartRef: {kind: "
      "OCIRepository, name: web}}\n");
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "False SourceNotReady"; }));
  apply("dev", repository("1.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; }));
  EXPECT_EQ(image(), "web:1.0.0");
  apply("dev", repository("1.0.0 1.1.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True UpgradeSucceeded"; }));
  const Value status = get("dev", kHelmReleases, "web")["status"];
  const std::string digest = status["lastAttemptedRevisionDigest"].str();
  ASSERT_EQ(digest.size(), std::string("sha256:").size() + 64);
  EXPECT_EQ(status["lastAttemptedRevision"].as_string(), "1.1.0+" + digest.substr(7, 12));
  EXPECT_EQ(get("dev", flux::kOciRepositories, "web")["status"]["artifact"]["revision"].as_string(), "1.1.0@" + digest);
  EXPECT_TRUE(list("dev", flux::kHelmCharts).empty());
}

/// Whoever asks for fewer rights does not silently get more.
TEST_F(Flux, an_account_that_is_not_taken_on_is_refused) {
  const auto message = [&](const kube::Resource& resource, const std::string& name) {
    return kube::condition(get("dev", resource, name), "Ready")["message"].str();
  };
  const std::string said = "spec.serviceAccountName: the simulated Flux does not do this: leave it out";
  apply("dev", release("1.0.0", "  serviceAccountName: team\n"));
  EXPECT_TRUE(until([&] { return message(kHelmReleases, "web") == said; })) << message(kHelmReleases, "web");
  EXPECT_TRUE(image().empty());
  apply("dev",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {interval: 1m, path: "
        "./dev, serviceAccountName: team, sourceRef: {kind: GitRepository, name: config}}\n");
  EXPECT_TRUE(until([&] { return message(kKustomizations, "apps") == said; })) << message(kKustomizations, "apps");
}

TEST_F(Flux, applies_a_folder_of_a_repository_and_prunes) {
  Repository repository(folder_ / "config.git");
  const std::string config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a: b}\n";
  repository.commit({{"dev/web.yaml", release("1.0.0")}, {"dev/more.yaml", config}, {"prod/web.yaml", "no: yaml: here"}},
                    "first");
  apply("dev",
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: config}\nspec: {interval: 10s, url: '" +
            repository.path() + "', ref: {branch: main}}\n");
  apply("dev",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {interval: 1m, prune: "
        "true, "
        "path: ./dev, sourceRef: {kind: GitRepository, name: config}}\n");
  ASSERT_TRUE(until([&] { return image() == "web:1.0.0"; }));
  const std::string second = repository.commit({{"dev/web.yaml", release("1.1.0")}, {"dev/more.yaml", ""}}, "second");
  ASSERT_TRUE(until([&] { return image() == "web:1.1.0"; }));
  EXPECT_TRUE(get("dev", kube::kConfigMaps, "more").is_null());
  EXPECT_EQ(get("dev", kKustomizations, "apps")["status"]["lastAppliedRevision"], Value("main@sha1:" + second));
  repository.commit({{"dev/web.yaml", "a: b: c"}}, "third");
  ASSERT_TRUE(until([&] { return ready(kKustomizations, "apps") == "False BuildFailed"; }));
  EXPECT_EQ(image(), "web:1.1.0");
}

}  // namespace
}  // namespace slipway::pipeline_test
