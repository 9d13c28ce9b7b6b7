#include "cluster/simulated_runtime.h"

#include <gtest/gtest.h>

#include "cluster/names.h"
#include "cluster/pod_status.h"
#include "json/text.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

const Time kStart{seconds{1'000'000}};

json::Value simulated_pod(const std::string& annotations, const std::string& policy = "Never") {
  return json::parse_yaml(
             fmt::format(
                 "{{metadata: {{name: p, annotations: {{{}}}}}, spec: {{restartPolicy: {}, containers: [{{name: main}}]}}}}",
                 annotations, policy))
      .value();
}

/// "Running +2.5s" or "Failed exit=3 restarts=1".
std::string picture(const PodReport& report) {
  std::string text = report.phase;
  const json::Value& status = report.containers.front();
  if (const auto& ended = status["state"]["terminated"]; !ended.is_null())
    text += fmt::format(" exit={}", ended["exitCode"].as_int());
  if (const auto& waiting = status["state"]["waiting"]; !waiting.is_null()) text += " " + waiting["reason"].str();
  if (const auto& last = status["lastState"]["terminated"]["reason"]; last.as_string() == "OOMKilled") text += " OOMKilled";
  if (report.phase == "Running" && !status["ready"].as_bool()) text += " unready";
  if (report.is_unreachable) text += " unreachable";
  if (const auto restarts = status["restartCount"].as_int(); restarts > 0) text += fmt::format(" restarts={}", restarts);
  if (report.look_again) text += " +" + slipway::to_string(*report.look_again);
  return text;
}

std::string at(const json::Value& object, Duration after, const std::vector<PodRule>& rules = {}) {
  return picture(simulate_pod(object, kStart, kStart + after, rules));
}

/// Rules of a ConfigMap that was created 100 s after the pods; `entries` in YAML, by name.
Result<std::vector<PodRule>> rules_of(const std::string& entries) {
  return parse_pod_rules(json::parse_yaml(fmt::format("metadata: {{name: s, labels: {{slipway.dev/pod-script: 'true'}}, "
                                                      "creationTimestamp: '{}'}}\ndata:\n{}",
                                                      to_rfc3339(kStart + seconds{100}), entries))
                             .value());
}

json::Value labelled(json::Value object) {
  return object.with_path({"metadata", "labels", "version"}, "v2")
      .with_path({"metadata", "creationTimestamp"}, to_rfc3339(kStart));
}

TEST(SimulatedPod, ends_at_once_without_a_run_time) { EXPECT_EQ(at(simulated_pod(""), seconds{0}), "Succeeded exit=0"); }

TEST(SimulatedPod, runs_for_its_run_time_to_the_microsecond) {
  const auto object = simulated_pod("slipway.dev/run-time: 12.345678s, slipway.dev/exit-code: '3'");
  EXPECT_EQ(at(object, seconds{0}), "Running +12.345678s");
  EXPECT_EQ(at(object, Duration{12'345'677}), "Running +1µs");
  EXPECT_EQ(at(object, Duration{12'345'678}), "Failed exit=3");
}

TEST(SimulatedPod, takes_the_exit_code_of_its_attempt) {
  const std::string codes = "slipway.dev/exit-code: '1,2,0', slipway.dev/attempt: ";
  EXPECT_EQ(at(simulated_pod(codes + "'0'"), seconds{0}), "Failed exit=1");
  EXPECT_EQ(at(simulated_pod(codes + "'1'"), seconds{0}), "Failed exit=2");
  EXPECT_EQ(at(simulated_pod(codes + "'7'"), seconds{0}), "Succeeded exit=0");
}

TEST(SimulatedPod, restarts_its_containers_on_failure) {
  const auto object = simulated_pod("slipway.dev/run-time: 5s, slipway.dev/exit-code: '1,0'", "OnFailure");
  EXPECT_EQ(at(object, seconds{4}), "Running +1s");
  EXPECT_EQ(at(object, seconds{6}), "Running CrashLoopBackOff unready +9s");
  EXPECT_EQ(at(object, seconds{16}), "Running restarts=1 +4s");
  EXPECT_EQ(at(object, seconds{20}), "Succeeded exit=0 restarts=1");
}

TEST(SimulatedPod, goes_on_from_what_its_status_says) {
  const auto object = simulated_pod("slipway.dev/run-time: 5s, slipway.dev/exit-code: '1,0'", "OnFailure");
  for (const Duration seen : {seconds{2}, seconds{6}, seconds{16}}) {
    const Time now = kStart + seen;
    const auto restarted = object.with("status", pod_status(object, simulate_pod(object, kStart, now), now));
    const Time forgotten = kStart + seconds{1000};
    EXPECT_EQ(picture(simulate_pod(restarted, forgotten, kStart + seconds{19})), "Running restarts=1 +1s");
  }
}

