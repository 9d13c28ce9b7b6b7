#include "fleet/cluster_secret.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::fleet {
namespace {

using json::Value;

constexpr const char* kX509 = "X509Certificate";
constexpr const char* kToken = "ServiceAccountToken";
constexpr const char* kKubeconfig = "Kubeconfig";
constexpr std::string_view kOwnPrefix = "cluster.core.oam.dev";

/// Members of a kubeconfig's cluster or user that name something on this machine.
constexpr const char* kLocalMembers[] = {"certificate-authority", "client-certificate", "client-key", "tokenFile", "exec",
                                         "auth-provider"};

/// Empty when the key is not there or is no base64.
std::string text_at(const kube::Object& secret, const char* key) {
  std::string text;
  if (!base64_decode(secret["data"][key].as_string(), text)) return {};
  return text;
}

std::string line_at(const kube::Object& secret, const char* key) {
  std::string text = text_at(secret, key);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::unexpected<Status> missing(const char* key) {
  return fail(Reason::BadRequest, fmt::format("the Secret has no usable data.{}", key));
}

/// `ca` is the older name.
const Value& authority(const kube::Object& secret) {
  return secret["data"].has("ca.crt") ? secret["data"]["ca.crt"] : secret["data"]["ca"];
}

Result<Value> user_of(const kube::Object& secret, const std::string& type) {
  if (type == kToken) {
    const std::string token = line_at(secret, "token");
    if (token.empty()) return missing("token");
    return json::object({{"token", token}});
  }
  if (type == kX509) {
    for (const char* key : {"tls.crt", "tls.key"}) {
      if (text_at(secret, key).empty()) return missing(key);
    }
    return json::object(
        {{"client-certificate-data", secret["data"]["tls.crt"]}, {"client-key-data", secret["data"]["tls.key"]}});
  }
  return fail(Reason::NotImplemented, fmt::format("credentials of type {} are not implemented", type));
}

/// What the API server's certificate is verified against. BadRequest when data.insecure is neither "true" nor "false", or
/// "true" beside an authority.
Result<ServerTrust> trust_of(const kube::Object& secret) {
  const std::string insecure = line_at(secret, "insecure");
  const bool has_authority = !authority(secret).as_string().empty();
  if (!insecure.empty() && insecure != "true" && insecure != "false") {
    return fail(Reason::BadRequest, "the Secret's data.insecure is neither \"true\" nor \"false\"");
  }
  if (insecure == "true" && has_authority) {
    return fail(Reason::BadRequest, "the Secret has both data.ca.crt and data.insecure: remove one of them");
  }
  if (insecure == "true") return ServerTrust::Any;
  return has_authority ? ServerTrust::Authority : ServerTrust::System;
}

Result<RemoteCluster> access_by_credential(const kube::Object& secret, const std::string& type) {
  if (type == kInternal) {
    return fail(Reason::BadRequest,
                fmt::format("cluster {} is served by the process of the hub, which alone reaches it so", kube::name(secret)));
  }
  const std::string_view endpoint_type = kube::label(secret, kEndpointLabel);
  if (!endpoint_type.empty() && endpoint_type != "Const") {
    return fail(Reason::NotImplemented, fmt::format("endpoints of type {} are not implemented: give the address of the API "
                                                    "server as data.endpoint",
                                                    endpoint_type));
  }
  const std::string endpoint = line_at(secret, "endpoint");
  if (endpoint.empty()) return missing("endpoint");
  SLIPWAY_TRY(user, user_of(secret, type));
  json::ObjectBuilder cluster;
  cluster.set("server", endpoint);
  SLIPWAY_TRY(trust, trust_of(secret));
  if (trust == ServerTrust::Any) cluster.set("insecure-skip-tls-verify", true);
  if (trust == ServerTrust::Authority) cluster.set("certificate-authority-data", authority(secret));
  if (const std::string proxy = line_at(secret, "proxy-url"); !proxy.empty()) cluster.set("proxy-url", proxy);
  const Value one = json::object({
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", json::array({json::object({{"name", "one"}, {"cluster", cluster.build()}})})},
      {"users", json::array({json::object({{"name", "one"}, {"user", user}})})},
      {"contexts",
       json::array({json::object({{"name", "one"}, {"context", json::object({{"cluster", "one"}, {"user", "one"}})}})})},
      {"current-context", "one"},
  });
  return RemoteCluster{json::print(one), ""};
}

Result<RemoteCluster> access_by_kubeconfig(const kube::Object& secret, std::string& endpoint) {
  std::string text = text_at(secret, "value");
  if (text.empty()) text = text_at(secret, "kubeconfig");
  if (text.empty()) return missing("value");
  SLIPWAY_TRY(config, portable_kubeconfig(text));
  for (const Value& context : config["contexts"].items()) {
    if (context["name"] != config["current-context"]) continue;
    for (const Value& cluster : config["clusters"].items()) {
      if (cluster["name"] == context["context"]["cluster"]) endpoint = cluster["cluster"]["server"].str();
    }
  }
  return RemoteCluster{std::move(text), ""};
}

}  // namespace

Result<json::Value> portable_kubeconfig(const std::string& text) {
  auto config = json::parse_yaml(text);
  if (!config) return fail(Reason::BadRequest, "the kubeconfig cannot be read: " + config.error().message);
  for (const auto& [list, member] : {std::pair("clusters", "cluster"), std::pair("users", "user")}) {
    for (const Value& entry : (*config)[list].items()) {
      for (const char* key : kLocalMembers) {
        if (!entry[member].has(key)) continue;
        return fail(Reason::BadRequest,
                    fmt::format("the kubeconfig has {} in {} {}: in a Secret it must hold its credentials itself", key, member,
                                entry["name"].as_string()));
      }
    }
  }
  return *std::move(config);
}

kube::Object internal_cluster_secret(const std::string& name) {
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", json::object({{"name", name},
                                                  {"namespace", kClusterNamespace},
                                                  {"labels", json::object({{kCredentialLabel, kInternal}})}})}});
}

