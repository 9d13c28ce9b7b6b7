#include "cluster/clone_set_facts.h"
#include "cluster/in_place.h"
#include "cluster/view_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A CloneSet "web" with the image `image`; `spec` are further fields of its spec, `update` those of its updateStrategy,
/// `annotations` those of its pods, all in flow style.
std::string web_clones(const std::string& image, const std::string& spec, const std::string& update = "",
                       const std::string& annotations = "") {
  return fmt::format(R"({{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {{name: web, namespace: default}},
spec: {{{}, updateStrategy: {{{}}}, selector: {{matchLabels: {{app: web}}}},
  template: {{metadata: {{labels: {{app: web}}, annotations: {{{}}}}},
  spec: {{containers: [{{name: c, image: "{}"}}, {{name: side, image: s1}}]}}}}}}}})",
                     spec, update, annotations, image);
}

class CloneSetTest : public ViewTest {
 protected:
  void SetUp() override { start(); }

  Value set() { return get(kCloneSets, "web"); }
  Value status() { return set()["status"]; }
  void spec(const std::string& json) { patch(kCloneSets, "web", fmt::format(R"({{"spec": {}}})", json)); }
  void set_image(const std::string& image) {
    spec(fmt::format(R"({{"template": {{"spec": {{"containers": [{{"name": "c", "image": "{}"}},
                        {{"name": "side", "image": "s1"}}]}}}}}})",
                     image));
  }
  std::vector<Value> live_pods() {
    std::vector<Value> pods = list(kPods);
    std::erase_if(pods, [](const Value& pod) { return kube::is_deleting(pod); });
    return pods;
  }
  std::set<std::string> uids() {
    std::set<std::string> found;
    for (const Value& pod : live_pods()) found.emplace(kube::uid(pod));
    return found;
  }
  /// "image=pods" of all live pods, sorted.
  std::string images() {
    std::map<std::string, int> counts;
    for (const Value& pod : live_pods()) ++counts[pod["spec"]["containers"].item(0)["image"].str()];
    std::string text;
    for (const auto& [image, count] : counts) text += fmt::format("{}{}={}", text.empty() ? "" : " ", image, count);
    return text;
  }
  /// "replicas/ready/available updated/ready/available of expected"
  std::string counts() {
    const Value now = status();
    const auto count = [&](const char* name) { return now[name].as_int(); };
    return fmt::format("{}/{}/{} {}/{}/{} of {}", count("replicas"), count("readyReplicas"), count("availableReplicas"),
                       count("updatedReplicas"), count("updatedReadyReplicas"), count("updatedAvailableReplicas"),
                       count("expectedUpdatedReplicas"));
  }
  /// Moves time in small steps and holds the set to its promises at each.
  void roll(Duration duration, std::size_t min_ready, std::size_t max_pods) {
    for (Duration passed{0}; passed < duration; passed += milliseconds{100}) {
      advance(milliseconds{100});
      const auto pods = live_pods();
      std::size_t ready = 0;
      for (const Value& pod : pods) ready += kube::is_true(pod, "Ready");
      ASSERT_LE(pods.size(), max_pods);
      ASSERT_GE(ready, min_ready);
    }
  }
  /// "field: message" of every cause for which a CloneSet is refused.
  std::vector<std::string> refusal(const std::string& yaml) {
    const auto made = env_.run(client::create(*server_, kCloneSets, json::parse_yaml(yaml).value(), "test"));
    std::vector<std::string> told;
    if (made) return told;
    for (const Cause& cause : made.error().causes) told.push_back(cause.field + ": " + cause.message);
    return told;
  }
};

