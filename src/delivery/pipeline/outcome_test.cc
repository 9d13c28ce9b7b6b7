// The table cause → outcome, walked: every row is reached in a small world. What says "not yet" goes on by itself once it is
// gone; what rejects stays until it is lifted, and then goes on.
#include "delivery/pipeline/outcome.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using gate::Verdict;
using std::chrono::hours;
using std::chrono::minutes;

using Act = std::function<void(PromoteWorld& world)>;

struct Case {
  PromotionCause cause;
  Act reach;
  Act relieve{};
  std::string version = "1.1.0";  // that is in prod in the end
};

gate::GateSpec& gate_at(PromoteWorld& world, const std::string& environment, const std::string& at) {
  gate::GateSpec made;
  made.name = "tests";
  made.at = at;
  made.webhook = gate::WebhookGate{};
  world.environment(environment).gates = {made};
  return world.environment(environment).gates.front();
}

void answer(PromoteWorld& world, Verdict::Kind kind) {
  world.gate_answers = [kind](const KnownPromotion&, const std::string&) { return Verdict{kind, "", ""}; };
}

void start(PromoteWorld& world) {
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
}

/// Gets under way, and the agents wait.
void start_settling(PromoteWorld& world) {
  world.follows = false;
  start(world);
  world.advance(minutes{1});
}

void by_pull_request(PromoteWorld& world) {
  world.in.spec.promotion->strategy = Strategy{};
  world.in.spec.promotion->strategy->pull_request = PullRequest{};
}

ChangeResult stage(ChangeState::Stage at) {
  return ChangeState{.stage = at, .commit = "", .pull_request = "https://forge.test/1"};
}

Act target_in(State state) {
  return [state](PromoteWorld& world) {
    start_settling(world);
    TargetStatus& target = world.target("prod", 0);
    target.state = state;
    target.is_ready = false;
    if (state == State::RolledBack || state == State::Failed) {
      target.attempted.text = "1.1.0";
      target.since = world.now();
    }
    world.count("prod");
    world.run();
  };
}

void follow(PromoteWorld& world) {
  world.follows = true;
  if (!world.committed.empty()) world.follow();
}

Act failing(PromotionCause cause) {
  return [cause](PromoteWorld& world) {
    world.strategy = [cause](PromotionEffect::Kind, const KnownPromotion&) -> ChangeResult {
      return std::unexpected(ChangeFailure{cause, fail(Reason::ServiceUnavailable, "down").error()});
    };
    start(world);
  };
}

void stops_failing(PromoteWorld& world) {
  world.strategy = nullptr;
  world.advance(minutes{10});
}

gate::GateSpec people(std::int64_t count, bool by_author) {
  gate::GateSpec made;
  made.name = "go";
  made.at = "before";
  made.approval = gate::ApprovalGate{.count = count, .users = {}, .groups = {}, .by_author = by_author};
  return made;
}

void approve(PromoteWorld& world) { world.say("prod", "1.1.0", "approve"); }

