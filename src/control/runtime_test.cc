#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/manual_env.h"
#include "client/paper_api.h"
#include "control/failure_log.h"
#include "control/runtime.h"

namespace slipway::control {
namespace {

using std::chrono::seconds;

const Resource kThings{"", "v1", "things"};

/// Does what the test says and keeps a diary.
class Diarist : public Controller {
 public:
  using Act = std::function<Task<Outcome>(Diarist&, Reconcile&)>;
  Diarist(std::vector<std::string>& diary, Act act, Resource watched = kThings)
      : diary(diary), act_(std::move(act)), watched_(std::move(watched)) {}

  std::string name() const override { return "diarist"; }
  ControllerOptions options() const override { return {.workers = 2, .reconcile_timeout = seconds{20}}; }
  void watch(Watches& watches) override {
    things = &watches.primary(watched_);
    self = &watches;
  }
  Task<Outcome> reconcile(Reconcile& run) override {
    diary.push_back(run.key.name);
    return act_(*this, run);
  }

  std::vector<std::string>& diary;
  Informer* things = nullptr;
  Watches* self = nullptr;

 private:
  Act act_;
  Resource watched_;
};

/// Keeps what was logged at warn.
class WarningLog : public Log {
 public:
  void write(LogLevel level, std::string_view text, Fields fields) override {
    if (level != LogLevel::Warn) return;
    warnings.emplace_back(text);
    for (const auto& [name, value] : fields) warnings.back() += fmt::format(" {}={}", name, value);
  }
  std::vector<std::string> warnings;
};

/// Lets everything through but one resource, as a role does that lacks it; a second one is never answered.
class Doorkeeper : public client::Client {
 public:
  explicit Doorkeeper(client::Client& inner, Env& env) : inner_(inner), never_(env) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    if (request.resource.plural == forbidden) co_return fail(Reason::Forbidden, "secrets is forbidden");
    if (request.verb == client::Verb::Get) {
      deadlines.push_back(request.deadline.value_or(Steady::max()));
      co_await never_.wait();
    }
    co_return co_await inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    return inner_.watch(std::move(request));
  }

  std::string forbidden = "secrets";
  std::vector<Steady> deadlines;  // of the calls that are never answered

 private:
  client::Client& inner_;
  Signal never_;
};

class RuntimeTest : public testing::Test {
 protected:
  ~RuntimeTest() override { env_.drop_all(); }
  void add(Diarist::Act act, Resource watched = kThings) {
    runtime_.add("home", std::make_unique<Diarist>(diary_, std::move(act), std::move(watched)));
  }
  void start(Diarist::Act act) {
    add(std::move(act));
    runtime_.start();
    env_.run_until_idle();
  }
  void deliver() {
    api_.deliver();
    env_.run_until_idle();
  }

  WarningLog log_;
  ManualEnv env_{ManualEnv::Options{.log = &log_}};
  client::PaperApi api_{env_};
  Doorkeeper door_{api_, env_};
  OneCluster clusters_{"home", door_};
  Runtime runtime_{env_, clusters_};
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

/// Its mapper is asked for first, its handler is added after it.
class Listener : public Controller {
 public:
  explicit Listener(std::vector<std::string>& diary) : diary_(diary) {}

  std::string name() const override { return "listener"; }
  void watch(Watches& watches) override {
    watches.changes(kThings, [this](const Value& before, const Value& after) {
      const ObjectKey key = kube::key_of(after.is_null() ? before : after);
      diary_.push_back("map " + key.name);
      return std::vector<ObjectKey>{key};
    });
    heard_ = watches.lease(watches.home(), kThings, Form::Whole);
    heard_.on_change([this](const Value& before, const Value& after) {
      diary_.push_back("hear " + std::string(kube::name(after.is_null() ? before : after)));
    });
  }
  Task<Outcome> reconcile(Reconcile& run) override {
    diary_.push_back("reconcile " + run.key.name);
    co_return Outcome::settled();
  }

