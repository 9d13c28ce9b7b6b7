#include "delivery/pipeline/log_entries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/pipeline/delivery_log.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Time kLogStart = *parse_rfc3339("2026-03-01T10:00:00Z");

/// A log and the world it tells of.
class Teller : public testing::Test {
 protected:
  Teller() {
    world.pipeline = "podinfo";
    world.keep = kKeepHistory;
    world.now = kLogStart;
    environment("prod", 2);
    world.status = PipelineStatus{.observed_generation = 1};
  }
  void environment(const std::string& name, int targets) {
    Environment made{.name = name};
    for (int i = 0; i < targets; ++i) made.targets.push_back({.ns = fmt::format("ns{}", i)});
    world.spec.environments.push_back(made);
  }
  EnvironmentStatus& prod() { return world.status->environments["prod"]; }
  /// All targets of prod in that state.
  void targets(State state, std::string runs, std::string attempted = "") {
    prod().version.reset();
    prod().targets.clear();
    for (int i = 0; i < 2; ++i) {
      TargetStatus target{.ns = fmt::format("ns{}", i), .revision = runs, .state = state, .text = "why", .since = world.now};
      target.is_ready = state == State::Settled;
      target.specified.text = target.attempted.text = attempted.empty() ? runs : attempted;
      target.running.text = runs;
      prod().targets.push_back(target);
    }
    if (state == State::Settled) prod().version = VersionStatus{.text = runs, .time = world.now};
  }
  void pass(Duration time) { world.now += time; }
  /// "observed prod 1.2.0: text" of what is new, told then; without targets' transitions.
  std::vector<std::string> tell() {
    std::vector<std::string> lines;
    const NewEntries made = new_entries(told(), world);
    look_again = made.look_again;
    append(chain, made.entries);
    for (const DeliveryEntry& entry : made.entries) {
      if (entry.what == "target" || entry.what == "targets") continue;
      std::string line = entry.what;
      for (const std::string& word : {entry.environment, entry.version}) line += word.empty() ? "" : " " + word;
      lines.push_back(line + (entry.text.empty() ? "" : ": " + entry.text));
    }
    return lines;
  }
  /// Made from the log, as after a restart.
  Told told() const {
    Told made;
    for (const Segment& segment : chain.segments) {
      for (const DeliveryEntry& entry : segment.spec.entries) made.take(entry);
    }
    return made;
  }
  int count(std::string_view what) const {
    int found = 0;
    for (const Segment& segment : chain.segments) {
      for (const DeliveryEntry& entry : segment.spec.entries) found += entry.what == what ? 1 : 0;
    }
    return found;
  }

  LogWorld world;
  Chain chain{.ns = "apps", .pipeline = "podinfo", .uid = "0f1e2d3c-1", .segments = {}};
  std::optional<Time> look_again;
};

using Lines = std::vector<std::string>;

TEST_F(Teller, tells_a_deployment_once) {
  targets(State::Settled, "1.0.0");
  EXPECT_EQ(tell(), Lines{"observed prod 1.0.0"});
  EXPECT_EQ(chain.last()->at, kLogStart);
  pass(hours{1});
  EXPECT_EQ(tell(), Lines{});
  targets(State::Progressing, "1.0.0", "1.1.0");
  EXPECT_EQ(tell(), Lines{});
  pass(hours{1});
  EXPECT_EQ(tell(), Lines{}) << "something newer is on its way";
  targets(State::Settled, "1.1.0");
  EXPECT_EQ(tell(), Lines{"observed prod 1.1.0"});
}

TEST_F(Teller, a_deployment_during_downtime_has_its_own_time) {
  targets(State::Settled, "1.0.0");
  prod().targets[1].since = kLogStart - minutes{20};
  prod().targets[0].since = kLogStart - minutes{40};
  prod().version->time = kLogStart - minutes{50};
  tell();
  EXPECT_EQ(chain.last()->at, kLogStart - minutes{20}) << "when the last target was there";
}

TEST_F(Teller, a_lower_version_is_a_departure) {
  targets(State::Settled, "1.1.0");
  tell();
  pass(hours{1});
  targets(State::Settled, "1.0.0");
  EXPECT_EQ(tell(), (Lines{"departed prod 1.1.0: replaced by the lower version 1.0.0", "observed prod 1.0.0"}));
  EXPECT_EQ(tell(), Lines{});
}

