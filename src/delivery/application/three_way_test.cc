#include "delivery/application/three_way.h"

#include <gtest/gtest.h>

#include "json/patch.h"
#include "json/text.h"
#include "json/text_test.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

constexpr const char* kLastApplied = "app.oam.dev/last-applied-configuration";

TEST(ThreeWay, of_a_built_in_kind_is_strategic_and_takes_away_what_was_applied_last) {
  const Value last = yaml(R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: w, labels: {a: b, old: x}},
      spec: {replicas: 2, template: {spec: {containers: [{name: c, env: [{name: A, value: "1"}, {name: B, value: "2"}]}]}}}})");
  const Value live =
      with_last_applied(last, {}).with_path({"metadata", "labels", "theirs"}, "y").with_path({"spec", "paused"}, true);
  const Value wanted = yaml(R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: w, labels: {a: b}},
      spec: {replicas: 3, template: {spec: {containers: [{name: c, env: [{name: A, value: "1"}]}]}}}})");
  const auto made = three_way_patch(wanted, live);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type, client::PatchType::StrategicMerge);
  EXPECT_EQ(made->patch["metadata"]["labels"], yaml("{old: null}"));
  EXPECT_EQ(made->patch["spec"]["replicas"].as_int(), 3);
  EXPECT_FALSE(made->patch["spec"].has("paused"));
  EXPECT_EQ(*json::parse(made->patch["metadata"]["annotations"][kLastApplied].as_string()), wanted);
}

TEST(ThreeWay, of_another_kind_is_a_merge_patch_and_empty_when_nothing_differs) {
  const Value wanted = yaml("{apiVersion: test.dev/v1, kind: Thing, metadata: {name: t}, spec: {a: 1}}");
  const Value live = with_last_applied(wanted, {}).with_path({"spec", "theirs"}, 2);
  const auto same = three_way_patch(wanted, live);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->type, client::PatchType::Merge);
  EXPECT_TRUE(same->patch.empty()) << json::print(same->patch);
}

TEST(ThreeWay, secrets_and_whoever_says_skip_are_not_remembered) {
  const Value secret = yaml("{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: dg==}}");
  EXPECT_EQ(with_last_applied(secret, {}), secret);
  const Value live = yaml("{metadata: {annotations: {app.oam.dev/last-applied-configuration: skip}}}");
  const Value thing = yaml("{apiVersion: test.dev/v1, kind: Thing, metadata: {name: t}}");
  EXPECT_EQ(kube::annotation(with_last_applied(thing, live), kLastApplied), "skip");
}

}  // namespace
}  // namespace slipway::delivery::application
