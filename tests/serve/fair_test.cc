// Large lists and watches beside small requests, in virtual time: how many turns of the executor a small request waits, and how
// much a large one does in one turn. Time does not move here, so that only the counted limits hold.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/manual_env.h"
#include "json/text.h"
#include "serve/api.h"
#include "store/memory_vfs.h"

namespace slipway::serve {
namespace {

using json::Value;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLIPWAY_SANITIZED 1
#endif
#endif
#if defined(SLIPWAY_SANITIZED)
constexpr int kObjects = 20'000;
#else
constexpr int kObjects = 100'000;
#endif
constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

/// The most of something that was done in one turn.
class Meter {
 public:
  explicit Meter(ManualEnv& env) : env_(env) {}
  void add(std::size_t amount) {
    const std::uint64_t turn = env_.queue().steps();
    if (turn != turn_) in_turn_ = 0;
    turn_ = turn;
    in_turn_ += amount;
    most_ = std::max(most_, in_turn_);
    all_ += amount;
  }
  std::size_t most() const { return most_; }
  std::size_t all() const { return all_; }

 private:
  ManualEnv& env_;
  std::uint64_t turn_ = 0;
  std::size_t in_turn_ = 0;
  std::size_t most_ = 0;
  std::size_t all_ = 0;
};

/// Hands through to a store and counts the keys that ranges look at.
class MeteredStore : public store::Store {
 public:
  using Revision = kube::Revision;
  MeteredStore(store::Store& inner, Meter& keys) : inner_(inner), keys_(keys) {}

  Revision revision() const override { return inner_.revision(); }
  Revision next_revision() const override { return inner_.next_revision(); }
  Revision compacted() const override { return inner_.compacted(); }
  std::optional<store::Entry> get(std::string_view key) const override { return inner_.get(key); }
  std::optional<store::Entry> get_head(std::string_view key) const override { return inner_.get_head(key); }
  Result<store::Range> range(const store::RangeQuery& query) const override { return inner_.range(metered(query)); }
  Result<std::unique_ptr<store::Pages>> pages(store::RangeQuery query) const override {
    return inner_.pages(metered(std::move(query)));
  }
  std::size_t count(std::string_view prefix) const override { return inner_.count(prefix); }
  Task<Result<Revision>> append(std::vector<store::Write> writes) override { return inner_.append(std::move(writes)); }
  std::unique_ptr<store::Following> follow(std::string prefix, store::Projection& projection, store::Sight sight) override {
    return inner_.follow(std::move(prefix), projection, sight);
  }
  std::unique_ptr<store::Following> follow_from_now(std::string prefix, store::Projection& projection) override {
    return inner_.follow_from_now(std::move(prefix), projection);
  }
  Result<std::unique_ptr<store::Watcher>> watch(std::string prefix, Revision from) override {
    return inner_.watch(std::move(prefix), from);
  }
  Task<Result<void>> compact(Revision revision) override { return inner_.compact(revision); }
  Task<bool> wait_for(Revision revision, Steady deadline) override { return inner_.wait_for(revision, deadline); }
  Task<> close() override { return inner_.close(); }

 private:
  store::RangeQuery metered(store::RangeQuery query) const {
    query.wants = [&keys = keys_, wants = std::move(query.wants)](std::string_view key, const store::Entry& entry) {
      keys.add(1);
      return !wants || wants(key, entry);
    };
    return query;
  }

  store::Store& inner_;
  Meter& keys_;
};

class FairTest : public testing::Test {
 protected:
  FairTest() : env_(ManualEnv::Options{.vfs = disk_.vfs()}) {
    store::Options at;
    at.path = "/data/state.db";
    store_ = std::move(*store::Store::open(env_, at));
    metered_ = std::make_unique<MeteredStore>(*store_, keys_);
    server_ = std::make_unique<server::Server>(env_, *metered_, server::Options{});
    EXPECT_TRUE(env_.run(server_->start()));
    api_ = std::make_unique<Api>(env_, *server_, ApiOptions{});
  }
  ~FairTest() override { env_.drop_all(); }

  void fill(int objects) {
    std::vector<store::Write> writes;
    for (int i = 0; i < objects; ++i) {
      const std::string name = fmt::format("c{:06}", i);
      Value object = json::object({{"apiVersion", "v1"},
                                   {"kind", "ConfigMap"},
                                   {"metadata", json::object({{"name", name}, {"namespace", "default"}})}});
      writes.push_back({"/registry/core/configmaps/default/" + name, std::move(object), 0});
      if (writes.size() < 4000 && i + 1 < objects) continue;
      EXPECT_TRUE(env_.run(store_->append(std::exchange(writes, {}))));
    }
  }

  Task<net::Answer> send(std::string method, std::string target, std::string body = "") {
    const net::Target parts = net::Target::split(target);
    Call call{.route = route_of(*parts.segments()), .query = *net::Query::parse(parts.query)};
    call.http.method = std::move(method);
    call.http.body = std::move(body);
    if (call.http.method == "PATCH") call.http.headers.add("Content-Type", "application/merge-patch+json");
    return api_->answer(std::move(call));
  }

