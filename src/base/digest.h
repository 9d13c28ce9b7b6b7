// Digests and short hashes for names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway {

/// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view bytes);
/// Upper-case hexadecimal SHA-512, as the API server's ETags and hashes of documents.
std::string sha512_hex(std::string_view bytes);
std::uint32_t fnv1a_32(std::string_view bytes);
/// Ten characters of the alphabet of generateName from SHA-256 of `bytes`; fit for names, collisions below 1e-6 for 10,000
/// names.
std::string name_hash(std::string_view bytes);
std::string base64_encode(std::string_view bytes);
std::string base64url_encode(std::string_view bytes);  // unpadded
/// Standard or URL alphabet, padded or not. False when malformed.
bool base64_decode(std::string_view text, std::string& bytes);

}  // namespace slipway
