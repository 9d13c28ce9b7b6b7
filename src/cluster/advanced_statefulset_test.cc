#include "cluster/advanced_statefulset.h"

#include <set>

#include "cluster/in_place.h"
#include "cluster/view_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A set "db" of four pods with the image v1 that are ready after 5 s; `rolling` are fields of its rolling update, `spec`
/// further ones of its spec, in flow style.
std::string db(const std::string& rolling, const std::string& spec = "podManagementPolicy: Parallel") {
  return fmt::format(R"({{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, metadata: {{name: db, namespace: default}},
spec: {{{}, replicas: 4, serviceName: db, updateStrategy: {{rollingUpdate: {{{}}}}}, selector: {{matchLabels: {{app: db}}}},
  template: {{metadata: {{labels: {{app: db}}, annotations: {{slipway.dev/ready-after: 5s}}}},
  spec: {{containers: [{{name: c, image: v1}}]}}}}}}}})",
                     spec, rolling);
}

class AdvancedStatefulSetTest : public ViewTest {
 protected:
  void SetUp() override { start(); }

  void make_ready(const std::string& yaml) {
    make(kAdvancedStatefulSets, yaml);
    advance(seconds{60});
    ASSERT_EQ(images(), "v1 v1 v1 v1");
    before_ = uids();
  }
  Value status() { return get(kAdvancedStatefulSets, "db")["status"]; }
  void spec(const std::string& json) { patch(kAdvancedStatefulSets, "db", fmt::format(R"({{"spec": {}}})", json)); }
  void set_image(const std::string& image, const std::string& more = "") {
    spec(fmt::format(R"({{"template": {{"spec": {{"containers": [{{"name": "c", "image": "{}"{}}}]}}}}}})", image, more));
  }
  /// Of db-0, db-1, …; "-" for one that is not there.
  std::string images() {
    std::string text;
    for (int i = 0; i < 4; ++i) {
      const Value pod = get(kPods, fmt::format("db-{}", i));
      const std::string image = pod["spec"]["containers"].item(0)["image"].str();
      text += (text.empty() ? "" : " ") + (image.empty() ? "-" : image);
    }
    return text;
  }
  std::set<std::string> uids() {
    std::set<std::string> found;
    for (const Value& pod : list(kPods)) found.emplace(kube::uid(pod));
    return found;
  }
  void roll(Duration duration, std::size_t min_ready) {
    for (Duration passed{0}; passed < duration; passed += milliseconds{100}) {
      advance(milliseconds{100});
      std::size_t ready = 0;
      for (const Value& pod : list(kPods)) ready += kube::is_true(pod, "Ready") && !kube::is_deleting(pod);
      ASSERT_GE(ready, min_ready);
    }
  }
  std::set<std::string> before_;
};

TEST_F(AdvancedStatefulSetTest, updates_several_pods_at_a_time_from_the_top) {
  make_ready(db("maxUnavailable: 2"));
  set_image("v2");
  roll(seconds{4}, 2);
  EXPECT_EQ(images(), "v1 v1 v2 v2");
  roll(seconds{60}, 2);
  EXPECT_EQ(images(), "v2 v2 v2 v2");
  for (const std::string& uid : uids()) EXPECT_FALSE(before_.contains(uid));
  const Value now = status();
  EXPECT_EQ(now["updatedReadyReplicas"].as_int(), 4);
  EXPECT_EQ(now["updatedAvailableReplicas"].as_int(), 4);
  EXPECT_EQ(now["currentRevision"], now["updateRevision"]);
  EXPECT_EQ(now["labelSelector"].as_string(), "app=db");
}

TEST_F(AdvancedStatefulSetTest, exchanges_images_in_place_one_after_another) {
  make_ready(db("podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 3", "podManagementPolicy: OrderedReady"));
  set_image("v2");
  roll(seconds{4}, 3);
  EXPECT_EQ(images(), "v1 v1 v1 v2") << "several at a time only under Parallel";
  roll(seconds{60}, 3);
  EXPECT_EQ(images(), "v2 v2 v2 v2");
  EXPECT_EQ(uids(), before_);
  for (const Value& pod : list(kPods)) {
    EXPECT_EQ(pod["status"]["containerStatuses"].item(0)["restartCount"].as_int(), 1);
    EXPECT_EQ(kube::label(pod, kLifecycle), kNormal);
  }
  set_image("v3", R"(, "command": ["x"])");
  advance(seconds{120});
  EXPECT_EQ(images(), "v3 v3 v3 v3");
  for (const std::string& uid : uids()) EXPECT_FALSE(before_.contains(uid));
}

TEST_F(AdvancedStatefulSetTest, waits_while_paused_and_keeps_its_partition) {
  make_ready(db("paused: true, partition: 1, maxUnavailable: 50%"));
  set_image("v2");
  advance(seconds{60});
  EXPECT_EQ(images(), "v1 v1 v1 v1");
  EXPECT_TRUE(why(kAdvancedStatefulSets, "db").contains("UpdatePaused")) << why(kAdvancedStatefulSets, "db");
  spec(R"({"updateStrategy": {"rollingUpdate": {"paused": false}}})");
  roll(seconds{4}, 2);
  EXPECT_EQ(images(), "v1 v1 v2 v2");
  roll(seconds{60}, 2);
  EXPECT_EQ(images(), "v1 v2 v2 v2");
  EXPECT_NE(status()["currentRevision"], status()["updateRevision"]);
  EXPECT_EQ(why(kAdvancedStatefulSets, "db"), "");
}

TEST_F(AdvancedStatefulSetTest, in_place_only_waits_and_says_why) {
  make_ready(db("podUpdatePolicy: InPlaceOnly"));
  set_image("v2", R"(, "command": ["x"])");
  advance(seconds{60});
  EXPECT_EQ(images(), "v1 v1 v1 v1");
  EXPECT_TRUE(kube::is_true(get(kAdvancedStatefulSets, "db"), "FailedUpdatePod"));
  set_image("v2");
  advance(seconds{120});
  EXPECT_EQ(images(), "v2 v2 v2 v2");
  EXPECT_EQ(uids(), before_);
  EXPECT_FALSE(status().has("conditions"));
}

TEST_F(AdvancedStatefulSetTest, is_scaled_by_its_subresource_and_refuses_what_nothing_acts_upon) {
  make_ready(db(""));
  patch(kAdvancedStatefulSets, "db", R"({"spec": {"replicas": 2}})", "scale");
  advance(seconds{60});
  EXPECT_EQ(images(), "v1 v1 - -");
  const auto refused = env_.run(client::merge_patch(*server_, kAdvancedStatefulSets, {"default", "db"},
                                                    *json::parse(R"({"spec": {"reserveOrdinals": [1]}})"), "test"));
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().causes.size(), 1U);
  EXPECT_EQ(refused.error().causes[0].field, "spec.reserveOrdinals");
}

}  // namespace
}  // namespace slipway::cluster
