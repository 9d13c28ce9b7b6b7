#include "remote/kubeconfig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/memory_files.h"
#include "remote/credential.h"

namespace slipway::remote {
namespace {

constexpr const char* kConfig = R"(
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: certificate, namespace: team}}
- {name: token, context: {cluster: c, user: token}}
- {name: plugin, context: {cluster: insecure, user: plugin}}
- {name: broken, context: {cluster: gone}}
clusters:
- name: c
  cluster: {server: "https://10.0.0.1:6443/clusters/dev/", certificate-authority: pki/ca.crt, tls-server-name: kube,
            proxy-url: "http://proxy:3128"}
- name: insecure
  cluster: {server: "https://h", insecure-skip-tls-verify: true}
users:
- name: certificate
  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, as: jane, as-groups: [a, b]}
- name: token
  user: {tokenFile: token, username: u, password: p}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--cluster, x]
      env: [{name: A, value: b}]
      provideClusterInfo: true
)";

class KubeconfigTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.make_folders("/home/me/pki"));
    ASSERT_TRUE(files_.write("/home/me/pki/ca.crt", "CA", 0600));
  }
  Result<Connection> read(const std::string& context) { return read_kubeconfig(files_, kConfig, "/home/me", context); }
  std::string failure(const std::string& context) {
    const auto connection = read(context);
    return connection ? "" : connection.error().message;
  }

  MemoryFiles files_;
};

TEST_F(KubeconfigTest, reads_the_current_context) {
  const auto one = read("");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->server, "https://10.0.0.1:6443/clusters/dev");
  EXPECT_EQ(one->ns, "team");
  EXPECT_EQ(one->authority_pem, "CA");
  EXPECT_EQ(one->server_name, "kube");
  EXPECT_EQ(one->proxy_url, "http://proxy:3128");
  EXPECT_EQ(one->certificate_pem, "cert");
  EXPECT_EQ(one->key_pem, "key");
  EXPECT_EQ(one->impersonated_user, "jane");
  EXPECT_EQ(one->impersonated_groups, (std::vector<std::string>{"a", "b"}));
}

TEST_F(KubeconfigTest, keeps_token_files_and_passwords) {
  const auto token = read("token");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token_file, "/home/me/token");
  EXPECT_EQ(token->ns, "default");
  EXPECT_EQ(token->user, "u");
  EXPECT_EQ(token->password, "p");
}

TEST_F(KubeconfigTest, reads_exec_plugins) {
  const auto plugin = read("plugin");
  ASSERT_TRUE(plugin) << plugin.error().message;
  EXPECT_TRUE(plugin->is_insecure);
  ASSERT_TRUE(plugin->exec);
  EXPECT_EQ(plugin->exec->command, "/home/me/./bin/login");
  EXPECT_EQ(plugin->exec->args, (std::vector<std::string>{"--cluster", "x"}));
  EXPECT_EQ(plugin->exec->env, (std::vector<std::string>{"A=b"}));
  EXPECT_EQ(exec_info(*plugin),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,)"
            R"("cluster":{"server":"https://h","insecure-skip-tls-verify":true}}})");
}

TEST_F(KubeconfigTest, says_what_is_missing) {
  EXPECT_EQ(failure("nowhere"), "the kubeconfig has no context \"nowhere\"");
  EXPECT_EQ(failure("broken"), "the kubeconfig has no cluster \"gone\"");
}

TEST_F(KubeconfigTest, an_embedded_one_names_no_files_and_no_programs) {
  const auto embedded = [](std::string_view cluster, std::string_view user) {
    return read_embedded_kubeconfig(
        fmt::format("current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
                    "clusters: [{{name: c, cluster: {{server: \"https://h\", {}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n",
                    cluster, user),
        "");
  };
  const auto whole = embedded("certificate-authority-data: Q0E=", "client-certificate-data: Y2VydA==, token: t");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->authority_pem, "CA");
  EXPECT_EQ(whole->certificate_pem, "cert");
  EXPECT_EQ(whole->token, "t");
  struct Row {
    std::string_view field, cluster, user;
  };
  for (const auto& [field, cluster, user] :
       std::initializer_list<Row>{{"certificate-authority", "certificate-authority: /etc/passwd", "token: t"},
                                  {"client-certificate", "", "client-certificate: /etc/passwd"},
                                  {"client-key", "", "client-key: key"},
                                  {"tokenFile", "", "tokenFile: token"},
                                  {"exec", "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}"}}) {
    const auto refused = embedded(cluster, user);
    ASSERT_FALSE(refused) << field;
    EXPECT_EQ(refused.error().reason, Reason::BadRequest);
    EXPECT_EQ(
        refused.error().message,
        fmt::format("kubeconfig: {} may not be used here: certificates, keys and tokens must be in the text itself", field));
  }
}

TEST_F(KubeconfigTest, finds_a_pods_own_account) {
  EXPECT_EQ(in_cluster(files_, "10.96.0.1", "443").error().reason, Reason::NotFound);
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  ASSERT_TRUE(files_.make_folders(folder));
  ASSERT_TRUE(files_.write(folder + "/token", "t\n", 0600));
  ASSERT_TRUE(files_.write(folder + "/ca.crt", "CA", 0600));
  ASSERT_TRUE(files_.write(folder + "/namespace", "ops", 0600));
  const auto pod = in_cluster(files_, "fd00::1", "443");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->server, "https://[fd00::1]:443");
  EXPECT_EQ(pod->ns, "ops");
}

TEST(Proxies, follow_the_usual_variables) {
  const auto proxy = [](const char* server, const char* exempt) { return proxy_of(server, "S", "H", exempt); };
  EXPECT_EQ(proxy("https://kube.example.com", ""), "S");
  EXPECT_EQ(proxy("http://kube.example.com", ""), "H");
  EXPECT_EQ(proxy("https://127.0.0.1:6443", ""), "");
  EXPECT_EQ(proxy("https://kube.example.com", "other, .example.com"), "");
  EXPECT_EQ(proxy("https://kube.example.com", "example.com"), "");
  EXPECT_EQ(proxy("https://kubeexample.com", "example.com"), "S");
  EXPECT_EQ(proxy("https://kube", "*"), "");
}

TEST(ExecCredentials, must_be_whole_and_of_the_version) {
  const std::string version = "client.authentication.k8s.io/v1";
  const auto read = [&](const std::string& status) {
    return read_exec_credential(
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" + status + "}", version);
  };
  const auto token = read(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->credential.token, "t");
  EXPECT_TRUE(token->expires);
  EXPECT_FALSE(read("{}"));
  EXPECT_FALSE(read(R"({"clientCertificateData":"c"})"));
  EXPECT_TRUE(read(R"({"clientCertificateData":"c","clientKeyData":"k"})"));
  EXPECT_FALSE(
      read_exec_credential(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})", version));
}

}  // namespace
}  // namespace slipway::remote
