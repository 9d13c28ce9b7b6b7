#include "kube/resource_word.h"

#include <gtest/gtest.h>

namespace slipway::kube {
namespace {

ResourceTypePtr type(std::string group, std::string version, std::string plural, std::string kind, bool is_custom,
                     std::vector<std::string> short_names = {}) {
  auto made = std::make_shared<ResourceType>();
  made->resource = {group, version, plural};
  made->kind = {group, version, kind};
  made->singular = plural.substr(0, plural.size() - 1);
  made->short_names = std::move(short_names);
  made->is_custom = is_custom;
  return made;
}

const std::vector<ResourceTypePtr> kTypes{type("", "v1", "jobs", "Job", false),
                                          type("a.example", "v1", "flows", "Flow", true, {"fl"}),
                                          type("a.example", "v1beta1", "flows", "Flow", true, {"fl"}),
                                          type("b.example", "v1", "flows", "Flow", true),
                                          type("b.example", "v1", "jobs", "Job", true),
                                          type("b.example", "v1", "fls", "Floor", true)};

std::string found(std::string_view word) {
  const auto type = find_by_word(kTypes, word);
  return type ? (*type)->resource.version + "/" + (*type)->resource.group_resource() : type.error().message;
}

TEST(ResourceWord, of_several_groups_the_first_by_name_is_taken) {
  EXPECT_EQ(found("flows"), "v1/flows.a.example");
  EXPECT_EQ(found("Flow"), "v1/flows.a.example");
  EXPECT_EQ(found("flow.b.example"), "v1/flows.b.example");
  const std::vector<ResourceTypePtr> turned(kTypes.rbegin(), kTypes.rend());
  EXPECT_EQ((*find_by_word(turned, "flows"))->resource.group, "a.example");
}

TEST(ResourceWord, versions_of_one_resource_are_not_ambiguous) { EXPECT_EQ(found("FLOWS.a.example"), "v1/flows.a.example"); }

TEST(ResourceWord, built_in_kinds_win) {
  EXPECT_EQ(found("job"), "v1/jobs");
  EXPECT_EQ(found("jobs.b.example"), "v1/jobs.b.example");
}

TEST(ResourceWord, a_short_name_gives_way_to_a_name) {
  EXPECT_EQ(found("fl"), "v1/fls.b.example");
  EXPECT_EQ(found("fl.a.example"), "v1/flows.a.example");
}

TEST(ResourceWord, what_nothing_is_called_is_not_found) {
  EXPECT_EQ(found("things"), "the server doesn't have a resource type \"things\"");
  EXPECT_EQ(found("flows.c.example"), "the server doesn't have a resource type \"flows.c.example\"");
}

}  // namespace
}  // namespace slipway::kube
