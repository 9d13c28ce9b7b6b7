// `slipway up` under load and under attack: kill -9 while it writes, a thousand watchers, readers that do not read, idle and
// half-open connections, oversized and malformed requests, one client that floods. The short form runs with `make test`; `make
// test-load` sets SLIPWAY_LOAD=full.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "json/text.h"
#include "up_process.h"

namespace slipway::up {
namespace {

using namespace std::chrono_literals;

class Load : public testing::Test {
 protected:
  Load() {
    std::string pattern = testing::TempDir() + "slipway-up-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Load() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove(folder_ + ".log");
  }

  std::string folder_;
};

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

Task<json::Value> get_json(User& user, std::string path) {
  const auto answer = co_await user.client().send(user.get(path));
  if (!answer || answer->status != 200) {
    ADD_FAILURE() << path << ": " << (answer ? answer->body : answer.error().message);
    co_return json::Value();
  }
  auto parsed = json::parse(answer->body, {.max_bytes = std::size_t{1} << 30});
  if (!parsed) ADD_FAILURE() << path << ": " << parsed.error().message;
  co_return parsed.value_or(json::Value());
}

/// Creates until the server is gone; the names that were acknowledged.
Task<> write_until_cut(User& user, int writer, int round, std::set<std::string>& acknowledged) {
  for (int number = 0;; ++number) {
    const std::string name = fmt::format("k-{}-{}-{}", round, writer, number);
    const auto answer = co_await user.client().send(user.create(name, 500));
    if (!answer) co_return;
    EXPECT_EQ(answer->status, 201) << answer->body;
    acknowledged.insert(name);
  }
}

Task<> kill_after(User& user, UpProcess& server, const std::set<std::string>& acknowledged, std::size_t count) {
  while (acknowledged.size() < count) co_await sleep_for(user.env(), 200us);
  server.kill();
}

std::string workflow(int round) {
  const char* step =
      R"({"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","command":["true"]}]}}}}})";
  return fmt::format(
      R"({{"apiVersion":"batch.slipway.dev/v1alpha1","kind":"Workflow","metadata":{{"name":"w{0}"}},"spec":{{"steps":{{"a":{1},"b":{2}}}}}}})",
      round, step, std::string(step, std::strlen(step) - 1) + R"(,"dependencies":["a"]})");
}

constexpr const char* kWorkflows = "/apis/batch.slipway.dev/v1alpha1/namespaces/default/workflows";

Task<> expect_all_workflows_complete(User& user, int count) {
  for (int attempt = 0; attempt < 6000; ++attempt) {
    const json::Value list = co_await get_json(user, kWorkflows);
    int complete = 0;
    for (const json::Value& item : list["items"].items()) complete += item["status"]["phase"].as_string() == "Complete" ? 1 : 0;
    if (complete == count) co_return;
    co_await sleep_for(user.env(), 100ms);
  }
  ADD_FAILURE() << "workflows are still running";
}

TEST_F(Load, nothing_acknowledged_is_lost_by_kill_9_and_workflows_finish) {
  const int rounds = is_full() ? 100 : 5;
  std::set<std::string> acknowledged;
  for (int round = 0; round < rounds; ++round) {
    UpProcess server(binary(), folder_);
    User user(server.access(), 16);
    const std::size_t until = acknowledged.size() + 20 + static_cast<std::size_t>(round * 37 % 200);
    user.run([&](User& self) -> Task<> {
      const auto made = co_await self.client().send(self.post(kWorkflows, workflow(round)));
      EXPECT_TRUE(made && made->status == 201) << (made ? made->body : made.error().message);
      Tasks tasks(self.env());
      for (int writer = 0; writer < 8; ++writer) tasks.spawn(write_until_cut(self, writer, round, acknowledged));
      tasks.spawn(kill_after(self, server, acknowledged, until));
      co_await tasks.join();
    });
  }
  UpProcess server(binary(), folder_);
  User user(server.access(), 4);
  user.run([&](User& self) -> Task<> {
    const json::Value list = co_await get_json(self, kConfigMaps);
    std::set<std::string> kept;
    for (const json::Value& item : list["items"].items()) kept.insert(item["metadata"]["name"].str());
    for (const std::string& name : acknowledged) EXPECT_TRUE(kept.contains(name)) << name << " was acknowledged and is lost";
    co_await expect_all_workflows_complete(self, rounds);
  });
  EXPECT_EQ(server.stop(), 0);
}

/// What one watcher has made of its events: the objects it believes in, and how often it was wrong.
struct Fold {
  std::map<std::string, std::string> revisions;
  std::int64_t last = 0;
  int events = 0;
  int disorder = 0;

