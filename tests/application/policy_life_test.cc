// What each policy does to objects over the life of an application: when it is applied, changed, when a component or the policy
// is removed, and when the application is deleted. Expected results are those of the notes on KubeVela's resource keeper.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::seconds;

/// An application `a` with components of one ConfigMap each: `x` and, unless it is left out, `z`.
struct Life {
  const char* policy;  // of the application; empty: none
  /// The objects "x z" of the hub's namespace after each event, in this order; "x!": it has the data of another writer.
  const char* applied;
  const char* drifted;  // another writer has changed x
  const char* deleted;  // another writer has deleted x
  const char* removed;  // component z was removed
  const char* dropped;  // the policy was removed, component z is back
  const char* gone;     // the application was deleted
  bool stays = false;   // the policy is not removed before that
};

const Life kLives[] = {
    {"", "x z", "x z", "x z", "x", "x z", ""},
    {"{name: p, type: garbage-collect, properties: {keepLegacyResource: true}}", "x z", "x z", "x z", "x z", "x z", ""},
    {"{name: p, type: garbage-collect, properties: {rules: [{selector: {componentNames: [z]}, strategy: onAppDelete}]}}", "x z",
     "x z", "x z", "x z", "x z", ""},
    {"{name: p, type: garbage-collect, properties: {rules: [{selector: {componentNames: [x, z]}, strategy: never}]}}", "x z",
     "x z", "x z", "x z", "x z", "x z", true},
    {"{name: p, type: garbage-collect, properties: {rules: [{selector: {componentNames: [z]}, strategy: onAppUpdate}]}}", "x z",
     "x z", "x z", "x", "x z", ""},
    {"{name: p, type: garbage-collect, properties: {order: dependency}}", "x z", "x z", "x z", "x", "x z", ""},
    {"{name: p, type: apply-once, properties: {enable: true}}", "x z", "x! z", "z", "x", "x z", ""},
    {"{name: p, type: apply-once, properties: {enable: true, rules: [{selector: {componentNames: [x]}, strategy: {path: "
     "[data]}}]}}",
     "x z", "x! z", "z", "x", "x z", ""},
    {"{name: p, type: apply-once, properties: {enable: true, rules: [{selector: {componentNames: [x]}, "
     "strategy: {path: [data], affect: onUpdate}}]}}",
     "x z", "x z", "x z", "x", "x z", ""},
    {"{name: p, type: apply-once, properties: {enable: true, rules: [{selector: {componentNames: [x]}, "
     "strategy: {path: [data], affect: onStateKeep}}]}}",
     "x z", "x! z", "z", "x", "x z", ""},
    {"{name: p, type: shared-resource, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "x z", "x z", "x z",
     "x", "x z", ""},
    {"{name: p, type: take-over, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "x z", "x z", "x z", "x",
     "x z", ""},
    {"{name: p, type: resource-update, properties: {rules: [{selector: {componentNames: [x]}, strategy: {op: replace}}]}}",
     "x z", "x z", "x z", "x", "x z", ""},
    {"{name: p, type: debug}", "x z", "x z", "x z", "x", "x z", ""},
};

class PolicyLife {
 public:
  explicit PolicyLife(Plane& plane, std::string ns) : plane_(plane), ns_(std::move(ns)) { plane_.make_namespace(ns_); }

