#include "delivery/pipeline/values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "delivery/pipeline/corpus_test.h"
#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/lives_test.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

/// What differs from what the recording says, as "running 1.0.0, not 1.1.0; …"; empty when nothing does.
std::string difference(const Values& values, const Value& say) {
  std::string text;
  const auto check = [&](std::string_view name, const std::string& got, std::string_view wanted) {
    if (got != wanted) text += fmt::format("{} {}, not {}; ", name, got, wanted);
  };
  check("specified", values.specified.text, say["specified"].as_string());
  check("attempted", values.attempted.text, say["attempted"].as_string());
  check("running", values.running.text, say["running"].as_string());
  check("ready at", values.ready_at, say["ready_at"].as_string());
  std::string images;
  for (const Value& image : say["images"].items()) images += (images.empty() ? "" : ", ") + image.str();
  check("images", image_set(values.images), images);
  return text;
}

TEST(ValuesCorpus, every_state_of_the_recorded_lives_is_read_as_it_was) {
  std::vector<Life> all = lives();
  if (all.empty()) GTEST_SKIP() << "no corpus";
  const std::set<std::string> known = known_failures("pipeline");
  CountedSuite states("pipeline/values");
  CountedSuite rests("pipeline/values-rests");
  for (Life& life : all) {
    std::map<std::size_t, std::string> wrong;
    std::map<std::size_t, bool> is_rest;
    life.play([&](std::size_t index, bool rest, const std::string& key, const Values& values, const Value& say) {
      const std::string differs = difference(values, say);
      is_rest[index] = rest;
      wrong[index] += differs.empty() ? "" : key + ": " + differs;
    });
    for (const auto& [index, differs] : wrong) {
      states.count(differs.empty());
      if (is_rest[index]) rests.count(differs.empty());
      const std::string id = fmt::format("{}#{}", life.id(), index);
      if (differs.empty()) {
        EXPECT_FALSE(known.contains(id)) << id << " is read as recorded: take it from the list";
      } else if (!known.contains(id)) {
        EXPECT_FALSE(is_rest[index]) << id << ": " << differs;
        fmt::print("{}: {}\n", id, differs);
      }
    }
  }
  EXPECT_GE(states.share(), 0.97);
}

TEST(ValuesCorpus, the_recorded_lives_rest_in_these_states) {
  std::vector<Life> all = lives();
  if (all.empty()) GTEST_SKIP() << "no corpus";
  // By life and state; where two targets are read, that of the second.
  const std::map<std::string, State> wanted = {
      {"exact#33", State::Settled},
      {"fail-invalid#54", State::Failed},  // refused by the server: 1.0.0 runs untouched
      {"fail-rollback-keep-last#86", State::RolledBack},
      {"read-as-v2beta2#0", State::RolledBack},
      {"fail-uninstall#84", State::Mixed},
      {"fail-noremediation#76", State::Mixed},
      {"test-failure#71", State::Failed},
      {"test-failure#75", State::Settled},
      {"drift-off#33", State::Settled},  // the agent looks again
      {"drift-off#42", State::Mixed},
      {"drift-warn#42", State::Mixed},
      {"chart-missing#25", State::Failed},
      {"repo-unreachable#51", State::Failed},
      {"disable-wait#64", State::Progressing},  // Ready=True, its pods are not
      {"upgrade-retry-on-failure#70", State::Progressing},
      {"depends-on#53", State::Progressing},
      {"build-metadata#63", State::Settled},
      {"oci#43", State::Settled},
      {"oci#92", State::Failed},  // Ready=True; its source cannot get the tag
      {"kust-suspended#35", State::Suspended},
      {"kust-drift#34", State::Mixed},
      {"kust-unhealthy#59", State::Failed},
      {"kust-unhealthy#69", State::Failed},
      {"kust-unhealthy#94", State::Settled},
      {"kust-unhealthy-revert#42", State::Failed},
      {"kust-helmrelease#128", State::Failed},
  };
  std::map<std::string, State> got;
  for (Life& life : all) {
    life.play([&](std::size_t index, bool, const std::string&, const Values& values, const Value&) {
      const std::string id = fmt::format("{}#{}", life.id(), index);
      if (wanted.contains(id)) got[id] = values.state;
    });
  }
  for (const auto& [id, state] : wanted) {
    ASSERT_TRUE(got.contains(id)) << id;
    EXPECT_EQ(json::enum_name(got[id]), json::enum_name(state)) << id;
  }
}

