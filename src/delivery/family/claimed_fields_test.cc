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
    EXPECT_EQ(json::print(without_claimed(manifest, live)), row.left) << row.claimed;
  }
}

}  // namespace
}  // namespace slipway::delivery
