#include "fleet/cluster_secrets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/manual_env.h"
#include "client/paper_api.h"
#include "json/text.h"

namespace slipway::fleet {
namespace {

using json::Value;
using Texts = std::map<std::string, std::string>;

Value members(const Texts& texts, bool is_encoded) {
  json::ObjectBuilder out;
  for (const auto& [key, text] : texts) out.set(key, is_encoded ? base64_encode(text) : text);
  return out.build();
}

kube::Object secret(const std::string& name, const Texts& labels, const Texts& data, int revision = 1) {
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", json::object({{"name", name},
                                                  {"namespace", "vela-system"},
                                                  {"uid", name},
                                                  {"resourceVersion", std::to_string(revision)},
                                                  {"labels", members(labels, false)}})},
                       {"data", members(data, true)}});
}

const Texts kX509Labels = {{"cluster.core.oam.dev/cluster-credential-type", "X509Certificate"}};
const Texts kTokenLabels = {{"cluster.core.oam.dev/cluster-credential-type", "ServiceAccountToken"}};

/// What a Secret says: its kubeconfig's cluster and user, or "REASON: message".
std::string told(const kube::Object& from) {
  const auto read = read_cluster_secret(from);
  if (!read) return "none";
  if (!read->access) return fmt::format("{}: {}", to_string(read->access.error().reason), read->access.error().message);
  const auto config = json::parse_yaml(read->access->kubeconfig);
  if (!config) return config.error().message;
  return json::print((*config)["clusters"].item(0)["cluster"]) + " " + json::print((*config)["users"].item(0)["user"]);
}

TEST(ClusterSecret, is_read_in_each_of_its_forms) {
  const std::string kubeconfig =
      "current-context: c\nclusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {token: t}}]\n"
      "contexts: [{name: c, context: {cluster: k, user: u}}]\n";
  const Texts proxy_labels = {{"cluster.core.oam.dev/cluster-credential-type", "ServiceAccountToken"},
                              {"cluster.core.oam.dev/cluster-endpoint-type", "ClusterProxy"}};
  const Texts dynamic_labels = {{"cluster.core.oam.dev/cluster-credential-type", "Dynamic"}};
  const Texts kubeconfig_labels = {{"slipway.dev/cluster-kubeconfig", ""}};
  const struct {
    const char* what;
    kube::Object from;
    std::string expected;
  } cases[] = {
      {"any other Secret", secret("x", {{"a", "b"}}, {{"endpoint", "https://x"}}), "none"},
      {"a certificate",
       secret("x", kX509Labels, {{"endpoint", "https://x\n"}, {"ca.crt", "CA"}, {"tls.crt", "C"}, {"tls.key", "K"}}),
       R"({"server":"https://x","certificate-authority-data":"Q0E="} {"client-certificate-data":"Qw==","client-key-data":"Sw=="})"},
      {"a token", secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"ca", "CA"}, {"token", "T\n"}}),
       R"({"server":"https://x","certificate-authority-data":"Q0E="} {"token":"T"})"},
      {"no authority, a proxy",
       secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"token", "T"}, {"proxy-url", "http://p"}}),
       R"({"server":"https://x","proxy-url":"http://p"} {"token":"T"})"},
      {"no authority, not to be verified",
       secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"token", "T"}, {"insecure", "true\n"}}),
       R"({"server":"https://x","insecure-skip-tls-verify":true} {"token":"T"})"},
      {"no authority, to be verified",
       secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"token", "T"}, {"insecure", "false"}}),
       R"({"server":"https://x"} {"token":"T"})"},
      {"an authority that is not to count",
       secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"token", "T"}, {"ca.crt", "CA"}, {"insecure", "true"}}),
       "BadRequest: the Secret has both data.ca.crt and data.insecure: remove one of them"},
      {"a trust that cannot be read",
       secret("x", kTokenLabels, {{"endpoint", "https://x"}, {"token", "T"}, {"insecure", "yes"}}),
       "BadRequest: the Secret's data.insecure is neither \"true\" nor \"false\""},
      {"no endpoint", secret("x", kTokenLabels, {{"token", "T"}}), "BadRequest: the Secret has no usable data.endpoint"},
      {"no key", secret("x", kX509Labels, {{"endpoint", "https://x"}, {"tls.crt", "C"}}),
       "BadRequest: the Secret has no usable data.tls.key"},
      {"a proxy of clusters", secret("x", proxy_labels, {{"token", "T"}}),
       "NotImplemented: endpoints of type ClusterProxy are not implemented: give the address of the API server as "
       "data.endpoint"},
      {"a credential from a command", secret("x", dynamic_labels, {{"endpoint", "https://x"}, {"exec", "{}"}}),
       "NotImplemented: credentials of type Dynamic are not implemented"},
      {"served by the hub's process", internal_cluster_secret("x"),
       "BadRequest: cluster x is served by the process of the hub, which alone reaches it so"},
      {"a kubeconfig", secret("x", kubeconfig_labels, {{"kubeconfig", kubeconfig}}), R"({"server":"https://k"} {"token":"t"})"},
      {"a kubeconfig that runs a program",
       secret("x", kubeconfig_labels, {{"value", "users: [{name: u, user: {exec: {command: rm}}}]"}}),
       "BadRequest: the kubeconfig has exec in user u: in a Secret it must hold its credentials itself"},
      {"a kubeconfig that reads a file",
       secret("x", kubeconfig_labels, {{"value", "clusters: [{name: k, cluster: {certificate-authority: /etc/shadow}}]"}}),
       "BadRequest: the kubeconfig has certificate-authority in cluster k: in a Secret it must hold its credentials itself"},
  };
  for (const auto& one : cases) EXPECT_EQ(told(one.from), one.expected) << one.what;
}

