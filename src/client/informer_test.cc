#include "client/informer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/manual_env.h"
#include "client/paper_api.h"

namespace slipway::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// With packs that keep one tree at most, and without.
class InformerTest : public testing::TestWithParam<bool> {
 protected:
  InformerTest() {
    informer_.add_index(
        "initial", [](const Value& object) { return std::vector<std::string>{object["metadata"]["name"].str().substr(0, 1)}; });
    informer_.add_handler(diary(changes_));
  }
  ~InformerTest() override { env_.drop_all(); }

  /// Writes "+a1 ~b1 -a1 " for what appeared, changed and went.
  static Informer::Handler diary(std::string& into) {
    return [&into](const Value& before, const Value& after) {
      const char sign = before.is_null() ? '+' : after.is_null() ? '-' : '~';
      into += sign + std::string(kube::name(after.is_null() ? before : after)) + " ";
    };
  }
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
    for (const ObjectKey& key : informer_.keys()) text += key.name + " ";
    return text;
  }

  ManualEnv env_;
  PaperApi api_{env_};
  std::shared_ptr<ObjectPacks> packs_ = GetParam() ? std::make_shared<ObjectPacks>(0) : nullptr;
  Informer informer_{env_, api_, {"", "v1", "things"}, {.packs = packs_}};
  std::string changes_;
};

