#include "kube/strategic_merge.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

using json::Value;

const SchemaNode* node_of(std::string_view kind) {
  for (const ResourceType& type : builtin_types()) {
    if (type.kind.kind == kind) return &type.schema->root();
  }
  return nullptr;
}

Value patched(std::string_view kind, std::string_view live, std::string_view patch) {
  auto result = apply_strategic_merge(node_of(kind), yaml(live), yaml(patch));
  return result ? *result : Value("error: " + result.error().message);
}

TEST(StrategicMerge, merges_containers_by_name_and_ports_by_number) {
  EXPECT_EQ(patched("Pod", "{spec: {containers: [{name: a, image: x}, {name: b, image: y, ports: [{containerPort: 80}]}]}}",
                    "{spec: {containers: [{name: b, ports: [{containerPort: 81}], image: z}]}}"),
            yaml("{spec: {containers: [{name: a, image: x}, "
                 "{name: b, image: z, ports: [{containerPort: 81}, {containerPort: 80}]}]}}"));
}

TEST(StrategicMerge, sets_an_image_as_kubectl_sends_it) {
  EXPECT_EQ(patched("Pod", "{spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}",
                    "{spec: {$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: a, image: q}]}}"),
            yaml("{spec: {containers: [{name: b, image: y}, {name: a, image: q}]}}"));
}

TEST(StrategicMerge, replaces_lists_without_a_key) {
  EXPECT_EQ(patched("Pod", "{spec: {containers: [{name: a, args: [x, y]}]}}", "{spec: {containers: [{name: a, args: [z]}]}}"),
            yaml("{spec: {containers: [{name: a, args: [z]}]}}"));
}

TEST(StrategicMerge, deletes_and_replaces_by_directive) {
  const std::string live = "{spec: {containers: [{name: a}, {name: b}], nodeSelector: {x: y}}}";
  EXPECT_EQ(patched("Pod", live, "{spec: {containers: [{name: a, $patch: delete}]}}"),
            yaml("{spec: {containers: [{name: b}], nodeSelector: {x: y}}}"));
  EXPECT_EQ(patched("Pod", live, "{spec: {containers: [{name: c}, {$patch: replace}]}}"),
            yaml("{spec: {containers: [{name: c}], nodeSelector: {x: y}}}"));
  EXPECT_EQ(patched("Pod", live, "{spec: {nodeSelector: {$patch: replace, z: w}}}"),
            yaml("{spec: {containers: [{name: a}, {name: b}], nodeSelector: {z: w}}}"));
  EXPECT_EQ(patched("Pod", live, "{spec: {nodeSelector: {$patch: delete}, containers: null}}"),
            yaml("{spec: {nodeSelector: {}}}"));
}

TEST(StrategicMerge, removes_finalizers_one_by_one) {
  EXPECT_EQ(patched("Pod", "{metadata: {finalizers: [a/x, b/y]}}", "{metadata: {$deleteFromPrimitiveList/finalizers: [a/x]}}"),
            yaml("{metadata: {finalizers: [b/y]}}"));
  EXPECT_EQ(patched("Pod", "{metadata: {finalizers: [a/x]}}", "{metadata: {finalizers: [b/y]}}"),
            yaml("{metadata: {finalizers: [b/y, a/x]}}"));
}

TEST(StrategicMerge, leaves_no_directive_or_null_in_what_it_adds) {
  EXPECT_EQ(patched("Pod", "{}",
                    "{spec: {$setElementOrder/containers: [{name: a}], containers: [{name: a, image: null}, {name: b, $patch: "
                    "delete}], nodeSelector: {x: null}}}"),
            yaml("{spec: {containers: [{name: a}], nodeSelector: {}}}"));
}