TEST(ClusterSecret, gives_the_labels_that_are_the_clusters_own) {
  Texts labels = kTokenLabels;
  labels["region"] = "eu";
  labels["slipway.dev/cluster-kubeconfig"] = "";
  EXPECT_EQ(read_cluster_secret(secret("x", labels, {}))->labels,
            (Texts{{"cluster.core.oam.dev/control-plane", "false"}, {"region", "eu"}}));
}

/// Secrets as a list and one watch tell of them.
class SecretsApi : public client::Client {
 public:
  explicit SecretsApi(Env& env) : changed_(env) {}

  void put(const kube::Object& object) { tell({client::WatchEvent::Type::Modified, object}); }
  void drop(const kube::Object& object) { tell({client::WatchEvent::Type::Deleted, object}); }

  Task<Result<client::Reply>> call(client::Request request) override {
    asked.push_back(request.to_string());
    co_return client::Reply{json::object({{"kind", "SecretList"},
                                          {"apiVersion", "v1"},
                                          {"metadata", json::object({{"resourceVersion", "1"}})},
                                          {"items", Value::empty_array()}}),
                            {},
                            200};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    asked.push_back(request.to_string());
    co_return std::make_unique<Events>(*this);
  }

  std::vector<std::string> asked;

 private:
  struct Events : client::Watch {
    explicit Events(SecretsApi& owner) : api(owner) {}
    Task<Result<std::vector<client::WatchEvent>>> next() override {
      while (api.events_.empty()) co_await api.changed_.wait();
      co_return std::exchange(api.events_, {});
    }
    SecretsApi& api;
  };
  void tell(client::WatchEvent event) {
    events_.push_back(std::move(event));
    changed_.notify();
  }

  Signal changed_;
  std::vector<client::WatchEvent> events_;
};

class ClusterSecretsTest : public testing::Test {
 protected:
  ClusterSecretsTest() {
    secrets_.start();
    env_.run(secrets_.wait_synced());
  }
  ~ClusterSecretsTest() override { env_.drop_all(); }

  void put(const kube::Object& object) {
    hub_->put(object);
    env_.run_until_idle();
  }
  static kube::Object token(const std::string& name, const std::string& value, int revision, const Texts& more = {}) {
    Texts labels = kTokenLabels;
    labels.insert(more.begin(), more.end());
    return secret(name, labels, {{"endpoint", "https://" + name}, {"token", value}}, revision);
  }

  ManualEnv env_;
  std::shared_ptr<client::PaperApi> api_ = std::make_shared<client::PaperApi>(env_);
  std::shared_ptr<SecretsApi> hub_ = std::make_shared<SecretsApi>(env_);
  int connected_ = 0;
  Result<std::shared_ptr<client::Client>> connect() {
    ++connected_;
    return std::static_pointer_cast<client::Client>(api_);
  }
  Fleet fleet_{env_, [this](const RemoteCluster&) { return connect(); }};
  ClusterSecrets secrets_{env_, fleet_, hub_};
};

