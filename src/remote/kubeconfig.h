// What a kubeconfig says about reaching one API server (k8s.io/client-go/tools/clientcmd): one context's cluster and user, with
// the files it names read. Merging several files (KUBECONFIG=a:b) is left to the caller.
//
// NotImplemented: auth-provider (gone upstream since 1.26).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"

namespace slipway::remote {

/// A credential plugin: a program that prints an ExecCredential.
struct ExecPlugin {
  std::string api_version{};  // client.authentication.k8s.io/v1 or v1beta1
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::string> env{};  // "NAME=value", added to that of this process
  bool gives_cluster_info = false;
  std::string install_hint{};
};

/// How to reach one API server, and as whom.
struct Connection {
  std::string server{};  // "https://host:port/prefix", without a slash at the end
  std::string ns = "default";
  std::string authority_pem{};  // empty: the system's
  bool is_insecure = false;
  std::string server_name{};
  std::string proxy_url{};
  std::string certificate_pem{};
  std::string key_pem{};
  std::string token{};
  std::string token_file{};  // read again every minute: tokens of service accounts are renewed
  std::string user{};        // basic authentication
  std::string password{};
  std::string impersonated_user{};
  std::string impersonated_uid{};
  std::vector<std::string> impersonated_groups{};
  std::optional<ExecPlugin> exec{};
};

/// `context` empty: the current one. `folder`: of the kubeconfig, for relative paths. NotFound for a context, cluster, user or
/// file that is missing, BadRequest for what cannot be read; the message names the place.
Result<Connection> read_kubeconfig(Files& files, std::string_view text, const std::string& folder, const std::string& context);

/// The same for a kubeconfig that is data, such as a Secret's, and so was written by a user who may not read this machine's
/// files or start its programs: BadRequest for a file, a tokenFile or an exec plugin.
Result<Connection> read_embedded_kubeconfig(std::string_view text, const std::string& context);

/// A pod's own service account. `host` and `port`: KUBERNETES_SERVICE_HOST and _PORT. NotFound where this is no pod.
Result<Connection> in_cluster(Files& files, const std::string& host, const std::string& port);

/// The proxy for a server that the kubeconfig gives none for, by the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY; empty:
/// none.
std::string proxy_of(const std::string& server, const std::string& https_proxy, const std::string& http_proxy,
                     const std::string& no_proxy);

}  // namespace slipway::remote
