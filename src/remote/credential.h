// Who asks: the Authorization header of a Connection, kept fresh. Tokens in files are read again every minute; a credential
// plugin (client.authentication.k8s.io ExecCredential) is run when its credential has expired or the server refused it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "json/value.h"
#include "remote/kubeconfig.h"

namespace slipway::remote {

struct Credential {
  std::string token{};
  std::string certificate_pem{};
  std::string key_pem{};

  bool operator==(const Credential&) const = default;
};

class CredentialSource {
 public:
  struct Options {
    std::vector<std::string> environment{};  // of this process, for plugins: "NAME=value"
    std::string scratch_folder{};            // for what plugins print; private to this user
  };
  CredentialSource(Env& env, Connection connection, Options options)
      : env_(env), connection_(std::move(connection)), options_(std::move(options)) {}

  Task<Result<Credential>> get();
  /// The server said 401: the next get() asks the plugin or the file again. False when that would give the same.
  bool refuse();

 private:
  Task<Result<Credential>> run_plugin();

  Env& env_;
  Connection connection_;
  Options options_;
  Credential known_{};
  bool is_known_ = false;
  std::optional<Time> expires_{};        // as the plugin says
  std::optional<Steady> reads_again_{};  // the token's file
};

/// What a plugin printed. Invalid when it is no ExecCredential of that version with a token or a certificate.
struct PluginCredential {
  Credential credential{};
  std::optional<Time> expires{};
};
Result<PluginCredential> read_exec_credential(std::string_view text, const std::string& api_version);
/// KUBERNETES_EXEC_INFO for a plugin.
std::string exec_info(const Connection& connection);

}  // namespace slipway::remote
