#include "net/jwt.h"

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/check.h"
#include "base/digest.h"
#include "net/certificate.h"
#include "net/tls.h"

namespace slipway::net {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Signature = std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)>;

constexpr int kCoordinate = 32;  // bytes of r and of s in P-256

std::string contents(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Result<Key> either_key(std::string_view pem) {
  Key key;
  if (pem.contains("PUBLIC KEY")) {
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
    key = Key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    if (!key) return fail(Reason::BadRequest, "no public key can be read from the PEM text: " + tls_error_text());
  } else {
    SLIPWAY_TRY(read, read_key(pem));
    key = read;
  }
  std::array<char, 32> group{};
  const bool has_name = EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), nullptr) == 1;
  if (!has_name || std::string_view(group.data()) != "prime256v1") {
    return fail(Reason::BadRequest, "tokens need a P-256 key");
  }
  return key;
}

/// The two numbers of an ECDSA signature, 32 bytes each, as tokens carry them.
std::string to_token_form(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const Signature signature(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())), ECDSA_SIG_free);
  SLIPWAY_CHECK(signature != nullptr);
  std::string raw(2 * kCoordinate, '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kCoordinate);
  BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kCoordinate, kCoordinate);
  return raw;
}

std::string to_der(const std::string& raw) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(raw.data());
  const Signature signature(ECDSA_SIG_new(), ECDSA_SIG_free);
  ECDSA_SIG_set0(signature.get(), BN_bin2bn(bytes, kCoordinate, nullptr), BN_bin2bn(bytes + kCoordinate, kCoordinate, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  SLIPWAY_CHECK(size > 0);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool has_signed(EVP_PKEY* key, std::string_view text, const std::string& der) {
  const Digest digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const bool is_right = EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
                        EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(der.data()), der.size(),
                                         reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  if (!is_right) static_cast<void>(tls_error_text());  // leaves OpenSSL's queue empty
  return is_right;
}

}  // namespace

std::string make_signing_key() {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  SLIPWAY_CHECK(key && PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
                "OpenSSL makes no P-256 key");
  return contents(bio.get());
}

Result<std::string> public_key(std::string_view key_pem) {
  SLIPWAY_TRY(key, either_key(key_pem));
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  SLIPWAY_CHECK(PEM_write_bio_PUBKEY(bio.get(), key.get()) == 1);
  return contents(bio.get());
}

Result<std::string> key_id(std::string_view key_pem) {
  SLIPWAY_TRY(key, either_key(key_pem));
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key.get(), &der);
  SLIPWAY_CHECK(size > 0);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned hash_size = 0;
  EVP_Digest(der, static_cast<std::size_t>(size), hash.data(), &hash_size, EVP_sha256(), nullptr);
  OPENSSL_free(der);
  return base64url_encode({reinterpret_cast<char*>(hash.data()), hash_size});
}

Result<std::string> sign_token(std::string_view key_pem, std::string_view claims) {
  SLIPWAY_TRY(key, either_key(key_pem));
  SLIPWAY_TRY(id, key_id(key_pem));
  std::string token = base64url_encode(fmt::format(R"({{"alg":"ES256","kid":"{}"}})", id)) + "." + base64url_encode(claims);
  const Digest digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const auto* text = reinterpret_cast<const unsigned char*>(token.data());
  std::size_t size = 0;
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, text, token.size()) != 1) {
    return fail(Reason::BadRequest, "the key cannot sign: " + tls_error_text());
  }
  std::string der(size, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, text, token.size()) != 1) {
    return fail(Reason::BadRequest, "the key cannot sign: " + tls_error_text());
  }
  der.resize(size);
  return token + "." + base64url_encode(to_token_form(der));
}

Result<std::string> verify_token(const std::vector<std::string>& keys_pem, std::string_view token) {
  const auto first = token.find('.');
  const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return fail(Reason::Unauthorized, "not a JSON Web Token");
  std::string signature;
  std::string claims;
  if (!base64_decode(token.substr(second + 1), signature) || signature.size() != 2 * kCoordinate ||
      !base64_decode(token.substr(first + 1, second - first - 1), claims)) {
    return fail(Reason::Unauthorized, "malformed JSON Web Token");
  }
  const std::string der = to_der(signature);
  for (const std::string& pem : keys_pem) {
    SLIPWAY_TRY(key, either_key(pem));
    if (has_signed(key.get(), token.substr(0, second), der)) return claims;
  }
  return fail(Reason::Unauthorized, "the token's signature fits no known key");
}

}  // namespace slipway::net
