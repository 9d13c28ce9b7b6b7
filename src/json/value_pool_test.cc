#include "json/value_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::json {
namespace {

Value yaml(const std::string& text) { return *parse_yaml(text); }

TEST(ValuePool, equal_parts_of_different_objects_lie_in_memory_once) {
  ValuePool pool;
  const std::string conditions = "status: {conditions: [{type: Ready, message: 'Helm install succeeded for release web.v1'}]}";
  const Value one = pool.shared(yaml("{metadata: {name: one}, " + conditions + "}"));
  const Value two = pool.shared(yaml("{metadata: {name: two}, " + conditions + "}"));
  EXPECT_TRUE(one["status"].is_same(two["status"]));
  EXPECT_EQ(one["metadata"]["name"].as_string(), "one");
  EXPECT_EQ(two["metadata"]["name"].as_string(), "two");
}

TEST(ValuePool, what_comes_out_prints_as_what_went_in) {
  ValuePool pool;
  for (const char* text : {"{a: 1, b: {c: a rather long text}}", "{b: {c: a rather long text}, a: 1}", "{a: 1.0, b: [1, 2.5]}",
                           "{a: 1, b: [1, 2.5]}", "[a rather long text, {a: 1}]"}) {
    const Value value = yaml(text);
    EXPECT_EQ(print(pool.shared(value)), print(value));
  }
}

TEST(ValuePool, parts_of_one_object_lie_in_memory_once_too) {
  ValuePool pool;
  const Value rows =
      pool.shared(yaml("[{cluster: {kind: GitopsCluster, name: m1}, since: '2026-01-02T03:04:05Z', at: {time: "
                       "'2026-01-02T03:04:05Z'}}, {cluster: {kind: GitopsCluster, name: m1}, since: "
                       "'2026-01-02T03:04:06Z', at: {time: '2026-01-02T03:04:05Z'}}]"));
  EXPECT_TRUE(rows.item(0)["cluster"].is_same(rows.item(1)["cluster"]));
  EXPECT_TRUE(rows.item(0)["at"].is_same(rows.item(1)["at"]));
  EXPECT_TRUE(rows.item(0)["since"].is_same(rows.item(0)["at"]["time"]));
  EXPECT_EQ(rows.item(1)["since"].as_string(), "2026-01-02T03:04:06Z");
}

TEST(ValuePool, a_part_that_always_comes_is_kept_among_many_that_come_once) {
  ValuePool pool;
  Value last = pool.shared(yaml("{label: what every object has alike}"));
  std::size_t same = 0;
  for (int i = 0; i < 1000; ++i) {
    pool.shared(yaml(fmt::format("{{label: what object {} has alone}}", i)));
    const Value next = pool.shared(yaml("{label: what every object has alike}"));
    same += next.is_same(last) ? 1 : 0;
    last = next;
  }
  EXPECT_GT(same, 900U);
}

}  // namespace
}  // namespace slipway::json
