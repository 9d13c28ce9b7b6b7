#include "store/projection.h"

#include <fmt/format.h>

#include <map>

#include "store/store_fixture.h"

namespace slipway::store {
namespace {

/// A copy of what it follows, and the log of what it was told: "a: - > 1".
class Mirror : public Projection {
 public:
  explicit Mirror(Store& store, Sight sight, std::string prefix = "/registry/core/configmaps/")
      : prefix_(std::move(prefix)), following_(store.follow(prefix_, *this, sight)) {}

  void apply(const Change& change) override {
    const auto text = [](const std::optional<json::Value>& value) { return value ? json::print(*value) : "-"; };
    const std::string name = change.key.substr(prefix_.size());
    told.push_back(fmt::format("{}: {} > {}", name, text(change.previous), text(change.value)));
    EXPECT_EQ(state.contains(name), change.previous.has_value()) << told.back();
    if (change.value) {
      state[name] = text(change.value);
    } else {
      state.erase(name);
    }
  }

  std::vector<std::string> told;
  std::map<std::string, std::string> state;

 private:
  std::string prefix_;
  std::unique_ptr<Following> following_;
};

using Strings = std::vector<std::string>;
constexpr const char* kA = "/registry/core/configmaps/a";
constexpr const char* kB = "/registry/core/configmaps/b";

class ProjectionTest : public StoreTest {};

TEST_F(ProjectionTest, begins_with_what_is_there_and_sees_each_change_below_its_prefix) {
  open();
  put(kB, 1);
  put(kA, 1);
  Mirror mirror(*store_, Sight::Durable);
  EXPECT_EQ(mirror.told, (Strings{"a: - > 1", "b: - > 1"}));
  mirror.told.clear();
  put(kA, 2);
  put("/registry/core/secrets/a", 1);
  remove(kA);
  put(kA, 3);
  EXPECT_EQ(mirror.told, (Strings{"a: 1 > 2", "a: 2 > -", "a: - > 3"}));
}

TEST_F(ProjectionTest, is_fed_until_its_following_ends) {
  open();
  auto mirror = std::make_unique<Mirror>(*store_, Sight::Durable);
  mirror.reset();
  put(kA, 1);
  EXPECT_TRUE(store_->get(kA));
}

TEST_F(ProjectionTest, sees_a_group_before_anybody_who_waits_for_it) {
  open();
  Mirror mirror(*store_, Sight::Durable);
  std::vector<std::string> seen;
  const auto look = [&](const char* who) { seen.push_back(fmt::format("{} {}", who, mirror.state.size())); };
  const auto watch = [](Store& store, auto look_of) -> Task<> {
    auto watcher = store.watch("/registry/core/configmaps/", store.revision());
    std::ignore = co_await (*watcher)->next(10);
    look_of("watcher");
  };
  const auto reach = [](Store& store, auto look_of) -> Task<> {
    co_await store.wait_for(store.revision() + 1, Steady::max());
    look_of("reader");
  };
  env_.spawn(watch(*store_, look));
  env_.spawn(reach(*store_, look));
  env_.run_until_idle();
  const auto both = append({{kA, json::Value(1), 0}, {kB, json::Value(1), 0}});
  ASSERT_TRUE(both);
  look("writer");
  env_.run_until_idle();
  EXPECT_EQ(mirror.told, (Strings{"a: - > 1", "b: - > 1"}));
  EXPECT_EQ(seen.size(), 3U);
  for (const std::string& one : seen) EXPECT_TRUE(one.ends_with(" 2")) << one;
}

TEST_F(ProjectionTest, of_durable_state_never_sees_what_a_failed_commit_undid) {
  open();
  put(kA, 1);
  Mirror mirror(*store_, Sight::Durable);
  disk_.fail_syncs(1);
  EXPECT_FALSE(append({{kB, json::Value(1), 0}}));
  EXPECT_EQ(mirror.told, (Strings{"a: - > 1"}));
}

TEST_F(ProjectionTest, of_head_state_sees_writes_when_they_are_appended_and_when_they_are_undone) {
  open();
  const Revision a = put(kA, 1);
  Mirror mirror(*store_, Sight::Head);
  mirror.told.clear();
  disk_.fail_syncs(1);
  bool is_done = false;
  const auto write = [](Store& store, Revision expected, bool& done) -> Task<> {
    const auto written =
        co_await store.append({{kA, json::Value(2), expected}, {kB, json::Value(1), 0}, {kA, std::nullopt, expected + 1}});
    EXPECT_FALSE(written);
    done = true;
  };
  env_.spawn(write(*store_, a, is_done));
  ASSERT_TRUE(env_.run_until([&] { return mirror.told.size() == 3; }));
  EXPECT_EQ(mirror.told, (Strings{"a: 1 > 2", "b: - > 1", "a: 2 > -"}));
  EXPECT_EQ(store_->revision(), a) << "nothing is durable yet";
  env_.run_until_idle();
  EXPECT_TRUE(is_done);
  mirror.told.erase(mirror.told.begin(), mirror.told.begin() + 3);
  EXPECT_EQ(mirror.told, (Strings{"a: - > 1", "b: 1 > -"})) << "each key goes back to what is durable, once";
  put(kB, 5);
  EXPECT_EQ(mirror.state, (std::map<std::string, std::string>{{"a", "1"}, {"b", "5"}}));
}

TEST_F(ProjectionTest, of_head_state_that_comes_late_sees_what_is_appended) {
  open();
  const Revision a = put(kA, 1);
  const auto write = [](Store& store, Revision expected) -> Task<> {
    EXPECT_TRUE(co_await store.append({{kA, json::Value(2), expected}}));
  };
  env_.spawn(write(*store_, a));
  ASSERT_TRUE(env_.run_until([&] { return store_->next_revision() == a + 2; }));
  ASSERT_EQ(store_->revision(), a);
  Mirror mirror(*store_, Sight::Head);
  EXPECT_EQ(mirror.told, (Strings{"a: - > 1", "a: 1 > 2"}));
  env_.run_until_idle();
  EXPECT_EQ(mirror.told.size(), 2U);
}

}  // namespace
}  // namespace slipway::store