TEST_P(InformerTest, lists_then_follows_the_watch) {
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

TEST_P(InformerTest, finds_objects_by_index) {
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

TEST_P(InformerTest, lists_again_when_its_revision_is_too_old) {
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

TEST_P(InformerTest, watches_from_where_it_was_after_any_other_end) {
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

TEST_P(InformerTest, backs_off_with_jitter_while_the_server_fails) {
  for (int i = 0; i < 4; ++i) api_.errors.push_back(fail(Reason::ServiceUnavailable, "down").error());
  start();
  const Time began = env_.now();
  EXPECT_FALSE(informer_.is_synced());
  ASSERT_TRUE(env_.run_until([&] { return informer_.is_synced(); }));
  EXPECT_GE(env_.now() - began, milliseconds{800 + 1600 + 3200 + 6400});
  EXPECT_LE(env_.now() - began, 2 * milliseconds{800 + 1600 + 3200 + 6400});
}

TEST_P(InformerTest, waits_until_a_revision_has_arrived) {
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

TEST_P(InformerTest, tells_nothing_twice) {
  api_.put("a1");
  start();
  api_.cut(std::nullopt);
  env_.advance(seconds{5});
  deliver();
  EXPECT_EQ(changes_, "+a1 ");
}

TEST_P(InformerTest, reads_a_list_in_pages) {
  for (const char* name : {"a1", "b1", "c1", "d1", "e1"}) api_.put(name);
  Informer paged(env_, api_, {"", "v1", "things"}, {.page_size = 2, .packs = packs_});
  env_.spawn(paged.run());
  env_.run_until_idle();
  EXPECT_TRUE(paged.is_synced());
  EXPECT_EQ(paged.size(), 5U);
  EXPECT_EQ(paged.revision(), 5);
  EXPECT_EQ(std::count(api_.calls.begin(), api_.calls.end(), "LIST things"), 3);
  env_.drop_all();
}

TEST_P(InformerTest, asks_for_everything_at_once_when_pages_expire) {
  for (const char* name : {"a1", "b1", "c1"}) api_.put(name);
  api_.errors.push_back(fail(Reason::Expired, "the continue token is too old").error());
  Informer paged(env_, api_, {"", "v1", "things"}, {.page_size = 1, .packs = packs_});
  env_.spawn(paged.run());
  env_.advance(seconds{5});
  EXPECT_TRUE(paged.is_synced());
  EXPECT_EQ(std::count(api_.calls.begin(), api_.calls.end(), "LIST things"), 2);
  env_.drop_all();
}

TEST_P(InformerTest, keeps_only_metadata_when_that_is_enough) {
  api_.put("a1");
  Informer slim(env_, api_, {"", "v1", "things"}, {.form = Form::Metadata, .packs = packs_});
  env_.spawn(slim.run());
  env_.run_until_idle();
  const Value kept = slim.get({"default", "a1"});
  EXPECT_EQ(kept["metadata"]["uid"].as_string(), "a1");
  EXPECT_FALSE(kept.has("spec"));
  EXPECT_EQ(api_.forms.front(), Form::Metadata);
  env_.drop_all();
}

TEST_P(InformerTest, shows_a_new_handler_what_is_there_and_tells_a_removed_one_nothing) {
  api_.put("a1");
  start();
  std::string late;
  const auto id = informer_.add_handler(diary(late));
  EXPECT_EQ(late, "+a1 ");
  informer_.remove_handler(id);
  api_.put("b1");
  deliver();
  EXPECT_EQ(late, "+a1 ");
  EXPECT_EQ(changes_, "+a1 +b1 ");
}

TEST_P(InformerTest, lets_handlers_add_and_remove_handlers) {
  start();
  std::string late;
  std::optional<Informer::HandlerId> own;
  own = informer_.add_handler([&](const Value&, const Value&) {
    informer_.remove_handler(*own);
    informer_.add_handler(diary(late));
  });
  api_.put("a1");
  api_.put("b1");
  deliver();
  EXPECT_EQ(late, "+a1 +b1 ");
}

TEST_P(InformerTest, indexes_what_is_there_already) {
  api_.put("a1");
  start();
  informer_.add_index("all", [](const Value&) { return std::vector<std::string>{"x"}; });
  EXPECT_EQ(informer_.index("all", "x").size(), 1U);
}

TEST_P(InformerTest, stops_and_wakes_all_who_wait) {
  bool has_ended = false;
  api_.put("a1");
  env_.spawn([](Informer& informer, bool& ended) -> Task<> {
    co_await informer.run();
    ended = true;
  }(informer_, has_ended));
  env_.run_until_idle();
  std::optional<bool> seen;
  env_.spawn(
      [](Informer& informer, std::optional<bool>& into) -> Task<> { into = co_await informer.wait_for(99); }(informer_, seen));
  env_.run_until_idle();
  informer_.stop();
  deliver();
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(seen, false);
  EXPECT_EQ(names(), "a1 ") << "the last state stays readable";
}

TEST_P(InformerTest, gives_up_waiting_at_the_deadline) {
  start();
  const Steady deadline = env_.clock().steady() + seconds{3};
  EXPECT_FALSE(env_.run(informer_.wait_for(7, deadline)));
  EXPECT_EQ(env_.clock().steady(), deadline);
}

TEST_P(InformerTest, says_why_it_fails_and_forgets_that_when_it_works) {
  api_.errors.push_back(fail(Reason::Forbidden, "things is forbidden").error());
  start();
  ASSERT_TRUE(informer_.failure());
  EXPECT_EQ(informer_.failure()->message, "things is forbidden");
  env_.advance(seconds{3});
  EXPECT_FALSE(informer_.failure());
  EXPECT_TRUE(informer_.is_synced());
}

TEST_P(InformerTest, tells_what_was_before_and_is_after) {
  for (const char* name : {"a1", "a2", "b1"}) api_.put(name);
  start();
  std::string revisions;
  informer_.add_handler([&](const Value& before, const Value& after) {
    const auto text = [](const Value& object) { return object["metadata"]["resourceVersion"].str(); };
    revisions += fmt::format("{}>{} ", text(before), text(after));
  });
  EXPECT_EQ(revisions, ">1 >2 >3 ");
  api_.put("a1");
  api_.remove("b1");
  deliver();
  EXPECT_EQ(revisions, ">1 >2 >3 1>4 3> ");
}

TEST_P(InformerTest, shows_objects_of_one_namespace_in_order_of_their_names) {
  for (const char* name : {"b1", "a2", "a1"}) api_.put(name);
  start();
  std::string found;
  for (const auto& [key, object] : informer_.objects("default")) {
    found += fmt::format("{}={} ", key.name, object["metadata"]["resourceVersion"].as_string());
  }
  for (const ObjectKey& key : informer_.keys("default", "a")) found += key.name + " ";
  EXPECT_EQ(found, "a1=3 a2=2 b1=1 a1 a2 ");
  EXPECT_TRUE(informer_.objects("defaul").empty());
  EXPECT_TRUE(informer_.keys("default-").empty());
  EXPECT_TRUE(informer_.contains({"default", "a1"}));
  EXPECT_FALSE(informer_.contains({"", "a1"}));
}

INSTANTIATE_TEST_SUITE_P(Informers, InformerTest, testing::Bool(),
                         [](const auto& given) { return given.param ? "packing" : "sharing"; });

}  // namespace
}  // namespace slipway::client
