// Packages crypto/md5, sha1, sha256, sha512 and hmac, over OpenSSL.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <fmt/format.h>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace crypto_package {
namespace {

using Args = std::span<const Value>;

Value digest(Calls& calls, const EVP_MD* kind, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (kind == nullptr || EVP_Digest(text.data(), text.size(), out, &size, kind, nullptr) != 1)
    return calls.fail("digest is not available");
  return calls.make_bytes({reinterpret_cast<const char*>(out), size});
}

Value md5(Calls& calls, Args args) { return digest(calls, EVP_md5(), args[0].str()); }
Value sha1(Calls& calls, Args args) { return digest(calls, EVP_sha1(), args[0].str()); }
Value sha224(Calls& calls, Args args) { return digest(calls, EVP_sha224(), args[0].str()); }
Value sha256(Calls& calls, Args args) { return digest(calls, EVP_sha256(), args[0].str()); }
Value sha384(Calls& calls, Args args) { return digest(calls, EVP_sha384(), args[0].str()); }
Value sha512(Calls& calls, Args args) { return digest(calls, EVP_sha512(), args[0].str()); }
Value sha512_224(Calls& calls, Args args) { return digest(calls, EVP_sha512_224(), args[0].str()); }
Value sha512_256(Calls& calls, Args args) { return digest(calls, EVP_sha512_256(), args[0].str()); }

struct HashName {
  std::string_view name;
  const EVP_MD* (*kind)();
};
constexpr HashName kHashes[] = {
    {"MD5", EVP_md5},       {"SHA1", EVP_sha1},     {"SHA224", EVP_sha224},         {"SHA256", EVP_sha256},
    {"SHA384", EVP_sha384}, {"SHA512", EVP_sha512}, {"SHA512_224", EVP_sha512_224}, {"SHA512_256", EVP_sha512_256}};

Value sign(Calls& calls, Args args) {
  for (const HashName& hash : kHashes) {
    if (hash.name != args[0].str()) continue;
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    std::string_view data = args[2].str();
    HMAC(hash.kind(), args[1].str().data(), static_cast<int>(args[1].size), reinterpret_cast<const unsigned char*>(data.data()),
         data.size(), out, &size);
    return calls.make_bytes({reinterpret_cast<const char*>(out), size});
  }
  return calls.fail(fmt::format("unsupported hash function {}", args[0].str()));
}

constexpr auto& kText = kParams < kString | kBytes > ;

constexpr Builtin constant(std::string_view package, std::string_view name, std::string_view text) {
  return {package, name, {}, kTop, nullptr, false, false, text};
}

constexpr Builtin kMd5[] = {
    {"crypto/md5", "Sum", kText, kBytes, md5}, constant("crypto/md5", "Size", "16"), constant("crypto/md5", "BlockSize", "64")};
constexpr Builtin kSha1[] = {{"crypto/sha1", "Sum", kText, kBytes, sha1},
                             constant("crypto/sha1", "Size", "20"),
                             constant("crypto/sha1", "BlockSize", "64")};
constexpr Builtin kSha256[] = {{"crypto/sha256", "Sum256", kText, kBytes, sha256},
                               {"crypto/sha256", "Sum224", kText, kBytes, sha224},
                               constant("crypto/sha256", "Size", "32"),
                               constant("crypto/sha256", "Size224", "28"),
                               constant("crypto/sha256", "BlockSize", "64")};
constexpr Builtin kSha512[] = {{"crypto/sha512", "Sum512", kText, kBytes, sha512},
                               {"crypto/sha512", "Sum384", kText, kBytes, sha384},
                               {"crypto/sha512", "Sum512_224", kText, kBytes, sha512_224},
                               {"crypto/sha512", "Sum512_256", kText, kBytes, sha512_256},
                               constant("crypto/sha512", "Size", "64"),
                               constant("crypto/sha512", "Size224", "28"),
                               constant("crypto/sha512", "Size256", "32"),
                               constant("crypto/sha512", "Size384", "48"),
                               constant("crypto/sha512", "BlockSize", "128")};
constexpr Builtin kHmac[] = {{"crypto/hmac", "Sign", kParams<kString, kString | kBytes, kString | kBytes>, kBytes, sign},
                             constant("crypto/hmac", "MD5", "\"MD5\""),
                             constant("crypto/hmac", "SHA1", "\"SHA1\""),
                             constant("crypto/hmac", "SHA224", "\"SHA224\""),
                             constant("crypto/hmac", "SHA256", "\"SHA256\""),
                             constant("crypto/hmac", "SHA384", "\"SHA384\""),
                             constant("crypto/hmac", "SHA512", "\"SHA512\""),
                             constant("crypto/hmac", "SHA512_224", "\"SHA512_224\""),
                             constant("crypto/hmac", "SHA512_256", "\"SHA512_256\"")};

}  // namespace
}  // namespace crypto_package

std::span<const Builtin> md5_rows() { return crypto_package::kMd5; }
std::span<const Builtin> sha1_rows() { return crypto_package::kSha1; }
std::span<const Builtin> sha256_rows() { return crypto_package::kSha256; }
std::span<const Builtin> sha512_rows() { return crypto_package::kSha512; }
std::span<const Builtin> hmac_rows() { return crypto_package::kHmac; }

}  // namespace slipway::cue