TEST(ValuesCorpus, objects_of_other_files_are_read_by_what_they_say) {
  std::vector<CorpusFile> files = corpus_folder("helmrelease");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  std::ranges::move(corpus_folder("kustomization"), std::back_inserter(files));
  CountedSuite suite("pipeline/flux-objects");
  for (const CorpusFile& file : files) {
    const auto documents = json::parse_yaml_all(file.text);
    ASSERT_TRUE(documents.has_value()) << file.name;
    for (const json::YamlDocument& document : *documents) {
      const Object& object = document.value;
      const std::string_view api = object["apiVersion"].as_string();
      if (!is_readable(api.substr(0, api.find('/')), kube::kind(object))) continue;
      const Values values = read({.object = object, .has_workloads = false}, {}, Time{}).values;
      std::string running = object["status"]["lastAppliedRevision"].str();
      for (const Value& entry : object["status"]["history"].items()) {
        if (entry["status"].as_string() != "deployed") continue;
        running = entry["chartVersion"].str();
        break;
      }
      const Value& version = object["spec"]["chart"]["spec"]["version"];
      const bool is_right = values.running.text == running &&
                            values.attempted.text == object["status"]["lastAttemptedRevision"].as_string() &&
                            (version.is_null() || values.specified.text == version.as_string());
      suite.count(is_right);
      EXPECT_TRUE(is_right) << file.name << ": runs " << values.running.text;
    }
  }
}

Object deployment(const std::string& image, std::int64_t generation, std::int64_t observed) {
  return yaml(fmt::format(
      "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: a, generation: {}}}, spec: "
      "{{replicas: 1, selector: {{matchLabels: {{app: web}}}}, template: {{spec: {{containers: [{{name: web, image: "
      "'{}'}}]}}}}}}, status: {{observedGeneration: {}, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}}}",
      generation, image, observed));
}

Object ready_pod(const std::string& image_id) {
  return yaml(
      "{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: a, labels: {app: web}}, status: {conditions: [{type: "
      "Ready, status: 'True'}], containerStatuses: [{name: web, imageID: '" +
      image_id + "'}]}}");
}

Time at(std::int64_t seconds) { return Time{} + std::chrono::seconds{seconds}; }

TEST(Values, a_deployment_runs_its_last_image_set_until_the_next_is_there) {
  Reading first = read({.object = deployment("web:1", 1, 1)}, {}, at(10));
  EXPECT_EQ(first.values.state, State::Settled);
  EXPECT_EQ(first.values.ready_at, "web:1");
  EXPECT_EQ(first.values.running.time, at(10));
  const Reading second = read({.object = deployment("web:2", 2, 1)}, std::move(first.memory), at(20));
  EXPECT_EQ(second.values.state, State::Progressing);
  EXPECT_EQ(second.values.specified.text, "web:2");
  EXPECT_EQ(second.values.attempted.text, "web:1");
  EXPECT_EQ(second.values.running.text, "web:1");
  EXPECT_EQ(second.values.ready_at, "");
  EXPECT_EQ(second.values.specified.time, at(20));
  EXPECT_EQ(second.values.running.time, at(10));
}