TEST_F(CloneSetTest, brings_up_pods_with_names_and_labels_of_their_own) {
  make(kCloneSets, web_clones("v1", "replicas: 3"));
  settle();
  EXPECT_EQ(counts(), "3/3/3 3/3/3 of 3");
  const Value now = status();
  EXPECT_EQ(now["labelSelector"].as_string(), "app=web");
  EXPECT_EQ(now["observedGeneration"].as_int(), kube::generation(set()));
  EXPECT_EQ(now["currentRevision"], now["updateRevision"]);
  const auto revisions = list(kControllerRevisions);
  ASSERT_EQ(revisions.size(), 1U);
  EXPECT_EQ(kube::name(revisions[0]), now["updateRevision"].as_string());
  for (const Value& pod : live_pods()) {
    EXPECT_EQ(kube::name(pod), fmt::format("web-{}", kube::label(pod, kInstanceId)));
    EXPECT_EQ(kube::label(pod, kInstanceId).size(), 5U);
    EXPECT_EQ(kube::label(pod, kRevisionHash), kube::name(revisions[0]));
  }
  const kube::Revision before = revision();
  advance(seconds{3000});
  EXPECT_EQ(revision(), before) << "a CloneSet that stands is left alone";
}

TEST_F(CloneSetTest, replaces_pods_within_max_unavailable) {
  make(kCloneSets, web_clones("v1", "replicas: 5", "maxUnavailable: 2", "slipway.dev/ready-after: 5s"));
  advance(seconds{10});
  const auto before = uids();
  set_image("v2");
  roll(seconds{4}, 3, 5);
  EXPECT_EQ(images(), "v1=3 v2=2");
  roll(seconds{60}, 3, 5);
  EXPECT_EQ(images(), "v2=5");
  EXPECT_EQ(counts(), "5/5/5 5/5/5 of 5");
  for (const std::string& uid : uids()) EXPECT_FALSE(before.contains(uid));
  EXPECT_EQ(status()["currentRevision"], status()["updateRevision"]);
}

TEST_F(CloneSetTest, surges_so_that_none_is_missing) {
  make(kCloneSets, web_clones("v1", "replicas: 3", "maxUnavailable: 0, maxSurge: 1", "slipway.dev/ready-after: 5s"));
  advance(seconds{10});
  set_image("v2");
  roll(seconds{60}, 3, 4);
  EXPECT_EQ(images(), "v2=3");
}

TEST_F(CloneSetTest, keeps_its_partition_and_turns_pods_back_when_it_is_raised) {
  make(kCloneSets, web_clones("v1", "replicas: 5", "partition: 3, maxUnavailable: 1"));
  settle();
  const std::string first = status()["currentRevision"].str();
  set_image("v2");
  advance(seconds{10});
  EXPECT_EQ(images(), "v1=3 v2=2");
  EXPECT_EQ(counts(), "5/5/5 2/2/2 of 2");
  EXPECT_EQ(status()["currentRevision"].as_string(), first);
  EXPECT_NE(status()["updateRevision"].as_string(), first);
  const auto moved = [&](const char* partition, const char* expected) {
    spec(fmt::format(R"({{"updateStrategy": {{"partition": {}}}}})", partition));
    advance(seconds{30});
    EXPECT_EQ(images(), expected) << partition;
  };
  moved("\"20%\"", "v1=1 v2=4");
  moved("\"99%\"", "v1=4 v2=1");
  moved("5", "v1=5");
  moved("0", "v2=5");
  EXPECT_EQ(status()["currentRevision"], status()["updateRevision"]);
}

TEST_F(CloneSetTest, a_paused_set_updates_nothing_but_grows_and_shrinks) {
  make(kCloneSets, web_clones("v1", "replicas: 2", "partition: 1, paused: true"));
  settle();
  set_image("v2");
  advance(seconds{10});
  EXPECT_EQ(images(), "v1=2");
  spec(R"({"replicas": 4})");
  advance(seconds{10});
  EXPECT_EQ(images(), "v1=2 v2=2");
  spec(R"({"replicas": 3})");
  advance(seconds{10});
  EXPECT_EQ(images(), "v1=1 v2=2") << "what is above the partition goes first";
}

