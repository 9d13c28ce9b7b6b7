#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <cerrno>

#include "base/check.h"
#include "net/certificate.h"

namespace slipway::net {
namespace {

constexpr unsigned char kAlpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

using Bytes = const unsigned char*;

int select_protocol(SSL*, Bytes* out, unsigned char* out_size, Bytes offered, unsigned size, void*) {
  unsigned char* chosen = nullptr;
  const int outcome = SSL_select_next_proto(&chosen, out_size, kAlpn, sizeof kAlpn, offered, size);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/// Lets the handshake go on whatever came out; SSL_get_verify_result() keeps the outcome.
int verify_later(X509_STORE_CTX* store, void*) {
  X509_verify_cert(store);
  return 1;
}

// A BIO over a socket that neither raises SIGPIPE nor needs buffers of its own.

int descriptor_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

int finish_transfer(BIO* bio, ssize_t count, int retry_flag) {
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
  return static_cast<int>(count);
}
int write_socket(BIO* bio, const char* bytes, int size) {
  return finish_transfer(bio, send(descriptor_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}
int read_socket(BIO* bio, char* bytes, int size) {
  const ssize_t count = recv(descriptor_of(bio), bytes, static_cast<std::size_t>(size), 0);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return finish_transfer(bio, count, BIO_FLAGS_READ);
}
long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/// The method table of such BIOs. Constant once made, and needed by every session until the process ends.
const BIO_METHOD* socket_method() {
  static const std::shared_ptr<BIO_METHOD> kMethod = [] {
    std::shared_ptr<BIO_METHOD> method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "slipway socket"),
                                       BIO_meth_free);
    BIO_meth_set_write(method.get(), write_socket);
    BIO_meth_set_read(method.get(), read_socket);
    BIO_meth_set_ctrl(method.get(), control_socket);
    return method;
  }();
  return kMethod.get();
}

Result<void> use_identity(SSL_CTX* context, const std::string& certificate_pem, const std::string& key_pem) {
  SLIPWAY_TRY(chain, read_certificates(certificate_pem));
  SLIPWAY_TRY(key, read_key(key_pem));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1)
    return fail(Reason::BadRequest, "certificate: " + tls_error_text());
  for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) return fail(Reason::BadRequest, "private key: " + tls_error_text());
  return {};
}

Result<void> believe(SSL_CTX* context, const std::string& authority_pem) {
  SLIPWAY_TRY(authorities, read_certificates(authority_pem));
  for (const auto& authority : authorities) X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
  return {};
}

std::shared_ptr<SSL_CTX> fresh_context(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  SLIPWAY_CHECK(context != nullptr, "OpenSSL makes no context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

}  // namespace

Result<TlsContext> TlsContext::server(const TlsServerOptions& options) {
  TlsContext made;
  made.is_server_ = true;
  made.context_ = fresh_context(TLS_server_method());
  SSL_CTX* context = made.context_.get();
  SLIPWAY_TRY_VOID(use_identity(context, options.certificate_pem, options.key_pem));
  SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
  if (!options.client_authority_pem.empty()) {
    SLIPWAY_TRY_VOID(believe(context, options.client_authority_pem));
    SLIPWAY_TRY(authorities, read_certificates(options.client_authority_pem));
    for (const auto& authority : authorities) SSL_CTX_add_client_CA(context, authority.get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context, verify_later, nullptr);
  }
  return made;
}

Result<TlsContext> TlsContext::client(const TlsClientOptions& options) {
  TlsContext made;
  made.context_ = fresh_context(TLS_client_method());
  made.server_name_ = options.server_name;
  made.is_insecure_ = options.is_insecure;
  SSL_CTX* context = made.context_.get();
  if (!options.certificate_pem.empty()) SLIPWAY_TRY_VOID(use_identity(context, options.certificate_pem, options.key_pem));
  if (!options.authority_pem.empty()) {
    SLIPWAY_TRY_VOID(believe(context, options.authority_pem));
  } else if (!options.is_insecure) {
    made.system_trust_ = std::make_shared<std::once_flag>();
  }
  SSL_CTX_set_verify(context, options.is_insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn);
  return made;
}

std::shared_ptr<ssl_st> TlsContext::session(int descriptor, const std::string& host) const {
  if (system_trust_) std::call_once(*system_trust_, [this] { SSL_CTX_set_default_verify_paths(context_.get()); });
  std::shared_ptr<SSL> session(SSL_new(context_.get()), SSL_free);
  SLIPWAY_CHECK(session != nullptr, "OpenSSL makes no session");
  BIO* bio = BIO_new(socket_method());
  SLIPWAY_CHECK(bio != nullptr, "OpenSSL makes no BIO");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
  BIO_set_init(bio, 1);
  SSL_set_bio(session.get(), bio, bio);
  if (is_server_) {
    SSL_set_accept_state(session.get());
    return session;
  }
  SSL_set_connect_state(session.get());
  const std::string& name = server_name_.empty() ? host : server_name_;
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  if (not_an_address) {
    SSL_set_tlsext_host_name(session.get(), name.c_str());
    if (!is_insecure_) SSL_set1_host(session.get(), name.c_str());
  } else if (!is_insecure_) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), name.c_str());
  }
  return session;
}

PeerCertificate peer_certificate(ssl_st* session) {
  PeerCertificate peer;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(session), X509_free);
  if (!certificate) return peer;
  const CertificateInfo info = describe(certificate.get());
  peer.common_name = info.common_name;
  peer.organizations = info.organizations;
  peer.sha256 = info.sha256;
  const long outcome = SSL_get_verify_result(session);
  peer.is_verified = outcome == X509_V_OK && SSL_get_verify_mode(session) != SSL_VERIFY_NONE;
  if (outcome != X509_V_OK) peer.problem = X509_verify_cert_error_string(outcome);
  return peer;
}

std::string tls_error_text() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS error" : reason;
}

}  // namespace slipway::net