TEST(Values, images_have_the_digests_that_ready_pods_run) {
  const Values values = read({.object = deployment("registry.example:5000/web:1", 1, 1),
                              .others = {ready_pod("registry.example:5000/web@sha256:aaaaaaaa"),
                                         ready_pod("docker-pullable://registry.example:5000/web@sha256:bbbbbbbb")}},
                             {}, at(0))
                            .values;
  ASSERT_EQ(values.images.size(), 2U);
  EXPECT_EQ(values.images[0].to_string(), "registry.example:5000/web:1@sha256:aaaaaaaa");
  EXPECT_EQ(values.images[1].digest, "sha256:bbbbbbbb");
  EXPECT_EQ(values.specified.text, "registry.example:5000/web:1");
  EXPECT_EQ(read({.object = deployment("web:1", 1, 1), .others = {ready_pod("web@sha256:aaaaaaaa")}}, {}, at(0))
                .values.running.digest,
            "sha256:aaaaaaaa");
}

TEST(Values, what_cannot_be_looked_at_is_shown_as_it_was_last_but_not_to_whom_it_is_forbidden) {
  const Object object = deployment("web:1", 1, 1);
  const Memory memory = read({.object = object}, {}, at(1)).memory;
  const auto seen = [&](Access access) { return read({.access = access, .object = object}, memory, at(2)); };
  EXPECT_EQ(seen(Access::Stale).values.state, State::Stale);
  EXPECT_EQ(seen(Access::Unreachable).values.state, State::Unreachable);
  EXPECT_EQ(seen(Access::Unreachable).values.running.text, "web:1");
  EXPECT_EQ(seen(Access::Unreachable).memory.last.state, State::Settled);
  EXPECT_EQ(seen(Access::Forbidden).values.state, State::Forbidden);
  EXPECT_EQ(seen(Access::Forbidden).values.running.text, "");
  EXPECT_TRUE(seen(Access::Forbidden).values.images.empty());
  EXPECT_EQ(read({}, memory, at(3)).values.state, State::Absent);
}

TEST(Values, a_release_is_mixed_while_workloads_of_two_versions_are_there) {
  const auto of_chart = [](const std::string& name, const std::string& label) {
    return deployment("web:1", 1, 1)
        .with_path({"metadata", "name"}, name)
        .with_path({"metadata", "labels"}, yaml("{helm.sh/chart: " + label +
                                                ", helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: a}"));
  };
  const Object release = yaml(
      "{apiVersion: helm.toolkit.fluxcd.io/v2beta1, kind: HelmRelease, metadata: {name: web, namespace: a, generation: 1}, "
      "spec: {chart: "
      "{spec: {version: 1.x}}}, status: {observedGeneration: 1, lastAppliedRevision: 1.0.0, conditions: [{type: Ready, status: "
      "'True'}]}}");
  const Values mixed =
      read({.object = release, .others = {of_chart("x", "web-1.0.0"), of_chart("y", "web-1.1.0_b.7")}}, {}, at(0)).values;
  EXPECT_EQ(mixed.state, State::Mixed);
  EXPECT_EQ(mixed.running.text, "");
  const Values one = read({.object = release, .others = {of_chart("x", "a-1-b-1.1.0_b.7")}}, {}, at(0)).values;
  EXPECT_EQ(one.running.text, "1.1.0+b.7");
  const Values told = read({.object = release, .has_workloads = false}, {}, at(0)).values;
  EXPECT_EQ(told.running.text, "1.0.0");
  EXPECT_EQ(told.state, State::Settled);
}

TEST(Values, a_release_of_the_first_api_is_rolled_back_when_it_was_remediated) {
  const Object release = yaml(
      "{apiVersion: helm.toolkit.fluxcd.io/v2beta1, kind: HelmRelease, metadata: {name: web, namespace: a, generation: 2}, "
      "spec: {chart: "
      "{spec: {version: 1.2.0}}}, status: {observedGeneration: 2, lastAppliedRevision: 1.0.0, lastAttemptedRevision: 1.2.0, "
      "conditions: "
      "[{type: Ready, status: 'False', reason: UpgradeFailed}, {type: Remediated, status: 'True', reason: "
      "RollbackSucceeded}]}}");
  const Values values = read({.object = release, .has_workloads = false}, {}, at(0)).values;
  EXPECT_EQ(values.state, State::RolledBack);
  EXPECT_EQ(values.running.text, "1.0.0");
  EXPECT_EQ(values.attempted.text, "1.2.0");
}