TEST_F(ClusterSecretsTest, adds_replaces_and_removes_clusters_as_their_secrets_come_change_and_go) {
  put(token("far", "one", 2));
  EXPECT_EQ(fleet_.names(), std::vector<std::string>{"far"});
  const auto first = fleet_.find("far");
  put(token("far", "one", 3, {{"region", "eu"}}));
  EXPECT_EQ(fleet_.find("far"), first) << "labels are no reason to connect again";
  EXPECT_EQ(fleet_.labels("far").at("region"), "eu");
  put(token("far", "two", 4));
  EXPECT_NE(fleet_.find("far"), first);
  EXPECT_EQ(connected_, 2);
  EXPECT_FALSE(fleet_.labels("far").contains("region"));
  hub_->drop(token("far", "two", 5));
  env_.run_until_idle();
  EXPECT_TRUE(fleet_.names().empty());
  for (const std::string& request : hub_->asked) EXPECT_TRUE(request.contains("vela-system")) << request;
}

TEST_F(ClusterSecretsTest, gives_the_clusters_of_this_process_their_labels) {
  const Texts labels = {{"cluster.core.oam.dev/cluster-credential-type", "Internal"}, {"region", "eu"}};
  fleet_.add("dev", *api_);
  put(secret("dev", labels, {}, 2));
  put(secret("elsewhere", labels, {}, 3));
  EXPECT_EQ(fleet_.labels("dev").at("region"), "eu");
  EXPECT_EQ(fleet_.names(), std::vector<std::string>{"dev"}) << "of another process";
  put(token("dev", "one", 4, {{"region", "us"}}));
  EXPECT_EQ(fleet_.labels("dev").at("region"), "us");
  EXPECT_TRUE(fleet_.is_in_process("dev"));
  hub_->drop(token("dev", "one", 5));
  env_.run_until_idle();
  EXPECT_TRUE(fleet_.labels("dev").empty());
  EXPECT_EQ(connected_, 0);
}

/// A start reads the Secrets of the hub before the other clusters of the process are open.
TEST_F(ClusterSecretsTest, gives_a_cluster_of_this_process_that_comes_after_its_secret_its_labels) {
  put(secret("east", {{"cluster.core.oam.dev/cluster-credential-type", "Internal"}, {"region", "west"}}, {}, 2));
  put(token("far", "one", 3, {{"region", "eu"}}));
  fleet_.add("east", *api_);
  fleet_.add("far", *api_);
  fleet_.add("plain", *api_);
  EXPECT_EQ(fleet_.labels("east").at("region"), "west");
  EXPECT_EQ(fleet_.labels("far").at("region"), "eu") << "joined, and served here since";
  EXPECT_TRUE(fleet_.labels("plain").empty());
  fleet_.add("east", *api_);
  EXPECT_EQ(fleet_.labels("east").at("region"), "west") << "replaced by another client";
  hub_->drop(token("far", "one", 4));
  env_.run_until_idle();
  EXPECT_TRUE(fleet_.is_in_process("far"));
}

TEST_F(ClusterSecretsTest, says_why_a_cluster_cannot_be_used_until_its_secret_is_put_right) {
  put(secret("far", kTokenLabels, {{"endpoint", "https://far"}}, 2));
  EXPECT_FALSE(fleet_.is_in_process("far"));
  EXPECT_EQ(fleet_.reach("far").problem.message, "the Secret has no usable data.token");
  const auto asked = env_.run(client::list(*fleet_.find("far"), {"", "v1", "pods"}, {}));
  EXPECT_EQ(asked.error().message, "the Secret has no usable data.token");
  put(token("far", "one", 3));
  EXPECT_TRUE(fleet_.reach("far").is_reachable);
}

TEST_F(ClusterSecretsTest, leaves_clusters_of_others_and_the_hubs_name_alone) {
  fleet_.add("prod", *api_);
  put(token("prod", "one", 2));
  put(token("local", "one", 3));
  EXPECT_EQ(fleet_.names(), std::vector<std::string>{"prod"});
  EXPECT_TRUE(fleet_.is_in_process("prod"));
  hub_->drop(token("prod", "one", 4));
  env_.run_until_idle();
  EXPECT_TRUE(fleet_.is_in_process("prod"));
}

TEST_F(ClusterSecretsTest, removes_a_cluster_whose_secret_loses_its_label) {
  put(token("far", "one", 2));
  put(secret("far", {}, {{"endpoint", "https://far"}}, 3));
  EXPECT_TRUE(fleet_.names().empty());
}

}  // namespace
}  // namespace slipway::fleet
