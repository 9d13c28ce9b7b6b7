#include "delivery/application/component_patch.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::application {
namespace {

TEST(ComponentPatch, merges_into_what_is_rendered) {
  struct Row {
    const char* base;
    const char* change;
    const char* expected;
  };
  const Row rows[] = {
      {"{a: 1, b: {c: 2}}", "{b: {c: 3, d: 4}}", "{a: 1, b: {c: 3, d: 4}}"},
      {"{a: 1, b: 2}", "{a: null}", "{b: 2}"},
      {"{l: [1, 2]}", "{l: [3]}", "{l: [3]}"},
      {"{c: [{name: web, image: a, env: [{name: X, value: '1'}]}, {name: log}]}",
       "{c: [{name: web, env: [{name: DB, value: s}]}]}",
       "{c: [{name: web, image: a, env: [{name: X, value: '1'}, {name: DB, value: s}]}, {name: log}]}"},
      {"{}", "{c: [{name: web}]}", "{c: [{name: web}]}"},
      {"null", "{a: {b: null, c: 1}}", "{a: {c: 1}}"},
  };
  for (const Row& row : rows) {
    const Value merged = merge_export(*json::parse_yaml(row.base), *json::parse_yaml(row.change));
    EXPECT_EQ(merged, *json::parse_yaml(row.expected)) << row.base << " with " << row.change;
  }
}

TEST(ComponentPatch, sets_a_field_of_the_workload_and_of_its_pods) {
  struct Row {
    const char* workload;
    const char* path;
    const char* expected;  // empty: it cannot be set
  };
  const Row rows[] = {
      {"{spec: {template: {spec: {containers: [{name: web}]}}}}", "spec.containers[0].envFrom[0].secretRef.name",
       "{spec: {template: {spec: {containers: [{name: web, envFrom: [{secretRef: {name: x}}]}]}}}}"},
      {"{spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: web, image: a}]}}}}}}", "spec.containers[0].image",
       "{spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: web, image: x}]}}}}}}"},
      {"{spec: {containers: [{name: web}]}}", "spec.containers[0].image", "{spec: {containers: [{name: web, image: x}]}}"},
      {"{spec: {template: {spec: {}}}}", "spec.containersOf", "{spec: {template: {spec: {}}, containersOf: x}}"},
      {"{spec: {template: {spec: {}}}}", "metadata.labels.\"a.b/c\"",
       "{spec: {template: {spec: {}}}, metadata: {labels: {a.b/c: x}}}"},
      {"{spec: {replicas: 1}}", "spec.replicas.x", ""},
      {"{spec: {}}", "1 + 1", ""},
  };
  for (const Row& row : rows) {
    const auto set = with_field(*json::parse_yaml(row.workload), json::object({{"path", row.path}, {"value", "x"}}));
    if (std::string_view(row.expected).empty()) {
      ASSERT_FALSE(set) << row.path;
      EXPECT_TRUE(set.error().message.starts_with("patch.to.field ")) << set.error().message;
    } else {
      ASSERT_TRUE(set) << row.path << (set ? "" : set.error().message);
      EXPECT_EQ(*set, *json::parse_yaml(row.expected)) << row.path;
    }
  }
}

TEST(ComponentPatch, merges_long_lists_and_large_objects_in_one_pass) {
  json::ArrayBuilder old_items;
  json::ArrayBuilder new_items;
  json::ObjectBuilder old_members;
  json::ObjectBuilder new_members;
  for (int i = 0; i < 50'000; ++i) {
    old_items.add(json::object({{"name", "a" + std::to_string(i)}, {"x", 1}}));
    new_items.add(json::object({{"name", (i % 2 == 0 ? "a" : "b") + std::to_string(i)}, {"y", 2}}));
    old_members.add("a" + std::to_string(i), i);
    new_members.add((i % 2 == 0 ? "a" : "b") + std::to_string(i), i % 2 == 0 ? Value() : Value(i));
  }
  const Value merged = merge_export(json::object({{"list", old_items.build()}, {"map", old_members.build()}}),
                                    json::object({{"list", new_items.build()}, {"map", new_members.build()}}));
  EXPECT_EQ(merged["list"].size(), 75'000U);
  EXPECT_EQ(merged["list"].item(0), json::object({{"name", "a0"}, {"x", 1}, {"y", 2}}));
  EXPECT_EQ(merged["map"].size(), 50'000U);
  EXPECT_FALSE(merged["map"].has("a0"));
}

}  // namespace
}  // namespace slipway::delivery::application