  void take(std::string_view line) {
    const json::Value event = json::parse(line).value_or(json::Value());
    const json::Value metadata = event["object"]["metadata"];
    const std::int64_t revision = std::atoll(metadata["resourceVersion"].str().c_str());
    if (event["type"].as_string() == "BOOKMARK") return;
    disorder += revision <= last ? 1 : 0;
    last = revision;
    ++events;
    if (event["type"].as_string() == "DELETED")
      revisions.erase(metadata["name"].str());
    else
      revisions[metadata["name"].str()] = metadata["resourceVersion"].str();
  }
};

/// Watches from `fold.last` until `is_over` or the stream ends.
Task<> watch_into(User& user, Fold& fold, const bool& is_over, int& open) {
  HttpCall call = user.get(fmt::format("{}?watch=true&resourceVersion={}&timeoutSeconds=5", kConfigMaps, fold.last));
  call.is_streaming = true;
  auto answer = co_await user.client().send(std::move(call));
  if (!answer || answer->status != 200 || !answer->stream) co_return;
  ++open;
  std::string rest;
  while (!is_over) {
    auto piece = co_await answer->stream->next();
    if (!piece || !*piece) break;
    rest += **piece;
    std::size_t line = 0;
    for (std::size_t end; (end = rest.find('\n', line)) != std::string::npos; line = end + 1) {
      fold.take(std::string_view(rest).substr(line, end - line));
    }
    rest.erase(0, line);
  }
  answer->stream->close();
}

Task<> write_some(User& user, int round, int count) {
  for (int number = 0; number < count; ++number) {
    const auto made = co_await user.client().send(user.create(fmt::format("o-{}-{}", round, number), 100));
    EXPECT_TRUE(made && made->status == 201);
    if (number % 3 != 0) continue;
    HttpCall gone = user.get(fmt::format("{}/o-{}-{}", kConfigMaps, round, number));
    gone.method = "DELETE";
    const auto deleted = co_await user.client().send(std::move(gone));
    EXPECT_TRUE(deleted && deleted->status == 200);
  }
}

/// Watches, again and again, until it has come to `target`.
Task<> follow_to(User& user, Fold& fold, const std::int64_t& target, const bool& is_over, int& open) {
  while (target == 0 || fold.last < target) {
    co_await watch_into(user, fold, is_over, open);
    co_await yield(user.env());
  }
}

TEST_F(Load, a_thousand_watchers_see_every_change_once_and_in_order) {
  const int watchers = is_full() ? 1000 : 100;
  UpProcess server(binary(), folder_);
  User user(server.access(), static_cast<std::size_t>(watchers) + 8);
  std::vector<Fold> folds(static_cast<std::size_t>(watchers));
  std::map<std::string, std::string> truth;
  user.run([&](User& self) -> Task<> {
    const json::Value before = co_await get_json(self, kConfigMaps);
    const std::int64_t start = std::atoll(before["metadata"]["resourceVersion"].str().c_str());
    co_await self.open_connections(folds.size());
    std::int64_t target = 0;
    const bool is_over = false;
    int open = 0;
    Tasks tasks(self.env());
    for (Fold& fold : folds) {
      fold.last = start;
      tasks.spawn(follow_to(self, fold, target, is_over, open));
    }
    while (open < watchers) co_await sleep_for(self.env(), 5ms);
    co_await write_some(self, 0, 60);
    const auto last = co_await self.client().send(self.create("last", 10));
    EXPECT_TRUE(last && last->status == 201);
    target = std::atoll(json::parse(last->body)->operator[]("metadata")["resourceVersion"].str().c_str());
    co_await tasks.join();
    const json::Value after = co_await get_json(self, kConfigMaps);
    for (const json::Value& item : after["items"].items()) {
      if (std::atoll(item["metadata"]["resourceVersion"].str().c_str()) > start)
        truth[item["metadata"]["name"].str()] = item["metadata"]["resourceVersion"].str();
    }
  });
  for (const Fold& fold : folds) {
    ASSERT_EQ(fold.disorder, 0);
    ASSERT_EQ(fold.events, 60 + 20 + 1);
    ASSERT_EQ(fold.revisions, truth);
  }
}

TEST_F(Load, watchers_resume_across_kill_9_without_loss) {
  const int rounds = is_full() ? 20 : 3;
  Fold fold;
  for (int round = 0; round < rounds; ++round) {
    UpProcess server(binary(), folder_);
    User user(server.access(), 8);
    user.run([&](User& self) -> Task<> {
      if (round == 0)
        fold.last = std::atoll((co_await get_json(self, kConfigMaps))["metadata"]["resourceVersion"].str().c_str());
      const bool is_over = false;
      int open = 0;
      Tasks tasks(self.env());
      tasks.spawn(watch_into(self, fold, is_over, open));
      co_await write_some(self, round, 30);
      server.kill();
      co_await tasks.join();
    });
  }
  UpProcess server(binary(), folder_);
  User user(server.access(), 8);
  user.run([&](User& self) -> Task<> {
    const auto last = co_await self.client().send(self.create("last", 10));
    const std::int64_t target = std::atoll(json::parse(last->body)->operator[]("metadata")["resourceVersion"].str().c_str());
    const bool is_over = false;
    int open = 0;
    co_await follow_to(self, fold, target, is_over, open);
  });
  EXPECT_EQ(fold.disorder, 0);
  EXPECT_EQ(fold.events, rounds * 40 + 1);
}

TEST_F(Load, what_holds_secrets_is_read_by_its_owner_only) {
  UpProcess server(binary(), folder_);
  using std::filesystem::perms;
  for (const char* name : {"cluster.db", "cluster.db-wal", "kubeconfig", "pki/ca.key", "pki/admin.key", "pki/sa.key"}) {
    const perms mode = std::filesystem::status(folder_ + "/" + name).permissions();
    EXPECT_EQ(mode, perms::owner_read | perms::owner_write) << name;
  }
}

/// A bare TCP connection to the server.
int connect_raw(const std::string& url) {
  const int port = std::atoi(url.substr(url.rfind(':') + 1).c_str());
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return descriptor;
}

Task<> expect_served(User& user, const std::string& what) {
  const auto answer = co_await user.client().send(user.get("/api/v1/namespaces/default"));
  if (!answer) {
    ADD_FAILURE() << what << ": " << to_string(answer.error().reason) << ": " << answer.error().message;
  } else if (answer->status != 200) {
    ADD_FAILURE() << what << ": " << answer->status << " " << answer->body;
  }
}

TEST_F(Load, connections_that_never_speak_do_not_keep_others_waiting) {
  UpProcess server(binary(), folder_);
  User user(server.access(), 4);
  std::vector<int> open;
  for (int i = 0; i < 300; ++i) {
    open.push_back(connect_raw(server.access().url));
    if (i % 2 == 0) EXPECT_EQ(write(open.back(), "\x16\x03\x01", 3), 3);  // the beginning of a TLS hello
  }
  user.run([](User& self) -> Task<> { co_await expect_served(self, "half-open connections"); });
  for (const int descriptor : open) close(descriptor);
}

TEST_F(Load, idle_connections_stay_while_others_are_served) {
  const int count = is_full() ? 5000 : 200;
  UpProcess server(binary(), folder_);
  User crowd(server.access(), static_cast<std::size_t>(count));
  User other(server.access(), 2);
  crowd.run([count](User& self) -> Task<> {
    co_await self.open_connections(static_cast<std::size_t>(count));
    Tasks tasks(self.env());
    for (int i = 0; i < count; ++i) tasks.spawn(expect_served(self, "one of the crowd"));
    co_await tasks.join();
  });
  EXPECT_GE(crowd.client().idle_connections(), static_cast<std::size_t>(count) / 2);
  other.run([](User& self) -> Task<> { co_await expect_served(self, "beside idle connections"); });
}

Task<> expect_status(User& user, HttpCall call, int status, const std::string& reason) {
  const auto answer = co_await user.client().send(std::move(call));
  if (!answer) {
    ADD_FAILURE() << answer.error().message;
    co_return;
  }
  EXPECT_EQ(answer->status, status) << answer->body;
  const json::Value body = json::parse(answer->body).value_or(json::Value());
  EXPECT_EQ(body["kind"].str(), "Status") << answer->body;
  EXPECT_EQ(body["reason"].str(), reason) << answer->body;
}

TEST_F(Load, wrong_requests_are_answered_with_a_status_that_says_why) {
  UpProcess server(binary(), folder_);
  User user(server.access(), 4);
  user.run([](User& self) -> Task<> {
    co_await expect_status(self, self.post(kConfigMaps, "{"), 400, "BadRequest");
    co_await expect_status(self, self.post(kConfigMaps, std::string(200'000, '[')), 400, "BadRequest");
    co_await expect_status(self, self.post(kConfigMaps, "{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}"), 400, "BadRequest");
    co_await expect_status(self, self.get("/api/v1/namespaces/default/gizmos"), 404, "NotFound");
    co_await expect_status(self, self.get("/api/v1/namespaces/default/pods/%zz"), 400, "BadRequest");
    HttpCall odd = self.post(kConfigMaps, "<xml/>");
    odd.headers.set("Content-Type", "text/xml");
    co_await expect_status(self, std::move(odd), 415, "UnsupportedMediaType");
    HttpCall picky = self.get(kConfigMaps);
    picky.headers.set("Accept", "image/png");
    co_await expect_status(self, std::move(picky), 406, "NotAcceptable");
    const auto large = co_await self.client().send(self.create("large", 2 << 20));
    EXPECT_TRUE(large && (large->status == 413 || large->status == 422)) << (large ? large->body : large.error().message);
    const auto huge = co_await self.client().send(self.create("huge", 8 << 20));
    EXPECT_TRUE(!huge || huge->status == 413);
    co_await expect_served(self, "after wrong requests");
  });
}

Task<> flood(User& user, const bool& is_over, int& answers) {
  while (!is_over) {
    const auto answer = co_await user.client().send(user.get(kConfigMaps));
    EXPECT_TRUE(answer && answer->status == 200) << (answer ? answer->body : answer.error().message);
    if (!answer) co_return;
    ++answers;
  }
}

TEST_F(Load, one_client_that_floods_leaves_room_for_others) {
  constexpr int kFlooding = 128;
  // How long another's request waits is counted in the flood's own answers, not in seconds.
  constexpr int kMostRounds = 3;
  UpProcess server(binary(), folder_);
  User user(server.access(), kFlooding + 1);
  user.run([&](User& self) -> Task<> {
    co_await write_some(self, 0, 100);
    // Before the flood: within it a handshake takes as long as the machine makes it, and handshakes are timed.
    co_await self.open_connections(kFlooding + 1);
    bool is_over = false;
    int answers = 0;
    Tasks tasks(self.env());
    for (int i = 0; i < kFlooding; ++i) tasks.spawn(flood(self, is_over, answers));
    while (answers < kFlooding) co_await yield(self.env());
    for (int i = 0; i < 50; ++i) {
      const int before = answers;
      co_await expect_served(self, "beside a flood");
      EXPECT_LE(answers - before, kMostRounds * kFlooding);
    }
    is_over = true;
    co_await tasks.join();
    EXPECT_EQ(self.client().connections_made(), kFlooding + 1U);
  });
}

/// Opens a watch, reads nothing until the writes are done, then follows to the end.
Task<> read_late(User& user, Fold& fold, const std::int64_t& target, Signal& written, int& open) {
  HttpCall call = user.get(fmt::format("{}?watch=true&resourceVersion={}", kConfigMaps, fold.last));
  call.is_streaming = true;
  auto answer = co_await user.client().send(std::move(call));
  EXPECT_TRUE(answer && answer->status == 200);
  ++open;
  if (target == 0) co_await written.wait();
  std::string rest;
  while (fold.last < target) {
    auto piece = co_await answer->stream->next();
    if (!piece || !*piece) break;
    rest += **piece;
    std::size_t line = 0;
    for (std::size_t end; (end = rest.find('\n', line)) != std::string::npos; line = end + 1) {
      fold.take(std::string_view(rest).substr(line, end - line));
    }
    rest.erase(0, line);
  }
  answer->stream->close();
  const bool is_over = false;
  co_await follow_to(user, fold, target, is_over, open);
}

TEST_F(Load, a_reader_that_does_not_read_loses_nothing_and_holds_up_nobody) {
  const int writes = is_full() ? 2000 : 300;
  UpProcess server(binary(), folder_);
  User user(server.access(), 8);
  Fold fold;
  user.run([&](User& self) -> Task<> {
    fold.last = std::atoll((co_await get_json(self, kConfigMaps))["metadata"]["resourceVersion"].str().c_str());
    std::int64_t target = 0;
    int open = 0;
    Signal written(self.env());
    Tasks tasks(self.env());
    tasks.spawn(read_late(self, fold, target, written, open));
    while (open == 0) co_await sleep_for(self.env(), 5ms);
    for (int i = 0; i < writes; ++i) {
      const auto made = co_await self.client().send(self.create(fmt::format("big-{}", i), 20'000));
      EXPECT_TRUE(made && made->status == 201);
      if (made) target = std::atoll(json::parse(made->body)->operator[]("metadata")["resourceVersion"].str().c_str());
    }
    written.notify();
    co_await tasks.join();
  });
  EXPECT_EQ(fold.disorder, 0);
  EXPECT_EQ(fold.events, writes);
}

}  // namespace
}  // namespace slipway::up