TEST_F(CloneSetTest, exchanges_images_in_place) {
  make(kCloneSets,
       web_clones("v1", "replicas: 3", "type: InPlaceIfPossible, maxUnavailable: 1", "slipway.dev/ready-after: 5s"));
  advance(seconds{10});
  EXPECT_EQ(counts(), "3/3/3 3/3/3 of 3");
  const auto before = uids();
  set_image("v2");
  advance(seconds{1});
  std::size_t updating = 0;
  for (const Value& pod : live_pods()) {
    if (kube::label(pod, kLifecycle) != kUpdating && !kube::is_true(pod, "Ready")) ++updating;
  }
  EXPECT_EQ(updating, 1U) << "its container has been restarted and is not ready yet";
  EXPECT_EQ(images(), "v1=2 v2=1");
  roll(seconds{40}, 2, 3);
  EXPECT_EQ(images(), "v2=3");
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(counts(), "3/3/3 3/3/3 of 3");
  for (const Value& pod : live_pods()) {
    const Value& changed = pod["status"]["containerStatuses"].item(0);
    const Value& other = pod["status"]["containerStatuses"].item(1);
    EXPECT_EQ(changed["restartCount"].as_int(), 1);
    EXPECT_EQ(changed["imageID"].as_string(), "v2");
    EXPECT_EQ(changed["lastState"]["terminated"]["exitCode"].as_int(), 143);
    EXPECT_EQ(other["restartCount"].as_int(), 0);
    EXPECT_EQ(kube::label(pod, kLifecycle), kNormal);
    EXPECT_TRUE(kube::is_true(pod, kInPlaceReady));
    EXPECT_EQ(kube::label(pod, kRevisionHash), status()["updateRevision"].as_string());
    const auto state = json::parse(kube::annotation(pod, kInPlaceState));
    ASSERT_TRUE(state);
    EXPECT_EQ((*state)["revision"], status()["updateRevision"]);
    EXPECT_EQ((*state)["lastContainerStatuses"]["c"]["imageID"].as_string(), "v1");
  }
}

TEST_F(CloneSetTest, labels_change_in_place_without_a_restart) {
  make(kCloneSets, web_clones("v1", "replicas: 2", "type: InPlaceOnly", ""));
  settle();
  const auto before = uids();
  spec(R"({"template": {"metadata": {"labels": {"app": "web", "tier": "front"}}}})");
  advance(seconds{10});
  EXPECT_EQ(uids(), before);
  for (const Value& pod : live_pods()) {
    EXPECT_EQ(kube::label(pod, "tier"), "front");
    EXPECT_EQ(pod["status"]["containerStatuses"].item(0)["restartCount"].as_int(), 0);
  }
  EXPECT_EQ(counts(), "2/2/2 2/2/2 of 2");
}

constexpr const char* kOtherCommand =
    R"({"template": {"spec": {"containers": [{"name": "c", "image": "v2", "command": ["x"]},
                                              {"name": "side", "image": "s1"}]}}})";

TEST_F(CloneSetTest, what_cannot_change_in_place_is_replaced) {
  make(kCloneSets, web_clones("v1", "replicas: 3", "type: InPlaceIfPossible"));
  settle();
  const auto before = uids();
  spec(kOtherCommand);
  advance(seconds{30});
  EXPECT_EQ(images(), "v2=3");
  for (const std::string& uid : uids()) EXPECT_FALSE(before.contains(uid));
}

TEST_F(CloneSetTest, in_place_only_waits_and_says_why) {
  make(kCloneSets, web_clones("v1", "replicas: 2", "type: InPlaceOnly"));
  settle();
  spec(kOtherCommand);
  advance(seconds{30});
  EXPECT_EQ(images(), "v1=2");
  EXPECT_TRUE(kube::is_true(set(), "FailedUpdate"));
  set_image("v3");
  advance(seconds{30});
  EXPECT_EQ(images(), "v3=2");
  EXPECT_TRUE(status()["conditions"].is_null());
}

