// The simulated Flux (src/flux) on a whole cluster: what its kinds do, what their status says, and with whose rights.
#include "control/acting_client.h"
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

/// rob may do anything in namespace default of dev but impersonate, bind and escalate.
class FluxAuthor : public Flux {
 public:
  void SetUp() override {
    Flux::SetUp();
    allow("{kind: User, apiGroup: rbac.authorization.k8s.io, name: rob}", "rob", "default");
  }
  void allow(const std::string& subject, const std::string& name, const std::string& ns,
             const std::string& verbs = "get, list, watch, create, update, patch, delete") {
    apply("dev", fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {}, namespace: {}}}, "
                             "rules: [{{apiGroups: ['*'], resources: ['*'], verbs: [{}]}}]}}",
                             name, ns, verbs));
    apply("dev",
          fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}, namespace: "
                      "{1}}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {0}}}, subjects: [{2}]}}",
                      name, ns, subject));
  }
  control::ActingClient rob() {
    return {client("dev"), std::make_shared<const kube::UserInfo>(
                               kube::UserInfo{.name = "rob", .uid = "", .groups = {"system:authenticated"}, .extra = {}})};
  }
  void create_as_rob(const kube::Resource& resource, const std::string& text, const std::string& ns = "default") {
    control::ActingClient acting = rob();
    const Value object = json::parse_yaml(text)->with_path({"metadata", "namespace"}, ns);
    const auto made = env_->run(client::create(acting, resource, object, "tester"));
    EXPECT_TRUE(made) << made.error().message;
  }
  std::string message(const kube::Resource& resource, const std::string& name) {
    return kube::condition(get("dev", resource, name), "Ready")["message"].str();
  }
};

TEST_F(FluxAuthor, a_release_makes_nothing_where_its_author_may_not) {
  make_namespace("dev", "b");
  create_as_rob(kHelmReleases, release("1.0.0", "  targetNamespace: b\n"));
  EXPECT_EQ(kube::annotation(get("dev", kHelmReleases, "web"), "flux.slipway.dev/author"), "rob");
  EXPECT_TRUE(until([&] { return ready(kHelmReleases, "web") == "False AuthorLacksRight"; })) << message(kHelmReleases, "web");
  EXPECT_TRUE(message(kHelmReleases, "web").contains("it acts as its author rob")) << message(kHelmReleases, "web");
  advance(minutes{10});
  EXPECT_TRUE(list("dev", kube::kDeployments, "b").empty());
  EXPECT_TRUE(list("dev", kube::kSecrets, "b").empty());
  allow("{kind: User, apiGroup: rbac.authorization.k8s.io, name: rob}", "rob", "b");
  EXPECT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; })) << message(kHelmReleases, "web");
}

TEST_F(FluxAuthor, a_folder_is_applied_and_pruned_with_the_rights_of_the_author) {
  const kube::Resource bindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings"};
  Repository repository(folder_ / "config.git");
  repository.commit({{"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {a: b}\n"},
                     {"b.yaml",
                      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: pwn}\nroleRef: "
                      "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: User, "
                      "apiGroup: rbac.authorization.k8s.io, name: rob}]\n"}},
                    "first");
  create_as_rob(kGitRepositories,
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: config}\nspec: {interval: 10s, "
                "url: '" +
                    repository.path() + "', ref: {branch: main}}\n");
  create_as_rob(kKustomizations,
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {interval: 1m, "
                "prune: true, path: ./, sourceRef: {kind: GitRepository, name: config}}\n");
  ASSERT_TRUE(until([&] { return ready(kKustomizations, "apps") == "False ReconciliationFailed"; }));
  EXPECT_TRUE(message(kKustomizations, "apps").contains("it acts as its author rob")) << message(kKustomizations, "apps");
  EXPECT_FALSE(get("dev", kube::kConfigMaps, "mine").is_null()) << "what the author may write is written";
  EXPECT_TRUE(get("dev", bindings, "pwn", "").is_null());
}

TEST_F(FluxAuthor, an_account_is_acted_as_if_the_author_may_impersonate_it) {
  create_as_rob(kHelmReleases, release("1.0.0", "  serviceAccountName: team\n"));
  EXPECT_TRUE(until([&] { return message(kHelmReleases, "web").contains("spec.serviceAccountName: "); }));
  EXPECT_TRUE(message(kHelmReleases, "web").contains("cannot impersonate")) << message(kHelmReleases, "web");
  allow("{kind: User, apiGroup: rbac.authorization.k8s.io, name: rob}", "rob-as-accounts", "default", "impersonate");
  const std::string account = "system:serviceaccount:default:team";
  EXPECT_TRUE(until([&] { return message(kHelmReleases, "web").contains(account); })) << message(kHelmReleases, "web");
  EXPECT_TRUE(image().empty()) << "the account has no rights";
  allow("{kind: ServiceAccount, name: team, namespace: default}", "team", "default");
  EXPECT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; })) << message(kHelmReleases, "web");
}

TEST_F(FluxAuthor, a_namespace_that_is_deleted_takes_its_releases_along) {
  make_namespace("dev", "b");
  allow("{kind: User, apiGroup: rbac.authorization.k8s.io, name: rob}", "rob", "b");
  create_as_rob(kHelmReleases, release("1.0.0"), "b");
  ASSERT_TRUE(until([&] { return !list("dev", kube::kDeployments, "b").empty(); }));
  remove("dev", {"", "v1", "namespaces"}, "b", "");
  EXPECT_TRUE(until([&] { return get("dev", {"", "v1", "namespaces"}, "b", "").is_null(); }))
      << list("dev", kHelmReleases, "b").size() << " releases are left";
}

TEST_F(FluxAuthor, a_status_is_not_the_users_to_write) {
  apply("dev", release("1.0.0"));
  ASSERT_TRUE(until([&] { return ready(kHelmReleases, "web") == "True InstallSucceeded"; }));
  const Value before = get("dev", kHelmReleases, "web")["status"];
  control::ActingClient acting = rob();
  const Value forged = *json::parse_yaml("{status: {helmChart: kube-system/other, lastAttemptedRevision: 0.9.0}}");
  EXPECT_TRUE(env_->run(client::merge_patch(acting, kHelmReleases, {"default", "web"}, forged, "tester", "status")));
  EXPECT_EQ(get("dev", kHelmReleases, "web")["status"], before);
}

}  // namespace
}  // namespace slipway::pipeline_test
