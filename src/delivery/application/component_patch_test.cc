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

}  // namespace
}  // namespace slipway::delivery::application
