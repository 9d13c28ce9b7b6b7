#include "cli/remote_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace slipway::cli {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string either(const char* lower, const char* upper) {
  const std::string value = variable(lower);
  return value.empty() ? variable(upper) : value;
}

std::vector<std::string> kubeconfig_files(Files& files, const Arguments& arguments) {
  if (!arguments.kubeconfig.empty()) return {arguments.kubeconfig};
  std::vector<std::string> found;
  std::string list = variable("KUBECONFIG");
  while (!list.empty()) {
    const std::string path = list.substr(0, list.find(':'));
    list.erase(0, std::min(list.size(), path.size() + 1));
    if (!path.empty() && files.exists(path)) found.push_back(path);
  }
  const std::string usual = variable("HOME") + "/.kube/config";
  if (found.empty() && files.exists(usual)) found.push_back(usual);
  return found;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash != std::string::npos) return path.substr(0, slash);
  char here[4096];
  return getcwd(here, sizeof here) != nullptr ? here : ".";
}

/// Does not merge: a context is taken whole from the first file that has it.
Result<remote::Connection> first_with_context(Files& files, const std::vector<std::string>& paths, const std::string& context) {
  Result<remote::Connection> found = fail(Reason::NotFound, "there is no kubeconfig");
  for (const std::string& path : paths) {
    SLIPWAY_TRY(text, files.read(path));
    found = remote::read_kubeconfig(files, text, folder_of(path), context);
    if (found) return found;
  }
  return found;
}

/// As the variables say, where the kubeconfig names no proxy.
void add_proxy(remote::Connection& connection) {
  if (!connection.proxy_url.empty()) return;
  connection.proxy_url = remote::proxy_of(connection.server, either("https_proxy", "HTTPS_PROXY"),
                                          either("http_proxy", "HTTP_PROXY"), either("no_proxy", "NO_PROXY"));
}

}  // namespace

bool has_kubeconfig_variable() { return !variable("KUBECONFIG").empty(); }

Result<remote::Connection> connection_of(Files& files, const Arguments& arguments) {
  const std::vector<std::string> paths = kubeconfig_files(files, arguments);
  auto connection = paths.empty()
                        ? remote::in_cluster(files, variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"))
                        : first_with_context(files, paths, arguments.context);
  if (connection) add_proxy(*connection);
  return connection;
}

Result<remote::Connection> connection_in(Files& files, const std::string& kubeconfig, const std::string& context) {
  return first_with_context(files, {kubeconfig}, context);
}

fleet::RemoteFactory remote_factory(Env& env) {
  return [&env](const fleet::RemoteCluster& cluster) -> Result<std::shared_ptr<client::Client>> {
    SLIPWAY_TRY(connection, remote::read_embedded_kubeconfig(cluster.kubeconfig, cluster.context));
    add_proxy(connection);
    return std::make_shared<remote::RemoteClient>(env, connection, remote::CredentialSource::Options{},
                                                  remote::RemoteClient::over_sockets(env, connection));
  };
}

std::shared_ptr<remote::RemoteClient> connect(Session& session, remote::Connection connection) {
  remote::CredentialSource::Options credentials;
  for (char** entry = environ; *entry != nullptr; ++entry) credentials.environment.emplace_back(*entry);
  credentials.scratch_folder = session.data_dir();
  const auto client = std::make_shared<remote::RemoteClient>(session.env(), connection, std::move(credentials),
                                                             remote::RemoteClient::over_sockets(session.env(), connection));
  session.hold(client);
  return client;
}

}  // namespace slipway::cli