 private:
  std::vector<std::string>& diary_;
  InformerLease heard_;
};

TEST_F(RuntimeTest, handlers_of_a_controller_hear_of_a_change_before_its_key_is_queued) {
  api_.put("a");
  runtime_.add("home", std::make_unique<Listener>(diary_));
  runtime_.start();
  env_.run_until_idle();
  EXPECT_EQ(diary_, (Names{"hear a", "map a", "reconcile a"}));
  diary_.clear();
  api_.remove("a");
  deliver();
  EXPECT_EQ(diary_, (Names{"hear a", "map a", "reconcile a"}));
}

TEST_F(RuntimeTest, waits_for_its_own_writes_before_it_looks_again) {
  api_.put("a");
  bool saw_child = false;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (run.key.name != "a") co_return Outcome::settled();
    saw_child = self.things->contains({"default", "child"});
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

TEST_F(RuntimeTest, waits_for_the_writes_of_many_objects) {
  for (int i = 0; i < 100; ++i) api_.put("a" + std::to_string(i));
  int looks = 0;
  int in_vain = 0;
  std::set<std::string> begun;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (!run.key.name.starts_with("a")) co_return Outcome::settled();
    ++looks;
    const std::string child = "child-of-" + run.key.name;
    if (!begun.insert(child).second) {
      if (!self.things->contains({"default", child})) ++in_vain;
      co_return Outcome::settled();
    }
    const auto object = json::object({{"metadata", json::object({{"name", child}, {"namespace", "default"}})}});
    static_cast<void>(co_await client::create(run.client, kThings, object, "test"));
    co_return Outcome::retries_after(seconds{1});
  });
  env_.advance(seconds{5});  // the watch is held back
  EXPECT_LE(looks, 100);
  deliver();
  env_.advance(seconds{100});
  EXPECT_EQ(looks, 200);
  EXPECT_EQ(in_vain, 0);
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

TEST_F(RuntimeTest, an_exception_fails_its_object_only) {
  for (const char* name : {"a", "b", "c"}) api_.put(name);
  start([&](Diarist&, Reconcile& run) -> Task<Outcome> {
    if (run.key.name == "a") throw std::out_of_range("map::at");
    co_await sleep_for(env_, seconds{1});
    if (run.key.name == "b") throw 7;
    co_return Outcome::settled();
  });
  env_.advance(seconds{10});
  EXPECT_EQ(std::ranges::count(diary_, "c"), 1) << "the rest goes on";
  EXPECT_GT(std::ranges::count(diary_, "a"), 5) << "tried again, with back-off";
  EXPECT_EQ(log_.warnings, (Names{"ReconcileError controller=slipway-diarist object=default/a failures=1 "
                                  "error=the reconcile threw: map::at",
                                  "ReconcileError controller=slipway-diarist object=default/b failures=1 "
                                  "error=the reconcile threw what is no std::exception"}));
}

TEST_F(RuntimeTest, a_failing_object_is_logged_at_once_and_then_once_a_minute) {
  api_.put("a");
  start([&](Diarist&, Reconcile&) -> Task<Outcome> { co_return Outcome::failed(fail(Reason::Forbidden, "no").error()); });
  EXPECT_EQ(log_.warnings.size(), 1U);
  env_.advance(std::chrono::minutes{30});
  EXPECT_GE(log_.warnings.size(), 6U) << "the back-off ends at five minutes";
  EXPECT_LE(log_.warnings.size(), 12U);
  EXPECT_TRUE(log_.warnings.back().ends_with(" error=no")) << log_.warnings.back();
}

TEST_F(RuntimeTest, two_conflicts_in_a_row_are_not_logged) {
  api_.put("a");
  start([&](Diarist& self, Reconcile&) -> Task<Outcome> {
    const bool is_third = self.diary.size() % 3 == 0;
    if (is_third) co_return Outcome::settled();
    co_return Outcome::failed(fail(Reason::Conflict, "changed").error());
  });
  env_.advance(seconds{1});
  EXPECT_EQ(diary_.size(), 3U);
  EXPECT_TRUE(log_.warnings.empty());
}

TEST_F(RuntimeTest, many_failing_objects_share_a_limit_of_log_lines) {
  for (int i = 0; i < 50; ++i) api_.put(fmt::format("a{}", i));
  start([&](Diarist&, Reconcile&) -> Task<Outcome> { co_return Outcome::failed(fail(Reason::Forbidden, "no").error()); });
  EXPECT_EQ(log_.warnings.size(), static_cast<std::size_t>(FailureLog::kMaxLinesAMinute));
  env_.advance(std::chrono::minutes{7});
  const auto tells = [](const std::string& line) { return line.contains("lines left out before="); };
  EXPECT_TRUE(std::ranges::any_of(log_.warnings, tells));
}

TEST_F(RuntimeTest, works_on_at_most_as_many_objects_as_it_has_workers) {
  for (const char* name : {"a", "b", "c", "d"}) api_.put(name);
  std::size_t working = 0;
  std::size_t most = 0;
  start([&](Diarist&, Reconcile&) -> Task<Outcome> {
    most = std::max(most, ++working);
    co_await sleep_for(env_, std::chrono::milliseconds{200});
    --working;
    co_return Outcome::settled();
  });
  env_.advance(seconds{10});
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(diary_.size(), 4U);
}

TEST_F(RuntimeTest, a_tenant_whose_reconciles_hang_keeps_no_other_waiting) {
  api_.put("first");
  std::function<void(const ObjectKey&)> enqueue;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (run.key.name == "first") enqueue = self.self->enqueue();
    if (run.key.ns == "greedy") co_await sleep_for(env_, seconds{15});
    co_return Outcome::settled();
  });
  for (const char* name : {"a", "b", "c", "d"}) enqueue({"greedy", name});
  env_.run_until_idle();
  EXPECT_EQ(diary_, (Names{"first", "a", "b"})) << "alone it has all workers";
  enqueue({"modest", "x"});
  env_.run_until_idle();
  EXPECT_EQ(diary_, (Names{"first", "a", "b", "x"}));
  env_.advance(seconds{1});
  EXPECT_EQ(diary_, (Names{"first", "a", "b", "x", "c", "d"}));
}