TEST_F(Teller, what_the_agent_rolled_back_on_its_way_in_has_failed) {
  targets(State::Settled, "1.0.0");
  tell();
  pass(hours{1});
  targets(State::RolledBack, "1.0.0", "1.1.0");
  EXPECT_EQ(tell(), Lines{"failed prod 1.1.0: rolled back by the agent: ns0: why"});
  pass(hours{1});
  EXPECT_EQ(tell(), Lines{}) << "told once";
  targets(State::Settled, "1.0.0");
  EXPECT_EQ(tell(), Lines{"observed prod 1.0.0: ready again"});
  pass(hours{1});
  targets(State::Failed, "1.0.0", "1.1.0");
  EXPECT_EQ(tell(), Lines{"failed prod 1.1.0: failed: ns0: why"}) << "another attempt";
}

TEST_F(Teller, what_was_there_and_fails_has_departed) {
  targets(State::Settled, "1.0.0");
  tell();
  pass(hours{1});
  targets(State::Failed, "1.0.0");
  EXPECT_EQ(tell(), Lines{"departed prod 1.0.0: failed: ns0: why"});
  pass(hours{1});
  targets(State::Settled, "1.0.0");
  EXPECT_EQ(tell(), Lines{"observed prod 1.0.0: ready again"});
}

TEST_F(Teller, not_ready_counts_after_the_soak) {
  targets(State::Settled, "1.0.0");
  tell();
  pass(hours{1});
  targets(State::Progressing, "1.0.0");
  EXPECT_EQ(tell(), Lines{});
  EXPECT_EQ(look_again, kLogStart + hours{1} + kSoak);
  pass(kSoak);
  EXPECT_EQ(tell(), Lines{"departed prod 1.0.0: not ready for 10m"});
  EXPECT_EQ(chain.last()->at, kLogStart + hours{1} + kSoak);
}

TEST_F(Teller, what_cannot_be_seen_is_no_failure) {
  targets(State::Settled, "1.0.0");
  tell();
  for (const State state : {State::Unreachable, State::Stale, State::Forbidden, State::Suspended}) {
    targets(state, "1.0.0");
    pass(hours{5});
    EXPECT_EQ(tell(), Lines{});
  }
}

TEST_F(Teller, other_content_of_a_version_is_told) {
  targets(State::Settled, "1.0.0");
  prod().version->digest = "sha256:aaaaaaaaaa";
  tell();
  pass(hours{1});
  targets(State::Settled, "1.0.0");
  prod().version->digest = "sha256:bbbbbbbbbb";
  EXPECT_EQ(tell(), Lines{"observed prod 1.0.0: the same version with other content"});
}

TEST_F(Teller, targets_are_told_at_most_once_a_minute_each_and_not_on_their_way) {
  targets(State::Settled, "1.0.0");
  tell();
  EXPECT_EQ(count("target"), 2);
  pass(seconds{10});
  targets(State::Failed, "1.0.0", "1.1.0");
  tell();
  EXPECT_EQ(count("target"), 2);
  EXPECT_EQ(look_again, kLogStart + minutes{1});
  pass(minutes{1});
  tell();
  EXPECT_EQ(count("target"), 4);
  EXPECT_EQ(chain.last()->at, kLogStart + seconds{10}) << "the time of the change";
  EXPECT_EQ(chain.last()->text, "ns1 is failed: why");
  pass(minutes{2});
  targets(State::Progressing, "1.0.0", "1.1.0");
  tell();
  EXPECT_EQ(count("target"), 4);
  prod().targets[1].is_drifted = true;
  EXPECT_EQ(tell(), Lines{"drifted prod 1.0.0: ns1 is progressing: why"});
}

TEST_F(Teller, many_targets_are_only_counted) {
  environment("stage", static_cast<int>(kMostTargetsShown));
  targets(State::Settled, "1.0.0");
  prod().target_count = 2;
  prod().ready_count = 2;
  prod().states = {{"settled", 2}};
  prod().versions = {{"1.0.0", 2}};
  tell();
  EXPECT_EQ(count("target"), 0);
  EXPECT_EQ(count("targets"), 1);
  EXPECT_EQ(chain.segments[0].spec.entries[0].text, "2 of 2 ready, 2 settled, 2 at 1.0.0");
  pass(minutes{5});
  EXPECT_EQ(tell(), Lines{});
  EXPECT_EQ(count("targets"), 1);
}

