#include "base/pod_record.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using namespace std::literals;

PodManifest full_manifest() {
  PodManifest manifest;
  manifest.init_containers = {
      {.name = "prepare", .argv = {"true"}, .env = {}, .folder = "", .log = "/p/prepare.log", .mounts = {}}};
  manifest.containers = {{.name = "main",
                          .argv = {"sh", "-c", "echo a\nb\\n", ""},
                          .env = {"PATH=/bin", "TEXT=one\ntwo", "EMPTY="},
                          .folder = "/work dir",
                          .log = "/p/main.log",
                          .mounts = {{.source = "/v/config", .target = "/config", .is_read_only = true},
                                     {.source = "/v/data", .target = "/data", .is_read_only = false}}},
                         {.name = "other", .argv = {"true"}, .env = {}, .folder = "", .log = "", .mounts = {}}};
  manifest.restart = PodRestart::OnFailure;
  manifest.grace_seconds = 7;
  manifest.wants_namespace = false;
  manifest.limits = {{.name = "scratch", .folder = "/p/volumes/scratch", .bytes = 1 << 20}};
  manifest.containers[1].user = 1000;
  manifest.containers[1].group = 0;
  return manifest;
}

PodState full_state() {
  PodState state;
  state.supervisor = {.pid = 4711, .start_ticks = 123456789};
  state.mark = 0x1f3a5c00;
  state.mounting = PodMounting::Namespace;
  state.phase = PodPhase::Running;
  state.is_stopping = true;
  state.reason = "Evicted";
  state.message = "a\\b";
  state.containers.resize(3);
  state.containers[0] = {
      .name = "prepare",
      .is_init = true,
      .phase = PodContainerPhase::Terminated,
      .waiting_reason = "",
      .process = {},
      .started_us = 0,
      .exit = {.exit_code = 128,
               .signal_number = 0,
               .started_us = 0,
               .finished_us = 9,
               .reason = "StartError",
               .message = "two\nlines"},
      .restarts = 2,
      .last_exit =
          PodExit{.exit_code = 137, .signal_number = 9, .started_us = 1, .finished_us = 2, .reason = "Error", .message = ""}};
  state.containers[1].name = "main";
  state.containers[1].phase = PodContainerPhase::Running;
  state.containers[1].process = {.pid = 4712, .start_ticks = 18446744073709551615U};
  state.containers[1].started_us = 1700000000000001;
  state.containers[2].name = "other";
  state.containers[2].waiting_reason = "PodInitializing";
  return state;
}

TEST(PodRecord, a_manifest_comes_back_as_it_was_written) {
  const auto decoded = decode_manifest(encode_manifest(full_manifest()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, full_manifest());
}

TEST(PodRecord, a_state_comes_back_as_it_was_written) {
  const auto decoded = decode_state(encode_state(full_state()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, full_state());
}

TEST(PodRecord, every_cut_of_a_record_is_refused) {
  const std::string manifest = encode_manifest(full_manifest());
  for (std::size_t size = 0; size < manifest.size(); ++size) EXPECT_FALSE(decode_manifest(manifest.substr(0, size))) << size;
  const std::string state = encode_state(full_state());
  for (std::size_t size = 0; size < state.size(); ++size) EXPECT_FALSE(decode_state(state.substr(0, size))) << size;
}

TEST(PodRecord, what_is_not_understood_is_named_with_its_line) {
  const auto message = [](std::string_view text) {
    const auto decoded = decode_manifest(text);
    return decoded ? std::string() : decoded.error().message;
  };
  EXPECT_EQ(message("slipway-pod-manifest 2\nend manifest\n"),
            "pod manifest line 1 (slipway-pod-manifest): written by another version of slipway");
  EXPECT_EQ(message("slipway-pod-manifest 1\ncolour red\n"), "pod manifest line 2 (colour): unknown key");
  EXPECT_EQ(message("slipway-pod-manifest 1\ngrace_seconds 3x\nend manifest\n"),
            "pod manifest line 2 (grace_seconds): must be a whole number in range");
  EXPECT_EQ(message("slipway-pod-manifest 1\nend manifest\n"), "pod manifest line 2 (end): a pod needs a container");
  EXPECT_EQ(message("slipway-pod-manifest 1\ncontainer a\nend manifest\n"),
            "pod manifest line 3 (end): container a has no command");
  EXPECT_EQ(message("slipway-pod-manifest 1\ncontainer a\narg true\ninit_container a\narg true\nend manifest\n"),
            "pod manifest line 6 (end): two containers are named a");
  EXPECT_EQ(message("slipway-pod-manifest 1\ncontainer a\narg x\0y\n"sv),
            "pod manifest line 3 (arg): a NUL byte cannot be passed to a process");
}

TEST(PodRecord, the_fate_of_a_pod_follows_from_its_state_and_the_life_of_its_supervisor) {
  PodState state;
  EXPECT_EQ(pod_fate(std::nullopt, false), PodFate::NotStarted);
  state.phase = PodPhase::Running;
  EXPECT_EQ(pod_fate(state, true), PodFate::Supervised);
  EXPECT_EQ(pod_fate(state, false), PodFate::Lost);
  state.phase = PodPhase::Succeeded;
  EXPECT_EQ(pod_fate(state, true), PodFate::Finished);
  EXPECT_EQ(pod_fate(state, false), PodFate::Finished);
  state.phase = PodPhase::Lost;
  EXPECT_EQ(pod_fate(state, false), PodFate::Lost);
}

}  // namespace
}  // namespace slipway
