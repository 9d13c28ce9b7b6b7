#include "net/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <ctime>

#include "base/check.h"
#include "base/digest.h"
#include "net/tls.h"

namespace slipway::net {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

Bio memory(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free); }

template <class Write>
std::string written(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  SLIPWAY_CHECK(bio && write(bio.get()) == 1, "OpenSSL writes no PEM");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  SLIPWAY_CHECK(key != nullptr, "OpenSSL makes no P-256 key");
  return key;
}

KeyPair to_pem(const Certificate& certificate, const Key& key) {
  return {.certificate_pem = written([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); }),
          .key_pem = written(
              [&](BIO* bio) { return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
}

void set_time(ASN1_TIME* field, Time time) {
  ASN1_TIME_set(field, std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

Time to_time(const ASN1_TIME* field) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(field, &parts) != 1) return Time{};
  return Time{std::chrono::seconds{timegm(&parts)}};
}

/// A certificate with random serial, names and validity, not yet signed.
Certificate blank(const std::string& common_name, const std::vector<std::string>& organizations, Time now, Duration validity) {
  Certificate certificate(X509_new(), X509_free);
  SLIPWAY_CHECK(certificate != nullptr);
  X509_set_version(certificate.get(), X509_VERSION_3);
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> serial(BN_new(), BN_free);
  SLIPWAY_CHECK(BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1, "OpenSSL has no entropy");
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get()));
  set_time(X509_getm_notBefore(certificate.get()), now - std::chrono::minutes{1});
  set_time(X509_getm_notAfter(certificate.get()), now + validity);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto add = [subject](const char* field, const std::string& text) {
    return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
  };
  for (const auto& organization : organizations) {
    if (!add("O", organization)) return nullptr;
  }
  return add("CN", common_name) ? certificate : nullptr;
}

bool extend(const Certificate& certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate.get(), nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), X509_EXTENSION_free);
  return extension && X509_add_ext(certificate.get(), extension.get(), -1) == 1;
}

/// "IP:…,DNS:…". BadRequest for what is neither; nothing of a name can reach the syntax of OpenSSL's extension text.
Result<std::string> alternative_names(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) {
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(name, not_an_address);
    const bool is_dns =
        !name.empty() && name.size() <= 253 &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*") == std::string::npos;
    if (not_an_address && !is_dns) return fail(Reason::BadRequest, "\"" + name + "\" is neither a DNS name nor an IP address");
    list += (list.empty() ? "" : ",") + std::string(not_an_address ? "DNS:" : "IP:") + name;
  }
  return list;
}

std::vector<std::string> entries(X509* certificate, int kind) {
  std::vector<std::string> values;
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, kind, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return values;
}

std::string address_text(const ASN1_OCTET_STRING* bytes) {
  const unsigned char* data = ASN1_STRING_get0_data(bytes);
  if (ASN1_STRING_length(bytes) == 4) {
    boost::asio::ip::address_v4::bytes_type four;
    std::copy_n(data, four.size(), four.begin());
    return boost::asio::ip::address_v4(four).to_string();
  }
  if (ASN1_STRING_length(bytes) != 16) return "";
  boost::asio::ip::address_v6::bytes_type sixteen;
  std::copy_n(data, sixteen.size(), sixteen.begin());
  return boost::asio::ip::address_v6(sixteen).to_string();
}

std::vector<std::string> alternative_names(X509* certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> list(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), GENERAL_NAMES_free);
  for (int i = 0; list && i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) {
      names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                         static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      names.push_back(address_text(name->d.iPAddress));
    }
  }
  return names;
}

}  // namespace