TEST_F(Teller, tells_releases_promotions_and_decisions_by_whom) {
  world.releases.push_back(yaml(R"(
metadata: {name: podinfo-r1, uid: u1, creationTimestamp: "2026-03-01T08:00:00Z"}
spec: {pipeline: podinfo, version: 1.2.0, environment: dev, commit: abc, artifactCreated: "2026-03-01T07:00:00Z"}
)"));
  world.promotions.push_back(yaml(R"(
metadata: {name: podinfo-prod-1, uid: u2, creationTimestamp: "2026-03-01T08:00:00Z"}
spec: {pipeline: podinfo, environment: prod, release: podinfo-r1, by: {user: ann}, comment: now}
status: {phase: Rejected, reason: GateFailed, message: "errors 4%", started: "2026-03-01T08:10:00Z",
         changed: "2026-03-01T08:11:00Z", commit: c0ffee, strategy: commit, ended: "2026-03-01T09:00:00Z"}
)"));
  world.approvals.push_back(yaml(R"(
metadata: {name: a1, uid: u3, creationTimestamp: "2026-03-01T08:05:00Z"}
spec: {pipeline: podinfo, environment: prod, release: podinfo-r1, decision: approve, by: {user: bob}}
)"));
  world.approvals.push_back(yaml(R"(
metadata: {name: a2, uid: u4, creationTimestamp: "2026-03-01T08:06:00Z"}
spec: {pipeline: podinfo, environment: prod, release: podinfo-r1, decision: reject, gate: qa, comment: "no"}
)"));
  EXPECT_EQ(tell(), (Lines{"released dev 1.2.0: first seen in dev, commit abc", "approved prod 1.2.0",
                           "refused prod 1.2.0: gate qa: no", "promoted prod 1.2.0: commit, attempt 1: now",
                           "changed prod 1.2.0: c0ffee", "rejected prod 1.2.0: GateFailed: errors 4%"}));
  EXPECT_EQ(tell(), Lines{});
  std::vector<std::string> people;
  for (const DeliveryEntry& entry : chain.segments[0].spec.entries) people.push_back(entry.by);
  EXPECT_EQ(people, (Lines{"slipway", "bob", "unknown", "ann", "ann", "ann"}));
  EXPECT_EQ(chain.segments[0].spec.entries[0].artifact_created, *parse_rfc3339("2026-03-01T07:00:00Z"));
}

TEST_F(Teller, names_that_anybody_may_have_written_are_unknown) {
  world.acts_as = ActsAs::Controller;
  world.holds.push_back(yaml(R"(
metadata: {name: h, uid: u1, creationTimestamp: "2026-03-01T09:00:00Z"}
spec: {pipeline: podinfo, by: {user: boss}})"));
  world.promotions.push_back(yaml(R"(
metadata: {name: p, uid: u2, creationTimestamp: "2026-03-01T09:00:00Z"}
spec: {pipeline: podinfo, environment: prod, release: r, by: {user: boss}}
status: {phase: Running, started: "2026-03-01T09:00:00Z"})"));
  const NewEntries made = new_entries(told(), world);
  ASSERT_EQ(made.entries.size(), 2U);
  for (const DeliveryEntry& entry : made.entries) EXPECT_EQ(entry.by, "unknown") << entry.what;
}

TEST_F(Teller, holds_and_freezes_end_when_they_are_over_or_deleted) {
  world.holds.push_back(yaml(R"(
metadata: {name: h, uid: u1, creationTimestamp: "2026-03-01T09:00:00Z"}
spec: {pipeline: podinfo, comment: lunch, by: {user: ann}}
)"));
  world.freezes.push_back(yaml(R"(
metadata: {name: f, uid: u2, creationTimestamp: "2026-03-01T09:00:00Z"}
spec: {environments: [prod], until: "2026-03-01T11:00:00Z"}
)"));
  EXPECT_EQ(tell(), (Lines{"held: all environments: lunch", "frozen prod: prod"}));
  EXPECT_EQ(look_again, kLogStart + hours{1});
  pass(hours{2});
  world.holds.clear();
  EXPECT_EQ(tell(), (Lines{"thawed prod: its time is over", "resumed: it was deleted"}));
  world.freezes.clear();
  EXPECT_EQ(tell(), Lines{});
}

TEST_F(Teller, what_is_older_than_the_history_is_not_told_again) {
  world.keep = hours{24};
  world.releases.push_back(yaml(R"(
metadata: {name: podinfo-r1, uid: u1, creationTimestamp: "2026-02-01T08:00:00Z"}
spec: {pipeline: podinfo, version: 1.2.0}
)"));
  EXPECT_EQ(tell(), Lines{});
}

}  // namespace
}  // namespace slipway::delivery::pipeline