TEST_F(RuntimeTest, hanging_reconciles_of_many_tenants_delay_no_other_tenant) {
  api_.put("first");
  std::function<void(const ObjectKey&)> enqueue;
  std::size_t hanging = 0;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (run.key.name == "first") enqueue = self.self->enqueue();
    if (run.key.name != "hangs") co_return Outcome::settled();
    ++hanging;
    co_await sleep_for(env_, seconds{60});
    --hanging;
    co_return Outcome::settled();
  });
  for (int i = 0; i < 12; ++i) enqueue({"greedy-" + std::to_string(i), "hangs"});
  env_.run_until_idle();
  EXPECT_EQ(hanging, 4U) << "twice as many as it has workers";
  enqueue({"modest", "x"});
  env_.advance(seconds{1});
  EXPECT_NE(std::ranges::find(diary_, "x"), diary_.end());
}

TEST_F(RuntimeTest, a_tenant_has_a_limited_number_of_reconciles_that_wait) {
  api_.put("first");
  std::function<void(const ObjectKey&)> enqueue;
  std::size_t waiting = 0;
  std::size_t most = 0;
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (run.key.name == "first") enqueue = self.self->enqueue();
    if (run.key.ns != "greedy") co_return Outcome::settled();
    most = std::max(most, ++waiting);
    co_await sleep_for(env_, seconds{60});
    --waiting;
    co_return Outcome::settled();
  });
  for (int i = 0; i < 300; ++i) enqueue({"greedy", std::to_string(i)});
  env_.advance(seconds{50});
  enqueue({"modest", "x"});
  env_.run_until_idle();
  EXPECT_EQ(diary_.back(), "x");
  EXPECT_LE(most, 64U + 2U) << "those that wait, and those that hold a worker";
  env_.advance(std::chrono::minutes{8});
  EXPECT_EQ(diary_.size(), 302U) << "all come to their turn";
}

