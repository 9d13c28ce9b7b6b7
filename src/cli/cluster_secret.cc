#include <fmt/format.h>

#include "base/digest.h"
#include "cli/cluster_command.h"
#include "fleet/cluster_secret.h"
#include "json/text.h"

namespace slipway::cli {
namespace {

using json::Value;

void set_text(json::ObjectBuilder& out, const char* key, const std::string& text) {
  if (!text.empty()) out.set(key, text);
}

void set_encoded(json::ObjectBuilder& out, const char* key, const std::string& text) {
  if (!text.empty()) out.set(key, base64_encode(text));
}

/// Whether the Secret of KubeVela says all there is.
bool is_plain(const remote::Connection& connection) {
  const bool has_certificate = !connection.certificate_pem.empty() && !connection.key_pem.empty();
  return connection.server_name.empty() && connection.user.empty() && connection.impersonated_user.empty() &&
         has_certificate == connection.token.empty();
}

Value secret(const std::string& name, const char* label, const std::string& value, Value data) {
  return json::object(
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"metadata",
        json::object({{"name", name}, {"namespace", fleet::kClusterNamespace}, {"labels", json::object({{label, value}})}})},
       {"type", "Opaque"},
       {"data", std::move(data)}});
}

Value plain_secret(const std::string& name, const remote::Connection& connection) {
  json::ObjectBuilder data;
  set_encoded(data, "endpoint", connection.server);
  set_encoded(data, "ca.crt", connection.authority_pem);
  if (connection.is_insecure) set_encoded(data, "insecure", "true");
  set_encoded(data, "proxy-url", connection.proxy_url);
  set_encoded(data, "token", connection.token);
  if (connection.token.empty()) {
    set_encoded(data, "tls.crt", connection.certificate_pem);
    set_encoded(data, "tls.key", connection.key_pem);
  }
  return secret(name, fleet::kCredentialLabel, connection.token.empty() ? "X509Certificate" : "ServiceAccountToken",
                data.build());
}

Value kubeconfig_secret(const std::string& name, const remote::Connection& connection) {
  json::ObjectBuilder cluster, user;
  cluster.set("server", connection.server);
  set_encoded(cluster, "certificate-authority-data", connection.authority_pem);
  if (connection.is_insecure) cluster.set("insecure-skip-tls-verify", true);
  set_text(cluster, "tls-server-name", connection.server_name);
  set_text(cluster, "proxy-url", connection.proxy_url);
  set_encoded(user, "client-certificate-data", connection.certificate_pem);
  set_encoded(user, "client-key-data", connection.key_pem);
  set_text(user, "token", connection.token);
  set_text(user, "username", connection.user);
  set_text(user, "password", connection.password);
  set_text(user, "as", connection.impersonated_user);
  set_text(user, "as-uid", connection.impersonated_uid);
  json::ArrayBuilder groups;
  for (const std::string& group : connection.impersonated_groups) groups.add(group);
  if (!connection.impersonated_groups.empty()) user.set("as-groups", groups.build());
  const Value config = json::object({
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", json::array({json::object({{"name", name}, {"cluster", cluster.build()}})})},
      {"users", json::array({json::object({{"name", name}, {"user", user.build()}})})},
      {"contexts",
       json::array({json::object({{"name", name}, {"context", json::object({{"cluster", name}, {"user", name}})}})})},
      {"current-context", name},
  });
  return secret(name, fleet::kKubeconfigLabel, "true", json::object({{"kubeconfig", base64_encode(json::print(config))}}));
}

}  // namespace

Result<Value> cluster_secret(const std::string& name, const remote::Connection& connection) {
  if (connection.exec || !connection.token_file.empty()) {
    return fail(Reason::NotImplemented,
                fmt::format("the context logs in with {}, which the hub does not have: give one with a token or a certificate, "
                            "such as that of a service account",
                            connection.exec ? "the program " + connection.exec->command : "the file " + connection.token_file));
  }
  return is_plain(connection) ? plain_secret(name, connection) : kubeconfig_secret(name, connection);
}

}  // namespace slipway::cli
