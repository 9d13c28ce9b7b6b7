#include "remote/credential.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::remote {

namespace {

using json::Value;

constexpr Duration kTokenFileAge = std::chrono::minutes{1};
constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

}  // namespace

Result<PluginCredential> read_exec_credential(std::string_view text, const std::string& api_version) {
  SLIPWAY_TRY(value, json::parse(text));
  if (value["kind"].as_string() != "ExecCredential" || value["apiVersion"].as_string() != api_version) {
    return fail(Reason::Invalid, fmt::format("exec plugin is configured to use API version {}, plugin returned version {}",
                                             api_version, value["apiVersion"].as_string()));
  }
  const Value& status = value["status"];
  PluginCredential found;
  found.credential = {status["token"].str(), status["clientCertificateData"].str(), status["clientKeyData"].str()};
  found.expires = kube::time_of(status["expirationTimestamp"]);
  const bool has_certificate = !found.credential.certificate_pem.empty();
  if (found.credential.token.empty() && !has_certificate) {
    return fail(Reason::Invalid, "exec plugin didn't return a token or cert/key pair");
  }
  if (has_certificate == found.credential.key_pem.empty()) {
    return fail(Reason::Invalid, "exec plugin returned only certificate or key, not both");
  }
  return found;
}

std::string exec_info(const Connection& connection) {
  Value spec = json::object({{"interactive", false}});
  if (connection.exec->gives_cluster_info) {
    Value cluster = json::object({{"server", connection.server}});
    if (!connection.authority_pem.empty()) {
      cluster = cluster.with("certificate-authority-data", base64_encode(connection.authority_pem));
    }
    if (connection.is_insecure) cluster = cluster.with("insecure-skip-tls-verify", true);
    if (!connection.server_name.empty()) cluster = cluster.with("tls-server-name", connection.server_name);
    if (!connection.proxy_url.empty()) cluster = cluster.with("proxy-url", connection.proxy_url);
    spec = spec.with("cluster", cluster);
  }
  return json::print(json::object({{"kind", "ExecCredential"}, {"apiVersion", connection.exec->api_version}, {"spec", spec}}));
}

Task<Result<Credential>> CredentialSource::get() {
  const bool is_over = (expires_ && env_.clock.now() >= *expires_) || (reads_again_ && env_.clock.steady() >= *reads_again_);
  if (is_known_ && !is_over) co_return known_;
  if (connection_.exec) co_return co_await run_plugin();
  Credential fresh{connection_.token, connection_.certificate_pem, connection_.key_pem};
  if (!connection_.token_file.empty()) {
    const auto text = env_.files.read(connection_.token_file);
    // A token that is just being replaced: the old one still holds.
    if (!text && !is_known_) co_return fail(text.error());
    fresh.token = text ? trimmed(*text) : known_.token;
    expires_.reset();
    reads_again_ = env_.clock.steady() + kTokenFileAge;
  }
  is_known_ = true;
  known_ = std::move(fresh);
  co_return known_;
}

bool CredentialSource::refuse() {
  const bool may_change = connection_.exec.has_value() || !connection_.token_file.empty();
  if (may_change && is_known_) expires_ = Time{};
  return may_change;
}

/// Env::processes writes a process's both outputs to one file, so a shell keeps what the plugin says to people apart.
Task<Result<Credential>> CredentialSource::run_plugin() {
  const ExecPlugin& plugin = *connection_.exec;
  const std::string output = fmt::format("{}/credential-{}", options_.scratch_folder, uuid(env_.random));
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>/dev/null", plugin.command};
  spec.argv.insert(spec.argv.end(), plugin.args.begin(), plugin.args.end());
  spec.env = options_.environment;
  spec.env.insert(spec.env.end(), plugin.env.begin(), plugin.env.end());
  spec.env.push_back("KUBERNETES_EXEC_INFO=" + exec_info(connection_));
  spec.folder = options_.scratch_folder;
  spec.output = output;
  // The plugin appends to it; what it prints is for no other reader.
  SLIPWAY_CO_TRY_VOID(env_.files.write(output, "", 0600));
  SLIPWAY_CO_TRY(process, env_.processes.start(std::move(spec)));
  co_await env_.processes.wait_end(process);
  const auto text = env_.files.read_from(output, 0, kMaxOutput);
  static_cast<void>(env_.files.remove_all(output));
  if (!text) co_return fail(text.error());
  auto found = read_exec_credential(*text, connection_.exec->api_version);
  if (!found) {
    const std::string hint = connection_.exec->install_hint.empty() ? "" : "\n" + connection_.exec->install_hint;
    co_return fail(Reason::Unauthorized,
                   fmt::format("getting credentials: exec: {}: {}{}", connection_.exec->command, found.error().message, hint));
  }
  is_known_ = true;
  expires_ = found->expires;
  known_ = std::move(found->credential);
  co_return known_;
}

}  // namespace slipway::remote
