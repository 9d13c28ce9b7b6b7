// An author who loses a right in the middle of a run makes it wait; one who never had the right fails the step, as in KubeVela.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/author_right.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const auto kDev = std::make_shared<const kube::UserInfo>(
    kube::UserInfo{.name = "dev", .uid = "", .groups = {"system:authenticated"}, .extra = {}});

/// `resources` are those of core, beside what an Application needs.
std::string role(std::string_view resources) {
  return fmt::format(
      "{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: dev, namespace: team}}, rules: [{{apiGroups: "
      "[core.oam.dev], resources: [applications, workflowruns], verbs: ['*']}}, {{apiGroups: [''], resources: [{}], verbs: "
      "['*']}}]}}",
      resources);
}

constexpr const char* kBinding =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: dev, namespace: team}, roleRef: {apiGroup: "
    "rbac.authorization.k8s.io, kind: Role, name: dev}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "
    "dev}]}";

/// The first step makes a ConfigMap, the last one a Secret 20 s later.
constexpr const char* kSteps =
    "[{name: first, type: apply-object, properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, "
    "namespace: "
    "team}}}}, {name: nap, type: suspend, properties: {duration: 20s}}, {name: last, type: apply-object, properties: {value: "
    "{apiVersion: v1, kind: Secret, metadata: {name: last, namespace: team}}}}]";

struct Family {
  const char* kind;
  std::string manifest;
  std::vector<std::string> path;  // to the status of the run
};

std::vector<Family> families() {
  return {{"Application",
           fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: it, namespace: team}}, spec: "
                       "{{components: [], workflow: {{steps: {}}}}}}}",
                       kSteps),
           {"status", "workflow"}},
          {"WorkflowRun",
           fmt::format("{{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {{name: it, namespace: team}}, spec: "
                       "{{workflowSpec: {{steps: {}}}}}}}",
                       kSteps),
           {"status"}}};
}

class LostRight : public testing::TestWithParam<std::size_t> {
 protected:
  LostRight() { plane_.make_namespace("team"); }

  void make(std::string_view object, const std::shared_ptr<const kube::UserInfo>& user = nullptr) {
    ASSERT_EQ(plane_.apply(yaml(std::string(object)), "team", user), "") << object;
  }
  Value run() const {
    const Value made = yaml(family_.manifest);
    Value status = plane_.find(
        kHub,
        json::object({{"apiVersion", made["apiVersion"]}, {"kind", made["kind"]}, {"namespace", "team"}, {"name", "it"}}));
    for (const std::string& member : family_.path) status = status[member];
    return status;
  }
  std::string phase() const { return run()["steps"].item(2)["phase"].str(); }
  std::string message() const { return run()["steps"].item(2)["message"].str(); }

  const Family family_ = families()[GetParam()];
  Plane plane_{&image()};
};

TEST_P(LostRight, makes_the_run_wait_until_it_returns) {
  make(role("configmaps, secrets"));
  make(kBinding);
  make(family_.manifest, kDev);
  ASSERT_TRUE(plane_.pass(seconds{10}));
  make(role("configmaps"));
  ASSERT_TRUE(plane_.pass(minutes{20}));
  EXPECT_EQ(phase(), "running") << json::print(run());
  EXPECT_NE(message().find("AuthorLacksRight: secrets "), std::string::npos) << message();
  EXPECT_NE(message().find("\"dev\" cannot"), std::string::npos) << message();
  EXPECT_EQ(run()["steps"].item(2)["failures"].as_int(), 0) << "uses up no retry";

  make(role("configmaps, secrets"));
  ASSERT_TRUE(plane_.pass(seconds{60}));
  EXPECT_EQ(phase(), "succeeded") << json::print(run());
  EXPECT_TRUE(run()["finished"].as_bool());
}

TEST_P(LostRight, fails_the_step_if_the_author_never_had_the_right) {
  make(role("configmaps"));
  make(kBinding);
  make(family_.manifest, kDev);
  ASSERT_TRUE(plane_.pass(minutes{30}));
  EXPECT_EQ(phase(), "failed") << json::print(run());
  EXPECT_NE(message().find("\"dev\" cannot"), std::string::npos) << message();
  EXPECT_EQ(run()["steps"].item(2)["reason"].str(), "FailedAfterRetries");
}

