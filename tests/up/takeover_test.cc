// Taking over a cluster from KubeVela, through the program: a server without Slipway's controllers in which KubeVela's records
// and objects stand, and `slipway up` with all of them over the same data: nothing that runs is changed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "../application/kubevela_shop.h"
#include "json/text.h"
#include "kube/object.h"
#include "up_process.h"

namespace slipway::up {
namespace {

using json::Value;

const std::map<std::string, std::string, std::less<>> kPlurals = {
    {"Application", "applications"}, {"ApplicationRevision", "applicationrevisions"}, {"ConfigMap", "configmaps"},
    {"Deployment", "deployments"},   {"ResourceTracker", "resourcetrackers"},         {"TraitDefinition", "traitdefinitions"}};

/// What this process asks of a server, one request after the other.
class Asker {
 public:
  explicit Asker(const UpProcess& server) : user_access_(server.access()) {}

  /// The answer's object; none where it is not found. Another refusal fails the test.
  std::optional<Value> send(const std::string& method, const std::string& path, const Value& body = {}) {
    std::optional<Value> answered;
    User user(user_access_, 1);
    user.run([&](User& self) -> Task<> {
      HttpCall call = self.get(path);
      call.method = method;
      if (!body.is_null()) {
        call.headers = {{"Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json"}};
        call.body = json::print(body);
      }
      const auto answer = co_await self.client().send(std::move(call));
      EXPECT_TRUE(answer && (answer->status < 300 || answer->status == 404))
          << method << " " << path << ": " << (answer ? answer->body : answer.error().message);
      if (answer && answer->status < 300) answered = json::parse(answer->body).value();
    });
    return answered;
  }
  Value get(const std::string& path) { return send("GET", path).value_or(Value()); }

  /// As KubeVela leaves it: created where it is not there, its status after that.
  Value store(const Value& object) {
    const std::string ns = kube::ns(object).empty() ? "" : fmt::format("/namespaces/{}", kube::ns(object));
    const std::string version = object["apiVersion"].str();
    const std::string all =
        fmt::format("/{}/{}{}/{}", version.contains('/') ? "apis" : "api", version, ns, kPlurals.at(object["kind"].str()));
    const std::string one = fmt::format("{}/{}", all, kube::name(object));
    std::optional<Value> live = send("GET", one);
    if (!live) live = send("POST", all + "?fieldManager=kubevela", object.without("status"));
    if (live && object.has("status")) {
      live = send("PUT", one + "/status?fieldManager=kubevela", live->with("status", object["status"]));
    }
    return live.value_or(Value());
  }

  /// True once `holds` is, within a minute: the programs run by the clock of the machine.
  bool await(const std::function<bool()>& holds) {
    for (int i = 0; i < 600; ++i) {
      if (holds()) return true;
      usleep(100'000);
    }
    return false;
  }

 private:
  Access user_access_;
};

constexpr const char* kWeb = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr const char* kApplication = "/apis/core.oam.dev/v1beta1/namespaces/shop/applications/shop";

/// What runs and what it is made of: uid, generation and content of everything of the application.
std::map<std::string, std::string> objects(Asker& asker) {
  std::map<std::string, std::string> found;
  for (const char* list :
       {"/api/v1/namespaces/shop/configmaps", "/api/v1/namespaces/shop/pods", "/api/v1/namespaces/shop/services",
        "/apis/apps/v1/namespaces/shop/deployments", "/apis/apps/v1/namespaces/shop/replicasets"}) {
    const Value answer = asker.get(list);
    for (const Value& one : answer["items"].items()) {
      found[fmt::format("{}/{}", list, kube::name(one))] =
          fmt::format("{} {} {} {}", kube::uid(one), kube::generation(one), json::print(one["spec"]), json::print(one["data"]));
    }
  }
  return found;
}

class TakeoverByProgram : public testing::Test {
 protected:
  TakeoverByProgram() {
    std::string pattern = testing::TempDir() + "slipway-takeover-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TakeoverByProgram() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove(folder_ + ".log");
  }

  std::string folder_;
};

TEST_F(TakeoverByProgram, nothing_that_runs_changes_and_what_kubevela_was_about_to_delete_goes) {
  // The first start brings the kinds; the second serves them, and nobody works on them.
  EXPECT_EQ(UpProcess(binary(), folder_).stop(), 0);
  Value run;
  std::map<std::string, std::string> before;
  {
    UpProcess server(binary(), folder_, {"--controllers", "cluster"});
    Asker asker(server);
    for (const char* ns : {"shop", "vela-system"}) {
      if (asker.send("GET", fmt::format("/api/v1/namespaces/{}", ns))) continue;
      asker.send("POST", "/api/v1/namespaces", json::object({{"metadata", json::object({{"name", ns}})}}));
    }
    oracle_test::leave_shop([&](const Value& object) { return asker.store(object); });
    EXPECT_TRUE(asker.await([&] { return asker.get(kWeb)["status"]["readyReplicas"].as_int() == 1; }));
    run = asker.get(kApplication)["status"]["workflow"];
    before = objects(asker);
    EXPECT_EQ(before.erase("/api/v1/namespaces/shop/configmaps/old"), 1U);
    EXPECT_EQ(server.stop(), 0);
  }
  UpProcess server(binary(), folder_);
  Asker asker(server);
  EXPECT_TRUE(asker.await([&] {
    return !asker.send("GET", "/api/v1/namespaces/shop/configmaps/old") &&
           kube::condition(asker.get(kApplication), "Ready")["status"].as_string() == "True";
  }));
  const Value app = asker.get(kApplication);
  EXPECT_EQ(objects(asker), before);
  EXPECT_EQ(app["status"]["status"].as_string(), "running") << json::print(app["status"]);
  EXPECT_EQ(app["status"]["latestRevision"]["name"].as_string(), "shop-v1");
  EXPECT_EQ(app["status"]["workflow"]["startTime"], run["startTime"]);
  EXPECT_EQ(app["status"]["workflow"]["steps"].item(0)["id"], run["steps"].item(0)["id"]);
  EXPECT_EQ(asker.get("/apis/core.oam.dev/v1beta1/namespaces/shop/applicationrevisions")["items"].size(), 1U);

  // The next edit goes to the same objects.
  const Value component = app["spec"]["components"].item(0).with("properties", json::object({{"image", "nginx:2"}}));
  const Value spec = json::object({{"components", json::array({component})}});
  EXPECT_TRUE(asker.send("PATCH", kApplication, json::object({{"spec", spec}})));
  const auto is_new = [&] {
    const Value containers = asker.get(kWeb)["spec"]["template"]["spec"]["containers"];
    return containers.item(0)["image"].as_string() == "nginx:2";
  };
  EXPECT_TRUE(asker.await(is_new)) << json::print(asker.get(kApplication)["status"]);
  EXPECT_TRUE(before["/apis/apps/v1/namespaces/shop/deployments/web"].starts_with(std::string(kube::uid(asker.get(kWeb)))));
  EXPECT_TRUE(
      asker.await([&] { return asker.get(kApplication)["status"]["latestRevision"]["name"].as_string() == "shop-v2"; }));
}

}  // namespace
}  // namespace slipway::up
