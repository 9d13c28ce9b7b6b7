#include "delivery/family/claimed_fields.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery {
namespace {

TEST(ClaimedFields, leave_a_manifest_without_them) {
  struct Row {
    const char* claimed;
    const char* left;
  };
  const Row rows[] = {{"", R"({"spec":{"paused":true,"replicas":3}})"},
                      {"spec.replicas", R"({"spec":{"paused":true}})"},
                      {"spec.replicas,spec.paused", R"({"spec":{}})"},
                      {"spec.updateStrategy.partition", R"({"spec":{"paused":true,"replicas":3}})"},
                      {",,spec..replicas,", R"({"spec":{"paused":true}})"}};
  const json::Value manifest = *json::parse(R"({"spec":{"paused":true,"replicas":3}})");
  for (const Row& row : rows) {
    const json::Value live =
        json::object({{"metadata", json::object({{"annotations", json::object({{kClaimedFields, row.claimed}})}})}});
    EXPECT_EQ(json::print(without_claimed(manifest, live, "me")), row.left) << row.claimed;
  }
}

json::Value parsed(const std::string& text) { return *json::parse(text); }

/// Claimed by the live object: spec.replicas, which is 7 there and was written by `manager`.
json::Value live_by(const char* manager) {
  return parsed(std::string(R"({"metadata":{"annotations":{"slipway.dev/claimed-fields":"spec.replicas"},"managedFields":[)") +
                R"({"manager":")" + manager + R"(","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":7}})");
}

TEST(ClaimedFields, that_nobody_else_has_written_stay_as_they_are) {
  const json::Value manifest = parsed(R"({"spec":{"paused":true,"replicas":3}})");
  EXPECT_EQ(json::print(without_claimed(manifest, live_by("rollout"), "me")), R"({"spec":{"paused":true}})");
  EXPECT_EQ(without_claimed(manifest, live_by("me"), "me")["spec"]["replicas"].as_int(), 7);
}

TEST(ClaimedFields, are_given_away_until_the_rest_is_another) {
  const std::string head = R"({"metadata":{"annotations":{"slipway.dev/claimed-fields":"spec.plan"}},"spec":)";
  const json::Value live = parsed(head + R"({"target":"v1","plan":{"batches":2},"other":{"made":1,"by":"default"}}})");
  const json::Value same = parsed(head + R"({"target":"v1","plan":{"batches":1},"other":{"made":1}}})");
  const json::Value next = parsed(head + R"({"target":"v2","plan":{"batches":1},"other":{"made":1}}})");
  EXPECT_EQ(without_claimed(same, live, "me")["spec"]["plan"]["batches"].as_int(), 2);
  EXPECT_EQ(without_claimed(next, live, "me")["spec"]["plan"]["batches"].as_int(), 1);
}

TEST(ClaimedFields, that_are_given_away_are_applied_when_the_manifest_changes_them) {
  const std::string head = R"({"metadata":{"annotations":{"slipway.dev/claimed-fields":"spec.plan.partition"}},"spec":)";
  const auto manifest = [&](const char* spec) { return with_claimed_values(parsed(head + spec + "}")); };
  const json::Value first = manifest(R"({"target":"v1","plan":{"batches":2,"partition":0}})");
  const json::Value live = first.with_path({"spec", "plan", "partition"}, 3);  // promoted by a person
  const auto partition = [&](const char* spec) {
    return without_claimed(manifest(spec), live, "me")["spec"]["plan"]["partition"];
  };
  EXPECT_TRUE(partition(R"({"target":"v1","plan":{"batches":2,"partition":0}})").is_null() ||
              partition(R"({"target":"v1","plan":{"batches":2,"partition":0}})").as_int() == 3)
      << "unchanged: the promotion stays";
  EXPECT_EQ(partition(R"({"target":"v1","plan":{"batches":2,"partition":5}})").as_int(), 5);
  EXPECT_NE(partition(R"({"target":"v1","plan":{"batches":9,"partition":0}})"), json::Value(0)) << "another field changes";
  EXPECT_EQ(partition(R"({"target":"v2","plan":{"batches":9,"partition":0}})").as_int(), 0) << "the whole is meant";
}

TEST(ClaimedFields, that_are_not_given_away_any_more_are_taken_back_with_what_others_wrote) {
  const json::Value live =
      parsed(R"({"metadata":{"annotations":{"slipway.dev/claimed-fields":"spec.plan"},"managedFields":[)"
             R"({"manager":"me","operation":"Apply","fieldsV1":{"f:spec":{"f:plan":{"f:batches":{}}}}},)"
             R"({"manager":"me","operation":"Update","fieldsV1":{"f:spec":{"f:plan":{"f:onFailure":{}},"f:other":{}}}},)"
             R"({"manager":"cli","operation":"Update","fieldsV1":{"f:spec":{"f:plan":{"f:paused":{}}}}},)"
             R"({"manager":"me","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}}]}})");
  const auto fields = taken_back_fields(live, parsed(R"({"spec":{"plan":{"batches":2}}})"), "me");
  ASSERT_TRUE(fields);
  EXPECT_EQ(
      json::print(*fields),
      R"([{"manager":"me","operation":"Update","fieldsV1":{"f:spec":{"f:other":{}}}},)"
      R"({"manager":"me","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}},)"
      R"({"manager":"me","operation":"Apply","fieldsV1":{"f:spec":{"f:plan":{"f:batches":{},"f:onFailure":{},"f:paused":{}}}}}])");
  const json::Value given =
      parsed(R"({"metadata":{"annotations":{"slipway.dev/claimed-fields":"spec.plan"}},"spec":{"plan":{}}})");
  EXPECT_FALSE(taken_back_fields(live, given, "me")) << "given away again";
  EXPECT_FALSE(taken_back_fields(live, parsed(R"({"spec":{"target":"v2"}})"), "me")) << "it is not said";
  EXPECT_FALSE(taken_back_fields(live, parsed(R"({"spec":{"plan":{}}})"), "you")) << "nothing was applied";
}

}  // namespace
}  // namespace slipway::delivery
