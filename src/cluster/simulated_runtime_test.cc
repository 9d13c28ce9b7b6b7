#include "cluster/simulated_runtime.h"

#include <gtest/gtest.h>

#include "cluster/names.h"
#include "cluster/pod_status.h"
#include "json/text.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

const Time kStart{seconds{1'000'000}};

json::Value pod(const std::string& annotations, const std::string& policy = "Never") {
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
  if (const auto restarts = status["restartCount"].as_int(); restarts > 0) text += fmt::format(" restarts={}", restarts);
  if (report.look_again) text += " +" + to_string(*report.look_again);
  return text;
}

std::string at(const json::Value& object, Duration after) { return picture(simulate_pod(object, kStart, kStart + after)); }

TEST(SimulatedPod, ends_at_once_without_a_run_time) { EXPECT_EQ(at(pod(""), seconds{0}), "Succeeded exit=0"); }

TEST(SimulatedPod, runs_for_its_run_time_to_the_microsecond) {
  const auto object = pod("slipway.dev/run-time: 12.345678s, slipway.dev/exit-code: '3'");
  EXPECT_EQ(at(object, seconds{0}), "Running +12.345678s");
  EXPECT_EQ(at(object, Duration{12'345'677}), "Running +1µs");
  EXPECT_EQ(at(object, Duration{12'345'678}), "Failed exit=3");
}

TEST(SimulatedPod, takes_the_exit_code_of_its_attempt) {
  const std::string codes = "slipway.dev/exit-code: '1,2,0', slipway.dev/attempt: ";
  EXPECT_EQ(at(pod(codes + "'0'"), seconds{0}), "Failed exit=1");
  EXPECT_EQ(at(pod(codes + "'1'"), seconds{0}), "Failed exit=2");
  EXPECT_EQ(at(pod(codes + "'7'"), seconds{0}), "Succeeded exit=0");
}

TEST(SimulatedPod, restarts_its_containers_on_failure) {
  const auto object = pod("slipway.dev/run-time: 5s, slipway.dev/exit-code: '1,0'", "OnFailure");
  EXPECT_EQ(at(object, seconds{4}), "Running +1s");
  EXPECT_EQ(at(object, seconds{6}), "Running CrashLoopBackOff +9s");
  EXPECT_EQ(at(object, seconds{16}), "Running restarts=1 +4s");
  EXPECT_EQ(at(object, seconds{20}), "Succeeded exit=0 restarts=1");
}

TEST(SimulatedPod, goes_on_from_what_its_status_says) {
  const auto object = pod("slipway.dev/run-time: 5s, slipway.dev/exit-code: '1,0'", "OnFailure");
  for (const Duration seen : {seconds{2}, seconds{6}, seconds{16}}) {
    const Time now = kStart + seen;
    const auto restarted = object.with("status", pod_status(object, simulate_pod(object, kStart, now), now));
    const Time forgotten = kStart + seconds{1000};
    EXPECT_EQ(picture(simulate_pod(restarted, forgotten, kStart + seconds{19})), "Running restarts=1 +1s");
  }
}

TEST(SimulatedPod, runs_for_ever_when_always_restarted_and_nothing_else_is_said) {
  EXPECT_EQ(at(pod("", "Always"), seconds{1'000'000}), "Running");
}

TEST(SimulatedPod, restarts_only_the_container_whose_image_was_exchanged) {
  const auto image = [](const json::Value& object, std::size_t index, const char* name) {
    const json::Value& containers = object["spec"]["containers"];
    return object.with_path({"spec", "containers"}, containers.with_item(index, containers.item(index).with("image", name)));
  };
  json::Value object = pod("slipway.dev/ready-after: 5s", "Always");
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
    return text + (report.look_again ? to_string(*report.look_again) : "");
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
  json::Value object =
      pod("", "Always").with_path({"spec", "readinessGates"}, json::array({json::object({{"conditionType", "Open"}})}));
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
  const auto report = simulate_pod(pod("slipway.dev/run-time: soon"), kStart, kStart);
  EXPECT_EQ(report.phase, "Failed");
  EXPECT_EQ(report.message, "annotation slipway.dev/run-time: not a duration such as 12.5s: soon");
}

}  // namespace
}  // namespace slipway::cluster
