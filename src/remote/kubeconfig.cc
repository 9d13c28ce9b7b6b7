#include "remote/kubeconfig.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "json/text.h"
#include "net/http.h"

namespace slipway::remote {

namespace {

using json::Value;

constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount/";

std::string in_folder(const std::string& folder, const std::string& path) {
  return path.empty() || path.front() == '/' || folder.empty() ? path : folder + "/" + path;
}

/// The body of the entry of that name: {name: NAME, <part>: BODY}.
Result<Value> entry(const Value& config, const char* list, const char* part, std::string_view name) {
  for (const Value& item : config[list].items()) {
    if (item["name"].as_string() == name) return item[part];
  }
  return fail(Reason::NotFound, fmt::format("the kubeconfig has no {} \"{}\"", part, name));
}

/// Whose files and programs a kubeconfig may name.
struct Machine {
  Files* files = nullptr;  // null: of no machine
  std::string folder{};    // of the kubeconfig
};

std::unexpected<Status> refused_here(std::string_view field) {
  return fail(
      Reason::BadRequest,
      fmt::format("kubeconfig: {} may not be used here: certificates, keys and tokens must be in the text itself", field));
}

/// `<field>-data` in base64, or the content of the file that `<field>` names; empty when neither is given.
Result<std::string> inline_or_file(const Machine& machine, const Value& from, const std::string& field) {
  if (const auto data = from[field + "-data"].as_string(); !data.empty()) {
    std::string text;
    if (!base64_decode(data, text)) return fail(Reason::BadRequest, fmt::format("kubeconfig: {}-data is not base64", field));
    return text;
  }
  const std::string path = from[field].str();
  if (path.empty()) return std::string();
  if (machine.files == nullptr) return refused_here(field);
  return machine.files->read(in_folder(machine.folder, path));
}

std::vector<std::string> strings(const Value& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items()) found.push_back(item.str());
  return found;
}

Result<ExecPlugin> read_exec(const Value& exec, const std::string& folder) {
  ExecPlugin plugin;
  plugin.api_version = exec["apiVersion"].str();
  if (plugin.api_version != "client.authentication.k8s.io/v1" && plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return fail(Reason::BadRequest, fmt::format("kubeconfig: exec plugin: invalid apiVersion \"{}\"", plugin.api_version));
  }
  plugin.command = exec["command"].str();
  // A bare name is looked up in PATH.
  if (plugin.command.find('/') != std::string::npos) plugin.command = in_folder(folder, plugin.command);
  plugin.args = strings(exec["args"]);
  for (const Value& variable : exec["env"].items()) {
    plugin.env.push_back(fmt::format("{}={}", variable["name"].as_string(), variable["value"].as_string()));
  }
  plugin.gives_cluster_info = exec["provideClusterInfo"].as_bool();
  plugin.install_hint = exec["installHint"].str();
  if (plugin.command.empty()) return fail(Reason::BadRequest, "kubeconfig: exec plugin: command must be specified");
  return plugin;
}

Result<void> read_cluster(const Machine& machine, const Value& cluster, Connection& into) {
  into.server = cluster["server"].str();
  while (into.server.ends_with('/')) into.server.pop_back();
  if (into.server.empty()) return fail(Reason::BadRequest, "kubeconfig: the cluster has no server");
  if (!into.server.contains("://")) into.server = "http://" + into.server;
  SLIPWAY_TRY_VOID(net::Url::parse(into.server));
  into.is_insecure = cluster["insecure-skip-tls-verify"].as_bool();
  into.server_name = cluster["tls-server-name"].str();
  into.proxy_url = cluster["proxy-url"].str();
  SLIPWAY_TRY(authority, inline_or_file(machine, cluster, "certificate-authority"));
  into.authority_pem = std::move(authority);
  if (into.is_insecure && !into.authority_pem.empty()) {
    return fail(Reason::BadRequest, "kubeconfig: specifying a root certificates file with the insecure flag is not allowed");
  }
  return {};
}

Result<void> read_user(const Machine& machine, const Value& user, Connection& into) {
  if (user.has("auth-provider")) {
    return fail(Reason::NotImplemented, "kubeconfig: auth-provider is not implemented: use an exec plugin");
  }
  SLIPWAY_TRY(certificate, inline_or_file(machine, user, "client-certificate"));
  into.certificate_pem = std::move(certificate);
  SLIPWAY_TRY(key, inline_or_file(machine, user, "client-key"));
  into.key_pem = std::move(key);
  into.token = user["token"].str();
  into.token_file = in_folder(machine.folder, user["tokenFile"].str());
  if (machine.files == nullptr && !into.token_file.empty()) return refused_here("tokenFile");
  into.user = user["username"].str();
  into.password = user["password"].str();
  into.impersonated_user = user["as"].str();
  into.impersonated_uid = user["as-uid"].str();
  into.impersonated_groups = strings(user["as-groups"]);
  if (user.has("exec") && !user["exec"].is_null()) {
    if (machine.files == nullptr) return refused_here("exec");
    SLIPWAY_TRY(exec, read_exec(user["exec"], machine.folder));
    into.exec = std::move(exec);
  }
  return {};
}

/// Whether an entry of NO_PROXY ("*", "host", ".domain", "host:port") means the host.
bool is_exempt(std::string_view entry, std::string_view host) {
  if (entry == "*") return true;
  entry = entry.substr(0, entry.rfind(':') == entry.find(':') ? entry.find(':') : entry.npos);
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  if (entry.starts_with('.')) return host.ends_with(entry);
  return host == entry || (host.size() > entry.size() && host.ends_with(entry) && host[host.size() - entry.size() - 1] == '.');
}

Result<Connection> read(const Machine& machine, std::string_view text, const std::string& context) {
  SLIPWAY_TRY(config, json::parse_yaml(text));
  const std::string name = context.empty() ? config["current-context"].str() : context;
  if (name.empty()) return fail(Reason::BadRequest, "the kubeconfig has no current-context: name one with --context");
  SLIPWAY_TRY(chosen, entry(config, "contexts", "context", name));
  SLIPWAY_TRY(cluster, entry(config, "clusters", "cluster", chosen["cluster"].as_string()));
  Connection connection;
  SLIPWAY_TRY_VOID(read_cluster(machine, cluster, connection));
  if (const auto who = chosen["user"].as_string(); !who.empty()) {
    SLIPWAY_TRY(user, entry(config, "users", "user", who));
    SLIPWAY_TRY_VOID(read_user(machine, user, connection));
  }
  if (const auto ns = chosen["namespace"].as_string(); !ns.empty()) connection.ns = std::string(ns);
  return connection;
}

}  // namespace