KeyPair make_authority(const std::string& common_name, Time now, Duration validity) {
  const Key key = make_key();
  const Certificate certificate = blank(common_name, {}, now, validity);
  SLIPWAY_CHECK(certificate != nullptr, "the name of an authority is too long");
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  X509_set_pubkey(certificate.get(), key.get());
  const bool is_extended =
      extend(certificate, certificate.get(), NID_basic_constraints, "critical,CA:TRUE") &&
      extend(certificate, certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign") &&
      extend(certificate, certificate.get(), NID_subject_key_identifier, "hash");
  SLIPWAY_CHECK(is_extended && X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "OpenSSL signs no authority");
  return to_pem(certificate, key);
}

Result<KeyPair> issue(const KeyPair& authority, const CertificateRequest& request) {
  SLIPWAY_TRY(issuers, read_certificates(authority.certificate_pem));
  SLIPWAY_TRY(issuer_key, read_key(authority.key_pem));
  X509* issuer = issuers.front().get();
  const bool is_server = request.use == CertificateRequest::Use::server;
  SLIPWAY_TRY(names, alternative_names(request.names));
  const Key key = make_key();
  const Certificate certificate = blank(request.common_name, request.organizations, request.now, request.validity);
  if (!certificate) return fail(Reason::BadRequest, "a name in a certificate is too long, or empty: " + tls_error_text());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  X509_set_pubkey(certificate.get(), key.get());
  const bool is_extended = extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                           extend(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
                           extend(certificate, issuer, NID_ext_key_usage, is_server ? "serverAuth" : "clientAuth") &&
                           extend(certificate, issuer, NID_subject_key_identifier, "hash") &&
                           extend(certificate, issuer, NID_authority_key_identifier, "keyid") &&
                           (names.empty() || extend(certificate, issuer, NID_subject_alt_name, names));
  if (!is_extended) return fail(Reason::BadRequest, "certificate extension: " + tls_error_text());
  if (X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) <= 0)
    return fail(Reason::BadRequest, "signature: " + tls_error_text());
  return to_pem(certificate, key);
}

bool is_issued_by(std::string_view certificate_pem, std::string_view authority_pem) {
  const auto certificates = read_certificates(certificate_pem);
  const auto authorities = read_certificates(authority_pem);
  if (!certificates || !authorities) return false;
  return X509_verify(certificates->front().get(), X509_get0_pubkey(authorities->front().get())) == 1;
}

std::vector<std::string> server_names(const std::vector<std::string>& more) {
  std::vector<std::string> names{"127.0.0.1",
                                 "::1",
                                 "localhost",
                                 "kubernetes",
                                 "kubernetes.default",
                                 "kubernetes.default.svc",
                                 "kubernetes.default.svc.cluster.local"};
  for (const auto& name : more) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

CertificateInfo describe(x509_st* certificate) {
  CertificateInfo info;
  const auto common_names = entries(certificate, NID_commonName);
  if (!common_names.empty()) info.common_name = common_names.front();
  info.organizations = entries(certificate, NID_organizationName);
  info.names = alternative_names(certificate);
  info.not_before = to_time(X509_get0_notBefore(certificate));
  info.not_after = to_time(X509_get0_notAfter(certificate));
  info.is_authority = X509_check_ca(certificate) == 1;
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  if (size > 0) info.sha256 = sha256_hex({reinterpret_cast<char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return info;
}

Result<CertificateInfo> describe(std::string_view certificate_pem) {
  SLIPWAY_TRY(certificates, read_certificates(certificate_pem));
  return describe(certificates.front().get());
}

Result<std::vector<std::shared_ptr<x509_st>>> read_certificates(std::string_view pem) {
  std::vector<Certificate> found;
  const Bio bio = memory(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    found.emplace_back(certificate, X509_free);
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string problem = tls_error_text();
  if (found.empty() || !is_end) return fail(Reason::BadRequest, "no certificate can be read from the PEM text: " + problem);
  return found;
}

Result<std::shared_ptr<evp_pkey_st>> read_key(std::string_view pem) {
  const Bio bio = memory(pem);
  // An empty pass phrase instead of OpenSSL's question on the terminal.
  char no_phrase[] = "";
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_phrase), EVP_PKEY_free);
  if (!key) return fail(Reason::BadRequest, "no private key can be read from the PEM text: " + tls_error_text());
  return key;
}

}  // namespace slipway::net
