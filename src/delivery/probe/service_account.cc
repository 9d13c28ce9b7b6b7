#include "delivery/probe/service_account.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "base/digest.h"
#include "delivery/probe/provider.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

constexpr std::int64_t kTokenSeconds = 3600;  // the longest that is granted

int no_phrase(char*, int, int, void*) { return 0; }

Result<std::string> rs256(const std::string& pem, const std::string& text) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_phrase, nullptr),
                                                                EVP_PKEY_free);
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
    return fail(Reason::Invalid, "private_key of the service account is no RSA key in PEM");
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  std::string out;
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestSign(digest.get(), nullptr, &size, bytes, text.size()) == 1) {
    out.resize(size);
    if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes, text.size()) == 1) {
      out.resize(size);
      return out;
    }
  }
  return fail(Reason::InternalError, "the service account's key cannot sign");
}

}  // namespace

Result<HttpCall> service_account_call(std::string_view key_file, std::string_view scope, Time now) {
  const auto file = json::parse(key_file);
  if (!file) return fail(Reason::Invalid, "serviceAccountKey is no JSON file of a service account");
  for (const char* field : {"client_email", "private_key", "token_uri"}) {
    if ((*file)[field].as_string().empty()) {
      return fail(Reason::Invalid, fmt::format("serviceAccountKey has no {}", field));
    }
  }
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  json::Value header = json::object({{"alg", "RS256"}, {"typ", "JWT"}});
  if (file->has("private_key_id")) header = header.with("kid", (*file)["private_key_id"]);
  const json::Value claims = json::object({{"iss", (*file)["client_email"]},
                                           {"scope", scope},
                                           {"aud", (*file)["token_uri"]},
                                           {"iat", seconds},
                                           {"exp", seconds + kTokenSeconds}});
  const std::string text = base64url_encode(json::print(header)) + "." + base64url_encode(json::print(claims));
  SLIPWAY_TRY(signature, rs256((*file)["private_key"].str(), text));
  HttpCall call{
      .url = (*file)["token_uri"].str(),
      .method = "POST",
      .body = fmt::format("grant_type={}&assertion={}.{}", percent_encoded("urn:ietf:params:oauth:grant-type:jwt-bearer"), text,
                          base64url_encode(signature))};
  call.headers.set("Content-Type", "application/x-www-form-urlencoded");
  call.headers.set("Accept", "application/json");
  return call;
}

}  // namespace slipway::delivery::probe