TEST_F(CloneSetTest, an_image_that_is_missing_stops_the_update_and_is_taken_back_in_place) {
  make(kCloneSets,
       web_clones("v1", "replicas: 4", "type: InPlaceIfPossible, maxUnavailable: 1", "slipway.dev/missing-images: bad"));
  advance(seconds{10});
  const auto before = uids();
  set_image("bad");
  roll(seconds{60}, 3, 4);
  EXPECT_EQ(images(), "bad=1 v1=3");
  EXPECT_EQ(counts(), "4/3/3 1/0/0 of 4");
  set_image("v1");
  advance(seconds{30});
  EXPECT_EQ(images(), "v1=4");
  EXPECT_EQ(counts(), "4/4/4 4/4/4 of 4");
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(list(kControllerRevisions).size(), 2U) << "a template that comes back takes its old revision";
}

TEST_F(CloneSetTest, pods_that_are_named_go_first_and_are_replaced_unless_it_shrinks) {
  make(kCloneSets, web_clones("v1", "replicas: 3"));
  settle();
  const auto pods = live_pods();
  const std::string named(kube::name(pods[1]));
  spec(fmt::format(R"({{"scaleStrategy": {{"podsToDelete": ["{}"]}}}})", named));
  advance(seconds{60});
  EXPECT_TRUE(get(kPods, named).is_null());
  EXPECT_EQ(counts(), "3/3/3 3/3/3 of 3");
  const std::string marked(kube::name(live_pods()[0]));
  patch(kPods, marked, R"({"metadata": {"labels": {"apps.kruise.io/specified-delete": "true"}}})");
  spec(R"({"replicas": 2})");
  advance(seconds{60});
  EXPECT_TRUE(get(kPods, marked).is_null());
  EXPECT_EQ(counts(), "2/2/2 2/2/2 of 2");
}

TEST_F(CloneSetTest, grows_no_faster_than_its_scale_strategy_lets_it) {
  make(kCloneSets, web_clones("v1", "replicas: 5, scaleStrategy: {maxUnavailable: 2}", "", "slipway.dev/ready-after: 5s"));
  advance(seconds{4});
  EXPECT_EQ(live_pods().size(), 2U);
  advance(seconds{3});
  EXPECT_EQ(live_pods().size(), 4U);
  advance(seconds{10});
  EXPECT_EQ(counts(), "5/5/5 5/5/5 of 5");
}

TEST_F(CloneSetTest, waits_for_min_ready_seconds_before_the_next_pod) {
  make(kCloneSets, web_clones("v1", "replicas: 2, minReadySeconds: 20", "maxUnavailable: 1, type: InPlaceIfPossible"));
  advance(seconds{10});
  EXPECT_EQ(counts(), "2/2/0 2/2/0 of 2");
  advance(seconds{11});
  EXPECT_EQ(counts(), "2/2/2 2/2/2 of 2");
  set_image("v2");
  advance(seconds{10});
  EXPECT_EQ(images(), "v1=1 v2=1");
  EXPECT_EQ(counts(), "2/2/1 1/1/0 of 2");
  advance(seconds{40});
  EXPECT_EQ(counts(), "2/2/2 2/2/2 of 2");
}

TEST_F(CloneSetTest, keeps_as_many_old_revisions_as_it_is_told) {
  make(kCloneSets, web_clones("v1", "replicas: 1, revisionHistoryLimit: 1"));
  for (const char* image : {"v2", "v3", "v4"}) {
    advance(seconds{10});
    set_image(image);
  }
  advance(seconds{10});
  std::set<std::int64_t> numbers;
  for (const Value& revision : list(kControllerRevisions)) numbers.insert(revision["revision"].as_int());
  EXPECT_EQ(numbers, (std::set<std::int64_t>{3, 4}));
}

TEST_F(CloneSetTest, is_scaled_by_its_subresource_and_goes_with_its_pods) {
  make(kCloneSets, web_clones("v1", "replicas: 2"));
  settle();
  patch(kCloneSets, "web", R"({"spec": {"replicas": 3}})", "scale");
  advance(seconds{10});
  EXPECT_EQ(live_pods().size(), 3U);
  remove(kCloneSets, "web");
  advance(seconds{60});
  EXPECT_TRUE(set().is_null());
  EXPECT_TRUE(list(kPods).empty());
  EXPECT_TRUE(list(kControllerRevisions).empty());
}

