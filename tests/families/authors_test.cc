// Every kind that acts for users records its author, and objects from before get one when the process starts.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/manual_env.h"
#include "control/acting_client.h"
#include "control/author_right.h"
#include "json/text.h"
#include "plane/authors.h"
#include "plane/plane_fixture_test.h"

namespace slipway::families_test {
namespace {

using json::Value;

class Authors : public plane::PlaneFixture {
 public:
  void open() override {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    serve(std::move(options));
  }
  /// An object of which only what admission asks for is there.
  static Value object_of(const kube::ResourceType& type) {
    static const std::map<std::string, const char*> kSpecs{
        {"applications", "{components: []}"},
        {"workflowruns", "{workflowSpec: {steps: [{name: a, type: suspend}]}}"},
        {"workflows",
         "{suspend: true, steps: {a: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: "
         "[{name: m, image: i}]}}}}}}}"},
        {"cronworkflows",
         "{schedule: '@daily', workflowTemplate: {spec: {steps: {a: {jobTemplate: {spec: {template: {spec: "
         "{restartPolicy: Never, containers: [{name: m, image: i}]}}}}}}}}}"},
        {"rollouttraits", "{targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, rolloutPlan: {}}"},
        {"rollouts", "{targetRevisionName: web-v1, componentName: web, rolloutPlan: {}}"},
        {"approllouts", "{targetAppRevisionName: web-v1, rolloutPlan: {}}"},
        {"pipelines", "{appRef: {kind: HelmRelease, name: web}, environments: [{name: dev, targets: [{namespace: dev}]}]}"},
        {"gitopsclusters", "{secretRef: {name: s}}"},
        {"repositories", "{type: git, git: {repo: 'https://git.test/r.git'}}"},
        {"packagevariants", "{upstream: {repo: a, package: b, revision: 1}, downstream: {repo: c, package: d}}"},
        {"packagevariantsets", "{upstream: {repo: a, package: b, revision: 1}, targets: [{repositories: [{name: c}]}]}"},
        {"approvalpolicies", "{approve: always}"},
        {"packagerollouts", "{upstream: {repo: a, package: b, revision: 1}, targets: {clusters: {}}, steps: [{percent: 100}]}"},
        {"rootsyncs", "{git: {repo: 'https://git.test/r.git'}}"}};
    const auto spec = kSpecs.find(type.resource.plural);
    return *json::parse_yaml(
        fmt::format("{{apiVersion: {}/{}, kind: {}, metadata: {{name: it, namespace: default}}, spec: {}}}",
                    type.resource.group, type.resource.version, type.kind.kind, spec == kSpecs.end() ? "{}" : spec->second));
  }
  Result<Value> create(const kube::ResourceType& type, std::shared_ptr<const kube::UserInfo> user) {
    control::ActingClient client(api_->server(), std::move(user));
    return env_->run(client::create(client, type.resource, object_of(type), "tester"));
  }
  std::string author_of(const delivery::Family& family, const kube::Resource& resource) {
    const auto found = delivery::recorded_identity(family.authored->in, get_in("default", resource, "it"));
    return found ? fmt::format("{} {}", found->name, fmt::join(found->groups, ",")) : "";
  }
  /// RootSyncs are served by `slipway up` only.
  static void each_served(const std::function<void(const delivery::Family&, const kube::Resource&)>& check) {
    for (const delivery::Family* family : plane::families()) {
      for (const kube::Resource& resource : family->authored->resources) {
        const auto is_it = [&](const kube::ResourceType& type) { return type.resource == resource; };
        if (std::ranges::any_of(plane::defined_types(), is_it)) check(*family, resource);
      }
    }
  }
  static std::shared_ptr<const kube::UserInfo> user(const std::string& name, std::vector<std::string> groups = {}) {
    return std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = name, .uid = "", .groups = std::move(groups), .extra = {}});
  }
};

TEST_F(Authors, are_recorded_for_every_kind_that_is_said_to_have_one_and_for_no_other) {
  std::set<std::string> said;
  each_served([&](const auto&, const kube::Resource& resource) { said.insert(resource.group_resource()); });
  std::set<std::string> recorded;
  for (const kube::ResourceType& type : plane::defined_types()) {
    if (!type.is_namespaced || !create(type, user("ann", {"system:masters"}))) {
      EXPECT_FALSE(said.contains(type.resource.group_resource())) << type.kind.kind << " was not created";
      continue;
    }
    for (const delivery::Family* family : plane::families()) {
      const auto found = delivery::recorded_identity(family->authored->in, get_in("default", type.resource, "it"));
      if (found && found->name == "ann") recorded.insert(type.resource.group_resource());
    }
  }
  // Authors of content do not act: what uses the content is confined by them (application/authors.h).
  for (const char* content : {"componentdefinitions.core.oam.dev", "traitdefinitions.core.oam.dev", "policies.core.oam.dev",
                              "policydefinitions.core.oam.dev", "workflowstepdefinitions.core.oam.dev",
                              "workflows.core.oam.dev", "workloaddefinitions.core.oam.dev", "scopedefinitions.core.oam.dev"}) {
    recorded.erase(content);
  }
  EXPECT_EQ(recorded, said);
}

TEST_F(Authors, of_objects_from_before_are_unknown_until_somebody_adopts_them) {
  std::size_t made = 0;
  for (const kube::ResourceType& type : plane::defined_types()) {
    bool acts = false;
    each_served([&](const auto&, const kube::Resource& resource) { acts |= resource == type.resource; });
    if (!acts) continue;
    const auto created = create(type, nullptr);
    ASSERT_TRUE(created) << type.kind.kind << ": " << created.error().message;
    ++made;
  }
  each_served([&](const auto& family, const auto& resource) { EXPECT_EQ(author_of(family, resource), "") << resource.plural; });

  auto settled = env_->run(plane::settle_authors(api_->server(), std::nullopt));
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(*settled, made);
  each_served([&](const auto& family, const auto& resource) {
    EXPECT_EQ(author_of(family, resource), "system:unknown-author ") << resource.plural;
  });
  EXPECT_EQ(env_->run(plane::settle_authors(api_->server(), std::nullopt)).value(), 0u);

  settled = env_->run(plane::settle_authors(api_->server(), *user("olga", {"ops", "leads"})));
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(*settled, made);
  each_served([&](const auto& family, const auto& resource) { EXPECT_EQ(author_of(family, resource), "olga ops,leads"); });
  EXPECT_EQ(env_->run(plane::settle_authors(api_->server(), *user("bob"))).value(), 0u) << "they have an author now";
}

}  // namespace
}  // namespace slipway::families_test
