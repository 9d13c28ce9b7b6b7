// The sockets of libgit2's transports (http, https below its TLS, ssh), with an end: libgit2 1.5 has no time-outs of its own.
// An operation on a lane's thread names itself (`Attempt::Scope`); whoever watches the clock calls expire(), which shuts its
// sockets down, so that whatever waits on them fails at once.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

namespace slipway::git {

/// One operation that may use the network. Shared by the thread that runs it and the logic thread, which may end it.
class Attempt {
 public:
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
  std::atomic<bool> is_expired_ = false;
  std::mutex mutex_;
  std::vector<int> sockets_;
};

/// REQUIRES: libgit2 was started.
void register_socket_stream();

}  // namespace slipway::git
