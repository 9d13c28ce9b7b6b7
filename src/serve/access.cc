#include "serve/access.h"

#include <vector>

#include "net/jwt.h"

namespace slipway::serve {
namespace {

constexpr unsigned kKeyFileMode = 0600;

/// ES256 with one key.
class KeySigner : public server::TokenSigner {
 public:
  explicit KeySigner(std::string key_pem) : keys_{std::move(key_pem)} {}

  Result<std::string> sign(std::string_view claims) const override { return net::sign_token(keys_.front(), claims); }
  Result<std::string> verify(std::string_view token) const override { return net::verify_token(keys_, token); }

 private:
  std::vector<std::string> keys_;
};

Result<std::string> open_key(Env& env, const std::string& folder) {
  const std::string path = folder + "/sa.key";
  auto known = env.files.read(path);
  if (known) SLIPWAY_TRY_VOID(net::public_key(*known));
  if (known || known.error().reason != Reason::NotFound) return known;
  SLIPWAY_TRY_VOID(env.files.make_folders(folder));
  std::string made = net::make_signing_key();
  SLIPWAY_TRY_VOID(env.files.write(path, made, kKeyFileMode));
  return made;
}

}  // namespace

Result<server::Authenticator::Options> open_access(Env& env, const std::string& folder, const std::string& shared_folder) {
  server::Authenticator::Options options;
  SLIPWAY_TRY(key, open_key(env, folder + "/pki"));
  options.signer = std::make_shared<const KeySigner>(key);
  for (const std::string& place : {shared_folder, folder}) {
    const auto tokens = env.files.read(place + "/tokens.csv");
    if (!tokens && tokens.error().reason == Reason::NotFound) continue;
    if (!tokens) return fail(tokens.error());
    SLIPWAY_TRY(known, server::read_static_tokens(*tokens));
    for (auto& [token, user] : known) options.static_tokens.insert_or_assign(token, std::move(user));
  }
  return options;
}

server::Credentials credentials_of(const net::ConnectionInfo& connection, const http::Headers& headers) {
  server::Credentials made;
  const net::PeerCertificate& certificate = connection.certificate;
  if (certificate.is_verified && !certificate.sha256.empty()) {
    made.certificate = {
        .common_name = certificate.common_name, .organizations = certificate.organizations, .sha256 = certificate.sha256};
  }
  made.take_headers(headers);
  return made;
}

}  // namespace slipway::serve
