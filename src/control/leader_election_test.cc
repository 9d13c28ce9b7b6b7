#include "control/leader_election.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::control {
namespace {

using json::Value;
using std::chrono::seconds;

/// An API that knows one Lease, and can be cut off.
class LeaseApi : public client::Client {
 public:
  Task<Result<client::Reply>> call(client::Request request) override {
    ++calls;
    if (is_down) co_return fail(Reason::ServiceUnavailable, "down");
    if (request.verb == client::Verb::Get) {
      if (lease.is_null()) co_return fail(kube::not_found(request.resource, request.name));
      co_return client::Reply{lease, {}, 200};
    }
    if (request.verb == client::Verb::Create && !lease.is_null()) {
      co_return fail(kube::already_exists(request.resource, kube::name(request.body)));
    }
    if (request.verb == client::Verb::Update && kube::revision(request.body) != kube::revision(lease)) {
      co_return fail(kube::conflict(request.resource, request.name, "changed"));
    }
    lease =
        request.body.with_path({"metadata", "uid"}, "u").with_path({"metadata", "resourceVersion"}, std::to_string(++revision));
    co_return client::Reply{lease, {}, 200};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(Reason::NotImplemented, ""); }

  /// Another process takes the lease and dies.
  void take(const std::string& holder) {
    lease = lease.with_path({"spec", "holderIdentity"}, holder)
                .with_path({"metadata", "resourceVersion"}, std::to_string(++revision));
  }

  Value lease;
  int revision = 0;
  int calls = 0;
  bool is_down = false;
};

class LeaderTest : public testing::Test {
 protected:
  ~LeaderTest() override { env_.drop_all(); }

  struct Candidate {
    Candidate(LeaderTest& test, const std::string& name)
        : election(test.env_, test.api_,
                   {.ns = "default",
                    .name = "l",
                    .identity = name,
                    .lease = seconds{15},
                    .renew_deadline = seconds{10},
                    .retry = seconds{2}}),
          tasks(test.env_) {
      tasks.spawn(run());
    }
    Task<> run() {
      co_await election.acquire();
      ++terms;
      co_await election.hold();
      has_lost = true;
    }
    LeaderElection election;
    int terms = 0;
    bool has_lost = false;
    Tasks tasks;
  };

  ManualEnv env_;
  LeaseApi api_;
};

TEST_F(LeaderTest, gives_the_lease_to_one) {
  Candidate a(*this, "a");
  Candidate b(*this, "b");
  env_.advance(seconds{120});
  EXPECT_TRUE(a.election.is_leader());
  EXPECT_FALSE(b.election.is_leader());
  EXPECT_EQ(b.election.holder(), "a");
  EXPECT_EQ(api_.lease["spec"]["leaseTransitions"].as_int(), 0);
  EXPECT_EQ(api_.lease["spec"]["leaseDurationSeconds"].as_int(), 15);
}

TEST_F(LeaderTest, passes_on_when_the_leader_is_silent_for_the_leases_length) {
  Candidate a(*this, "a");
  Candidate b(*this, "b");
  env_.advance(seconds{4});
  api_.take("ghost");
  env_.advance(seconds{14});
  EXPECT_FALSE(b.election.is_leader());
  env_.advance(seconds{8});
  EXPECT_TRUE(a.has_lost);
  EXPECT_TRUE(b.election.is_leader());
  EXPECT_EQ(api_.lease["spec"]["leaseTransitions"].as_int(), 1);
}

TEST_F(LeaderTest, stops_when_it_cannot_renew_and_before_another_may_start) {
  Candidate a(*this, "a");
  env_.advance(seconds{3});
  api_.is_down = true;
  env_.advance(seconds{8});
  EXPECT_TRUE(a.election.is_leader());
  env_.advance(seconds{2});
  EXPECT_TRUE(a.has_lost);
  EXPECT_EQ(a.election.problem(), "the lease could not be renewed in time: down");
}

TEST_F(LeaderTest, hands_over_at_once_when_it_is_released) {
  Candidate a(*this, "a");
  Candidate b(*this, "b");
  env_.advance(seconds{4});
  env_.run(a.election.release());
  env_.advance(seconds{4});
  EXPECT_TRUE(b.election.is_leader());
}

TEST_F(LeaderTest, renews_with_one_request) {
  Candidate a(*this, "a");
  env_.advance(seconds{1});
  const int before = api_.calls;
  env_.advance(seconds{20});
  EXPECT_EQ(api_.calls - before, 10);
}

}  // namespace
}  // namespace slipway::control
