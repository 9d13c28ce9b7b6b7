// JSON Web Tokens signed with ES256 (RFC 7515, 7518 §3.4): what service accounts show. The algorithm is fixed, so a token
// cannot choose another one; claims are JSON text here, their meaning is the caller's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace slipway::net {

/// A fresh P-256 private key, PKCS #8 PEM.
std::string make_signing_key();
/// The public half, as PEM. BadRequest when `key_pem` is no P-256 key.
Result<std::string> public_key(std::string_view key_pem);
/// Names a key in a token's header: base64url of the SHA-256 of its public half (DER).
Result<std::string> key_id(std::string_view key_pem);

/// `claims` is the JSON text of the payload.
Result<std::string> sign_token(std::string_view key_pem, std::string_view claims);
/// The claims of a token that one of the keys (private or public PEM) has signed. Unauthorized otherwise. Expiry and audience
/// are in the claims: not looked at.
Result<std::string> verify_token(const std::vector<std::string>& keys_pem, std::string_view token);

}  // namespace slipway::net