TEST(SimulatedPod, runs_for_ever_when_always_restarted_and_nothing_else_is_said) {
  EXPECT_EQ(at(simulated_pod("", "Always"), seconds{1'000'000}), "Running");
}

struct Moment {
  int second;
  const char* expected;
};
struct Life {
  const char* name;
  const char* annotations;
  std::vector<Moment> moments;
};

TEST(SimulatedPod, lives_as_its_annotations_say) {
  const std::vector<Life> lives{
      {"slow start",
       "slipway.dev/start-after: 5s, slipway.dev/ready-after: 3s",
       {{0, "Pending ContainerCreating +5s"}, {5, "Running unready +3s"}, {8, "Running"}}},
      {"crash loop",
       "slipway.dev/run-time: 5s, slipway.dev/exit-code: '1'",
       {{4, "Running +1s"},
        {5, "Running CrashLoopBackOff unready +10s"},
        {15, "Running restarts=1 +5s"},
        {20, "Running CrashLoopBackOff unready restarts=1 +20s"},
        {40, "Running restarts=2 +5s"}}},
      {"the back-off begins anew after a long run",
       "slipway.dev/run-time: 10m, slipway.dev/exit-code: '1'",
       {{600, "Running CrashLoopBackOff unready +10s"}, {1210, "Running CrashLoopBackOff unready restarts=1 +10s"}}},
      {"out of memory",
       "slipway.dev/run-time: 5s, slipway.dev/exit-code: 'oom,0'",
       {{5, "Running CrashLoopBackOff OOMKilled unready +10s"}, {15, "Running OOMKilled restarts=1 +5s"}}},
      {"node loss",
       "slipway.dev/node-loss: 30s",
       {{29, "Running +1s"}, {30, "Running unreachable +5m0s"}, {329, "Running unreachable +1s"}, {330, "Failed unreachable"}}},
      {"no image", "slipway.dev/missing-images: 'a,b'", {{9, "Pending ImagePullBackOff"}}}};
  for (const Life& life : lives) {
    const auto object = simulated_pod(life.annotations, "Always")
                            .with_path({"spec", "containers"}, json::array({json::object({{"name", "m"}, {"image", "b"}})}));
    for (const Moment& moment : life.moments) {
      EXPECT_EQ(at(object, seconds{moment.second}), moment.expected) << life.name << " at " << moment.second;
    }
  }
}