/// The value with whatever is at one place replaced; calls `on` for every place.
void replace_everywhere(const Value& value, const Value& with, const std::function<void(const Value&)>& on) {
  on(with);
  for (const auto& [name, member] : value.members()) {
    const std::string key(name);
    replace_everywhere(member, with, [&](const Value& changed) { on(value.with(key, changed)); });
  }
  for (std::size_t i = 0; i < value.size() && value.is_array(); ++i) {
    replace_everywhere(value.item(i), with, [&](const Value& changed) { on(value.with_item(i, changed)); });
  }
}

TEST(Values, what_is_of_another_type_than_it_should_be_is_as_if_it_were_absent) {
  const Object release =
      yaml(R"({apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: a, generation: 2},
    spec: {chart: {spec: {version: 1.x}}, test: {enable: true}}, status: {observedGeneration: 2, helmChart: a/web, lastAttemptedRevision: 1.1.0,
    conditions: [{type: Ready, status: 'True', reason: X, message: y}], history: [{version: 2, status: deployed, chartVersion: 1.1.0, name: web,
    namespace: a, digest: 'sha256:aa', ociDigest: 'sha256:bb', lastDeployed: '2026-01-01T00:00:00Z', testHooks: {t: {phase: Succeeded}}}]}})");
  const Object workload =
      deployment("web:1", 1, 1)
          .with_path({"metadata", "labels"}, yaml("{helm.sh/chart: web-1.1.0}"))
          .with_path({"metadata", "annotations"}, yaml("{meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: a}"));
  EXPECT_EQ(read({.object = release, .others = {workload}}, {}, at(0)).values.state, State::Settled);
  std::size_t read_objects = 0;
  for (const Value& junk : {Value(), Value("x"), Value(-7), Value(true), Value::empty_array(), json::array({Value("a/b")}),
                            Value::empty_object()}) {
    replace_everywhere(release, junk, [&](const Value& changed) {
      const std::string_view api = changed["apiVersion"].as_string();
      if (!is_readable(api.substr(0, api.find('/')), kube::kind(changed))) return;
      read({.object = changed, .others = {workload}}, {}, at(0));
      ++read_objects;
    });
    replace_everywhere(workload, junk, [&](const Value& changed) {
      const Values values = read({.object = release, .others = {changed, ready_pod("web@sha256:aaaaaaaa")}}, {}, at(0)).values;
      EXPECT_EQ(values.attempted.text, "1.1.0");
      ++read_objects;
    });
  }
  EXPECT_GT(read_objects, 300U);
}

struct Watched {
  Object object;
  Memory memory{};

  Values look(const Object& workload) {
    Reading reading = read({.object = object, .others = {workload}}, std::move(memory), at(0));
    memory = std::move(reading.memory);
    return std::move(reading.values);
  }
};

TEST(Values, content_that_changes_while_the_agent_rests_was_edited_by_hand) {
  const Object resting = yaml(
      "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: app, namespace: a, generation: 1}, "
      "spec: {}, "
      "status: {observedGeneration: 1, lastAppliedRevision: 'main@sha1:aaaaaaaa', lastAttemptedRevision: 'main@sha1:aaaaaaaa', "
      "conditions: [{type: Ready, status: 'True'}]}}");
  const Object working =
      resting.with_path({"status", "conditions"}, yaml("[{type: Ready, status: Unknown, reason: Progressing}]"));
  const auto of_image = [](const std::string& image) {
    return deployment(image, 1, 1)
        .with_path({"metadata", "labels"},
                   yaml("{kustomize.toolkit.fluxcd.io/name: app, kustomize.toolkit.fluxcd.io/namespace: a}"));
  };
  Watched watched{.object = resting};
  EXPECT_EQ(watched.look(of_image("web:1")).state, State::Settled);
  EXPECT_EQ(watched.look(of_image("web:hotfix")).state, State::Mixed);
  EXPECT_EQ(watched.look(of_image("web:hotfix")).running.text, "");
  watched.object = working;
  EXPECT_EQ(watched.look(of_image("web:hotfix")).running.text, "");
  EXPECT_EQ(watched.look(of_image("web:1")).running.text, "main@sha1:aaaaaaaa");
  EXPECT_EQ(watched.look(of_image("web:variable")).running.text, "main@sha1:aaaaaaaa");
  watched.object = resting;
  EXPECT_EQ(watched.look(of_image("web:variable")).state, State::Settled);
  const Object restarted =
      of_image("web:variable")
          .with_path({"spec", "template", "metadata", "annotations"}, yaml("{kubectl.kubernetes.io/restartedAt: now}"));
  EXPECT_EQ(watched.look(restarted).state, State::Settled);
}

