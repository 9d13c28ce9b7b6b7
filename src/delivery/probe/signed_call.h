// Calls that another program makes to a webhook of ours and signs with a shared key: the signature covers method, path,
// timestamp, nonce and body, and the timestamp is within kReplayWindow of now. Whether a nonce was used before, or what it asks
// for was done already, is the caller's to know.
#pragma once

#include <string>
#include <string_view>

#include "base/http.h"
#include "base/status.h"
#include "base/time.h"

namespace slipway::delivery::probe {

inline constexpr std::string_view kCallSignature = "X-Signature";          // "sha256=<hex>", also sha224, sha384, sha512
inline constexpr std::string_view kCallTimestamp = "X-Slipway-Timestamp";  // seconds since 1970
inline constexpr std::string_view kCallNonce = "X-Slipway-Nonce";          // 8 to 64 letters, digits, - and _
inline constexpr std::string_view kCallKey = "hmac-key";                   // of the Secret
inline constexpr Duration kReplayWindow = std::chrono::minutes{5};
/// Who acts by a signed call: this and the name of the Secret.
inline constexpr std::string_view kHookUser = "hook:";

/// The text that the signature of a call covers: "POST\n/release/apps/podinfo\n1772359200\nNONCE\nBODY".
std::string signed_text(std::string_view method, std::string_view path, std::string_view timestamp, std::string_view nonce,
                        std::string_view body);
/// Whether `header` is the MAC of `text`; compares in constant time.
bool is_signed(std::string_view header, std::string_view key, std::string_view text);

struct SignedCall {
  Time sent{};
  std::string nonce{};
};
/// Unauthorized, naming what does not fit. `path` is the request's, below the root of a cluster among several.
Result<SignedCall> check_signed(const http::Request& request, std::string_view path, std::string_view key, Time now);

}  // namespace slipway::delivery::probe
