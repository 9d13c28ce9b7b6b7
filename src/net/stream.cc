#include "net/stream.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/address_policy.h"
#include "base/count.h"

namespace slipway::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kPiece = 16 * 1024;  // a TLS record

enum class Turn : std::uint8_t { done, end, needs_read, needs_write, failed };
struct Attempt {
  Turn turn = Turn::failed;
  std::size_t bytes = 0;
  std::string problem;
};

auto catching(error_code& error) { return boost::asio::redirect_error(boost::asio::use_awaitable_t<Executor>{}, error); }

std::string address_text(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return fmt::format("{}{}{}:{}", address.is_v6() ? "[" : "", address.to_string(), address.is_v6() ? "]" : "", endpoint.port());
}

std::unexpected<Status> cut(std::string why) { return fail(Reason::ServiceUnavailable, "connection: " + std::move(why)); }

}  // namespace

struct Stream::Parts {
  Parts(Env& handed, tcp::socket connected) : env(handed), socket(std::move(connected)) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.set_option(tcp::no_delay(true), ignored);
    const auto endpoint = socket.remote_endpoint(ignored);
    if (!ignored) peer_endpoint = endpoint;
  }

  Attempt read(std::string& into, std::size_t limit);
  Attempt write(std::string_view bytes);
  Attempt handshake();
  Attempt tls_outcome(int returned);
  /// Until the socket can be read (written), or the end of patience. `is_reading`: ended by interrupt_reading(), too.
  Task<Result<void>> wait(Turn turn, Deadline deadline, bool is_reading);

  Env& env;
  tcp::socket socket;
  tcp::endpoint peer_endpoint;
  std::shared_ptr<SSL> tls;
  PeerCertificate certificate;
  bool is_interrupted = false;
};

Attempt Stream::Parts::tls_outcome(int returned) {
  switch (SSL_get_error(tls.get(), returned)) {
    case SSL_ERROR_NONE:
      return {.turn = Turn::done, .bytes = returned > 0 ? static_cast<std::size_t>(returned) : 0, .problem = {}};
    case SSL_ERROR_ZERO_RETURN:
      return {.turn = Turn::end, .bytes = 0, .problem = {}};
    case SSL_ERROR_WANT_READ:
      return {.turn = Turn::needs_read, .bytes = 0, .problem = {}};
    case SSL_ERROR_WANT_WRITE:
      return {.turn = Turn::needs_write, .bytes = 0, .problem = {}};
    default:
      break;
  }
  const bool is_reported = ERR_peek_error() != 0;
  return {.turn = Turn::failed, .bytes = 0, .problem = is_reported ? tls_error_text() : "closed by the peer"};
}

Attempt Stream::Parts::read(std::string& into, std::size_t limit) {
  std::array<char, kPiece> buffer;
  const std::size_t size = std::min(limit, buffer.size());
  Attempt attempt;
  if (tls) {
    ERR_clear_error();
    attempt = tls_outcome(SSL_read(tls.get(), buffer.data(), static_cast<int>(size)));
  } else {
    const ssize_t count = recv(socket.native_handle(), buffer.data(), size, 0);
    if (count > 0) {
      attempt = {.turn = Turn::done, .bytes = static_cast<std::size_t>(count), .problem = {}};
    } else if (count == 0) {
      attempt.turn = Turn::end;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      attempt.turn = Turn::needs_read;
    } else {
      attempt.problem = std::strerror(errno);
    }
  }
  into.append(buffer.data(), attempt.bytes);
  return attempt;
}

Attempt Stream::Parts::write(std::string_view bytes) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), std::size_t{1} << 20);
  if (tls) {
    ERR_clear_error();
    return tls_outcome(SSL_write(tls.get(), bytes.data(), static_cast<int>(size)));
  }
  const ssize_t count = send(socket.native_handle(), bytes.data(), size, MSG_NOSIGNAL);
  if (count >= 0) return {.turn = Turn::done, .bytes = static_cast<std::size_t>(count), .problem = {}};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {.turn = Turn::needs_write, .bytes = 0, .problem = {}};
  return {.turn = Turn::failed, .bytes = 0, .problem = std::strerror(errno)};
}

Attempt Stream::Parts::handshake() {
  ERR_clear_error();
  return tls_outcome(SSL_do_handshake(tls.get()));
}

