// The sockets of libgit2's transports (http, https below its TLS, ssh), with an end: libgit2 1.5 has no time-outs of its own.
// An operation on a lane's thread names itself (`Attempt::Scope`); whoever watches the clock calls expire(), which shuts its
// sockets down, so that whatever waits on them fails at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/address_policy.h"
#include "base/time.h"

namespace slipway::git {

/// What bounds an operation beside its time-out.
struct AttemptLimits {
  Duration connect = std::chrono::seconds{10};
  Duration first_byte = std::chrono::seconds{10};       // from the connection to the server's first byte; not over ssh
  std::uint64_t before_pack = std::uint64_t{64} << 20;  // bytes received before a pack is asked for; not over ssh
  const AddressPolicy* addresses = nullptr;             // which servers may be asked; null: any. Outlives the attempt
};

/// One operation that may use the network. Shared by the thread that runs it and the logic thread, which may end it; all but
/// expire() and is_expired() is the running thread's.
class Attempt {
 public:
  explicit Attempt(AttemptLimits limits = {}) : limits_(limits), allowed_(limits.before_pack) {}
  const AttemptLimits& limits() const { return limits_; }

  /// From now on so many bytes may come.
  void allow(std::uint64_t bytes) {
    allowed_ = bytes;
    received_ = 0;
  }
  /// Counts bytes that came; false when they are more than allowed.
  bool take(std::uint64_t bytes) { return (received_ += bytes) <= allowed_; }
  bool has_overflown() const { return received_ > allowed_; }
  std::uint64_t allowed() const { return allowed_; }
  /// The server was not there, or said nothing, within its time.
  void set_silent() { is_silent_ = true; }
  bool is_silent() const { return is_silent_; }
  /// No address of the server may be asked, and why.
  void refuse(Status refusal) { refusal_ = std::move(refusal); }
  const std::optional<Status>& refusal() const { return refusal_; }

  /// From any thread; idempotent.
  void expire();
  bool is_expired() const { return is_expired_.load(); }

  void add_socket(int socket);
  void remove_socket(int socket);

  /// Sockets that are opened on this thread from now on belong to `attempt`. Thread-local because libgit2 passes nothing but
  /// host and port to whoever makes a stream.
  class Scope {
   public:
    explicit Scope(Attempt& attempt);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

 private:
  AttemptLimits limits_;
  std::uint64_t allowed_ = 0;
  std::uint64_t received_ = 0;
  bool is_silent_ = false;
  std::optional<Status> refusal_;
  std::atomic<bool> is_expired_ = false;
  std::mutex mutex_;
  std::vector<int> sockets_;
};

/// REQUIRES: libgit2 was started.
void register_socket_stream();

}  // namespace slipway::git
