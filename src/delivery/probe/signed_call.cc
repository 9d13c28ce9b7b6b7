#include "delivery/probe/signed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/mac.h"
#include "base/text.h"

namespace slipway::delivery::probe {
namespace {

constexpr std::size_t kMaxNonceBytes = 64;
constexpr std::size_t kMinNonceBytes = 8;

std::unexpected<Status> unauthorized(std::string message) { return fail(Reason::Unauthorized, std::move(message)); }

Result<Time> sent_at(const std::string& timestamp, Time now) {
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), seconds);
  if (error != std::errc{} || stop != timestamp.data() + timestamp.size()) {
    return unauthorized(fmt::format("{} must be seconds since 1970", kCallTimestamp));
  }
  const Time sent{seconds_saturating(seconds)};
  if (sent < now - kReplayWindow || sent > now + kReplayWindow) {
    return unauthorized(fmt::format("{} is more than {} from now", kCallTimestamp, to_string(kReplayWindow)));
  }
  return sent;
}

}  // namespace

std::string signed_text(std::string_view method, std::string_view path, std::string_view timestamp, std::string_view nonce,
                        std::string_view body) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", method, path, timestamp, nonce, body);
}

bool is_signed(std::string_view header, std::string_view key, std::string_view text) {
  const auto equals = header.find('=');
  if (equals == std::string_view::npos || key.empty()) return false;
  const auto hash = mac_hash(header.substr(0, equals));
  return hash && is_same_secret(header.substr(equals + 1), hmac_hex(*hash, key, text));
}

Result<SignedCall> check_signed(const http::Request& request, std::string_view path, std::string_view key, Time now) {
  const http::Headers& headers = request.headers;
  const std::string timestamp(headers.get(kCallTimestamp));
  const std::string nonce(headers.get(kCallNonce));
  for (const std::string_view name : {kCallSignature, kCallTimestamp, kCallNonce}) {
    if (headers.get(name).empty()) return unauthorized(fmt::format("the call has no {} header", name));
  }
  const bool is_plain = std::ranges::all_of(
      nonce, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_'; });
  if (nonce.size() < kMinNonceBytes || nonce.size() > kMaxNonceBytes || !is_plain) {
    return unauthorized(
        fmt::format("{} must be {} to {} letters, digits, - and _", kCallNonce, kMinNonceBytes, kMaxNonceBytes));
  }
  if (!is_signed(headers.get(kCallSignature), key, signed_text(request.method, path, timestamp, nonce, request.body))) {
    return unauthorized(fmt::format("{} does not fit method, path, timestamp, nonce and body", kCallSignature));
  }
  SLIPWAY_TRY(sent, sent_at(timestamp, now));
  return SignedCall{.sent = sent, .nonce = nonce};
}

}  // namespace slipway::delivery::probe
