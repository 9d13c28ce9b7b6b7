// Several applications that want one object at the same moment: without a policy the first has it and the others are told so;
// those that share it are all in its list, and it stays as long as one of them is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kShared =
    "{name: share, type: shared-resource, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}";

class Sharing : public testing::Test {
 protected:
  explicit Sharing(std::map<std::string, std::string> options = {})
      : plane_(&image(), PlaneOptions{.family_options = std::move(options)}) {
    plane_.make_namespace("default");
  }
  /// An application with one ConfigMap `claimed`, whose data names the application. Time stands still.
  void apply(const std::string& name, const std::string& policy) {
    const std::string text = fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: {0}}}, spec: {{components: [{{name: c, type: "
        "k8s-objects, properties: {{objects: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: claimed}}, data: {{of: "
        "{0}}}}}]}}}}], policies: [{1}]}}}}",
        name, policy);
    EXPECT_EQ(plane_.apply(yaml(text), "default"), "");
  }
  static Value named(const char* version, const char* kind, const std::string& name) {
    return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
  }
  Value claimed() { return plane_.find(kHub, named("v1", "ConfigMap", "claimed")); }
  Value status_of(const std::string& name) {
    return plane_.find(kHub, named("core.oam.dev/v1beta1", "Application", name))["status"];
  }
  void remove(const std::string& name) {
    EXPECT_EQ(plane_.remove(named("core.oam.dev/v1beta1", "Application", name)), "");
    plane_.pass(minutes{1});
  }
  std::set<std::string> sharers() {
    std::set<std::string> found;
    const Value now = claimed();
    for (const auto one : split(kube::annotation(now, "app.oam.dev/shared-by"), ',')) found.emplace(one);
    return found;
  }
  void one_has_it_and_the_other_is_told();

  Plane plane_;
};

class SharingThreeWay : public Sharing {
 protected:
  SharingThreeWay() : Sharing({{"apply-mode", "three-way"}}) {}
};

void Sharing::one_has_it_and_the_other_is_told() {
  apply("a", "");
  apply("b", "");
  plane_.pass(minutes{1});
  const std::string owner(kube::label(claimed(), "app.oam.dev/name"));
  ASSERT_TRUE(owner == "a" || owner == "b") << json::print(claimed());
  const std::string other = owner == "a" ? "b" : "a";
  EXPECT_EQ(claimed()["data"]["of"].as_string(), owner);
  EXPECT_EQ(status_of(owner)["status"].as_string(), "running") << json::print(status_of(owner));
  EXPECT_EQ(status_of(other)["status"].as_string(), "workflowFailed");
  const Value step = status_of(other)["workflow"]["steps"].item(0);
  EXPECT_TRUE(step["message"].as_string().contains("is managed by other application: default/" + owner)) << json::print(step);
  remove(other);
  EXPECT_EQ(claimed()["data"]["of"].as_string(), owner) << "what it never had stays";
}

TEST_F(Sharing, what_two_claim_at_once_belongs_to_one_and_the_other_is_told) { one_has_it_and_the_other_is_told(); }

TEST_F(SharingThreeWay, what_two_claim_at_once_belongs_to_one_and_the_other_is_told) { one_has_it_and_the_other_is_told(); }

TEST_F(Sharing, an_object_that_is_created_belongs_to_the_one_field_manager_as_applied) {
  apply("a", "");
  plane_.pass(minutes{1});
  const Value& managers = claimed()["metadata"]["managedFields"];
  ASSERT_EQ(managers.size(), 1U) << json::print(managers);
  EXPECT_EQ(managers.item(0)["operation"].as_string(), "Apply");
  EXPECT_FALSE(json::print(managers).contains("resourceVersion")) << json::print(managers);
}

TEST_F(Sharing, of_three_that_come_at_once_none_is_lost_and_the_object_stays_for_the_last) {
  for (const char* name : {"a", "b", "c"}) apply(name, kShared);
  plane_.pass(minutes{1});
  EXPECT_EQ(sharers(), (std::set<std::string>{"default/a", "default/b", "default/c"}));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(status_of(name)["status"].as_string(), "running") << name;
  const std::string owner(kube::label(claimed(), "app.oam.dev/name"));
  for (const char* name : {"a", "b", "c"}) {
    if (name != owner) remove(name);
  }
  EXPECT_EQ(sharers(), std::set<std::string>{"default/" + owner});
  remove(owner);
  EXPECT_TRUE(claimed().is_null()) << json::print(claimed());
}

TEST_F(Sharing, of_three_that_go_at_once_the_object_goes_with_them) {
  for (const char* name : {"a", "b", "c"}) apply(name, kShared);
  plane_.pass(minutes{1});
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(plane_.remove(named("core.oam.dev/v1beta1", "Application", name)), "");
  }
  plane_.pass(minutes{1});
  EXPECT_TRUE(claimed().is_null()) << json::print(claimed());
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(status_of(name).is_null()) << name;
}

/// Its owner may be deleted at any time, and with it what nobody else is said to use.
TEST_F(Sharing, a_sharer_that_another_writer_took_from_the_list_puts_itself_back) {
  apply("a", kShared);
  plane_.pass(seconds{30});
  apply("b", kShared);
  plane_.pass(seconds{30});
  EXPECT_EQ(plane_.merge(named("v1", "ConfigMap", "claimed"),
                         yaml("{metadata: {annotations: {app.oam.dev/shared-by: default/none}}}")),
            "");
  plane_.pass(minutes{10});
  EXPECT_EQ(sharers(), (std::set<std::string>{"default/a", "default/b", "default/none"}));
}

}  // namespace
}  // namespace slipway::oracle_test
