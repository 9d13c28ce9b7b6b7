// Two electors on two machines whose wall clocks are set while they run: whoever writes, writes alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/leader_election.h"
#include "sim/domain.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;

/// The server's one Lease, with optimistic concurrency.
struct LeaseBook {
  Result<client::Reply> call(const client::Request& request) {
    if (request.verb == client::Verb::Get) {
      if (lease.is_null()) return fail(kube::not_found(request.resource, request.name));
      return client::Reply{lease, {}, 200};
    }
    if (request.verb == client::Verb::Create && !lease.is_null()) {
      return fail(kube::already_exists(request.resource, kube::name(request.body)));
    }
    if (request.verb == client::Verb::Update && kube::revision(request.body) != kube::revision(lease)) {
      return fail(kube::conflict(request.resource, request.name, "changed"));
    }
    const std::string revision = std::to_string(++revisions);
    lease = request.body.with_path({"metadata", "uid"}, "u").with_path({"metadata", "resourceVersion"}, revision);
    return client::Reply{lease, {}, 200};
  }

  json::Value lease{};
  int revisions = 0;
};

/// A machine's connection to the book: answers may come late, and it may be cut.
class Line : public client::Client {
 public:
  Line(LeaseBook& book, Env& env) : book_(book), env_(env) {}
  Task<Result<client::Reply>> call(client::Request request) override {
    if (is_cut) co_return fail(Reason::ServiceUnavailable, "cut");
    auto reply = book_.call(request);
    if (delay > Duration{0}) co_await sleep_for(env_, delay);
    co_return reply;
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(Reason::NotImplemented, ""); }

  bool is_cut = false;
  Duration delay{0};

 private:
  LeaseBook& book_;
  Env& env_;
};

struct Write {
  Steady at;
  std::string who;
};

/// A machine with one elector, which writes ten times a second for as long as it leads.
class Machine {
 public:
  Machine(std::string name, LeaseBook& book, std::vector<Write>& writes, Domain::Outside outside)
      : domain(name, outside),
        line(book, domain.env()),
        election_(domain.env(), line, {.ns = "default", .name = "l", .identity = name, .renew_deadline = 14s}),
        writes_(writes) {
    domain.spawn(lead());
    domain.spawn(write());
  }
  ~Machine() { domain.die(); }

 private:
  Task<> lead() {
    co_await election_.acquire();
    co_await election_.hold();
  }
  Task<> write() {
    for (;;) {
      if (election_.is_leader()) writes_.push_back({domain.clock().steady(), domain.name()});
      co_await sleep_for(domain.env(), 100ms);
    }
  }

 public:
  Domain domain;
  Line line;

 private:
  control::LeaderElection election_;
  std::vector<Write>& writes_;
};

class Election : public testing::Test {
 protected:
  /// Runs both machines until `end` after the start.
  void run_until(Duration end) {
    const Steady last = VirtualClock::kSteadyStart + end;
    for (;;) {
      if (a_.domain.queue().run_one() || b_.domain.queue().run_one()) continue;
      const Steady next = std::min(a_.domain.clock().next().value_or(last), b_.domain.clock().next().value_or(last));
      const Steady now = std::min(std::max(next, a_.domain.clock().steady()), last);
      for (Machine* machine : {&a_, &b_}) machine->domain.clock().move_to(now);
      if (next >= last) return;
    }
  }

  std::size_t writes_of(const std::string& who) const {
    return static_cast<std::size_t>(std::ranges::count(writes_, who, &Write::who));
  }
  /// All writes of a lie before all of b.
  bool is_handed_over_once() const { return std::ranges::is_sorted(writes_, {}, &Write::who); }

  SeededRandom random_{7};
  MemoryFiles files_;
  NoProcesses no_processes_;
  NullLog log_;
  NullMetrics metrics_;
  LeaseBook book_;
  std::vector<Write> writes_;
  Machine a_{"a", book_, writes_, {random_, files_, no_processes_, nullptr, log_, metrics_}};
  Machine b_{"b", book_, writes_, {random_, files_, no_processes_, nullptr, log_, metrics_}};
};

struct Step {
  Duration by;
  bool is_on_a;
  bool is_on_b;
};

class ElectionUnderSteps : public Election, public testing::WithParamInterface<Step> {
 protected:
  void step() {
    if (GetParam().is_on_a) a_.domain.clock().step_wall(GetParam().by);
    if (GetParam().is_on_b) b_.domain.clock().step_wall(GetParam().by);
  }
};

TEST_P(ElectionUnderSteps, a_leader_that_renews_keeps_the_lease) {
  for (Duration at = 1s; at < 30s; at += 700ms) {
    run_until(at);
    step();
  }
  run_until(120s);
  EXPECT_EQ(writes_of("b"), 0U);
  EXPECT_GT(writes_of("a"), 1000U);
}

TEST_P(ElectionUnderSteps, a_leader_that_is_cut_off_stops_before_the_other_begins) {
  run_until(18s);
  a_.line.is_cut = true;
  for (Duration at = 18s; at < 40s; at += 700ms) {
    run_until(at);
    step();
  }
  run_until(60s);
  EXPECT_TRUE(is_handed_over_once());
  EXPECT_GT(writes_of("b"), 200U) << "nobody waits longer for a step";
}

INSTANTIATE_TEST_SUITE_P(World, ElectionUnderSteps,
                         testing::Values(Step{1h, true, false}, Step{1h, false, true}, Step{1h, true, true},
                                         Step{-1h, true, false}, Step{-1h, false, true}, Step{-1h, true, true},
                                         Step{24h, true, false}, Step{24h, false, true}, Step{24h, true, true},
                                         Step{-24h, true, false}, Step{-24h, false, true}, Step{-24h, true, true}));

TEST_F(Election, an_answer_that_comes_late_does_not_prolong_a_term) {
  run_until(10s);
  a_.line.delay = 9s;
  run_until(14s);
  a_.line.is_cut = true;
  run_until(60s);
  EXPECT_TRUE(is_handed_over_once());
  EXPECT_GT(writes_of("b"), 200U);
}

}  // namespace
}  // namespace slipway::sim
