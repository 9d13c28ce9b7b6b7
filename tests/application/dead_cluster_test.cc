// A cluster elsewhere that stops answering: applications on other clusters go on, what is there counts as unknown, nothing is
// taken for gone, and all comes back by itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "json/text.h"
#include "kube/object.h"
#include "plane/plane.h"
#include "plane/store_view.h"
#include "store/memory_vfs.h"

namespace slipway {
namespace {

using json::Value;
using std::chrono::minutes;
using std::chrono::seconds;

const kube::Resource kApplications{"core.oam.dev", "v1beta1", "applications"};
const kube::Resource kConfigMaps{"", "v1", "configmaps"};

/// The way to a server, which may be cut.
class Line : public client::Client {
 public:
  explicit Line(client::Client& to) : to_(to) {}

  void cut() {
    is_cut_ = true;
    for (client::Watch* watch : open_) watch->close();
    open_.clear();
  }
  void mend() { is_cut_ = false; }

  Task<Result<client::Reply>> call(client::Request request) override {
    if (is_cut_) co_return fail(Reason::ServiceUnavailable, "no route");
    co_return co_await to_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    if (is_cut_) co_return fail(Reason::ServiceUnavailable, "no route");
    auto opened = co_await to_.watch(std::move(request));
    if (!opened) co_return fail(std::move(opened).error());
    auto watch = std::make_unique<Watched>(*this, std::move(*opened));
    open_.insert(watch.get());
    co_return watch;
  }

 private:
  struct Watched : client::Watch {
    Watched(Line& on, std::unique_ptr<client::Watch> of) : line(on), inner(std::move(of)) {}
    ~Watched() override { line.open_.erase(this); }
    Task<Result<std::vector<client::WatchEvent>>> next() override { return inner->next(); }
    void close() override { inner->close(); }
    Line& line;
    std::unique_ptr<client::Watch> inner;
  };

  client::Client& to_;
  std::set<client::Watch*> open_;
  bool is_cut_ = false;
};

class DeadCluster : public testing::Test {
 protected:
  DeadCluster() {
    for (const char* name : {"local", "far"}) {
      plane::ApiServer::Options options;
      options.store.path = fmt::format("/data/{}.db", name);
      auto api = env_.run(plane::ApiServer::open(env_, options));
      EXPECT_TRUE(api);
      apis_.emplace(name, std::move(*api));
    }
    line_ = std::make_shared<Line>(server("far"));
    controllers_ = std::make_unique<plane::Controllers>(env_, nullptr);
    controllers_->add("local", server("local"), {.pods = plane::PodRuntimeKind::Simulated, .data_dir = ""});
    controllers_->fleet().add_remote("far", line_);
    controllers_->start();
    env_.advance(seconds{1});
  }
  ~DeadCluster() override { env_.drop_all(); }

  server::Server& server(const std::string& cluster) { return apis_.at(cluster)->server(); }

  /// One ConfigMap, of the application's name, in each of the clusters.
  void deliver(const std::string& name, const std::string& clusters) {
    const auto application = json::parse_yaml(
        fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: {0}, namespace: default}}, spec: "
                    "{{components: "
                    "[{{name: c, type: k8s-objects, properties: {{objects: [{{apiVersion: v1, kind: ConfigMap, metadata: "
                    "{{name: {0}}}, data: "
                    "{{a: b}}}}]}}}}], policies: [{{name: t, type: topology, properties: {{clusters: [{1}]}}}}]}}}}",
                    name, clusters));
    ASSERT_TRUE(env_.run(client::create(server("local"), kApplications, *application, "test")));
  }
  Value application(const std::string& name) {
    const auto found = env_.run(client::get(server("local"), kApplications, {"default", name}));
    return found ? *found : Value();
  }
  std::string phase(const std::string& name) { return application(name)["status"]["status"].str(); }
  bool has_object(const std::string& cluster, const std::string& name) {
    return env_.run(client::get(server(cluster), kConfigMaps, {"default", name})).has_value();
  }
  Value service(const std::string& name, const std::string& cluster) {
    for (const Value& one : application(name)["status"]["services"].items()) {
      if (one["cluster"].as_string() == cluster) return one;
    }
    return {};
  }

  std::vector<control::Wait> why(const std::string& name) {
    const plane::StoreView view(server("local"), apis_.at("local")->store(), env_.now());
    for (const control::ExplainRow& row : plane::explain_rows()) {
      if (row.kind == "Application") return row.open(application(name), view)("");
    }
    return {};
  }

  store::MemoryVfs disk_;
  ManualEnv env_{ManualEnv::Options{.vfs = disk_.vfs()}};
  std::map<std::string, std::unique_ptr<plane::ApiServer>> apis_;
  std::shared_ptr<Line> line_;
  std::unique_ptr<plane::Controllers> controllers_;
};