TEST_F(CloneSetTest, uses_no_pod_name_again_after_a_restart) {
  make(kCloneSets, web_clones("v1", "replicas: 2"));
  advance(seconds{10});
  std::set<std::string> names;
  for (int round = 0; round < 3; ++round) {
    for (const Value& pod : live_pods()) {
      EXPECT_TRUE(names.emplace(kube::name(pod)).second) << kube::name(pod);
      patch(kPods, std::string(kube::name(pod)), R"({"metadata": {"labels": {"apps.kruise.io/specified-delete": "true"}}})");
    }
    restart();
    advance(seconds{60});
    EXPECT_EQ(counts(), "2/2/2 2/2/2 of 2");
  }
}

TEST_F(CloneSetTest, says_down_to_the_image_why_it_waits) {
  make(kCloneSets,
       web_clones("v1", "replicas: 2, minReadySeconds: 20", "type: InPlaceOnly", "slipway.dev/missing-images: bad"));
  advance(seconds{5});
  EXPECT_TRUE(why(kCloneSets, "web").contains("NotYetAvailable")) << why(kCloneSets, "web");
  advance(seconds{30});
  EXPECT_EQ(why(kCloneSets, "web"), "");
  set_image("bad");
  advance(seconds{5});
  EXPECT_TRUE(why(kCloneSets, "web").contains("PodNotReady")) << why(kCloneSets, "web");
  EXPECT_TRUE(why(kCloneSets, "web").contains("ImagePullBackOff")) << why(kCloneSets, "web");
  set_image("v1");
  advance(seconds{60});
  EXPECT_EQ(why(kCloneSets, "web"), "");
  spec(R"({"updateStrategy": {"paused": true}})");
  set_image("v2");
  advance(seconds{5});
  EXPECT_TRUE(why(kCloneSets, "web").contains("UpdatePaused")) << why(kCloneSets, "web");
  spec(R"({"updateStrategy": {"paused": false}})");
  spec(kOtherCommand);
  advance(seconds{5});
  EXPECT_TRUE(why(kCloneSets, "web").contains("FailedUpdate")) << why(kCloneSets, "web");
}

TEST_F(CloneSetTest, refuses_what_cannot_work) {
  const struct {
    std::string yaml;
    std::vector<std::string> causes;
  } cases[] = {
      {web_clones("v1", "replicas: 2", "partition: x"),
       {"spec.updateStrategy.partition: Invalid value: \"x\": must be a number from 0 or a percentage (12.5%)"}},
      {web_clones("v1", "replicas: 2", "partition: -1, maxSurge: 1x"),
       {"spec.updateStrategy.partition: Invalid value: -1: must be a number from 0 or a percentage (12.5%)",
        "spec.updateStrategy.maxSurge: Invalid value: \"1x\": must be a number from 0 or a percentage (12.5%)"}},
      {web_clones("v1", "replicas: 2", "maxUnavailable: 0"),
       {"spec.updateStrategy.maxUnavailable: Invalid value: 0: maxUnavailable and maxSurge should not both be less than 1"}},
      {web_clones("v1", "replicas: 2", "maxSurge: 1, type: InPlaceOnly"),
       {"spec.updateStrategy.maxSurge: Invalid value: 1: may not be used with type InPlaceOnly"}},
      {web_clones("v1", "replicas: 2, lifecycle: {preDelete: {labelsHandler: {a: b}}}"),
       {"spec.lifecycle: Forbidden: is not implemented in this cluster"}},
      {web_clones("", "replicas: 2"), {"spec.template.spec.containers[0].image: Required value"}},
      {web_clones("v1", "replicas: 0", "maxUnavailable: 0, partition: 12.5%"), {}},
  };
  for (const auto& one : cases) EXPECT_EQ(refusal(one.yaml), one.causes) << one.yaml;
}

}  // namespace
}  // namespace slipway::cluster