TEST(Values, versions_of_a_kind_s_api_are_one_kind) {
  EXPECT_TRUE(is_readable("helm.toolkit.fluxcd.io", "HelmRelease"));
  EXPECT_TRUE(is_readable("kustomize.toolkit.fluxcd.io", "Kustomization"));
  EXPECT_TRUE(is_readable("apps", "StatefulSet"));
  EXPECT_FALSE(is_readable("kustomize.config.k8s.io", "Kustomization"));
}

TEST(Values, a_release_is_of_the_chart_that_helm_has_deployed_else_of_the_one_asked_for) {
  const auto chart = [](const char* spec, const char* status = "{}", std::vector<Object> others = {}) {
    Object object = json::object({{"apiVersion", "helm.toolkit.fluxcd.io/v2"},
                                  {"kind", "HelmRelease"},
                                  {"metadata", json::object({{"name", "myshop"}, {"namespace", "apps"}})},
                                  {"spec", json::parse_yaml(spec).value()},
                                  {"status", json::parse_yaml(status).value()}});
    return read({.object = object, .others = std::move(others)}, {}, Time{}).values.chart;
  };
  EXPECT_EQ(chart("{chart: {spec: {chart: podinfo}}}"), "podinfo");
  EXPECT_EQ(chart("{chart: {spec: {chart: ./charts/podinfo/}}}"), "podinfo") << "a path of a Git source";
  EXPECT_EQ(chart("{chart: {spec: {chart: next}}}",
                  "{history: [{status: failed, chartName: next}, {status: deployed, chartName: old}]}"),
            "old");
  const Object helm_chart =
      json::parse_yaml("{kind: HelmChart, metadata: {name: c, namespace: apps}, spec: {chart: podinfo}}").value();
  EXPECT_EQ(chart("{chartRef: {kind: HelmChart, name: c}}", "{}", {helm_chart}), "podinfo");
  EXPECT_EQ(chart("{chartRef: {kind: OCIRepository, name: podinfo}}"), "podinfo");
  EXPECT_EQ(
      read({.object = json::parse_yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}}").value()},
           {}, Time{})
          .values.chart,
      "");
}

TEST(Values, sources_are_looked_for_in_the_namespace_that_is_named) {
  const auto source_of = [](const KindRow& row, const char* spec) {
    const Needs needs = row.needs(json::object(
        {{"metadata", json::object({{"name", "web"}, {"namespace", "apps"}})}, {"spec", json::parse_yaml(spec).value()}}));
    return needs.sources.empty() ? std::string() : fmt::format("{}/{}", needs.sources.front().ns, needs.sources.front().name);
  };
  EXPECT_EQ(source_of(kKustomization, "{sourceRef: {kind: GitRepository, name: config, namespace: flux-system}}"),
            "flux-system/config");
  EXPECT_EQ(source_of(kKustomization, "{sourceRef: {kind: GitRepository, name: config}}"), "apps/config");
  EXPECT_EQ(source_of(kHelmRelease, "{chartRef: {kind: OCIRepository, name: web, namespace: charts}}"), "charts/web");
  EXPECT_EQ(source_of(kHelmRelease, "{chartRef: {kind: OCIRepository, name: web}}"), "apps/web");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