Task<Result<void>> Stream::Parts::wait(Turn turn, Deadline deadline, bool is_reading) {
  bool is_late = false;
  std::unique_ptr<Timer> timer;
  if (deadline) {
    timer = env.clock.call_at(*deadline, [this, &is_late] {
      is_late = true;
      error_code ignored;
      socket.cancel(ignored);  // wakes both directions; the other one sees that it is not meant
    });
  }
  const auto what = turn == Turn::needs_read ? tcp::socket::wait_read : tcp::socket::wait_write;
  while (true) {
    if (!socket.is_open()) co_return cut("closed");
    if (is_reading && is_interrupted) co_return cut("reading was interrupted");
    if (is_late) co_return fail(Reason::Timeout, "connection: timed out");
    error_code error;
    co_await socket.async_wait(what, catching(error));
    if (!error) co_return Result<void>{};
    if (error != boost::asio::error::operation_aborted) co_return cut(error.message());
  }
}

Stream::Stream(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Stream::~Stream() = default;

namespace {

AddressBytes bytes_of(const boost::asio::ip::address& address) {
  return address.is_v4() ? mapped_ipv4(address.to_v4().to_bytes()) : address.to_v6().to_bytes();
}

/// Leaves the endpoints that may be called; why not, when there is none.
Result<void> keep_allowed(std::vector<tcp::endpoint>& endpoints, const AddressPolicy& policy) {
  Result<void> refusal;
  std::erase_if(endpoints, [&](const tcp::endpoint& one) {
    auto checked = policy.check(bytes_of(one.address()), one.port());
    if (checked) return false;
    refusal = std::move(checked);
    return true;
  });
  return endpoints.empty() ? refusal : Result<void>{};
}

}  // namespace

Task<Result<std::shared_ptr<Stream>>> Stream::connect(Env& env, std::string host, std::string port, Deadline deadline,
                                                      const AddressPolicy* policy) {
  tcp::resolver resolver(env.executor);
  tcp::socket socket(env.executor);
  bool is_late = false;
  std::unique_ptr<Timer> timer;
  if (deadline) {
    timer = env.clock.call_at(*deadline, [&] {
      is_late = true;
      error_code ignored;
      resolver.cancel();
      socket.close(ignored);
    });
  }
  error_code error;
  tcp::resolver::results_type found;
  error_code not_an_address;
  if (const auto address = boost::asio::ip::make_address(host, not_an_address); !not_an_address) {
    found = tcp::resolver::results_type::create(tcp::endpoint(address, static_cast<unsigned short>(leading_count(port))), host,
                                                port);
  } else {
    found = co_await resolver.async_resolve(host, port, catching(error));
    if (!error && found.empty()) error = boost::asio::error::host_not_found;
  }
  std::vector<tcp::endpoint> endpoints(found.begin(), found.end());
  if (policy != nullptr) SLIPWAY_CO_TRY_VOID(keep_allowed(endpoints, *policy));
  for (std::size_t i = 0; i < endpoints.size() && !is_late && (i == 0 || error); ++i) {
    if (socket.is_open()) socket.close(error);
    co_await socket.async_connect(endpoints[i], catching(error));
  }
  if (is_late) co_return fail(Reason::Timeout, fmt::format("dial tcp {}:{}: timed out", host, port));
  if (error) co_return fail(Reason::ServiceUnavailable, fmt::format("dial tcp {}:{}: {}", host, port, error.message()));
  co_return std::make_shared<Stream>(std::make_unique<Parts>(env, std::move(socket)));
}

Task<Result<void>> Stream::start_tls(TlsContext context, std::string host, Deadline deadline) {
  Parts& parts = *parts_;
  parts.tls = context.session(parts.socket.native_handle(), host);
  while (true) {
    if (!parts.socket.is_open()) co_return cut("closed");
    const Attempt attempt = parts.handshake();
    if (attempt.turn == Turn::done) break;
    if (attempt.turn == Turn::end) co_return cut("closed within the TLS handshake");
    if (attempt.turn == Turn::failed) {
      const long verified = SSL_get_verify_result(parts.tls.get());
      if (context.is_server() || verified == X509_V_OK) co_return cut("TLS handshake: " + attempt.problem);
      co_return fail(Reason::Unauthorized, fmt::format("certificate of {}: {}", host, X509_verify_cert_error_string(verified)));
    }
    SLIPWAY_CO_TRY_VOID(co_await parts.wait(attempt.turn, deadline, true));
  }
  parts.certificate = peer_certificate(parts.tls.get());
  co_return Result<void>{};
}

Task<Result<std::size_t>> Stream::read(std::string& into, std::size_t limit, Deadline deadline) {
  while (true) {
    if (!is_open()) co_return cut("closed");
    Turn turn = Turn::failed;
    {
      Attempt attempt = parts_->read(into, limit);
      if (attempt.turn == Turn::done) co_return attempt.bytes;
      if (attempt.turn == Turn::end) co_return std::size_t{0};
      if (attempt.turn == Turn::failed) co_return cut(std::move(attempt.problem));
      turn = attempt.turn;
    }
    SLIPWAY_CO_TRY_VOID(co_await parts_->wait(turn, deadline, true));
  }
}

Result<std::optional<std::size_t>> Stream::read_ready(std::string& into, std::size_t limit) {
  if (!is_open()) return cut("closed");
  const Attempt attempt = parts_->read(into, limit);
  if (attempt.turn == Turn::failed) return cut(attempt.problem);
  if (attempt.turn == Turn::needs_read || attempt.turn == Turn::needs_write) return std::optional<std::size_t>{};
  return std::optional<std::size_t>(attempt.bytes);
}

Task<Result<void>> Stream::write(std::string bytes, Duration stall) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    if (!is_open()) co_return cut("closed");
    const Attempt attempt = parts_->write(std::string_view(bytes).substr(sent));
    sent += attempt.bytes;
    if (attempt.turn == Turn::done) continue;
    if (attempt.turn == Turn::end || attempt.turn == Turn::failed) co_return cut(attempt.problem);
    SLIPWAY_CO_TRY_VOID(co_await parts_->wait(attempt.turn, parts_->env.clock.steady() + stall, false));
  }
  co_return Result<void>{};
}