/// Holds, freezes and what the status says.
std::vector<Case> waiting_cases() {
  return {
      {PromotionCause::ReleaseNotFound, [](PromoteWorld& w) { w.run(), w.ask_for("prod", "1.1.0"), w.run(); },
       [](PromoteWorld& w) {
         Known<ReleaseSpec> made{.name = "none", .spec = {}, .created = w.now(), .revision = 99};
         made.spec.version = "1.1.0";
         w.in.releases.push_back(made);
         w.settle("dev", "1.1.0");
       }},
      {PromotionCause::EnvironmentNotFound, [](PromoteWorld& w) { start(w), w.ask_for("last", "1.1.0"), w.run(); },
       [](PromoteWorld& w) {
         w.in.spec.environments.push_back(w.environment("prod"));
         w.in.spec.environments.back().name = "last";
         w.settle("last", "1.0.0");
       }},
      {PromotionCause::StatusBehind, [](PromoteWorld& w) { w.hold(), start(w), w.in.generation = 2, w.run(); },
       [](PromoteWorld& w) { w.in.status.observed_generation = 2, w.in.holds.clear(); }},
      {PromotionCause::Suspended, [](PromoteWorld& w) { w.in.spec.is_suspended = true, start(w); },
       [](PromoteWorld& w) { w.in.spec.is_suspended = false; }},
      {PromotionCause::Held, [](PromoteWorld& w) { w.hold("prod"), start(w); }, [](PromoteWorld& w) { w.in.holds.clear(); }},
      {PromotionCause::Frozen, [](PromoteWorld& w) { w.freeze({.until = w.now() + hours{1}}), start(w); },
       [](PromoteWorld& w) { w.advance(hours{1}); }},
      {PromotionCause::ProtectedElsewhere,
       [](PromoteWorld& w) { w.in.protected_elsewhere["prod"] = "pipeline leads/shop protects it", start(w); },
       [](PromoteWorld& w) { w.in.protected_elsewhere.clear(); }},
      {PromotionCause::ReleaseRejected,
       [](PromoteWorld& w) {
         gate_at(w, "prod", "before");
         answer(w, Verdict::Kind::Fail);
         start(w), w.ask_for("prod", "1.1.0"), w.run();
       },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass), w.advance(minutes{1}), w.say("prod", "1.1.0", "lift"); }},
      {PromotionCause::UpstreamNotReady,
       [](PromoteWorld& w) {
         w.hold(), start(w);
         w.target("dev", 0).is_ready = false;
         w.target("dev", 0).state = State::Progressing;
         w.count("dev"), w.in.holds.clear(), w.run();
       },
       [](PromoteWorld& w) { w.settle("dev", "1.1.0"); }},
      {PromotionCause::UpstreamNotPassed,
       [](PromoteWorld& w) { gate_at(w, "dev", "after"), start(w), w.ask_for("prod", "1.1.0"), w.run(); },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass), w.advance(minutes{1}); }},
      {PromotionCause::AnotherPromotion,
       [](PromoteWorld& w) { start_settling(w), w.settle("dev", "1.2.0"), w.run(), w.ask_for("prod", "1.2.0"), w.run(); },
       follow, "1.2.0"},
      {PromotionCause::OrderUnknown, [](PromoteWorld& w) { w.settle("prod", "main@sha1:0000000"), start(w); }, approve},
  };
}

std::vector<Case> gate_cases() {
  return {
      {PromotionCause::ApprovalMissing, [](PromoteWorld& w) { w.in.spec.promotion->is_manual = true, start(w); }, approve},
      {PromotionCause::ApproverUnknown,
       [](PromoteWorld& w) { w.environment("prod").gates = {people(1, false)}, start(w), approve(w), w.run(); },
       [](PromoteWorld& w) { w.in.releases.back().spec.author = "eve"; }},
      {PromotionCause::WindowClosed,
       [](PromoteWorld& w) {
         gate::GateSpec& gate = gate_at(w, "prod", "before");
         gate.webhook.reset();
         gate.window = gate::WindowGate{.rrule = "FREQ=DAILY;BYHOUR=14", .time_zone = "UTC", .duration = hours{1}};
         start(w);
       },
       [](PromoteWorld& w) { w.advance(hours{4}); }},
      {PromotionCause::GatePending, [](PromoteWorld& w) { gate_at(w, "prod", "before"), start(w); },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass), w.advance(minutes{1}); }},
      {PromotionCause::GateUnknown,
       [](PromoteWorld& w) { gate_at(w, "prod", "after"), answer(w, Verdict::Kind::NoData), start(w); },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass), w.advance(minutes{1}); }},
      {PromotionCause::DeadlineHolds,
       [](PromoteWorld& w) {
         gate_at(w, "prod", "before").deadline_seconds = 60;
         w.environment("prod").gates.front().on_deadline = "hold";
         start(w), w.advance(minutes{1}), w.run();
       },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass), w.advance(minutes{1}); }},
      {PromotionCause::Soaking, [](PromoteWorld& w) { w.environment("prod").soak = hours{1}, start(w); },
       [](PromoteWorld& w) { w.advance(hours{1}); }},
      {PromotionCause::GateFailed,
       [](PromoteWorld& w) { gate_at(w, "prod", "before"), answer(w, Verdict::Kind::Fail), start(w); },
       [](PromoteWorld& w) { answer(w, Verdict::Kind::Pass); }},
      {PromotionCause::DeadlineFailed,
       [](PromoteWorld& w) { gate_at(w, "prod", "after").deadline_seconds = 60, start(w), w.advance(minutes{1}), w.run(); },
       [](PromoteWorld& w) { w.environment("prod").gates.clear(), w.settle("prod", "1.0.0"); }},
      {PromotionCause::RefusedByPerson, [](PromoteWorld& w) { w.hold(), start(w), w.say("prod", "1.1.0", "reject"), w.run(); },
       [](PromoteWorld& w) { w.in.holds.clear(); }},
  };
}

