// The bounds of a rolling Deployment as Argo Rollouts and OpenKruise resolve them, which is the Kubernetes rule too
// (rollouts/argo-replica-grids.json, argo-replicas.json and kruise-rollouts.json of the corpus).
#include <gtest/gtest.h>

#include <cstdio>

#include "base/corpus_test.h"
#include "cluster/deployment_facts.h"
#include "json/text.h"

namespace slipway::cluster {
namespace {

using json::Value;

Value cases(const std::string& file, std::string_view group) {
  const auto parsed = json::parse(corpus_file("rollouts/" + file + ".json").value_or(""));
  if (!parsed) return Value();
  for (const Value& one : (*parsed)["groups"].items()) {
    if (one["id"].as_string() == group) return one["cases"];
  }
  return Value();
}

struct Fenceposts {
  Value max_surge, max_unavailable;
  std::int64_t desired, surge, unavailable;
};

/// Columns are named in tests of upstream, and are in this order in the grid.
Fenceposts read(const Value& row) {
  if (row.is_array()) {
    return {row.item(0), row.item(1), row.item(2).as_int(), row.item(3).as_int(), row.item(4).as_int()};
  }
  return {row["maxSurge"], row["maxUnavailable"], row["desired"].as_int(), row["expectSurge"].as_int(),
          row["expectUnavailable"].as_int()};
}

void play(const std::string& file, std::string_view group) {
  const Value rows = cases(file, group);
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0;
  for (const Value& row : rows.items()) {
    if (row["expectError"].as_bool()) continue;  // the API server refuses such a Deployment
    const Fenceposts one = read(row);
    const auto bound = [](const Value& share) { return share.is_null() ? Value(0) : share; };
    const Value rolling = json::object({{"maxSurge", bound(one.max_surge)}, {"maxUnavailable", bound(one.max_unavailable)}});
    const DeploymentSpec spec(
        Value().with_path({"spec", "replicas"}, one.desired).with_path({"spec", "strategy", "rollingUpdate"}, rolling));
    // Here no more are unavailable than there are.
    const bool is_same = spec.max_surge == one.surge && spec.max_unavailable == std::min(one.unavailable, one.desired);
    EXPECT_TRUE(is_same) << json::print(row) << ": " << spec.max_surge << ", " << spec.max_unavailable;
    passed += is_same ? 1 : 0;
    ++all;
  }
  std::printf("rollouts/%s/%s %zu/%zu\n", file.c_str(), std::string(group).c_str(), passed, all);
}

TEST(FencepostsCorpus, of_argos_grid) { play("argo-replica-grids", "resolveFenceposts"); }
TEST(FencepostsCorpus, of_argos_tests) { play("argo-replicas", "TestResolveFenceposts"); }
TEST(FencepostsCorpus, of_kruises_tests) { play("kruise-rollouts", "TestResolveFenceposts"); }

}  // namespace
}  // namespace slipway::cluster