  /// Takes a body as fast as it comes, as a connection with a fast reader does. Gives its bytes.
  Task<std::size_t> drain(std::unique_ptr<http::BodyStream> body) {
    std::size_t bytes = 0;
    while (true) {
      const auto piece = co_await body->next();
      if (!piece || !*piece) co_return bytes;
      bytes_.add((*piece)->size());
      bytes += (*piece)->size();
      co_await yield(env_);
    }
  }

  Task<> list_over_and_over() {
    while (!is_over_) {
      net::Answer answer = co_await send("GET", std::string(kMaps));
      auto& response = std::get<http::Response>(answer);
      EXPECT_EQ(response.status, 200);
      EXPECT_GT(co_await drain(std::move(response.stream)), 90U * kObjects);
      ++lists_;
    }
  }

  /// Turns from the request to the answer.
  std::uint64_t turns_of(const std::string& method, const std::string& target, const std::string& body, int status) {
    bool is_done = false;
    const auto ask = [](FairTest& test, std::string how, std::string what, std::string with, int wanted, bool& done) -> Task<> {
      const net::Answer answer = co_await test.send(std::move(how), std::move(what), std::move(with));
      const auto& response = std::get<http::Response>(answer);
      EXPECT_EQ(response.status, wanted) << response.body;
      done = true;
    };
    const auto before = env_.queue().steps();
    env_.spawn(ask(*this, method, target, body, status, is_done));
    EXPECT_TRUE(env_.run_until([&] { return is_done; }));
    return env_.queue().steps() - before;
  }

  store::MemoryVfs disk_;
  ManualEnv env_;
  Meter keys_{env_};
  Meter bytes_{env_};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<MeteredStore> metered_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Api> api_;
  bool is_over_ = false;
  int lists_ = 0;
};

TEST_F(FairTest, a_get_and_a_lease_beside_four_endless_lists_wait_for_a_few_turns) {
  fill(kObjects);
  const std::string lease = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}})";
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  turns_of("POST", leases, lease, 201);
  for (int i = 0; i < 4; ++i) env_.spawn(list_over_and_over());
  std::uint64_t get = 0;
  std::uint64_t renewal = 0;
  int asked = 0;
  for (; lists_ < 4; ++asked) {
    get = std::max(get, turns_of("GET", fmt::format("{}/c{:06}", kMaps, asked * 37 % kObjects), "", 200));
    renewal = std::max(renewal,
                       turns_of("PATCH", leases + "/l", fmt::format("{{\"spec\":{{\"leaseTransitions\":{}}}}}", asked), 200));
    const auto later = env_.queue().steps() + 50;
    env_.run_until([&] { return env_.queue().steps() >= later; });
  }
  is_over_ = true;
  env_.run_until_idle();
  EXPECT_GT(asked, kObjects / 10'000) << "while the lists were on their way";
  EXPECT_GE(keys_.all(), 4U * kObjects);
  EXPECT_LE(get, 10U);
  EXPECT_LE(renewal, 40U);
  EXPECT_LE(keys_.most(), 512U) << "keys looked at in one turn";
  EXPECT_LE(bytes_.most(), 66U * 1024) << "bytes made in one turn";
}

TEST_F(FairTest, a_watch_looks_at_the_state_to_begin_with_in_turns) {
  fill(10'000);
  for (const char* selector : {"", "app=none"}) {
    client::Request request;
    request.resource = {"", "v1", "configmaps"};
    request.label_selector = selector;
    request.send_initial_events = true;
    request.resource_version_match = "NotOlderThan";
    request.allow_watch_bookmarks = true;
    auto watch = env_.run(server_->watch(request));
    ASSERT_TRUE(watch);
    std::size_t seen = 0;
    for (bool is_ended = false; !is_ended;) {
      const auto events = env_.run((*watch)->next());
      ASSERT_TRUE(events);
      seen += events->size();
      is_ended = events->back().type == client::WatchEvent::Type::Bookmark;
    }
    EXPECT_EQ(seen, selector[0] == '\0' ? 10'001U : 1U);
  }
  EXPECT_GE(keys_.all(), 20'000U);
  EXPECT_LE(keys_.most(), 512U);
}

TEST_F(FairTest, a_watch_passes_what_it_does_not_want_in_turns) {
  const auto from = store_->revision();
  fill(4'000);
  client::Request request;
  request.resource = {"", "v1", "configmaps"};
  request.label_selector = "app=none";
  request.resource_version = std::to_string(from);
  auto watch = env_.run(server_->watch(request));
  ASSERT_TRUE(watch);
  bool has_ended = false;
  const auto wait = [](client::Watch& on, bool& ended) -> Task<> {
    const auto events = co_await on.next();
    EXPECT_TRUE(events && events->empty());
    ended = true;
  };
  const auto before = env_.queue().steps();
  env_.spawn(wait(**watch, has_ended));
  env_.run_until_idle();
  EXPECT_FALSE(has_ended) << "nothing for it";
  EXPECT_GE(env_.queue().steps() - before, 4'000U / 100);
  (*watch)->close();
  env_.run_until_idle();
  EXPECT_TRUE(has_ended);
}

}  // namespace
}  // namespace slipway::serve