std::vector<Case> change_cases() {
  return {
      {PromotionCause::ChangePending,
       [](PromoteWorld& w) {
         w.strategy = [](PromotionEffect::Kind, const KnownPromotion&) { return stage(ChangeState::Stage::Told); };
         start(w);
       },
       stops_failing},
      {PromotionCause::SourceFailed, failing(PromotionCause::SourceFailed), stops_failing},
      {PromotionCause::PushFailed, failing(PromotionCause::PushFailed), stops_failing},
      {PromotionCause::ForgeFailed, failing(PromotionCause::ForgeFailed), stops_failing},
      {PromotionCause::AccessDenied, failing(PromotionCause::AccessDenied), stops_failing},
      {PromotionCause::AuthorLacksRight, failing(PromotionCause::AuthorLacksRight), stops_failing},
      {PromotionCause::StrategyNotImplemented, failing(PromotionCause::StrategyNotImplemented), stops_failing},
      {PromotionCause::PullRequestOpen,
       [](PromoteWorld& w) {
         by_pull_request(w);
         w.strategy = [](PromotionEffect::Kind, const KnownPromotion&) { return stage(ChangeState::Stage::Proposed); };
         start(w);
       },
       stops_failing},
      {PromotionCause::AwaitsChange, [](PromoteWorld& w) { w.in.spec.promotion.reset(), start(w); },
       [](PromoteWorld& w) { w.settle("prod", "1.1.0"); }},
      {PromotionCause::Withdrawing,
       [](PromoteWorld& w) {
         by_pull_request(w);
         w.strategy = [](PromotionEffect::Kind kind, const KnownPromotion&) -> ChangeResult {
           if (kind != PromotionEffect::Kind::Withdraw) return stage(ChangeState::Stage::Proposed);
           return std::unexpected(ChangeFailure{PromotionCause::ForgeFailed, fail(Reason::Timeout, "").error()});
         };
         start(w), w.settle("dev", "1.2.0"), w.run();
       },
       [](PromoteWorld& w) {
         w.strategy = [](PromotionEffect::Kind kind, const KnownPromotion&) {
           return stage(kind == PromotionEffect::Kind::Withdraw ? ChangeState::Stage::Closed : ChangeState::Stage::Made);
         };
         w.advance(minutes{10});
       },
       "1.2.0"},
      {PromotionCause::PullRequestClosed,
       [](PromoteWorld& w) {
         by_pull_request(w);
         w.strategy = [](PromotionEffect::Kind, const KnownPromotion&) { return stage(ChangeState::Stage::Closed); };
         start(w);
       },
       [](PromoteWorld& w) { w.strategy = nullptr; }},
  };
}