Task<Outcome> done(Diarist&, Reconcile&) { co_return Outcome::settled(); }

TEST_F(RuntimeTest, a_controller_waits_for_its_own_caches_only_and_says_what_for) {
  api_.put("a");
  add(done, {"", "v1", "secrets"});
  start(done);
  EXPECT_EQ(diary_, Names{"a"}) << "the other controller works";
  env_.advance(seconds{10});
  const auto hindrances = runtime_.hindrances();
  ASSERT_EQ(hindrances.size(), 1U);
  const std::string expected = "controller diarist waits for secrets in cluster home: secrets is forbidden";
  EXPECT_EQ(hindrances[0].to_string(), expected);
  EXPECT_EQ(std::count(log_.warnings.begin(), log_.warnings.end(), expected), 1) << "within ten seconds, once";
  door_.forbidden = "";
  env_.advance(seconds{60});
  EXPECT_TRUE(runtime_.hindrances().empty());
  EXPECT_EQ(diary_, (Names{"a", "a"})) << "it begins as soon as it may";
}

TEST_F(RuntimeTest, an_overdue_reconcile_gives_its_worker_to_others_and_is_reported) {
  for (const char* name : {"a", "b", "c"}) api_.put(name);
  start([](Diarist&, Reconcile& run) -> Task<Outcome> {
    if (run.key.name == "c") co_return Outcome::settled();
    static_cast<void>(co_await client::get(run.client, kThings, run.key));  // two workers, two calls without an answer
    co_return Outcome::settled();
  });
  EXPECT_EQ(diary_, (Names{"a", "b"}));
  ASSERT_EQ(door_.deadlines.size(), 2U);
  EXPECT_EQ(door_.deadlines[0], env_.steady() + seconds{20}) << "requests carry the deadline to the transport";
  env_.advance(seconds{21});
  EXPECT_EQ(diary_, (Names{"a", "b", "c"}));
  const auto hindrances = runtime_.hindrances();
  ASSERT_EQ(hindrances.size(), 2U);
  EXPECT_EQ(hindrances[0].to_string(), "controller diarist is still busy with default/a in cluster home");
}

TEST_F(RuntimeTest, a_request_after_the_deadline_is_not_sent) {
  api_.put("a");
  Status answer;
  start([&](Diarist&, Reconcile& run) -> Task<Outcome> {
    co_await sleep_for(env_, seconds{25});
    const auto made =
        co_await client::create(run.client, kThings, json::object({{"metadata", json::object({{"name", "b"}})}}), "t");
    if (!made) answer = made.error();
    co_return Outcome::settled();
  });
  env_.advance(seconds{26});
  EXPECT_EQ(answer.reason, Reason::Timeout);
  EXPECT_EQ(std::count(api_.calls.begin(), api_.calls.end(), "POST things default/b"), 0);
}

TEST_F(RuntimeTest, an_object_whose_write_is_not_seen_is_put_off_and_reported) {
  api_.put("a");
  start([&](Diarist& self, Reconcile& run) -> Task<Outcome> {
    if (self.diary.size() > 1) co_return Outcome::settled();
    const auto child = json::object({{"metadata", json::object({{"name", "child"}, {"namespace", "default"}})}});
    static_cast<void>(co_await client::create(run.client, kThings, child, "test"));
    co_return Outcome::retries_after(seconds{1});
  });
  env_.advance(seconds{40});
  ASSERT_EQ(runtime_.hindrances().size(), 1U);
  EXPECT_EQ(runtime_.hindrances()[0].kind, Hindrance::Kind::WriteNotSeen);
  EXPECT_TRUE(diary_ == Names{"a"}) << "an old cache is never looked at";
  api_.deliver();
  env_.advance(seconds{60});
  EXPECT_TRUE(runtime_.hindrances().empty());
  EXPECT_GE(std::count(diary_.begin(), diary_.end(), "a"), 2);
}

