#include "delivery/application/cluster_shares.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::application {
namespace {

const std::vector<ClusterEntry>& landscape() {
  static const std::vector<ClusterEntry> kClusters = {
      {"west-2", {{"region", "west"}}}, {"east-1", {{"region", "east"}, {"tier", "a"}}}, {"east-3", {{"region", "east"}}},
      {"east-2", {{"region", "east"}}}, {"west-1", {{"region", "west"}, {"tier", "a"}}}, {"none", {}}};
  return kClusters;
}

/// "east-1:3 east-2:2 …", or the error.
std::string shared(const std::string& placement, std::int64_t declared) {
  const auto value = json::parse_yaml(placement);
  if (!value) return value.error().message;
  const auto entries = read_shares(*value);
  if (!entries) return entries.error().message;
  std::string text;
  for (const auto& [cluster, replicas] : share_replicas(*entries, clusters_of(*entries, landscape()), declared)) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", cluster, replicas);
  }
  return text;
}

TEST(ClusterShares, clusters_of_one_selector_run_its_share_together) {
  const std::string printed =
      "[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: west}, replicas: '20%'}]";
  EXPECT_EQ(shared(printed, 10), "east-1:3 east-2:2 east-3:2 west-1:1 west-2:1");
  EXPECT_EQ(shared(printed, 100), "east-1:24 east-2:23 east-3:23 west-1:10 west-2:10");
  EXPECT_EQ(shared(printed, 1), "east-1:1 east-2:0 east-3:0 west-1:0 west-2:0") << "0.9 is nearest to 1; east has more of it";
  EXPECT_EQ(shared(printed, 0), "east-1:0 east-2:0 east-3:0 west-1:0 west-2:0");
}

TEST(ClusterShares, the_whole_is_given_out_when_the_shares_are_all_of_it) {
  const std::string thirds =
      "[{clusterSelector: {region: west}, replicas: '33%'}, {clusterSelector: {tier: a}, replicas: '33%'}, "
      "{clusterSelector: {region: east}, replicas: '34%'}]";
  for (std::int64_t declared = 0; declared < 40; ++declared) {
    const auto entries = read_shares(*json::parse_yaml(thirds));
    ASSERT_TRUE(entries);
    std::int64_t sum = 0;
    for (const auto& [cluster, replicas] : share_replicas(*entries, clusters_of(*entries, landscape()), declared))
      sum += replicas;
    EXPECT_EQ(sum, declared);
  }
}

TEST(ClusterShares, equal_remainders_go_by_name) {
  EXPECT_EQ(
      shared("[{clusterSelector: {region: west}, replicas: '50%'}, {clusterSelector: {region: east}, replicas: '50%'}]", 3),
      "east-1:1 east-2:1 east-3:0 west-1:1 west-2:0");
}

TEST(ClusterShares, a_cluster_belongs_to_the_first_entry_that_matches_it) {
  EXPECT_EQ(shared("[{clusterSelector: {tier: a}, replicas: '40%'}, {clusterSelector: {region: east}, replicas: '60%'}]", 10),
            "east-1:2 east-2:3 east-3:3 west-1:2");
}

TEST(ClusterShares, without_a_share_each_cluster_runs_all) {
  EXPECT_EQ(shared("[{clusterSelector: {tier: a}}, {clusterSelector: {region: east}, replicas: '50%'}]", 4),
            "east-1:4 east-2:1 east-3:1 west-1:4");
}

TEST(ClusterShares, nobody_is_chosen_twice_or_by_no_label) {
  const auto entries = read_shares(*json::parse_yaml("[{clusterSelector: {region: north}}, {clusterSelector: {}}]"));
  ASSERT_TRUE(entries);
  const auto chosen = clusters_of(*entries, landscape());
  EXPECT_TRUE(chosen[0].empty());
  EXPECT_EQ(chosen[1], (std::vector<std::string>{"east-1", "east-2", "east-3", "none", "west-1", "west-2"}));
  EXPECT_EQ((*entries)[0].name(), "region=north");
  EXPECT_EQ((*entries)[1].name(), "everything");
}

TEST(ClusterShares, more_than_all_is_refused_and_so_is_what_is_no_percentage) {
  EXPECT_EQ(
      shared("[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: west}, replicas: '31%'}]", 10),
      "placement: the shares are 101 % of the replicas together, more than there are");
  EXPECT_EQ(shared("[{clusterSelector: {region: east}, replicas: '7.5%'}]", 10),
            "placement[0].replicas: 7.5% is no whole percentage from 0% to 100%");
  EXPECT_EQ(shared("[{clusterSelector: {region: east}, replicas: 3}]", 10),
            "placement[0].replicas: 3 is no whole percentage from 0% to 100%");
  EXPECT_EQ(shared("[{replicas: '3%'}]", 10), "placement[0].clusterSelector: Required value: labels of clusters");
}

}  // namespace
}  // namespace slipway::delivery::application
