#include "git/trust.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "base/digest.h"
#include "git/owned.h"

namespace slipway::git {
namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t\r", end);
  }
  return fields;
}

/// "*" and "?" as in sshd(8); without case.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip) {
      if (matches(pattern.substr(1), name.substr(skip))) return true;
    }
    return false;
  }
  const auto fold = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const bool is_same = !name.empty() && (pattern.front() == '?' || fold(pattern.front()) == fold(name.front()));
  return is_same && matches(pattern.substr(1), name.substr(1));
}

/// "|1|SALT|HASH": HMAC-SHA1 of the name under the salt.
bool matches_hashed(std::string_view field, std::string_view name) {
  const auto middle = field.find('|', 3);
  std::string salt;
  std::string wanted;
  if (middle == std::string_view::npos || !base64_decode(field.substr(3, middle - 3), salt) ||
      !base64_decode(field.substr(middle + 1), wanted)) {
    return false;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()), reinterpret_cast<const unsigned char*>(name.data()), name.size(),
       digest, &size);
  return wanted == std::string_view(reinterpret_cast<const char*>(digest), size);
}

bool names_host(std::string_view field, std::string_view name) {
  if (field.starts_with("|1|")) return matches_hashed(field, name);
  bool is_named = false;
  while (!field.empty()) {
    const auto end = std::min(field.find(','), field.size());
    std::string_view pattern = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    const bool is_negated = pattern.starts_with('!');
    if (is_negated) pattern.remove_prefix(1);
    if (!matches(pattern.substr(0, 256), name)) continue;
    if (is_negated) return false;
    is_named = true;
  }
  return is_named;
}

}  // namespace

bool is_known_host(std::string_view known_hosts, std::string_view host, int port, std::string_view key_type,
                   std::string_view key) {
  const std::string name = port == 22 ? std::string(host) : fmt::format("[{}]:{}", host, port);
  bool is_known = false;
  while (!known_hosts.empty()) {
    const auto end = std::min(known_hosts.find('\n'), known_hosts.size());
    auto fields = fields_of(known_hosts.substr(0, end));
    known_hosts.remove_prefix(std::min(end + 1, known_hosts.size()));
    if (fields.empty() || fields[0].starts_with('#')) continue;
    const bool is_revoked = fields[0] == "@revoked";
    if (fields[0].starts_with('@') && !is_revoked) continue;
    if (is_revoked) fields.erase(fields.begin());
    std::string bytes;
    if (fields.size() < 3 || fields[1] != key_type || !base64_decode(fields[2], bytes) || bytes != key) continue;
    if (!names_host(fields[0], name)) continue;
    if (is_revoked) return false;
    is_known = true;
  }
  return is_known;
}

Result<void> check_certificate(std::string_view ca_bundle, std::string_view certificate, const std::string& host) {
  const Owned<BIO, BIO_free_all> text(BIO_new_mem_buf(ca_bundle.data(), static_cast<int>(ca_bundle.size())));
  const Owned<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  int authorities = 0;
  while (const Owned<X509, X509_free> one{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)}) {
    authorities += X509_STORE_add_cert(store.get(), one.get());
  }
  if (authorities == 0) return fail(Reason::BadRequest, "the bundle of certificate authorities holds no PEM certificate");
  const auto* der = reinterpret_cast<const unsigned char*>(certificate.data());
  const Owned<X509, X509_free> shown(d2i_X509(nullptr, &der, static_cast<long>(certificate.size())));
  if (!shown) return fail(Reason::Unauthorized, "the server's certificate cannot be read");
  const Owned<X509_STORE_CTX, X509_STORE_CTX_free> check(X509_STORE_CTX_new());
  X509_STORE_CTX_init(check.get(), store.get(), shown.get(), nullptr);
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_SERVER);
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) != 1) X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size());
  if (X509_verify_cert(check.get()) == 1) return {};
  return fail(Reason::Unauthorized, fmt::format("the certificate of {} is not trusted: {}", host,
                                                X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()))));
}

}  // namespace slipway::git