bool is_cluster_label(std::string_view key) { return !key.starts_with(kOwnPrefix) && key != kKubeconfigLabel; }

std::optional<ClusterSecret> read_cluster_secret(const kube::Object& secret) {
  const Value& labels = secret["metadata"]["labels"];
  const bool has_credential = labels.has(kCredentialLabel);
  if (!has_credential && !labels.has(kKubeconfigLabel)) return std::nullopt;
  ClusterSecret read{.name = std::string(kube::name(secret)),
                     .alias = std::string(kube::annotation(secret, kAliasAnnotation)),
                     .type = has_credential ? labels[kCredentialLabel].str() : kKubeconfig,
                     .endpoint = line_at(secret, "endpoint"),
                     .labels = {{kControlPlaneLabel, "false"}},
                     .access = RemoteCluster{}};
  for (const auto& [key, value] : labels.members()) {
    if (is_cluster_label(key)) read.labels.emplace(key, value.str());
  }
  const std::string_view endpoint_type = kube::label(secret, kEndpointLabel);
  if (const auto trust = trust_of(secret); trust && has_credential && !read.is_internal()) read.trust = *trust;
  if (read.is_internal()) read.endpoint = "-";
  if (!endpoint_type.empty() && endpoint_type != "Const") read.endpoint = std::string(endpoint_type);
  read.access = has_credential ? access_by_credential(secret, read.type) : access_by_kubeconfig(secret, read.endpoint);
  return read;
}

Task<Result<std::vector<ClusterSecret>>> list_clusters(client::Client& hub) {
  SLIPWAY_CO_TRY(secrets, co_await client::list(hub, kube::kSecrets,
                                                {.ns = kClusterNamespace, .label_selector = "", .field_selector = ""}));
  std::vector<ClusterSecret> clusters;
  for (const json::Value& secret : secrets["items"].items()) {
    if (auto cluster = read_cluster_secret(secret)) clusters.push_back(*std::move(cluster));
  }
  co_return clusters;
}

}  // namespace slipway::fleet
