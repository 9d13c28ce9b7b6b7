#include "serve/credentials.h"

#include <algorithm>

#include "base/digest.h"
#include "json/text.h"

namespace slipway::serve {
namespace {

constexpr unsigned kPairFileMode = 0600;
constexpr Duration kRenewBefore = std::chrono::hours{24 * 30};
constexpr const char* kAuthority = "slipway-ca";
constexpr const char* kUser = "slipway-admin";

Result<net::KeyPair> read_pair(Env& env, const std::string& path) {
  SLIPWAY_TRY(certificate, env.files.read(path + ".crt"));
  SLIPWAY_TRY(key, env.files.read(path + ".key"));
  return net::KeyPair{certificate, key};
}

Result<void> write_pair(Env& env, const std::string& path, const net::KeyPair& pair) {
  SLIPWAY_TRY_VOID(env.files.write(path + ".key", pair.key_pem, kPairFileMode));
  return env.files.write(path + ".crt", pair.certificate_pem, kPairFileMode);
}

bool is_valid(const net::CertificateInfo& info, Time now, Duration rest) {
  return info.not_before <= now && info.not_after >= now + rest;
}

/// An authority that is not valid now (the clock was wrong when it was made, or it has run out) signs nothing that any client
/// would believe. It is kept beside its successor: clients may still hold what it signed.
Result<net::KeyPair> open_authority(Env& env, const std::string& path) {
  const auto known = read_pair(env, path);
  if (!known && known.error().reason != Reason::NotFound) return known;
  const Time now = env.clock.now();
  if (known) {
    SLIPWAY_TRY(info, net::describe(known->certificate_pem));
    if (is_valid(info, now, Duration{0})) return known;
    SLIPWAY_TRY_VOID(write_pair(env, path + "-replaced", *known));
  }
  net::KeyPair made = net::make_authority(kAuthority, now);
  SLIPWAY_TRY_VOID(write_pair(env, path, made));
  return made;
}

bool is_fit(const net::KeyPair& pair, const net::KeyPair& authority, const net::CertificateRequest& wanted) {
  const auto info = net::describe(pair.certificate_pem);
  if (!info || !is_valid(*info, wanted.now, kRenewBefore)) return false;
  if (!net::is_issued_by(pair.certificate_pem, authority.certificate_pem)) return false;
  return std::ranges::all_of(
      wanted.names, [&](const std::string& name) { return std::ranges::find(info->names, name) != info->names.end(); });
}

Result<net::KeyPair> open_issued(Env& env, const std::string& path, const net::KeyPair& authority,
                                 const net::CertificateRequest& wanted) {
  const auto known = read_pair(env, path);
  if (known && is_fit(*known, authority, wanted)) return known;
  SLIPWAY_TRY(made, net::issue(authority, wanted));
  SLIPWAY_TRY_VOID(write_pair(env, path, made));
  return made;
}

}  // namespace

kube::UserInfo administrator() {
  kube::UserInfo user;
  user.name = "kubernetes-admin";
  user.groups = {"system:masters"};
  return user;
}

Result<Credentials> open_credentials(Env& env, const std::string& folder, const std::vector<std::string>& names) {
  SLIPWAY_TRY_VOID(env.files.make_folders(folder));
  SLIPWAY_TRY(authority, open_authority(env, folder + "/ca"));
  net::CertificateRequest server;
  server.common_name = "kube-apiserver";
  server.names = net::server_names(names);
  server.now = env.clock.now();
  SLIPWAY_TRY(server_pair, open_issued(env, folder + "/server", authority, server));
  net::CertificateRequest admin;
  admin.common_name = administrator().name;
  admin.organizations = administrator().groups;
  admin.use = net::CertificateRequest::Use::client;
  admin.now = env.clock.now();
  SLIPWAY_TRY(admin_pair, open_issued(env, folder + "/admin", authority, admin));
  return Credentials{authority.certificate_pem, server_pair, admin_pair};
}

std::string kubeconfig(const Credentials& credentials, const std::vector<KubeconfigEntry>& entries) {
  json::ArrayBuilder clusters;
  json::ArrayBuilder contexts;
  for (const KubeconfigEntry& entry : entries) {
    clusters.add(
        json::object({{"name", entry.name},
                      {"cluster", json::object({{"server", entry.server},
                                                {"certificate-authority-data", base64_encode(credentials.authority_pem)}})}}));
    contexts.add(json::object({{"name", entry.name}, {"context", json::object({{"cluster", entry.name}, {"user", kUser}})}}));
  }
  const json::Value user =
      json::object({{"name", kUser},
                    {"user", json::object({{"client-certificate-data", base64_encode(credentials.admin.certificate_pem)},
                                           {"client-key-data", base64_encode(credentials.admin.key_pem)}})}});
  return json::print_yaml(json::object({{"apiVersion", "v1"},
                                        {"kind", "Config"},
                                        {"current-context", entries.empty() ? "" : entries.front().name},
                                        {"clusters", clusters.build()},
                                        {"contexts", contexts.build()},
                                        {"users", json::array({user})}}));
}

}  // namespace slipway::serve
