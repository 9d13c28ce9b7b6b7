#include "base/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace slipway {
namespace {

const EVP_MD* digest_of(MacHash hash) {
  switch (hash) {
    case MacHash::Sha224:
      return EVP_sha224();
    case MacHash::Sha256:
      return EVP_sha256();
    case MacHash::Sha384:
      return EVP_sha384();
    case MacHash::Sha512:
      return EVP_sha512();
  }
  return nullptr;
}

}  // namespace

std::optional<MacHash> mac_hash(std::string_view name) {
  if (name == "sha224") return MacHash::Sha224;
  if (name == "sha256") return MacHash::Sha256;
  if (name == "sha384") return MacHash::Sha384;
  if (name == "sha512") return MacHash::Sha512;
  return std::nullopt;
}

std::string hmac_hex(MacHash hash, std::string_view key, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(digest_of(hash), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), out, &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[out[i] >> 4];
    hex += "0123456789abcdef"[out[i] & 15];
  }
  return hex;
}

bool is_same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace slipway
