#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "client/paper_api.h"
#include "control/controller.h"

namespace slipway::control {
namespace {

using std::chrono::seconds;

const Resource kThings{"", "v1", "things"};

/// Does what the test says and keeps a diary.
class Diarist : public Controller {
 public:
  using Act = std::function<Task<Outcome>(Diarist&, Reconcile&)>;
  Diarist(std::vector<std::string>& diary, Act act) : diary(diary), act_(std::move(act)) {}

  std::string name() const override { return "diarist"; }
  std::size_t workers() const override { return 2; }
  void watch(Watches& watches) override { things = &watches.primary(kThings); }
  Task<Outcome> reconcile(Reconcile& run) override {
    diary.push_back(run.key.name);
    return act_(*this, run);
  }

  std::vector<std::string>& diary;
  Informer* things = nullptr;

 private:
  Act act_;
};

class RuntimeTest : public testing::Test {
 protected:
  ~RuntimeTest() override { env_.drop_all(); }
  void start(Diarist::Act act) {
    runtime_.add(std::make_unique<Diarist>(diary_, std::move(act)));
    runtime_.start();
    env_.run_until_idle();
  }
  void deliver() {
    api_.deliver();
    env_.run_until_idle();
  }

  ManualEnv env_;
  client::PaperApi api_{env_};
  Runtime runtime_{env_, api_};
  std::vector<std::string> diary_;
};

using Names = std::vector<std::string>;

TEST_F(RuntimeTest, reconciles_what_it_finds_and_what_changes) {
  api_.put("a");
  api_.put("b");
  start([](Diarist&, Reconcile&) -> Task<Outcome> { co_return Outcome::settled(); });
  EXPECT_EQ(diary_, (Names{"a", "b"}));
  EXPECT_TRUE(runtime_.is_idle());
  api_.remove("a");
  deliver();
  EXPECT_EQ(diary_, (Names{"a", "b", "a"}));
}

TEST_F(RuntimeTest, waits_for_its_own_writes_before_it_looks_again) {
  api_.put("a");
  bool saw_child = false;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (run.key.name != "a") co_return Outcome::settled();
    saw_child = self.things->find({"default", "child"}) != nullptr;
    if (saw_child) co_return Outcome::settled();
    const auto child = json::object({{"metadata", json::object({{"name", "child"}, {"namespace", "default"}})}});
    static_cast<void>(co_await client::create(run.client, kThings, child, "test"));
    co_return Outcome::retries_after(seconds{1});
  });
  env_.advance(seconds{60});  // the watch is held back
  EXPECT_EQ(diary_, Names{"a"}) << "an old cache is not looked at";
  deliver();
  EXPECT_TRUE(saw_child);
  EXPECT_EQ(std::count(diary_.begin(), diary_.end(), "a"), 2);
}

TEST_F(RuntimeTest, tries_again_after_failures_with_growing_pauses) {
  api_.put("a");
  const Time began = env_.now();
  start([&](Diarist& self, Reconcile&) -> Task<Outcome> {
    if (self.diary.size() < 4) co_return Outcome::failed(fail(Reason::Conflict, "changed").error());
    co_return Outcome::settled();
  });
  ASSERT_TRUE(env_.run_until([&] { return diary_.size() == 4; }, seconds{1}));
  EXPECT_GE(env_.now() - began, std::chrono::milliseconds{5 + 10 + 20});
}

TEST_F(RuntimeTest, works_on_at_most_as_many_objects_as_it_has_workers) {
  for (const char* name : {"a", "b", "c", "d"}) api_.put(name);
  std::size_t working = 0;
  std::size_t most = 0;
  start([&](Diarist&, Reconcile&) -> Task<Outcome> {
    most = std::max(most, ++working);
    co_await sleep_for(env_, seconds{1});
    --working;
    co_return Outcome::settled();
  });
  env_.advance(seconds{10});
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(diary_.size(), 4U);
}

}  // namespace
}  // namespace slipway::control