TEST_P(LostRight, fails_the_step_whatever_other_right_the_author_gets_meanwhile) {
  make(role("configmaps"));
  make(kBinding);
  make(family_.manifest, kDev);
  ASSERT_TRUE(plane_.pass(seconds{10}));
  make(role("configmaps, services"));
  ASSERT_TRUE(plane_.pass(minutes{30}));
  EXPECT_EQ(phase(), "failed") << json::print(run());
  EXPECT_EQ(message().find("AuthorLacksRight"), std::string::npos) << message();
}

TEST_P(LostRight, of_the_unknown_author_is_every_right_until_somebody_writes_the_spec_again) {
  make(role("configmaps, secrets"));
  make(kBinding);
  // As what was stored before authors were recorded, once the process has started (plane/authors.h).
  const Value stored =
      yaml(family_.manifest)
          .with_path({"metadata", "annotations", "app.oam.dev/username"}, std::string(control::kUnknownAuthor));
  make(json::print(stored));
  ASSERT_TRUE(plane_.pass(minutes{20}));
  const Value first = run()["steps"].item(0);
  EXPECT_EQ(first["phase"].as_string(), "running") << json::print(run());
  EXPECT_TRUE(first["message"].as_string().contains("AuthorUnknown: the object was stored before its author was recorded"))
      << first["message"].as_string();
  EXPECT_TRUE(first["message"].as_string().contains("--adopt-as USER")) << first["message"].as_string();
  if (std::string_view(family_.kind) == "WorkflowRun") return;  // its spec is not changed while it runs

  Value again = yaml(family_.manifest);
  again = again.with_path({"spec", "workflow", "steps"}, again["spec"]["workflow"]["steps"].appended(
                                                             yaml("{name: more, type: suspend, properties: {duration: 1s}}")));
  make(json::print(again), kDev);
  ASSERT_TRUE(plane_.pass(minutes{2}));
  EXPECT_TRUE(run()["finished"].as_bool()) << json::print(run());
}

TEST_P(LostRight, in_another_namespace_that_the_spec_names_is_waited_for_too) {
  plane_.make_namespace("other");
  const auto rights_in_other = [](std::string_view resources) {
    return fmt::format(
        "{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: dev, namespace: other}}, rules: "
        "[{{apiGroups: "
        "[''], resources: [{}], verbs: ['*']}}]}}",
        resources);
  };
  std::string binding = kBinding;
  binding.replace(binding.find("namespace: team"), 15, "namespace: other");
  std::string manifest = family_.manifest;
  manifest.replace(manifest.find("name: last, namespace: team"), 27, "name: last, namespace: other");
  make(role("configmaps"));
  make(kBinding);
  ASSERT_EQ(plane_.apply(yaml(rights_in_other("secrets")), "other"), "");
  ASSERT_EQ(plane_.apply(yaml(binding), "other"), "");
  make(manifest, kDev);
  ASSERT_TRUE(plane_.pass(seconds{10}));
  ASSERT_EQ(plane_.apply(yaml(rights_in_other("services")), "other"), "");
  ASSERT_TRUE(plane_.pass(minutes{20}));
  EXPECT_EQ(phase(), "running") << json::print(run());
  EXPECT_TRUE(message().contains("AuthorLacksRight: secrets ")) << message();
  ASSERT_EQ(plane_.apply(yaml(rights_in_other("secrets")), "other"), "");
  ASSERT_TRUE(plane_.pass(seconds{60}));
  EXPECT_TRUE(run()["finished"].as_bool()) << json::print(run());
}

INSTANTIATE_TEST_SUITE_P(Runs, LostRight, testing::Range<std::size_t>(0, families().size()),
                         [](const testing::TestParamInfo<std::size_t>& info) { return families()[info.param].kind; });

}  // namespace
}  // namespace slipway::oracle_test
