// A certificate authority of one's own, for the embedded API server: ECDSA P-256 keys, X.509 v3 certificates signed with
// SHA-256. Kubernetes reads the user from the common name of a client certificate and the groups from its organizations. Keys
// come from OpenSSL's own generator (the machine's entropy), never from Env::random.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"

struct x509_st;
struct evp_pkey_st;

namespace slipway::net {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;  // PKCS #8
};

struct CertificateRequest {
  std::string common_name{};
  std::vector<std::string> organizations{};
  std::vector<std::string> names{};  // subject alternative names: IP addresses or DNS names; only for servers
  enum class Use : std::uint8_t { server, client } use = Use::server;
  Time now{};
  Duration validity = std::chrono::hours{24 * 365};
};

/// A self-signed authority. `not before` is a minute earlier than `now`, for clocks that differ.
KeyPair make_authority(const std::string& common_name, Time now, Duration validity = std::chrono::hours{24 * 3650});
/// BadRequest when the authority cannot be read or a name is no DNS name or address.
Result<KeyPair> issue(const KeyPair& authority, const CertificateRequest& request);
/// Whether the first certificate of `certificate_pem` bears the signature of the authority; its times are not looked at.
bool is_issued_by(std::string_view certificate_pem, std::string_view authority_pem);
/// 127.0.0.1, ::1, localhost, kubernetes, kubernetes.default, kubernetes.default.svc, kubernetes.default.svc.cluster.local and
/// `more`, without doubles.
std::vector<std::string> server_names(const std::vector<std::string>& more);

struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> names;
  Time not_before;
  Time not_after;
  bool is_authority = false;
  std::string sha256;  // of the DER form, lower-case hexadecimal
};
/// The first certificate of a PEM text.
Result<CertificateInfo> describe(std::string_view certificate_pem);
CertificateInfo describe(x509_st* certificate);

/// All certificates of a PEM text, at least one; BadRequest otherwise.
Result<std::vector<std::shared_ptr<x509_st>>> read_certificates(std::string_view pem);
Result<std::shared_ptr<evp_pkey_st>> read_key(std::string_view pem);

}  // namespace slipway::net
