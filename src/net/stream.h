// A connected socket, plain or TLS, as coroutines see it. Reading and writing may go on at the same time, one of each. A stream
// that waits holds no buffer: an idle connection costs a socket, a few coroutine frames and, with TLS, OpenSSL's session.
// Deadlines are of the Env's steady clock. A stream is shared by those who use it, and closed by its last owner at the latest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "net/tls.h"

namespace slipway {
class AddressPolicy;
}

namespace slipway::net {

using Deadline = std::optional<Steady>;

class Stream {
 public:
  struct Parts;
  explicit Stream(std::unique_ptr<Parts> parts);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Connects to a host name or address. ServiceUnavailable, Timeout. With a policy, which must live until then: to those of
  /// its addresses that are allowed; Forbidden when none is.
  static Task<Result<std::shared_ptr<Stream>>> connect(Env& env, std::string host, std::string port, Deadline deadline,
                                                       const AddressPolicy* policy = nullptr);

  /// As a server or as a client (`host` is what the certificate must name), by the context's kind. REQUIRES: nothing was read
  /// or written. Unauthorized when the server's certificate is not believed; ServiceUnavailable, Timeout.
  Task<Result<void>> start_tls(TlsContext context, std::string host, Deadline deadline);

  /// Appends at least one byte to `into`, `limit` at most; 0 at the end. Timeout; ServiceUnavailable when cut or interrupted.
  /// `into` must live until then.
  Task<Result<std::size_t>> read(std::string& into, std::size_t limit, Deadline deadline);
  /// What has come already, without waiting: the number of bytes; 0 at the end; nullopt when nothing is there.
  Result<std::optional<std::size_t>> read_ready(std::string& into, std::size_t limit);
  /// All of `bytes`. Timeout when the peer takes nothing for `stall`.
  Task<Result<void>> write(std::string bytes, Duration stall);
  /// Ends a read that waits, and those to come until resume_reading(), with ServiceUnavailable.
  void interrupt_reading();
  void resume_reading();

  /// Tells the peer that nothing will follow (TLS close_notify, then FIN).
  void finish_writing();
  /// Ends everything that waits with ServiceUnavailable.
  void close();
  bool is_open() const;

  bool is_tls() const;
  /// What the peer showed in its handshake; an empty sha256 when it showed nothing.
  const PeerCertificate& peer() const;
  /// "127.0.0.1:4711"
  std::string peer_address() const;

 private:
  std::unique_ptr<Parts> parts_;
};

/// Listens on a TCP address. Accepted streams belong to the caller.
class Listener {
 public:
  /// `port` 0: any. BadRequest for a malformed address; AlreadyExists when it is in use; Forbidden; InternalError.
  static Result<Listener> open(Env& env, const std::string& address, unsigned short port);
  Listener(Listener&&) noexcept;
  ~Listener();

  /// The next connection. ServiceUnavailable after close(). When the process has no descriptors left it waits for one.
  Task<Result<std::shared_ptr<Stream>>> accept();
  void close();
  unsigned short port() const;
  std::string address() const;

 private:
  struct Parts;
  explicit Listener(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace slipway::net
