#include "delivery/pipeline/packed_view.h"

#include <gtest/gtest.h>

namespace slipway::delivery::pipeline {
namespace {

constexpr Time kThen{std::chrono::microseconds{1'772'359'200'000'001}};

TargetView settled() {
  TargetView view;
  const Version version{.text = "6.1.6", .digest = "f1e2d3c4b5a697", .time = kThen};
  view.memory.last = {.specified = version,
                      .attempted = version,
                      .running = version,
                      .chart = "podinfo",
                      .images = {{.name = "ghcr.io/stefanprodan/podinfo", .tag = "6.1.6", .digest = ""}},
                      .images_time = kThen,
                      .ready_at = "6.1.6",
                      .state = State::Settled};
  view.memory.content = "0123456789abcde";
  view.memory.renderings = {{.release = "6.1.6 f1e2d3c4b5a697", .content = "0123456789abcde", .is_complete = true}};
  view.state = State::Settled;
  view.since = kThen;
  view.api_version = "helm.toolkit.fluxcd.io/v2";
  view.related = {"HelmRepository podinfo/podinfo", "HelmChart podinfo/podinfo-podinfo"};
  return view;
}

void expect_same(const TargetView& one, const TargetView& other) {
  EXPECT_EQ(one.memory.last, other.memory.last);
  EXPECT_EQ(one.memory.content, other.memory.content);
  EXPECT_EQ(one.memory.renderings, other.memory.renderings);
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(one.trouble, other.trouble);
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(one.error, other.error);
  EXPECT_EQ(one.problem, other.problem);
  EXPECT_EQ(one.claim, other.claim);
  EXPECT_EQ(one.since, other.since);
  EXPECT_EQ(one.api_version, other.api_version);
  EXPECT_EQ(one.related, other.related);
}

TEST(PackedView, what_is_unpacked_is_what_was_packed) {
  TargetView view = settled();
  expect_same(unpacked(packed(view)), view);
  view.memory.last.attempted = {.text = "6.2.0", .digest = "", .time = Time{Duration{-1}}};
  view.memory.last.running = {};
  view.memory.last.is_drifted = true;
  view.memory.last.state = view.state = State::Forbidden;
  view.memory.last.text = std::string(300, 'x');
  view.memory.last.images.push_back({.name = "sidecar", .tag = "", .digest = "sha256:00"});
  view.memory.renderings.push_back({.release = "", .content = std::string("\0\x80", 2), .is_complete = false});
  view.trouble = Trouble::NotReadable;
  view.text = view.error = "may not list helmreleases";
  view.problem = "NoAccess";
  view.claim = "shop/web";
  view.since.reset();
  expect_same(unpacked(packed(view)), view);
}

TEST(PackedView, an_empty_one_is_a_new_view) {
  expect_same(unpacked(""), TargetView{});
  expect_same(unpacked(packed(TargetView{})), TargetView{});
}

TEST(PackedView, a_settled_target_takes_some_250_bytes) { EXPECT_LT(packed(settled()).size(), 264U); }

}  // namespace
}  // namespace slipway::delivery::pipeline