TEST(StrategicMerge, words_its_refusals_as_upstream) {
  const std::string live = "{spec: {containers: [{name: a}]}}";
  const auto refusal = [&](std::string_view patch) { return patched("Pod", live, patch).str(); };
  EXPECT_EQ(refusal("{spec: {containers: [{image: x}]}}"),
            "error: map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(refusal("{spec: {$patch: explode}}"), "error: unknown patch type: explode in map: map[$patch:explode]");
  EXPECT_EQ(refusal("{spec: {containers: [{name: a, $patch: merge}]}}"),
            "error: merging lists cannot yet be specified in the patch");
  EXPECT_EQ(refusal("{spec: {$setElementOrder/containers: x}}"), "error: expected a []interface {}, but received a string");
  EXPECT_EQ(refusal("{spec: {$retainKeys: [a], b: c}}"), "error: invalid patch format of retainKeys");
  EXPECT_EQ(refusal("[]"), "error: a strategic merge patch must be an object");
}

TEST(StrategicMerge, a_created_patch_makes_what_was_asked_for) {
  const Value from = yaml("{spec: {containers: [{name: a, image: x, env: [{name: E, value: '1'}]}, {name: b}]}}");
  const Value to =
      yaml("{spec: {containers: [{name: b}, {name: a, image: x, env: [{name: F, value: '2'}]}], dnsPolicy: None}}");
  const auto patch = create_strategic_merge(node_of("Pod"), from, to);
  ASSERT_TRUE(patch) << patch.error().message;
  const auto made = apply_strategic_merge(node_of("Pod"), from, *patch);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, to) << json::print(*patch);
  EXPECT_EQ(create_strategic_merge(node_of("Pod"), to, to).value(), Value::empty_object());
}

/// `count` containers named c0, c1 …; each with `more`.
std::string containers(int count, std::string_view more = "") {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "{" : ",{") + ("\"name\":\"c" + std::to_string(i)) + "\"" + std::string(more) + "}";
  return "{\"spec\":{\"containers\":[" + text + "]}}";
}

TEST(StrategicMerge, long_lists_are_merged_by_an_index) {
  constexpr int kMany = 20'000;
  const Value live = *json::parse(containers(3000));
  const Value merged = apply_strategic_merge(node_of("Pod"), live, *json::parse(containers(kMany, R"(,"image":"x")"))).value();
  ASSERT_EQ(merged["spec"]["containers"].size(), std::size_t{kMany});
  EXPECT_EQ(merged["spec"]["containers"].item(kMany - 1)["name"].as_string(), "c19999");
  const Value less = *json::parse(containers(kMany - 1, R"(,"$patch":"delete")"));
  const Value left = apply_strategic_merge(node_of("Pod"), merged, less).value();
  EXPECT_EQ(json::print(left), R"({"spec":{"containers":[{"name":"c19999","image":"x"}]}})");
  const auto back = create_strategic_merge(node_of("Pod"), merged, left);
  ASSERT_TRUE(back);
  EXPECT_EQ(apply_strategic_merge(node_of("Pod"), merged, *back).value(), left);
}

TEST(StrategicMerge, many_members_make_an_object_anew_once) {
  json::ObjectBuilder data;
  for (int i = 0; i < 100'000; ++i) data.add("k" + std::to_string(i), "v");
  const Value all = data.build();
  const Value live = json::object({{"data", all}});
  const Value patch = json::object({{"data", all.with("k7", Value()).with("new", "n")}});
  const Value merged = apply_strategic_merge(node_of("ConfigMap"), live, patch).value();
  EXPECT_EQ(merged["data"].size(), 100'000U);
  EXPECT_FALSE(merged["data"].has("k7"));
  EXPECT_EQ(merged["data"]["new"].as_string(), "n");
  std::string order;
  for (int i = 0; i < 20'000; ++i) order += "\"$setElementOrder/f" + std::to_string(i) + "\":[],";
  EXPECT_TRUE(apply_strategic_merge(nullptr, Value::empty_object(), *json::parse("{" + order + "\"a\":1}")));
}

}  // namespace
}  // namespace slipway::kube