TEST_F(RuntimeTest, an_object_that_goes_on_failing_gets_an_event) {
  api_.put("a");
  bool is_well = false;
  const auto events = [&] {
    return std::ranges::count_if(api_.calls, [](const std::string& call) { return call.starts_with("POST events "); });
  };
  start([&](Diarist& self, Reconcile&) -> Task<Outcome> {
    if (self.diary.size() <= 3) EXPECT_EQ(events(), 0) << "not after two failures";
    if (is_well) co_return Outcome::settled();
    co_return Outcome::failed(fail(Reason::InternalError, "the tracker cannot be read").error());
  });
  env_.advance(seconds{1});
  EXPECT_GE(events(), 1);
  is_well = true;
  env_.advance(seconds{600});
  const auto told = events();
  env_.advance(seconds{600});
  EXPECT_EQ(events(), told);
}

TEST_F(RuntimeTest, a_controller_may_come_later) {
  api_.put("a");
  start(done);
  add(done);
  env_.run_until_idle();
  EXPECT_EQ(diary_, (Names{"a", "a"}));
}

TEST_F(RuntimeTest, caches_are_made_and_dropped_at_run_time) {
  runtime_.start();
  api_.put("a");
  {
    const InformerLease lease = runtime_.lease("home", kThings);
    const InformerLease second = runtime_.lease("home", kThings);
    env_.run_until_idle();
    EXPECT_TRUE(lease->is_synced());
    EXPECT_EQ(&*lease, &*second) << "one informer for both";
    EXPECT_EQ(std::count(api_.calls.begin(), api_.calls.end(), "LIST things"), 1);
  }
  env_.run_until_idle();
  const std::size_t calls = api_.calls.size();
  api_.cut(std::nullopt);
  env_.advance(seconds{60});
  EXPECT_EQ(api_.calls.size(), calls) << "nobody follows things any more";
  const InformerLease again = runtime_.lease("home", kThings);
  env_.run_until_idle();
  EXPECT_TRUE(again->is_synced());
  EXPECT_FALSE(static_cast<bool>(runtime_.lease("elsewhere", kThings)));
}

TEST_F(RuntimeTest, writes_on_a_cluster_that_is_not_known_are_refused) {
  api_.put("a");
  Status answer;
  start([&](Diarist&, Reconcile& run) -> Task<Outcome> {
    const auto other = run.on("elsewhere");
    if (!other) answer = other.error();
    co_return Outcome::settled();
  });
  EXPECT_EQ(answer.reason, Reason::NotFound);
  EXPECT_EQ(answer.message, "cluster elsewhere is not known");
}

TEST(Owners, are_matched_by_group_and_kind) {
  const auto mapper = Watches::owner_of_kind("batch", "Job");
  const auto owned_by = [](const char* version) {
    const auto owner =
        json::object({{"apiVersion", version}, {"kind", "Job"}, {"name", "j"}, {"uid", "1"}, {"controller", true}});
    return json::object({{"metadata", json::object({{"name", "p"}, {"ownerReferences", json::array({owner})}})}});
  };
  EXPECT_EQ(mapper(owned_by("batch/v1")).size(), 1U);
  EXPECT_TRUE(mapper(owned_by("batch.example.com/v1")).empty()) << "another project's Job";
  EXPECT_TRUE(mapper(owned_by("v1")).empty());
}

}  // namespace
}  // namespace slipway::control
