#include "client/informer.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "client/paper_api.h"

namespace slipway::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class InformerTest : public testing::Test {
 protected:
  InformerTest() {
    informer_.add_index(
        "initial", [](const Value& object) { return std::vector<std::string>{object["metadata"]["name"].str().substr(0, 1)}; });
    informer_.add_handler([this](const Value& before, const Value& after) {
      const char sign = before.is_null() ? '+' : after.is_null() ? '-' : '~';
      changes_ += sign + std::string(kube::name(after.is_null() ? before : after)) + " ";
    });
  }
  ~InformerTest() override { env_.drop_all(); }

  void start() {
    env_.spawn(informer_.run());
    env_.run_until_idle();
  }
  void deliver() {
    api_.deliver();
    env_.run_until_idle();
  }
  std::string names() {
    std::string text;
    for (const auto& [key, object] : informer_.objects()) text += key.name + " ";
    return text;
  }

  ManualEnv env_;
  PaperApi api_{env_};
  Informer informer_{env_, api_, {"", "v1", "things"}};
  std::string changes_;
};

TEST_F(InformerTest, lists_then_follows_the_watch) {
  api_.put("a1");
  api_.put("b1");
  start();
  EXPECT_TRUE(informer_.is_synced());
  EXPECT_EQ(changes_, "+a1 +b1 ");
  api_.put("a2");
  api_.put("b1");
  api_.remove("a1");
  deliver();
  EXPECT_EQ(changes_, "+a1 +b1 +a2 ~b1 -a1 ");
  EXPECT_EQ(names(), "a2 b1 ");
  EXPECT_EQ(informer_.revision(), 5);
}

TEST_F(InformerTest, finds_objects_by_index) {
  api_.put("a1");
  api_.put("a2");
  api_.put("b1");
  start();
  EXPECT_EQ(informer_.index("initial", "a").size(), 2U);
  api_.remove("a1");
  deliver();
  ASSERT_EQ(informer_.index("initial", "a").size(), 1U);
  EXPECT_EQ(kube::name(informer_.index("initial", "a")[0]), "a2");
  EXPECT_TRUE(informer_.index("initial", "c").empty());
}

TEST_F(InformerTest, lists_again_when_its_revision_is_too_old) {
  api_.put("a1");
  api_.put("b1");
  start();
  api_.remove("a1");
  api_.put("b1");
  api_.put("c1");
  api_.cut(fail(Reason::Expired, "too old").error());
  env_.advance(seconds{2});
  EXPECT_EQ(changes_, "+a1 +b1 ~b1 +c1 -a1 ");
  EXPECT_EQ(names(), "b1 c1 ");
}

TEST_F(InformerTest, watches_from_where_it_was_after_any_other_end) {
  api_.put("a1");
  start();
  api_.cut(fail(Reason::ServiceUnavailable, "gone for now").error());
  env_.advance(seconds{2});
  api_.put("b1");
  deliver();
  EXPECT_EQ(changes_, "+a1 +b1 ");
  ASSERT_EQ(api_.calls.size(), 3U);
  EXPECT_TRUE(api_.calls.back().ends_with("from 1")) << api_.calls.back();
}

TEST_F(InformerTest, backs_off_with_jitter_while_the_server_fails) {
  for (int i = 0; i < 4; ++i) api_.errors.push_back(fail(Reason::ServiceUnavailable, "down").error());
  start();
  const Time began = env_.now();
  EXPECT_FALSE(informer_.is_synced());
  ASSERT_TRUE(env_.run_until([&] { return informer_.is_synced(); }));
  EXPECT_GE(env_.now() - began, milliseconds{800 + 1600 + 3200 + 6400});
  EXPECT_LE(env_.now() - began, 2 * milliseconds{800 + 1600 + 3200 + 6400});
}

TEST_F(InformerTest, waits_until_a_revision_has_arrived) {
  start();
  bool has_seen = false;
  env_.spawn([](Informer& informer, bool& seen) -> Task<> {
    co_await informer.wait_for(2);
    seen = true;
  }(informer_, has_seen));
  api_.put("a1");
  deliver();
  EXPECT_FALSE(has_seen);
  api_.bookmark();
  deliver();
  EXPECT_TRUE(has_seen);
}

TEST_F(InformerTest, tells_nothing_twice) {
  api_.put("a1");
  start();
  api_.cut(std::nullopt);
  env_.advance(seconds{5});
  deliver();
  EXPECT_EQ(changes_, "+a1 ");
}

}  // namespace
}  // namespace slipway::client
