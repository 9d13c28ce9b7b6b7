// Webhook gates: one request, and what its answer means (gate::WebhookGate). The pure halves are apart so that tests and
// replays can do without a server.
#pragma once

#include <string>
#include <string_view>

#include "delivery/probe/probe.h"

namespace slipway::delivery::probe {

/// Its value is "sha256=" and the HMAC-SHA256 of the body, hexadecimal.
inline constexpr std::string_view kSignatureHeader = "Slipway-Signature";

/// The body is {name, namespace, phase, metadata}; `secret` empty: unsigned.
HttpCall webhook_call(const Question& question, std::string_view secret);
/// 1 s after the first try, doubled up to a minute.
Duration back_off(std::int64_t tries);

Task<Answer> ask_webhook(Reach reach, Question question);

}  // namespace slipway::delivery::probe