void Stream::interrupt_reading() {
  parts_->is_interrupted = true;
  error_code ignored;
  if (is_open()) parts_->socket.cancel(ignored);
}

void Stream::resume_reading() { parts_->is_interrupted = false; }

void Stream::finish_writing() {
  if (!is_open()) return;
  if (parts_->tls && SSL_is_init_finished(parts_->tls.get()) != 0) {
    ERR_clear_error();
    SSL_shutdown(parts_->tls.get());
    ERR_clear_error();
  }
  error_code ignored;
  parts_->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void Stream::close() {
  error_code ignored;
  parts_->socket.close(ignored);
}

bool Stream::is_open() const { return parts_->socket.is_open(); }
bool Stream::is_tls() const { return parts_->tls != nullptr; }
const PeerCertificate& Stream::peer() const { return parts_->certificate; }
std::string Stream::peer_address() const { return address_text(parts_->peer_endpoint); }

struct Listener::Parts {
  Parts(Env& handed, tcp::acceptor open) : env(handed), acceptor(std::move(open)) {}

  Env& env;
  tcp::acceptor acceptor;
};

Result<Listener> Listener::open(Env& env, const std::string& address, unsigned short port) {
  error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error) return fail(Reason::BadRequest, fmt::format("\"{}\" is not an IP address to listen on", address));
  const tcp::endpoint endpoint(parsed, port);
  tcp::acceptor acceptor(env.executor);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) return Listener(std::make_unique<Parts>(env, std::move(acceptor)));
  const Reason reason = error == boost::asio::error::address_in_use  ? Reason::AlreadyExists
                        : error == boost::asio::error::access_denied ? Reason::Forbidden
                                                                     : Reason::InternalError;
  return fail(reason, fmt::format("listen on {}: {}", address_text(endpoint), error.message()));
}

Listener::Listener(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener::~Listener() = default;

Task<Result<std::shared_ptr<Stream>>> Listener::accept() {
  while (true) {
    if (!parts_->acceptor.is_open()) co_return cut("the listener is closed");
    error_code error;
    tcp::socket socket = co_await parts_->acceptor.async_accept(catching(error));
    if (!error) co_return std::make_shared<Stream>(std::make_unique<Stream::Parts>(parts_->env, std::move(socket)));
    if (error == boost::asio::error::operation_aborted) continue;
    co_await sleep_for(parts_->env, std::chrono::milliseconds{20});  // no descriptors left, or the peer has gone already
  }
}

void Listener::close() {
  error_code ignored;
  parts_->acceptor.close(ignored);
}

unsigned short Listener::port() const {
  error_code ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

std::string Listener::address() const {
  error_code ignored;
  return address_text(parts_->acceptor.local_endpoint(ignored));
}

}  // namespace slipway::net
