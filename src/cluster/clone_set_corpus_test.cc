// The arithmetic of CloneSets as OpenKruise's own tests and functions have it (rollouts/kruise-cloneset.json of the corpus).
// Prints `rollouts/kruise-cloneset/<group> passed/total`.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/corpus_test.h"
#include "cluster/clone_set_plan.h"
#include "cluster/in_place.h"
#include "json/text.h"

namespace slipway::cluster {
namespace {

using json::Value;

/// The groups by id; null when there is no corpus.
Value groups() {
  const auto text = corpus_file("rollouts/kruise-cloneset.json");
  if (!text) return Value();
  const auto parsed = json::parse(*text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  json::ObjectBuilder by_id;
  for (const Value& group : parsed->operator[]("groups").items()) by_id.add(group["id"].str(), group["cases"]);
  return by_id.build();
}

class CloneSetCorpus : public testing::Test {
 protected:
  void SetUp() override {
    groups_ = groups();
    if (groups_.is_null()) GTEST_SKIP() << "no corpus";
  }
  /// Runs `judge` on every case of a group; it gives what is wrong.
  template <class Judge>
  void run(const char* group, Judge judge) {
    std::size_t passed = 0;
    const Value& cases = groups_[group];
    for (const Value& one : cases.items()) {
      const std::string fault = judge(one);
      EXPECT_EQ(fault, "") << json::print(one);
      passed += fault.empty() ? 1 : 0;
    }
    std::printf("rollouts/kruise-cloneset/%s %zu/%zu\n", group, passed, cases.size());
    EXPECT_GT(cases.size(), 0U);
  }
  Value groups_;
};

std::string compare(const std::optional<std::int64_t>& found, const Value& wanted, bool is_error) {
  const std::string text = found ? std::to_string(*found) : "error";
  const std::string expected = is_error ? "error" : std::to_string(wanted.as_int());
  return text == expected ? "" : fmt::format("{} instead of {}", text, expected);
}

CloneSetBounds bounds_of_case(const Value& one) {
  const Value& set = one["set"];
  Value update = Value::empty_object();
  for (const char* key : {"partition", "maxUnavailable", "maxSurge", "paused"}) {
    if (set.has(key)) update = update.with(key, set[key]);
  }
  Value spec = json::object({{"replicas", set["replicas"]},
                             {"selector", Value::empty_object()},
                             {"template", Value::empty_object()},
                             {"updateStrategy", update}});
  if (set.has("scaleMaxUnavailable")) spec = spec.with_path({"scaleStrategy", "maxUnavailable"}, set["scaleMaxUnavailable"]);
  Value object = json::object({{"spec", spec}});
  if (set["scalingExcludePreparingDelete"].as_bool()) {
    object = object.with_path({"metadata", "labels", kExcludePreparingDelete}, "true");
  }
  const auto decoded = json::decode<CloneSetSpec>(spec, "spec");
  EXPECT_TRUE(decoded) << decoded.error().message;
  return bounds_of(object, *decoded);
}

std::string told(const CloneSetDiff& diff) {
  return fmt::format(
      "scaleUpNum {} old {} limit {} scaleDownNum {} old {} deleteReadyLimit {} useSurge {} old {} updateNum {} "
      "updateMaxUnavailable {}",
      diff.scale_up, diff.scale_up_old, diff.scale_up_limit, diff.scale_down, diff.scale_down_old, diff.delete_ready_limit,
      diff.surge, diff.surge_old, diff.update, diff.update_max_unavailable);
}

TEST_F(CloneSetCorpus, diffs_are_those_that_upstream_expects) {
  run("TestCalculateDiffsWithExpectation", [](const Value& one) -> std::string {
    std::vector<ClonePod> pods;
    for (const Value& pod : one["pods"].items()) {
      const auto state = pod.item(1).as_string();
      pods.push_back({.is_updated = pod.item(0).as_string() == "new",
                      .is_available = pod.item(2).as_bool() && state == kNormal,
                      .is_preparing_delete = state == kPreparingDelete,
                      .is_specified_to_delete = pod.item(3).as_bool()});
    }
    const bool turns_back = !one["revisionConsistent"].as_bool() && one["partitionRollback"].as_bool(true);
    const auto diff = clone_set_diff(bounds_of_case(one), pods, turns_back ? TurnBack::Allowed : TurnBack::Never);
    const Value& want = one["expect"];
    const CloneSetDiff expected{.scale_up = want["scaleUpNum"].as_int(),
                                .scale_up_old = want["scaleUpNumOldRevision"].as_int(),
                                .scale_up_limit = want["scaleUpLimit"].as_int(),
                                .scale_down = want["scaleDownNum"].as_int(),
                                .scale_down_old = want["scaleDownNumOldRevision"].as_int(),
                                .delete_ready_limit = want["deleteReadyLimit"].as_int(),
                                .surge = want["useSurge"].as_int(),
                                .surge_old = want["useSurgeOldRevision"].as_int(),
                                .update = want["updateNum"].as_int(),
                                .update_max_unavailable = want["updateMaxUnavailable"].as_int()};
    return diff == expected ? "" : fmt::format("{} instead of {}", told(diff), told(expected));
  });
}

TEST_F(CloneSetCorpus, a_partition_keeps_as_many_pods_as_upstream_keeps) {
  run("CalculatePartitionReplicas-grid", [](const Value& one) {
    return compare(partition_of(one.item(0), one.item(1).as_int()), one.item(2), one.item(3).as_bool());
  });
  run("TestCalculatePartitionReplicas", [](const Value& one) {
    return compare(partition_of(one["partition"], one["replicas"].as_int(1)), one["expectedValue"],
                   !one["succeeded"].as_bool(true));
  });
}

TEST_F(CloneSetCorpus, shares_may_have_fractions) {
  run("TestGetScaledValueFromIntOrPercent", [](const Value& one) {
    const auto rounding = one["roundUp"].as_bool() ? Rounding::Up : Rounding::Down;
    return compare(scaled_share(one["input"], one["total"].as_int(), rounding), one["expectVal"], one["expectErr"].as_bool());
  });
}

}  // namespace
}  // namespace slipway::cluster
