#include "base/digest.h"

#include <openssl/sha.h>

#include <array>

namespace slipway {
namespace {

using Sha256 = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Sha256 sha256(std::string_view bytes) {
  Sha256 digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string encode(std::string_view bytes, std::string_view alphabet, char padding) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const unsigned char byte : bytes) {
    bits = (bits << 8) | byte;
    for (held += 8; held >= 6; held -= 6) out += alphabet[(bits >> (held - 6)) & 63];
  }
  if (held > 0) out += alphabet[(bits << (6 - held)) & 63];
  while (padding != '\0' && out.size() % 4 != 0) out += padding;
  return out;
}

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int sextet(char c) {
  if (c == '-') return 62;
  if (c == '_') return 63;
  const auto at = kStandard.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string sha512_hex(std::string_view bytes) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest;
  SHA512(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string hex;
  hex.reserve(digest.size() * 2);
  for (const unsigned char byte : digest) {
    hex += "0123456789ABCDEF"[byte >> 4];
    hex += "0123456789ABCDEF"[byte & 15];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : sha256(bytes)) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

std::uint32_t fnv1a_32(std::string_view bytes) {
  std::uint32_t hash = 2166136261U;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 16777619U;
  return hash;
}

std::string name_hash(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  const Sha256 digest = sha256(bytes);
  std::string out;
  for (std::size_t i = 0; i < 10; ++i) {
    const std::uint32_t pair = (std::uint32_t{digest[2 * i]} << 8) | digest[2 * i + 1];
    out += kAlphabet[pair % kAlphabet.size()];
  }
  return out;
}

std::string base64_encode(std::string_view bytes) { return encode(bytes, kStandard, '='); }
std::string base64url_encode(std::string_view bytes) { return encode(bytes, kUrl, '\0'); }

bool base64_decode(std::string_view text, std::string& bytes) {
  bytes.clear();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) return false;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) bytes += static_cast<char>((bits >> (held -= 8)) & 0xff);
  }
  return true;
}

}  // namespace slipway
