// What strangers can do to `slipway up`: those without credentials and those without rights send whatever they like, and leave
// no trace; and what they may not do, with whatever rights: keep the logic thread for long. The short form runs with `make
// test`; `make test-load` sets SLIPWAY_LOAD=full.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "json/text.h"
#include "up_process.h"

namespace slipway::up {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLIPWAY_SANITIZED 1
#endif
#endif

class Strangers : public testing::Test {
 protected:
  Strangers() {
    std::string pattern = testing::TempDir() + "slipway-up-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Strangers() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove(folder_ + ".log");
  }

  std::string folder_;
};

std::int64_t resident_bytes(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/statm", pid));
  std::int64_t size = 0;
  std::int64_t resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Task<std::string> body_of(User& user, HttpCall call) {
  const auto answer = co_await user.client().send(std::move(call));
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  co_return answer ? answer->body : std::string();
}

/// What /metrics shows.
struct Shown {
  std::size_t series = 0;
  std::string text;

  double value(const std::string& series_name) const {
    const std::size_t at = text.find("\n" + series_name + " ");
    return at == std::string::npos ? -1 : std::atof(text.c_str() + at + series_name.size() + 2);
  }
};

Task<Shown> metrics(User& admin) {
  Shown shown{.text = "\n" + co_await body_of(admin, admin.get("/metrics"))};
  for (std::size_t at = 0; at + 1 < shown.text.size(); at = shown.text.find('\n', at + 1)) {
    shown.series += shown.text[at + 1] != '#' ? 1 : 0;
  }
  co_return shown;
}

/// Requests that no program would send, the same ones for one seed.
class Fuzz {
 public:
  Fuzz(unsigned seed, http::Headers headers) : random_(seed), headers_(std::move(headers)) {}

  HttpCall next(const User& user) {
    HttpCall call = user.get(path());
    call.method = pick({"GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "", ""});
    if (call.method.empty()) call.method = word("METHOD");
    call.headers = headers_;
    if (call.method == "GET" || call.method == "HEAD" || number(4) == 0) return call;
    call.headers.add("Content-Type",
                     pick({"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/xml",
                           "application/strategic-merge-patch+json", "application/apply-patch+yaml", "nonsense"}));
    call.body = body();
    return call;
  }

 private:
  std::size_t number(std::size_t below) { return random_() % below; }
  std::string word(std::string_view stem) { return fmt::format("{}{}", stem, number(1'000'000'000)); }
  std::string pick(std::initializer_list<const char*> from) { return from.begin()[number(from.size())]; }

  std::string segment() {
    switch (number(8)) {
      case 0:
        return pick({"api", "apis", "v1", "namespaces", "watch", "status", "scale", "log", "exec", "metrics"});
      case 1:
        return pick({"pods", "secrets", "configmaps", "nodes", "deployments", "jobs", "clusterroles", "leases"});
      case 2:
        return "a%22%7D%201%0Afake_series%20" + word("");
      case 3:
        return std::string(number(300), 'x');
      default:
        return word("w");
    }
  }

  std::string path() {
    std::string made;
    switch (number(6)) {
      case 0:
        made = "/api/v1/namespaces/" + segment() + "/" + pick({"pods", "secrets", "configmaps", "serviceaccounts"});
        break;
      case 1:
        made = "/apis/" + pick({"apps", "batch", "rbac.authorization.k8s.io", "coordination.k8s.io"}) + "/v1/" +
               pick({"deployments", "jobs", "clusterroles", "leases"});
        break;
      case 2:
        made = "/apis/" + segment() + "/" + segment();
        break;
      case 3:
        return pick({"/metrics", "/openapi/v2", "/version", "/livez", "/api", "/apis", "/clusters/none/api/v1/pods"});
      default:
        break;
    }
    for (std::size_t i = number(5); i > 0; --i) made += "/" + segment();
    if (made.empty()) made = "/";
    if (number(4) == 0) made += "?" + pick({"watch", "limit", "resourceVersion", "dryRun", "timeout"}) + "=" + word("");
    return made;
  }

  std::string body() {
    std::string made;
    switch (number(6)) {
      case 0:
        return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})";
      case 1:
        for (std::size_t i = number(400); i > 0; --i) made += "\"k\":1,\"" + word("k") + "\":[[{\"a\":";
        return "{" + made;
      case 2:
        return "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd:\n  <<: *c\n";
      case 3:
        return std::string("k8s\0", 4) + word("\x0a\xff");
      case 4:
        return std::string(number(500) == 0 ? 2'000'000 : number(20'000), '[');
      default:
        return word("");
    }
  }

  std::mt19937 random_;
  http::Headers headers_;
};

Task<> send_some(User& user, Fuzz& fuzz, int& left) {
  while (left-- > 0) static_cast<void>(co_await user.client().send(fuzz.next(user)));
}

Task<> send_all(User& user, Fuzz& fuzz, int count) {
  Tasks tasks(user.env());
  for (int i = 0; i < 16; ++i) tasks.spawn(send_some(user, fuzz, count));
  co_await tasks.join();
}

/// Until the server's memory has stayed the same for a second: what it still does after its start is no trace of anyone.
void wait_settled(const UpProcess& server, User& admin) {
  std::int64_t before = 0;
  for (int same = 0; same < 5;) {
    admin.run([](User& self) -> Task<> { co_await sleep_for(self.env(), std::chrono::milliseconds{200}); });
    const std::int64_t now = resident_bytes(server.pid());
    same = now == before ? same + 1 : 0;
    before = now;
  }
}

/// Sends fuzzed requests through `stranger`; what is there after some of them is still so after all.
void expect_no_trace(const UpProcess& server, User& admin, User& stranger, const http::Headers& headers) {
  const int some = is_full() ? 10'000 : 1'000;
  const int all = is_full() ? 100'000 : 5'000;
  Fuzz fuzz(17, headers);
  Shown before;
  Shown after;
  double decoded = 0;
  const auto look = [&](Shown& into) {
    admin.run([&](User& self) -> Task<> { into = co_await metrics(self); });
    return resident_bytes(server.pid());
  };
  wait_settled(server, admin);
  look(before);
  decoded = before.value("slipway_request_bodies_decoded_total");
  EXPECT_GE(decoded, 0);
  stranger.run([&](User& self) { return send_all(self, fuzz, some); });
  const std::int64_t resident = look(before);
  stranger.run([&](User& self) { return send_all(self, fuzz, all - some); });
  const std::int64_t grown = look(after) - resident;
  EXPECT_EQ(after.series, before.series) << after.text;
  EXPECT_EQ(after.value("slipway_request_bodies_decoded_total"), decoded);
  EXPECT_FALSE(after.text.contains("fake_series") || after.text.contains("METHOD"));
#if !defined(SLIPWAY_SANITIZED)
  EXPECT_LE(grown, 8 << 20) << "from " << resident;
#endif
  fmt::print("{} requests: {} series, {} bodies parsed, resident {} KiB {:+} KiB\n", all, after.series,
             after.value("slipway_request_bodies_decoded_total") - decoded, resident / 1024, grown / 1024);
}

Access without_certificate(Access access) {
  access.tls.certificate_pem.clear();
  access.tls.key_pem.clear();
  return access;
}

TEST_F(Strangers, without_credentials_leave_no_trace) {
  UpProcess server(binary(), folder_);
  User admin(server.access(), 1);
  User stranger(without_certificate(server.access()), 16);
  expect_no_trace(server, admin, stranger, {});
}

TEST_F(Strangers, without_rights_leave_no_trace) {
  UpProcess server(binary(), folder_);
  User admin(server.access(), 1);
  std::string token;
  admin.run([&](User& self) -> Task<> {
    const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
    co_await body_of(self, self.post(accounts, R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"nobody"}})"));
    const std::string made = co_await body_of(
        self,
        self.post(accounts + "/nobody/token",
                  R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":86400}})"));
    token = json::parse(made).value_or(json::Value())["status"]["token"].str();
  });
  EXPECT_FALSE(token.empty());
  User stranger(without_certificate(server.access()), 16);
  expect_no_trace(server, admin, stranger, {{"Authorization", "Bearer " + token}});
}

/// `count` times what `one` makes of the number, joined by commas.
template <class One>
std::string joined(int count, One one) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(one(i));
  return text;
}

struct Demand {
  std::string name;
  HttpCall call;
};

std::vector<Demand> demands(const User& user) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const auto map_of = [](std::string_view data) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"m"},"data":{)" + std::string(data) + "}}";
  };
  const auto merge_patch = [&](std::string path, std::string body, const char* type) {
    HttpCall call = user.post(path, std::move(body));
    call.method = "PATCH";
    call.headers.set("Content-Type", type);
    return call;
  };
  const auto yaml = [&](std::string body) {
    HttpCall call = user.post(maps, std::move(body));
    call.headers.set("Content-Type", "application/yaml");
    return call;
  };
  const std::string deployment = "/apis/apps/v1/namespaces/default/deployments/d?dryRun=All";
  const auto containers = [&](int count, std::string_view more) {
    return R"({"spec":{"template":{"spec":{"containers":[)" +
           joined(count, [&](int i) { return fmt::format(R"({{"name":"c{}"{}}})", i, more); }) + "]}}}}";
  };
  const auto words = [](int count, const char* stem) {
    return "[" + joined(count, [&](int i) { return fmt::format("\"{}{}\"", stem, i); }) + "]";
  };
  const auto role = [&](int count) {
    return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"generateName":"r"},"rules":[{"verbs":)" +
           words(count, "v") + ",\"apiGroups\":" + words(count, "g") + ",\"resources\":" + words(count, "r") + "}]}";
  };
  const char* kStrategic = "application/strategic-merge-patch+json";
  std::vector<Demand> made;
  const auto doubled = [](int count, int of) {
    return joined(count, [&](int i) { return fmt::format(R"("k{}":"v")", i % of); });
  };
  made.push_back({"40,000 pairs of doubled keys", user.post(maps, map_of(doubled(80'000, 40'000)))});
  made.push_back({"110,000 pairs of doubled keys", user.post(maps, map_of(doubled(210'000, 105'000)))});
  made.push_back({"one doubled key", user.post(maps, map_of(joined(350'000, [](int) { return R"("k":"v")"; })))});
  made.push_back({"many keys", user.post(maps, map_of(doubled(120'000, 120'000)))});
  made.push_back({"as many keys as fit", user.post(maps, map_of(doubled(59'000, 59'000)))});
  made.push_back({"too many keys", user.post(maps, map_of(doubled(220'000, 220'000)))});
  made.push_back({"merge keys", yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: m}\ndata:\n" + [] {
                    std::string text;
                    for (int i = 0; i < 100'000; ++i) text += fmt::format("  <<: {{a{}: b}}\n", i);
                    return text;
                  }())});
  made.push_back({"an alias merged often", yaml("a: &a {b: c, d: e}\ne:\n" + [] {
                    std::string text;
                    for (int i = 0; i < 100'000; ++i) text += "  <<: *a\n";
                    return text;
                  }())});
  made.push_back({"unknown fields", user.post(maps, "{" + joined(200'000, [](int i) { return fmt::format("\"f{}\":1", i); }) +
                                                        "," + map_of("").substr(1))});
  made.push_back({"many members patched",
                  merge_patch(maps + "/there?dryRun=All", "{\"data\":{" + doubled(120'000, 120'000) + "}}", kStrategic)});
  made.push_back({"many containers", merge_patch(deployment, containers(20'000, ""), kStrategic)});
  made.push_back({"many deletions", merge_patch(deployment, containers(20'000, R"(,"$patch":"delete")"), kStrategic)});
  made.push_back({"many containers that fit", merge_patch(deployment, containers(7'000, R"(,"image":"i")"), kStrategic)});
  made.push_back({"a role of many words", user.post(roles, role(80))});
  made.push_back({"a role of very many words", user.post(roles, role(20'000))});
  made.push_back({"defaults that multiply",
                  user.post("/apis/example.com/v1/namespaces/default/bigs",
                            R"({"apiVersion":"example.com/v1","kind":"Big","metadata":{"generateName":"b"},"spec":{"l":[)" +
                                joined(100'000, [](int) { return "{}"; }) + "]}}")});
  return made;
}

std::vector<HttpCall> preparations(const User& user) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
  return {user.post("/api/v1/namespaces/default/configmaps",
                    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there"}})"),
          user.post("/apis/apps/v1/namespaces/default/deployments",
                    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":0,
                    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
                    "spec":{"containers":[{"name":"c","image":"i"}]}}}})"),
          user.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
                    "metadata":{"name":"bigs.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
                    "names":{"plural":"bigs","kind":"Big"},"versions":[{"name":"v1","served":true,"storage":true,
                    "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
                    "l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":")" +
                        std::string(100'000, 'x') + R"("}}}}}}}}}}]}})"),
          user.post("/api/v1/namespaces/default/serviceaccounts",
                    R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"some"}})"),
          user.post(rbac + "/clusterroles", R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
                    "metadata":{"name":"some"},"rules":[
                    {"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"verbs":["create"]},
                    {"apiGroups":["","apps","example.com"],"resources":["*"],"verbs":["*"]}]})"),
          user.post(rbac + "/clusterrolebindings", R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
                    "metadata":{"name":"some"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
                    "name":"some"},"subjects":[{"kind":"ServiceAccount","name":"some","namespace":"default"}]})")};
}

TEST_F(Strangers, no_request_keeps_the_logic_thread_for_more_than_50_ms) {
  if (!is_full()) GTEST_SKIP() << "a figure of the release build: make test-load";
  UpProcess server(binary(), folder_);
  User admin(server.access(), 2);
  User some(without_certificate(server.access()), 1);
  std::string token;
  admin.run([&](User& self) -> Task<> {
    for (HttpCall& call : preparations(self)) {
      const auto answer = co_await self.client().send(std::move(call));
      EXPECT_TRUE(answer && answer->status == 201) << (answer ? answer->body : answer.error().message);
    }
    const std::string made =
        co_await body_of(self, self.post("/api/v1/namespaces/default/serviceaccounts/some/token",
                                         R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})"));
    token = json::parse(made).value_or(json::Value())["status"]["token"].str();
  });
  const auto shown = [&] {
    Shown now;
    admin.run([&](User& self) -> Task<> { now = co_await metrics(self); });
    return now;
  };
  for (Demand& demand : demands(some)) {
    const Shown before = shown();
    std::string outcome;
    some.run([&](User& self) -> Task<> {
      demand.call.headers.set("Authorization", "Bearer " + token);
      const auto answer = co_await self.client().send(std::move(demand.call));
      outcome =
          answer ? fmt::format("{} with {} bytes", answer->status, answer->body.size()) : std::string(answer.error().message);
    });
    const Shown after = shown();
    const auto longer = [&](const char* bound) {
      const auto above = [&](const Shown& one) {
        return one.value("slipway_logic_turn_seconds_count") -
               one.value(fmt::format("slipway_logic_turn_seconds_bucket{{le=\"{}\"}}", bound));
      };
      return above(after) - above(before);
    };
    EXPECT_EQ(longer("0.05"), 0) << demand.name;
    fmt::print("{}: {}, turns longer than 10 ms {}, 25 ms {}, 50 ms {}, CPU {:.0f} ms in all\n", demand.name, outcome,
               longer("0.01"), longer("0.025"), longer("0.05"),
               1000 * (after.value("slipway_logic_turn_seconds_sum") - before.value("slipway_logic_turn_seconds_sum")));
  }
}

}  // namespace
}  // namespace slipway::up
