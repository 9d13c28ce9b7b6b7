// Message authentication codes (RFC 2104) as calls of webhooks carry them, and how they are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

enum class MacHash : std::uint8_t { Sha224, Sha256, Sha384, Sha512 };
/// By its name in headers: "sha224", "sha256", "sha384", "sha512".
std::optional<MacHash> mac_hash(std::string_view name);
/// The HMAC of `text`, lower-case hexadecimal.
std::string hmac_hex(MacHash hash, std::string_view key, std::string_view text);
/// In a time that depends on the lengths alone.
bool is_same_secret(std::string_view a, std::string_view b);

}  // namespace slipway
