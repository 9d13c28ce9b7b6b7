#include "control/object_writes.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::control {
namespace {

using json::Value;

const kube::Resource kWrittenThings{"example.com", "v1", "things"};
constexpr const char* kFinalizer = "example.com/clean";

/// Answers each write with the object as it would be, and remembers what was asked.
class OneObject : public client::Client {
 public:
  Task<Result<client::Reply>> call(client::Request request) override {
    asked.push_back(request);
    if (error) co_return fail(*error);
    if (request.verb == client::Verb::Patch) {
      const Value& metadata = request.body["metadata"];
      object = object.with_path({"metadata", "finalizers"}, metadata["finalizers"]);
    } else {
      object = request.body;
    }
    co_return client::Reply{object, {}, 200};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(Reason::NotImplemented, ""); }

  Value object =
      json::object({{"metadata", json::object({{"name", "a"}, {"uid", "1"}, {"resourceVersion", "7"}, {"generation", 3}})}});
  std::vector<client::Request> asked;
  std::optional<Status> error;
};

class ObjectWrites : public testing::Test {
 protected:
  ~ObjectWrites() override { env_.drop_all(); }
  Result<Finalized> run(bool is_clean) {
    return env_.run(finalize(api_, kWrittenThings, api_.object, kFinalizer, "test", [&, is_clean]() -> Task<Result<bool>> {
      ++cleanings_;
      co_return is_clean;
    }));
  }
  Value deleting() {
    return api_.object.with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z")
        .with_path({"metadata", "finalizers"}, json::array({Value(kFinalizer)}));
  }

  ManualEnv env_;
  OneObject api_;
  int cleanings_ = 0;
};

TEST_F(ObjectWrites, puts_the_finalizer_on_a_live_object_once) {
  const auto first = run(true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stage, Finalized::Stage::Live);
  EXPECT_TRUE(kube::has_finalizer(first->object, kFinalizer));
  ASSERT_EQ(api_.asked.size(), 1U);
  EXPECT_EQ(api_.asked[0].body["metadata"]["resourceVersion"].as_string(), "7") << "exactly the object that was judged";
  run(true);
  EXPECT_EQ(api_.asked.size(), 1U);
  EXPECT_EQ(cleanings_, 0);
}

TEST_F(ObjectWrites, lets_an_object_go_only_when_it_is_clean) {
  api_.object = deleting();
  EXPECT_EQ(run(false)->stage, Finalized::Stage::Going);
  EXPECT_TRUE(api_.asked.empty());
  EXPECT_EQ(run(true)->stage, Finalized::Stage::Gone);
  EXPECT_FALSE(kube::has_finalizer(api_.object, kFinalizer));
  EXPECT_EQ(run(true)->stage, Finalized::Stage::Gone) << "again after a crash";
  EXPECT_EQ(cleanings_, 2);
}

TEST_F(ObjectWrites, leaves_the_finalizers_of_others) {
  api_.object =
      deleting().with_path({"metadata", "finalizers"}, json::array({Value("orphan"), Value(kFinalizer), Value("other.com/x")}));
  EXPECT_EQ(run(true)->stage, Finalized::Stage::Gone);
  EXPECT_EQ(api_.object["metadata"]["finalizers"], json::array({Value("orphan"), Value("other.com/x")}));
}

TEST_F(ObjectWrites, takes_an_object_that_is_gone_for_let_go) {
  api_.object = deleting();
  api_.error = fail(Reason::NotFound, "gone").error();
  EXPECT_EQ(run(true)->stage, Finalized::Stage::Gone);
}

TEST_F(ObjectWrites, writes_no_status_that_is_there_already) {
  const Value status = json::object({{"phase", "Ready"}});
  ASSERT_TRUE(env_.run(write_status(api_, kWrittenThings, api_.object, status, "test")));
  ASSERT_TRUE(env_.run(write_status(api_, kWrittenThings, api_.object, status, "test")));
  ASSERT_EQ(api_.asked.size(), 1U);
  EXPECT_EQ(api_.asked[0].subresource, "status");
}

TEST_F(ObjectWrites, a_condition_keeps_its_transition_time_until_its_status_changes) {
  const Time later = env_.now() + std::chrono::hours{1};
  const kube::Condition ready{"Ready", "True", "AllSet", "fine"};
  Value object = api_.object.with("status", observed_status(api_.object, {}, {ready}, env_.now()));
  EXPECT_EQ(object["status"]["observedGeneration"].as_int(), 3);
  EXPECT_EQ(object["status"]["conditions"].item(0)["observedGeneration"].as_int(), 3);
  const Value same = observed_status(object, object["status"], {ready}, later);
  EXPECT_EQ(same, object["status"]) << "nothing to write";
  const Value changed = observed_status(object, object["status"], {{"Ready", "False", "Broken", "no"}}, later);
  EXPECT_EQ(changed["conditions"].item(0)["lastTransitionTime"].as_string(), to_rfc3339(later));
}

}  // namespace
}  // namespace slipway::control