std::vector<Case> target_cases() {
  const Act back = [](PromoteWorld& w) { w.committed.clear(), w.settle("prod", "1.0.0"), w.follows = true; };
  return {
      {PromotionCause::TargetNotReady, start_settling, follow},
      {PromotionCause::TargetUnreachable, target_in(State::Unreachable), follow},
      {PromotionCause::TargetForbidden, target_in(State::Forbidden), follow},
      {PromotionCause::TargetAbsent, target_in(State::Absent), follow},
      {PromotionCause::TargetSuspended, target_in(State::Suspended), follow},
      {PromotionCause::TargetMixed, target_in(State::Mixed), follow},
      {PromotionCause::AgentGaveUpBefore,
       [](PromoteWorld& w) {
         target_in(State::RolledBack)(w);
         w.advance(minutes{1}), w.say("prod", "1.1.0", "lift"), w.run();
       },
       [](PromoteWorld& w) { w.settle("prod", "1.1.0"); }},
      {PromotionCause::RolledBackByAgent, target_in(State::RolledBack), back},
      {PromotionCause::FailedByAgent, target_in(State::Failed), back},
      {PromotionCause::RolledBack,
       [](PromoteWorld& w) {
         start(w), w.advance(minutes{1});
         w.ask_for("prod", "1.0.0", PromotionAction::Rollback);
         w.run();
       }},
      {PromotionCause::ReplacedByLower, [](PromoteWorld& w) { start(w), w.settle("prod", "1.0.0"), w.run(); }},
      {PromotionCause::NewerRelease, [](PromoteWorld& w) { w.hold(), start(w), w.settle("dev", "1.2.0"), w.run(); }},
      {PromotionCause::Overtaken, [](PromoteWorld& w) { w.hold(), start(w), w.settle("prod", "2.0.0"), w.run(); }},
      {PromotionCause::Drifted,
       [](PromoteWorld& w) {
         w.settle("dev", "1.0.0", "sha256:aaaaaaaaaaaa"), w.settle("prod", "1.0.0", "sha256:bbbbbbbbbbbb"), w.run();
         w.ask_for("prod", "1.0.0"), w.run();
       }},
      {PromotionCause::GoneBefore,
       [](PromoteWorld& w) {
         w.settle("dev", "1.1.0"), w.settle("prod", "1.1.0");
         w.step(), w.step(), w.settle("prod", "0.9.0"), w.run();
       }},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto part : {waiting_cases(), gate_cases(), change_cases(), target_cases()}) {
    std::ranges::move(part, std::back_inserter(all));
  }
  return all;
}

const KnownPromotion* with_reason(const PromoteWorld& world, std::string_view reason) {
  for (const KnownPromotion& one : world.in.promotions) {
    if (one.status.reason == reason) return &one;
  }
  return nullptr;
}

void walk(const CauseRow& row, const Case& one) {
  PromoteWorld world({"dev", "prod"});
  one.reach(world);
  const KnownPromotion* found = with_reason(world, row.reason);
  ASSERT_NE(found, nullptr) << world.state("prod", one.version);
  EXPECT_NE(found->status.text, "");
  EXPECT_EQ(is_live(found->status), row.outcome == CauseOutcome::NotYet);
  EXPECT_EQ(found->status.phase == Phase::Rejected, row.outcome == CauseOutcome::Rejected);
  EXPECT_EQ(found->status.phase == Phase::Superseded, row.outcome == CauseOutcome::Superseded);
  if (row.outcome == CauseOutcome::Superseded) return;
  const std::string name = found->name;
  if (one.relieve) one.relieve(world);
  world.run();
  const auto same = std::ranges::find(world.in.promotions, name, &KnownPromotion::name);
  if (row.outcome == CauseOutcome::Rejected) {
    EXPECT_EQ(same->status.phase, Phase::Rejected) << "it is remembered";
    EXPECT_EQ(world.find("prod", one.version)->name, name) << "it is not tried again";
    world.advance(minutes{1});
    world.say("prod", one.version, "lift");
    world.run();
  }
  EXPECT_EQ(world.state("prod", one.version), "Succeeded Succeeded") << world.find("prod", one.version)->status.text;
}

TEST(PromotionOutcome, every_row_is_reached_and_does_as_it_says) {
  const std::vector<Case> all = cases();
  for (const CauseRow& row : kCauses) {
    SCOPED_TRACE(row.reason);
    const auto one = std::ranges::find(all, row.cause, &Case::cause);
    ASSERT_NE(one, all.end()) << "no world leads there";
    walk(row, *one);
  }
  EXPECT_EQ(all.size(), std::size(kCauses));
}

TEST(PromotionOutcome, reasons_are_told_apart) {
  for (const CauseRow& row : kCauses) EXPECT_EQ(cause_named(row.reason), row.cause) << row.reason;
  EXPECT_EQ(cause_named("Succeeded"), std::nullopt);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