TEST_F(DeadCluster, holds_up_nobody_else) {
  line_->cut();
  deliver("both", "local, far");
  deliver("here", "local");
  env_.advance(minutes{1});
  EXPECT_EQ(phase("here"), "running");
  EXPECT_TRUE(has_object("local", "both")) << "the living cluster has its part";
  EXPECT_NE(phase("both"), "running");
}

TEST_F(DeadCluster, reads_as_unknown_and_comes_back_by_itself) {
  deliver("both", "local, far");
  env_.advance(minutes{1});
  ASSERT_EQ(phase("both"), "running") << json::print(application("both")["status"]);
  line_->cut();
  env_.advance(minutes{1});
  EXPECT_EQ(phase("both"), "unhealthy");
  EXPECT_TRUE(service("both", "far")["message"].as_string().starts_with("unknown: "))
      << json::print(application("both")["status"]["services"]);
  EXPECT_TRUE(service("both", "local")["healthy"].as_bool()) << json::print(application("both")["status"]);
  ASSERT_TRUE(env_.run(client::remove(server("local"), kConfigMaps, {"default", "both"})));
  env_.advance(seconds{2});
  EXPECT_TRUE(has_object("local", "both")) << "drift on a living cluster is repaired";
  line_->mend();
  env_.advance(seconds{90});
  EXPECT_EQ(phase("both"), "running") << json::print(application("both")["status"]);
  EXPECT_TRUE(service("both", "far")["healthy"].as_bool());
}

TEST_F(DeadCluster, stays_in_the_status_when_the_spec_changes) {
  deliver("both", "local, far");
  env_.advance(minutes{1});
  line_->cut();
  env_.advance(seconds{30});
  const auto change = [&](const char* clusters) {
    const Value next = application("both").with_path(
        {"spec", "policies"},
        *json::parse_yaml(fmt::format("[{{name: t, type: topology, properties: {{clusters: [{}]}}}}]", clusters)));
    ASSERT_TRUE(env_.run(client::update(server("local"), kApplications, next, "test")));
    env_.advance(minutes{3});
  };
  change("far, local");
  EXPECT_FALSE(service("both", "far")["healthy"].as_bool(true)) << json::print(application("both")["status"]);
  EXPECT_TRUE(service("both", "far")["message"].as_string().starts_with("unknown: "))
      << json::print(application("both")["status"]["services"]);
  change("local");
  EXPECT_TRUE(service("both", "far").is_null()) << "the application is no longer there";
  EXPECT_EQ(phase("both"), "running") << json::print(application("both")["status"]);
}

/// A process that starts opens its clusters one after another.
TEST_F(DeadCluster, is_looked_at_as_soon_as_it_is_known) {
  deliver("both", "local, far");
  env_.advance(minutes{1});
  controllers_->fleet().remove("far");
  env_.advance(minutes{1});
  EXPECT_EQ(service("both", "far")["message"].as_string(), "unknown: cluster \"far\" not found");
  EXPECT_EQ(phase("both"), "unhealthy");
  ASSERT_TRUE(env_.run(client::remove(server("far"), kConfigMaps, {"default", "both"})));
  controllers_->fleet().add_remote("far", line_);
  env_.advance(seconds{5});
  EXPECT_TRUE(has_object("far", "both")) << "drift there is repaired";
  EXPECT_EQ(phase("both"), "running") << json::print(application("both")["status"]["services"]);
}

TEST_F(DeadCluster, is_waited_for_when_an_application_is_deleted) {
  deliver("both", "local, far");
  env_.advance(minutes{1});
  line_->cut();
  ASSERT_TRUE(env_.run(client::remove(server("local"), kApplications, {"default", "both"})));
  env_.advance(minutes{10});
  EXPECT_FALSE(has_object("local", "both"));
  EXPECT_TRUE(has_object("far", "both"));
  EXPECT_EQ(phase("both"), "deleting");
  const Value& condition = kube::condition(application("both"), "Deleting");
  EXPECT_TRUE(
      condition["message"].as_string().starts_with("1 left: ConfigMap default/both (cluster far): cluster far is out of"))
      << json::print(condition);
  const std::vector<control::Wait> waits = why("both");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].on, "its deletion");
  EXPECT_EQ(waits[0].message, condition["message"].as_string());
  line_->mend();
  env_.advance(minutes{3});
  EXPECT_FALSE(has_object("far", "both"));
  EXPECT_TRUE(application("both").is_null());
}

}  // namespace
}  // namespace slipway
