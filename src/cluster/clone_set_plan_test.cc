#include "cluster/clone_set_plan.h"

#include <gtest/gtest.h>

#include "cluster/in_place.h"
#include "cluster/names.h"
#include "cluster/pod_status.h"
#include "cluster/simulated_runtime.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

const Time kCloneStart{seconds{1'000'000}};

Value template_of(const std::string& image) {
  return json::object(
      {{"metadata", json::object({{"labels", json::object({{"app", "web"}})}})},
       {"spec", json::object({{"containers", json::array({json::object({{"name", "c"}, {"image", image}})})}})}});
}

/// One rollout to be played on plans alone: effects are carried out at once, pods become ready a step later.
struct Rollout {
  std::int64_t replicas = 0;
  std::int64_t partition = 0;
  std::int64_t max_unavailable = 0;
  std::int64_t max_surge = 0;
  bool is_in_place = false;
  std::int64_t updated = 0;  // pods that have the update revision before

  std::string to_string() const {
    return fmt::format("replicas {} partition {} maxUnavailable {} maxSurge {} {} from {} updated", replicas, partition,
                       max_unavailable, max_surge, is_in_place ? "in place" : "replaced", updated);
  }
};

class Play {
 public:
  explicit Play(const Rollout& rollout) : rollout_(rollout) {
    spec_.replicas = rollout.replicas;
    spec_.update.partition = rollout.partition;
    spec_.update.max_unavailable = rollout.max_unavailable;
    spec_.update.max_surge = rollout.max_surge;
    if (rollout.is_in_place) spec_.update.type = UpdateType::InPlaceIfPossible;
    revisions_ = {"old", "new", {{"old", template_of("v1")}, {"new", template_of("v2")}}};
    for (std::int64_t i = 0; i < rollout.replicas; ++i) add(i < rollout.updated ? "new" : "old");
    run_pods();
  }

  /// What is wrong with it; empty when it ends within its bounds.
  std::string run() {
    for (int step = 0; step < 60; ++step) {
      const CloneSetPlan plan = plan_clone_set(set_, spec_, revisions_, pods_, now_);
      if (!plan.has_effects() && is_settled_) return judge_end();
      carry_out(plan);
      if (std::string fault = judge_bounds(); !fault.empty()) return fault;
      if (!plan.has_effects()) run_pods();
      is_settled_ = !plan.has_effects();
    }
    return "it does not end";
  }

 private:
  void add(const std::string& revision) {
    const std::string name = fmt::format("web-{:05}", next_++);
    kube::Object pod = make_clone_pod(set_, spec_, revisions_.templates[revision], name, revision);
    pods_.push_back(pod.with_path({"metadata", "uid"}, name).with_path({"spec", "nodeName"}, "local"));
  }
  /// Containers start, gates are followed.
  void run_pods() {
    for (kube::Object& pod : pods_) {
      if (const auto end = in_place_end(pod)) settle(pod, *end);
      const PodReport report = simulate_pod(pod, kCloneStart, now_);
      pod = pod.with("status", pod_status(pod, report, now_));
      if (const auto end = in_place_end(pod)) settle(pod, *end);
      pod = pod.with("status", pod_status(pod, report, now_));
    }
  }
  void settle(kube::Object& pod, InPlaceEnd end) {
    if (end.opens_gate) pod = pod.with_path({"status", "conditions"}, with_gate(pod, true, now_));
    if (end.is_normal) pod = pod.with_path({"metadata", "labels", kLifecycle}, kNormal);
  }
  kube::Object& live(const kube::Object& pod) { return *std::ranges::find(pods_, kube::name(pod), kube::name); }
  void carry_out(const CloneSetPlan& plan) {
    for (const kube::Object& pod : plan.remove) pods_.erase(std::ranges::find(pods_, kube::name(pod), kube::name));
    for (const kube::Object& pod : plan.mark) live(pod) = pod.with_path({"metadata", "labels", kSpecifiedDelete}, "true");
    for (const PodChange& change : plan.update_in_place) {
      live(change.pod) = change.next.with_path({"status", "conditions"}, with_gate(change.pod, false, now_));
    }
    for (const kube::Object& pod : plan.settle) settle(live(pod), in_place_end(pod).value());
    for (std::int64_t i = 0; i < plan.create_old; ++i) add("old");
    for (std::int64_t i = 0; i < plan.create_new; ++i) add("new");
  }
  std::string judge_bounds() const {
    const auto all = std::ssize(pods_);
    const auto ready = std::ranges::count_if(pods_, is_ready_in_place);
    if (all > rollout_.replicas + rollout_.max_surge) return fmt::format("{} pods", all);
    if (ready < rollout_.replicas - rollout_.max_unavailable) return fmt::format("{} pods are ready", ready);
    return "";
  }
  std::string judge_end() const {
    const auto old_ones =
        std::ranges::count_if(pods_, [](const auto& pod) { return kube::label(pod, kRevisionHash) == "old"; });
    if (std::ssize(pods_) == rollout_.replicas && old_ones == rollout_.partition) return "";
    return fmt::format("it ends with {} pods, {} of them old", pods_.size(), old_ones);
  }

  Rollout rollout_;
  kube::Object set_ = json::object({{"metadata", json::object({{"name", "web"}, {"namespace", "default"}, {"uid", "u"}})}});
  CloneSetSpec spec_;
  CloneSetRevisions revisions_;
  std::vector<kube::Object> pods_;
  Time now_ = kCloneStart;
  int next_ = 0;
  bool is_settled_ = false;
};

TEST(CloneSetPlan, every_small_rollout_ends_at_its_partition_within_its_bounds) {
  int played = 0;
  for (std::int64_t replicas = 0; replicas <= 4; ++replicas) {
    for (std::int64_t partition = 0; partition <= replicas; ++partition) {
      for (int bounds = 1; bounds < 9; ++bounds) {
        for (std::int64_t updated = 0; updated <= replicas; ++updated) {
          for (const bool is_in_place : {false, true}) {
            const Rollout rollout{replicas, partition, bounds % 3, bounds / 3, is_in_place, updated};
            EXPECT_EQ(Play(rollout).run(), "") << rollout.to_string();
            ++played;
          }
        }
      }
    }
  }
  EXPECT_EQ(played, 880);
}

TEST(InPlace, exchanges_images_labels_and_annotations_and_nothing_else) {
  const Value before = template_of("v1").with_path({"metadata", "annotations", "a"}, "1");
  const Value pod =
      json::object({{"metadata", before["metadata"].with_path({"labels", "mine"}, "kept")}, {"spec", before["spec"]}});
  const Value next = template_of("v2").with_path({"metadata", "labels", "tier"}, "front");
  const auto updated = updated_in_place(pod, before, next, "web-2", kCloneStart);
  ASSERT_TRUE(updated);
  EXPECT_EQ((*updated)["spec"], next["spec"]);
  EXPECT_EQ(
      (*updated)["metadata"]["labels"],
      json::object({{"app", "web"}, {"mine", "kept"}, {"tier", "front"}, {kRevisionHash, "web-2"}, {kLifecycle, kUpdating}}));
  EXPECT_FALSE((*updated)["metadata"]["annotations"].has("a"));
  EXPECT_FALSE(updated_in_place(pod, before, next.with_path({"spec", "hostNetwork"}, true), "web-2", kCloneStart));
  EXPECT_FALSE(updated_in_place(pod, Value(), next, "web-2", kCloneStart)) << "the template it was made from is not known";
}

}  // namespace
}  // namespace slipway::cluster
