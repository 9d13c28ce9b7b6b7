// The log of a pipeline as the controller writes it, over a server in virtual time.
#include "log_fixture.h"

namespace slipway::pipeline_log_test {
namespace {

using delivery::pipeline::Chain;
using delivery::pipeline::verify;
using std::chrono::hours;
using std::chrono::minutes;

using Lines = std::vector<std::string>;

TEST_F(LogTest, tells_what_runs_and_who_decided) {
  make_pipeline();
  write_status("dev", "1.0.0");
  create(kReleases, R"(
{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {name: podinfo-r1, namespace: apps},
 spec: {pipeline: podinfo, version: 1.0.0, environment: dev}}
)");
  advance(minutes{5});
  create(kApprovals, R"(
{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Approval, metadata: {name: a1, namespace: apps},
 spec: {pipeline: podinfo, environment: prod, release: podinfo-r1, decision: approve, by: {user: ann}}}
)");
  advance(minutes{5});
  write_status("prod", "1.0.0");
  EXPECT_EQ(told(), (Lines{"observed dev 1.0.0", "released dev 1.0.0", "approved prod 1.0.0", "observed prod 1.0.0"}));
  const Object segment = list(kDeliveryLogs).at(0);
  EXPECT_EQ(kube::name(segment), fmt::format("podinfo-{}-0", kube::uid(get(kPipelines, "podinfo")).substr(0, 8)));
  EXPECT_FALSE(segment["metadata"].has("ownerReferences"));
}

TEST_F(LogTest, goes_on_after_a_crash_with_nothing_twice_and_nothing_lost) {
  make_pipeline();
  write_status("prod", "1.0.0");
  advance(hours{1});
  write_status("prod", "1.1.0");
  const Lines before = told();
  restart();
  advance(minutes{5});
  EXPECT_EQ(told(), before);
  restart_server();
  write_status("prod", "1.0.0");
  advance(minutes{1});
  create(kHolds, R"(
{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Hold, metadata: {name: h, namespace: apps},
 spec: {pipeline: podinfo, by: {user: ann}}}
)");
  advance(hours{2});
  restart();
  advance(minutes{5});
  EXPECT_EQ(told(),
            (Lines{"observed prod 1.0.0", "observed prod 1.1.0", "departed prod 1.1.0", "observed prod 1.0.0", "held"}));
  EXPECT_EQ(chains().front().last()->at, now() - hours{2} - minutes{5}) << "with the time of what happened";
}

TEST_F(LogTest, tells_that_a_version_is_not_ready_though_nothing_changes_any_more) {
  make_pipeline();
  write_status("prod", "1.0.0");
  advance(hours{1});
  write_status("prod", "1.0.0", "progressing");
  advance(minutes{9});
  EXPECT_EQ(told(), Lines{"observed prod 1.0.0"});
  advance(minutes{2});
  EXPECT_EQ(told(), (Lines{"observed prod 1.0.0", "departed prod 1.0.0"}));
}

TEST_F(LogTest, outlives_its_pipeline_and_a_new_one_begins_a_new_chain) {
  make_pipeline();
  write_status("prod", "1.0.0");
  remove(kPipelines, "podinfo");
  EXPECT_EQ(told(), (Lines{"observed prod 1.0.0", "removed"}));
  advance(hours{1});
  make_pipeline();
  write_status("prod", "2.0.0");
  EXPECT_EQ(chains().size(), 2U);
  EXPECT_EQ(told(), (Lines{"observed prod 1.0.0", "removed", "observed prod 2.0.0"}));
}

TEST_F(LogTest, the_log_of_a_pipeline_that_was_replaced_while_nobody_looked_ends) {
  make_pipeline();
  write_status("prod", "1.0.0");
  restart_server();
  remove(kPipelines, "podinfo");
  make_pipeline();
  restart();
  EXPECT_EQ(told(), (Lines{"observed prod 1.0.0", "removed"}));
}

TEST_F(LogTest, segments_are_bounded_and_old_ones_go) {
  make_pipeline(R"(, annotations: {"pipelines.slipway.dev/keep-history": 1h})");
  for (int i = 0; i < 200; ++i) {
    advance(minutes{1});
    write_status("prod", fmt::format("1.{}.0", i));
  }
  const Chain chain = chains().at(0);
  EXPECT_TRUE(verify(chain).is_whole());
  EXPECT_GT(chain.segments.front().spec.segment, 0) << "three hours, of which one is kept";
  EXPECT_LE(chain.segments.back().spec.entries.back().at, now());
  for (const auto& segment : chain.segments) {
    EXPECT_LE(json::print(segment.object).size(), delivery::pipeline::kMostSegmentBytes);
  }
  remove(kPipelines, "podinfo");
  advance(minutes{50});
  EXPECT_FALSE(chains().empty());
  advance(minutes{12});
  EXPECT_TRUE(chains().empty()) << "the annotation is remembered";
}

}  // namespace
}  // namespace slipway::pipeline_log_test
