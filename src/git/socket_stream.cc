#include "git/socket_stream.h"

#include <fcntl.h>
#include <git2.h>
#include <git2/sys/stream.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace slipway::git {
namespace {

thread_local Attempt* current_attempt = nullptr;

constexpr int kConnectSliceMs = 50;  // between two checks of the attempt's end

// libgit2's ssh transport takes the socket out of the stream as if it were its own type (streams/socket.h), so the first four
// members are that type's. tests: ssh_* of remotes_test.
static_assert(LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR == 5, "compare SocketStream with libgit2's git_socket_stream");
struct SocketStream {
  git_stream parent;
  char* host;
  char* port;
  int socket;
  Attempt* attempt;
  bool has_answered;  // its first byte has come
};

SocketStream& self(git_stream* stream) { return *reinterpret_cast<SocketStream*>(stream); }

int complain(const char* message) {
  git_error_set_str(GIT_ERROR_NET, message);
  return -1;
}

/// Waits for a connection that was begun; false when it failed, its time is up or the attempt is over. `slices_left` is what
/// the addresses of a host have together.
bool is_connected(int socket, Attempt* attempt, std::int64_t& slices_left) {
  for (; attempt == nullptr || !attempt->is_expired(); --slices_left) {
    if (slices_left <= 0) {
      if (attempt != nullptr) attempt->set_silent();
      return false;
    }
    pollfd waiting{.fd = socket, .events = POLLOUT, .revents = 0};
    const int count = poll(&waiting, 1, kConnectSliceMs);
    if (count < 0 && errno != EINTR) return false;
    if (count <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0;
  }
  return false;
}

/// A read that waits longer than this fails; zero: it waits for ever.
void set_read_timeout(int socket, Duration wait) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wait);
  timeval value{};
  value.tv_sec = seconds.count();
  value.tv_usec = (wait - seconds) / std::chrono::microseconds{1};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
}

int open_socket(const addrinfo& address, Attempt* attempt, std::int64_t& slices_left) {
  const int made = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (made < 0) return -1;
  const bool is_begun = connect(made, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS;
  if (!is_begun || !is_connected(made, attempt, slices_left)) {
    close(made);
    return -1;
  }
  const int flags = fcntl(made, F_GETFL);
  fcntl(made, F_SETFL, flags & ~O_NONBLOCK);
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (attempt != nullptr) set_read_timeout(made, attempt->limits().first_byte);
  return made;
}

/// Forbidden when the attempt may not ask this address.
Result<void> check_allowed(const addrinfo& address, const Attempt* attempt) {
  if (attempt == nullptr || attempt->limits().addresses == nullptr) return {};
  AddressBytes bytes{};
  std::uint16_t port = 0;
  if (address.ai_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, address.ai_addr, sizeof four);
    std::array<std::uint8_t, 4> parts{};
    std::memcpy(parts.data(), &four.sin_addr, parts.size());
    bytes = mapped_ipv4(parts);
    port = ntohs(four.sin_port);
  } else if (address.ai_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, address.ai_addr, sizeof six);
    std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
    port = ntohs(six.sin6_port);
  }
  return attempt->limits().addresses->check(bytes, port);
}

int stream_connect(git_stream* stream) {
  SocketStream& one = self(stream);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(one.host, one.port, &hints, &found) != 0) return complain("the host's name cannot be resolved");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  const Duration connect = one.attempt == nullptr ? AttemptLimits{}.connect : one.attempt->limits().connect;
  std::optional<Status> refusal;
  bool is_tried = false;
  std::int64_t slices_left = connect / std::chrono::milliseconds{kConnectSliceMs};
  for (const addrinfo* at = found; at != nullptr && one.socket < 0 && slices_left > 0; at = at->ai_next) {
    if (auto allowed = check_allowed(*at, one.attempt); !allowed) {
      if (!refusal) refusal = std::move(allowed).error();
      continue;
    }
    is_tried = true;
    one.socket = open_socket(*at, one.attempt, slices_left);
  }
  if (!is_tried && refusal) one.attempt->refuse(*std::move(refusal));
  if (one.socket < 0) return complain("cannot connect");
  if (one.attempt != nullptr) one.attempt->add_socket(one.socket);
  return 0;
}

ssize_t stream_read(git_stream* stream, void* data, size_t size) {
  SocketStream& one = self(stream);
  while (true) {
    const ssize_t got = recv(one.socket, data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (one.attempt != nullptr) one.attempt->set_silent();
      return complain("the server does not answer");
    }
    if (got < 0) return complain("the connection was cut");
    if (one.attempt == nullptr) return got;
    if (!one.attempt->take(static_cast<std::uint64_t>(got))) return complain("the server sends too much");
    if (!std::exchange(one.has_answered, true)) set_read_timeout(one.socket, Duration{0});
    return got;
  }
}

ssize_t stream_write(git_stream* stream, const char* data, size_t size, int /*flags*/) {
  while (true) {
    const ssize_t put = send(self(stream).socket, data, size, MSG_NOSIGNAL);
    if (put >= 0) return put;
    if (errno != EINTR) return complain("the connection was cut");
  }
}

int stream_close(git_stream* stream) {
  SocketStream& one = self(stream);
  const int socket = std::exchange(one.socket, -1);
  if (socket < 0) return 0;
  if (one.attempt != nullptr) one.attempt->remove_socket(socket);
  return close(socket);
}

void stream_free(git_stream* stream) {
  stream_close(stream);
  SocketStream& one = self(stream);
  std::free(one.host);
  std::free(one.port);
  delete &one;
}

int stream_new(git_stream** out, const char* host, const char* port) {
  auto stream = std::make_unique<SocketStream>();
  stream->host = strdup(host);
  stream->port = strdup(port);
  stream->socket = -1;
  stream->attempt = current_attempt;
  stream->has_answered = false;
  stream->parent.version = GIT_STREAM_VERSION;
  stream->parent.connect = stream_connect;
  stream->parent.read = stream_read;
  stream->parent.write = stream_write;
  stream->parent.close = stream_close;
  stream->parent.free = stream_free;
  *out = &stream.release()->parent;
  return 0;
}

}  // namespace

void Attempt::expire() {
  is_expired_.store(true);
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

void Attempt::add_socket(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.push_back(socket);
  if (is_expired_.load()) shutdown(socket, SHUT_RDWR);
}

void Attempt::remove_socket(int socket) {
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
}

Attempt::Scope::Scope(Attempt& attempt) { current_attempt = &attempt; }
Attempt::Scope::~Scope() { current_attempt = nullptr; }

void register_socket_stream() {
  git_stream_registration registration{};
  registration.version = GIT_STREAM_VERSION;
  registration.init = stream_new;
  git_stream_register(GIT_STREAM_STANDARD, &registration);
}

}  // namespace slipway::git