TEST(SimulatedPod, that_tolerates_a_silent_node_for_ever_is_never_lost) {
  const auto tolerations = json::parse_yaml("[{key: node.kubernetes.io/unreachable, operator: Exists}]").value();
  const auto object = simulated_pod("slipway.dev/node-loss: 30s", "Always").with_path({"spec", "tolerations"}, tolerations);
  EXPECT_EQ(at(object, seconds{100'000}), "Running unreachable");
}

TEST(SimulatedPod, changes_its_ways_when_a_rule_says_so) {
  struct Case {
    const char* name;
    const char* rules;
    std::vector<Moment> moments;
  };
  const std::vector<Case> cases{
      {"by age",
       "  a: '{selector: version=v2, from: 30s, ready-after: never}'\n",
       {{29, "Running +1s"}, {30, "Running unready"}}},
      {"from the creation of the script",
       "  a: '{selector: version=v2, ready-after: never}'\n",
       {{99, "Running +1s"}, {100, "Running unready"}}},
      {"bad and good again",
       "  a: '{selector: version=v2, from: 30s, ready-after: never}'\n  b: '{selector: version=v2, from: 50s, ready-after: "
       "10s}'\n",
       {{30, "Running unready +20s"}, {50, "Running unready +10s"}, {60, "Running"}}},
      {"crash loop from then on",
       "  a: '{selector: version=v2, from: 30s, run-time: 5s, exit-code: 2}'\n",
       {{30, "Running +5s"}, {35, "Running CrashLoopBackOff unready +10s"}, {45, "Running restarts=1 +5s"}}},
      {"others", "  a: '{selector: version=v3, from: 30s, ready-after: never}'\n", {{40, "Running"}}},
      {"node lost at a time",
       "  a: '{selector: version=v2, from: 40s, node-loss: 0s}'\n",
       {{39, "Running +1s"}, {40, "Running unreachable +5m0s"}}}};
  for (const Case& row : cases) {
    const auto rules = rules_of(row.rules);
    ASSERT_TRUE(rules) << rules.error().message;
    for (const Moment& moment : row.moments) {
      EXPECT_EQ(at(labelled(simulated_pod("", "Always")), seconds{moment.second}, *rules), moment.expected)
          << row.name << " at " << moment.second;
    }
  }
}

TEST(SimulatedPod, pulls_its_image_once_a_rule_brings_it) {
  const auto rules = rules_of("  a: '{selector: version=v2, from: 30s, missing-images: \"\"}'\n");
  const auto object = labelled(simulated_pod("slipway.dev/missing-images: b", "Always"))
                          .with_path({"spec", "containers"}, json::array({json::object({{"name", "m"}, {"image", "b"}})}));
  EXPECT_EQ(at(object, seconds{29}, *rules), "Pending ImagePullBackOff +1s");
  EXPECT_EQ(at(object, seconds{30}, *rules), "Running");
}

TEST(PodScript, is_refused_with_the_entry_that_cannot_be_read) {
  const std::pair<const char*, const char*> rows[] = {
      {"  a: '{from: 5m}'\n", "selector: not a label selector such as app=web,version=v2"},
      {"  a: '{selector: a=b, from: soon}'\n",
       "from: neither a duration such as 5m nor a time such as 2026-01-02T03:04:05Z: soon"},
      {"  a: '{selector: a=b, colour: red}'\n", "colour: no behaviour of a simulated pod"},
      {"  a: '{selector: a=b, exit-code: 999}'\n",
       "annotation slipway.dev/exit-code: neither \"oom\" nor an exit code from 0 to 255: 999"},
      {"  a: text\n", "not a mapping with selector, from and what changes"}};
  for (const auto& [entry, message] : rows) {
    const auto rules = rules_of(entry);
    ASSERT_FALSE(rules) << entry;
    EXPECT_EQ(rules.error().causes.front().message, message);
    EXPECT_EQ(rules.error().causes.front().field, "data[a]");
  }
}

TEST(SimulatedPod, restarts_only_the_container_whose_image_was_exchanged) {
  const auto image = [](const json::Value& object, std::size_t index, const char* name) {
    const json::Value& containers = object["spec"]["containers"];
    return object.with_path({"spec", "containers"}, containers.with_item(index, containers.item(index).with("image", name)));
  };
  json::Value object = simulated_pod("slipway.dev/ready-after: 5s", "Always");
  const json::Value containers = object["spec"]["containers"].appended(json::object({{"name", "side"}}));
  object = image(image(object.with_path({"spec", "containers"}, containers), 0, "v1"), 1, "s1");
  // "image restarts ready" of each container, `after` the start; the status is kept.
  const auto look = [&](Duration after) {
    const Time now = kStart + after;
    const PodReport report = simulate_pod(object, kStart, now);
    object = object.with("status", pod_status(object, report, now));
    std::string text;
    for (const json::Value& status : report.containers) {
      text +=
          fmt::format("{} {} {}; ", status["imageID"].as_string(), status["restartCount"].as_int(), status["ready"].as_bool());
    }
    return text + (report.look_again ? slipway::to_string(*report.look_again) : "");
  };
  EXPECT_EQ(look(seconds{1}), "v1 0 false; s1 0 false; 4s");
  EXPECT_EQ(look(seconds{6}), "v1 0 true; s1 0 true; ");
  object = image(object, 1, "s2");
  EXPECT_EQ(look(seconds{10}), "v1 0 true; s2 1 false; 5s");
  EXPECT_EQ(look(seconds{12}), "v1 0 true; s2 1 false; 3s");
  object = image(object, 0, "v2");
  EXPECT_EQ(look(seconds{14}), "v2 1 false; s2 1 false; 1s");
  EXPECT_EQ(look(seconds{16}), "v2 1 false; s2 1 true; 3s");
  EXPECT_EQ(look(seconds{20}), "v2 1 true; s2 1 true; ");
}

TEST(SimulatedPod, is_ready_when_its_gates_are_open_too) {
  json::Value object = simulated_pod("", "Always")
                           .with_path({"spec", "readinessGates"}, json::array({json::object({{"conditionType", "Open"}})}));
  const auto look = [&] {
    object = object.with("status", pod_status(object, simulate_pod(object, kStart, kStart), kStart));
    return kube::condition(object, "Ready")["status"].str() + " " + kube::condition(object, "Ready")["reason"].str();
  };
  EXPECT_EQ(look(), "False ReadinessGatesNotReady");
  object = object.with_path({"status", "conditions"},
                            kube::set_condition(object["status"]["conditions"], {"Open", "True", "", ""}, kStart));
  EXPECT_EQ(look(), "True ");
}

TEST(SimulatedPod, fails_with_a_reason_when_an_annotation_cannot_be_read) {
  const auto report = simulate_pod(simulated_pod("slipway.dev/run-time: soon"), kStart, kStart);
  EXPECT_EQ(report.phase, "Failed");
  EXPECT_EQ(report.message, "annotation slipway.dev/run-time: not a duration such as 12.5s: soon");
}

}  // namespace
}  // namespace slipway::cluster