  void write(const std::string& policy, bool has_z) {
    const auto component = [](const char* name) {
      return fmt::format(
          "{{name: {0}, type: k8s-objects, properties: {{objects: [{{apiVersion: v1, kind: ConfigMap, metadata: "
          "{{name: {0}}}, data: {{of: us}}}}]}}}}",
          name);
    };
    const std::string text = fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{}{}], "
        "policies: [{}]}}}}",
        component("x"), has_z ? ", " + component("z") : "", policy);
    Value object = yaml(text);
    if (policy.empty()) object = object.with("spec", object["spec"].with("policies", Value::empty_array()));
    EXPECT_EQ(plane_.apply(object, ns_), "") << text;
    plane_.pass(seconds{10});
  }
  void change_x() {
    EXPECT_EQ(plane_.merge(map("x"), yaml("{data: {of: others}}")), "");
    plane_.pass(seconds{5});
  }
  void delete_x() {
    EXPECT_EQ(plane_.remove(map("x")), "");
    plane_.pass(seconds{5});
  }
  void delete_application() {
    EXPECT_EQ(plane_.remove(reference("core.oam.dev/v1beta1", "Application", "a")), "");
    plane_.pass(seconds{20});
    EXPECT_TRUE(plane_.find(kHub, reference("core.oam.dev/v1beta1", "Application", "a")).is_null());
  }
  std::string shown() {
    std::string text;
    for (const char* name : {"x", "z"}) {
      const Value found = plane_.find(kHub, map(name));
      if (found.is_null()) continue;
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, found["data"]["of"].as_string() == "us" ? "" : "!");
    }
    return text;
  }

 private:
  Value reference(const char* version, const char* kind, const char* name) const {
    return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", ns_}, {"name", name}});
  }
  Value map(const char* name) const { return reference("v1", "ConfigMap", name); }

  Plane& plane_;
  std::string ns_;
};

TEST(PolicyLife, of_each_policy) {
  std::size_t cases = 0;
  for (std::size_t i = 0; i < std::size(kLives); ++i) {
    const Life& life = kLives[i];
    SCOPED_TRACE(life.policy);
    Plane plane(&image());
    PolicyLife played(plane, fmt::format("life-{}", i));
    const auto expect = [&](const char* wanted, const char* after) {
      EXPECT_EQ(played.shown(), wanted) << after;
      ++cases;
    };
    played.write(life.policy, true);
    expect(life.applied, "applied");
    played.change_x();
    expect(life.drifted, "somebody has changed x");
    played.delete_x();
    expect(life.deleted, "somebody has deleted x");
    played.write(life.policy, false);
    expect(life.removed, "component z was removed");
    played.write(life.stays ? life.policy : "", true);
    expect(life.dropped, "the policy was removed");
    played.delete_application();
    expect(life.gone, "the application was deleted");
  }
  fmt::print("policy lives: {} cases\n", cases);
}

/// What stands in the way of an application, and what the policy makes of it.
TEST(PolicyLife, of_objects_that_others_have) {
  struct Row {
    const char* policy;
    const char* owner;  // of the ConfigMap x that is there: "", or another application
    const char* shown;
    const char* phase;
    const char* message;  // part of the step's
  };
  const Row rows[] = {
      {"", "", "x!", "runningWorkflow", "exists but not managed by any application now"},
      {"", "b", "x!", "runningWorkflow", "is managed by other application: NS/b"},
      {"{name: p, type: take-over, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "", "x", "running", ""},
      {"{name: p, type: take-over, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "b", "x!",
       "runningWorkflow", "is managed by other application: NS/b"},
      {"{name: p, type: shared-resource, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "b", "x!",
       "running", ""},
      {"{name: p, type: read-only, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}", "", "x!", "running", ""},
  };
  std::size_t cases = 0;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    SCOPED_TRACE(fmt::format("{} owner {}", row.policy, row.owner));
    const std::string ns = fmt::format("own-{}", i);
    Plane plane(&image());
    PolicyLife played(plane, ns);
    Value there = yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {of: others}}");
    if (*row.owner != '\0') {
      there = there.with_path({"metadata", "labels"},
                              json::object({{"app.oam.dev/name", row.owner}, {"app.oam.dev/namespace", ns}}));
    }
    EXPECT_EQ(plane.apply(there, ns), "");
    played.write(row.policy, false);
    const Value application = plane.find(
        kHub,
        json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", ns}, {"name", "a"}}));
    EXPECT_EQ(played.shown(), row.shown);
    EXPECT_EQ(application["status"]["status"].as_string(), row.phase);
    std::string message = row.message;
    if (const auto at = message.find("NS"); at != std::string::npos) message.replace(at, 2, ns);
    EXPECT_TRUE(application["status"]["workflow"]["steps"].item(0)["message"].as_string().contains(message))
        << json::print(application["status"]["workflow"]);
    ++cases;
  }
  fmt::print("ownership: {} cases\n", cases);
}

}  // namespace
}  // namespace slipway::oracle_test
