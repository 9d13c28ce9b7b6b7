#include "delivery/pipeline/feed.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::seconds;

/// Its lists succeed while it is up; everything else fails in two ways by turns.
class Faltering : public client::Client {
 public:
  bool is_up = false;

  Task<Result<client::Reply>> call(client::Request) override {
    if (!is_up) co_return fail(next_failure());
    co_return client::Reply{.object = *json::parse(R"({"kind": "PodList", "apiVersion": "v1",
                                                       "metadata": {"resourceVersion": "7"}, "items": []})"),
                            .warnings = {}};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(next_failure()); }

 private:
  Status next_failure() {
    const bool is_odd = ++failures_ % 2 == 1;
    return fail(is_odd ? Reason::Timeout : Reason::ServiceUnavailable, "no answer").error();
  }
  int failures_ = 0;
};

class FeedTest : public testing::Test {
 protected:
  void open() {
    feed_ = std::make_unique<Feed>(env_, tasks_, client_, Feed::Options{.resource = {"", "v1", "pods"}}, Feed::Listener{});
  }
  void TearDown() override { feed_.reset(); }

  ManualEnv env_{{}};
  Tasks tasks_{env_};
  std::shared_ptr<Faltering> client_ = std::make_shared<Faltering>();
  std::unique_ptr<Feed> feed_;
};

TEST_F(FeedTest, a_cluster_that_fails_in_changing_ways_is_given_up_in_time) {
  open();
  env_.advance(seconds{10});
  EXPECT_EQ(feed_->stage(), Feed::Stage::Pending);
  env_.advance(seconds{25});
  EXPECT_EQ(feed_->stage(), Feed::Stage::Failing);
}

TEST_F(FeedTest, what_was_seen_gets_old_though_failures_change) {
  client_->is_up = true;
  open();
  env_.advance(seconds{1});
  EXPECT_EQ(feed_->stage(), Feed::Stage::Followed);
  client_->is_up = false;
  env_.advance(seconds{300});
  EXPECT_EQ(feed_->stage(), Feed::Stage::Stale);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