Result<Connection> read_kubeconfig(Files& files, std::string_view text, const std::string& folder, const std::string& context) {
  return read({&files, folder}, text, context);
}

Result<Connection> read_embedded_kubeconfig(std::string_view text, const std::string& context) {
  return read({}, text, context);
}

Result<Connection> in_cluster(Files& files, const std::string& host, const std::string& port) {
  const std::string folder = kAccountFolder;
  if (host.empty() || port.empty() || !files.exists(folder + "token")) {
    return fail(Reason::NotFound,
                "this is no pod of a cluster (KUBERNETES_SERVICE_HOST or the service account's token is "
                "missing): give --kubeconfig");
  }
  Connection connection;
  connection.server = fmt::format("https://{}:{}", host.contains(':') ? "[" + host + "]" : host, port);
  connection.token_file = folder + "token";
  SLIPWAY_TRY(authority, files.read(folder + "ca.crt"));
  connection.authority_pem = std::move(authority);
  if (const auto ns = files.read(folder + "namespace"); ns && !ns->empty()) connection.ns = *ns;
  return connection;
}

std::string proxy_of(const std::string& server, const std::string& https_proxy, const std::string& http_proxy,
                     const std::string& no_proxy) {
  const auto url = net::Url::parse(server);
  if (!url) return "";
  if (url->host == "localhost" || url->host == "::1" || url->host.starts_with("127.")) return "";
  for (const std::string_view exempt : http::split_list(no_proxy)) {
    if (is_exempt(exempt, url->host)) return "";
  }
  return url->is_tls ? https_proxy : http_proxy;
}

}  // namespace slipway::remote
