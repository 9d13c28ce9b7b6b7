#include "delivery/pipeline/credentials.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

const Value& named(const Value& list, const Value& name) {
  static const Value kNone;
  for (const Value& one : list.items()) {
    if (one["name"] == name) return one;
  }
  return kNone;
}

std::optional<Time> certificate_end(std::string_view data) {
  std::string pem;
  if (data.empty() || !base64_decode(data, pem)) return std::nullopt;
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr),
                                                                X509_free);
  std::tm parts{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &parts) != 1) return std::nullopt;
  return Time{std::chrono::seconds{timegm(&parts)}};
}

/// The claim exp of a JSON web token.
std::optional<Time> token_end(std::string_view token) {
  const std::vector<std::string_view> parts = split(token, '.');
  std::string claims;
  if (parts.size() != 3 || !base64_decode(parts[1], claims)) return std::nullopt;
  const auto parsed = json::parse(claims);
  if (!parsed || !(*parsed)["exp"].is_number()) return std::nullopt;
  constexpr std::int64_t kMost = 253'402'300'799;  // 9999-12-31
  return Time{std::chrono::seconds{std::clamp<std::int64_t>((*parsed)["exp"].as_int(), 0, kMost)}};
}

}  // namespace

std::optional<Expiry> expiry_of(const std::string& kubeconfig) {
  const auto config = json::parse_yaml(kubeconfig);
  if (!config) return std::nullopt;
  const Value& context = named((*config)["contexts"], (*config)["current-context"])["context"];
  const Value& user = named((*config)["users"], context["user"])["user"];
  std::optional<Expiry> first;
  const auto take = [&](const char* what, std::optional<Time> at) {
    if (at && (!first || *at < first->at)) first = Expiry{.what = what, .at = *at};
  };
  take("client certificate", certificate_end(user["client-certificate-data"].as_string()));
  take("token", token_end(user["token"].as_string()));
  return first;
}

std::string kubeconfig_in(const kube::Object& secret) {
  for (const char* key : {"value", "value.yaml", "kubeconfig"}) {
    std::string text;
    if (base64_decode(secret["data"][key].as_string(), text) && !text.empty()) return text;
  }
  return {};
}

}  // namespace slipway::delivery::pipeline
