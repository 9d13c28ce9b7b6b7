#include "fleet/fleet.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "client/paper_api.h"

namespace slipway::fleet {
namespace {

using std::chrono::seconds;

const kube::Resource kThings{"", "v1", "things"};

class FleetTest : public testing::Test {
 protected:
  ~FleetTest() override { env_.drop_all(); }

  RemoteFactory remote_factory() {
    return [this](const RemoteCluster& cluster) -> Result<std::shared_ptr<client::Client>> {
      asked_for_.push_back(cluster.context);
      if (cluster.kubeconfig.empty()) return fail(Reason::BadRequest, "the kubeconfig is empty");
      return std::static_pointer_cast<client::Client>(api_);
    };
  }

  /// The reason of the error, or "" for an answer.
  std::string ask(const std::string& cluster) {
    const auto client = fleet_.find(cluster);
    if (client == nullptr) return "no such cluster";
    const auto listed = env_.run(client::list(*client, kThings, {}));
    return listed ? "" : listed.error().message;
  }
  void go_silent(int requests) {
    for (int i = 0; i < requests; ++i) api_->errors.push_back(fail(Reason::ServiceUnavailable, "no route").error());
  }

  ManualEnv env_;
  std::shared_ptr<client::PaperApi> api_ = std::make_shared<client::PaperApi>(env_);
  std::vector<std::string> asked_for_;
  Fleet fleet_{env_, remote_factory()};
};

TEST_F(FleetTest, names_the_clusters_of_this_process_and_of_kubeconfigs) {
  fleet_.add("local", *api_);
  ASSERT_TRUE(fleet_.add_remote("far", RemoteCluster{"apiVersion: v1", "prod"}));
  EXPECT_EQ(fleet_.names(), (std::vector<std::string>{"far", "local"}));
  EXPECT_EQ(asked_for_, std::vector<std::string>{"prod"});
  EXPECT_TRUE(fleet_.is_in_process("local"));
  EXPECT_FALSE(fleet_.is_in_process("far"));
  EXPECT_EQ(ask("far"), "");
  EXPECT_EQ(ask("nowhere"), "no such cluster");
}

TEST_F(FleetTest, refuses_a_kubeconfig_that_cannot_be_used_and_keeps_what_was_there) {
  fleet_.add_remote("far", api_);
  const auto refused = fleet_.add_remote("far", RemoteCluster{});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the kubeconfig is empty");
  EXPECT_EQ(ask("far"), "");
  Fleet alone(env_);
  EXPECT_EQ(alone.add_remote("far", RemoteCluster{"x"}).error().reason, Reason::NotImplemented);
}

TEST_F(FleetTest, refuses_a_kubeconfig_of_an_object_that_names_files_here) {
  const auto connected = fleet_.connect("hub/default/dev", R"({"users":[{"name":"u","user":{"tokenFile":"/etc/token"}}]})");
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().message,
            "the kubeconfig has tokenFile in user u: in a Secret it must hold its credentials itself");
  EXPECT_EQ(fleet_.find("hub/default/dev"), nullptr);
}

TEST_F(FleetTest, stops_asking_a_cluster_that_does_not_answer_and_finds_out_when_it_does) {
  fleet_.add_remote("far", api_);
  std::vector<bool> seen;
  const auto subscription = fleet_.subscribe([&](const std::string& name) { seen.push_back(fleet_.reach(name).is_reachable); });
  go_silent(4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("far"), "no route");
  EXPECT_FALSE(fleet_.reach("far").is_reachable);
  const std::size_t calls = api_->calls.size();
  EXPECT_EQ(ask("far"), "cluster far is out of reach: no route");
  EXPECT_EQ(api_->calls.size(), calls) << "nothing was sent";
  env_.advance(seconds{1});
  EXPECT_EQ(ask("far"), "no route") << "a probe";
  EXPECT_EQ(ask("far"), "cluster far is out of reach: no route") << "one probe per pause";
  env_.advance(seconds{2});
  EXPECT_EQ(ask("far"), "");
  EXPECT_TRUE(fleet_.reach("far").is_reachable);
  EXPECT_EQ(seen, (std::vector<bool>{false, true}));
}

TEST_F(FleetTest, takes_a_refusal_for_an_answer) {
  fleet_.add_remote("far", api_);
  for (int i = 0; i < 5; ++i) api_->errors.push_back(fail(Reason::Forbidden, "no").error());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("far"), "no");
  EXPECT_TRUE(fleet_.reach("far").is_reachable);
}

TEST_F(FleetTest, tells_of_clusters_that_come_and_go_until_the_subscription_ends) {
  std::vector<std::string> told;
  auto subscription = fleet_.subscribe([&](const std::string& name) { told.push_back(name); });
  fleet_.add("one", *api_);
  fleet_.remove("one");
  fleet_.remove("one");
  EXPECT_EQ(told, (std::vector<std::string>{"one", "one"}));
  EXPECT_EQ(fleet_.find("one"), nullptr);
  EXPECT_FALSE(fleet_.reach("one").is_reachable) << "unknown is not reachable";
  subscription.reset();
  fleet_.add("two", *api_);
  EXPECT_EQ(told.size(), 2U);
}

}  // namespace
}  // namespace slipway::fleet
