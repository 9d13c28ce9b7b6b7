#include "os/relay.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace slipway::os {
namespace {

constexpr int kFirstPauseMs = 2;
constexpr int kLongestPauseMs = 20;
constexpr std::size_t kChunkDigits = 20;
constexpr char kEndOfFile = 4;  // ^D, a terminal's VEOF

bool is_chunk(std::string_view name) {
  return name.size() == kChunkDigits && name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name of the oldest chunk of input; empty without one.
std::string oldest_chunk(const std::string& folder) {
  std::string oldest;
  DIR* const listing = opendir(folder.c_str());
  if (listing == nullptr) return oldest;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (is_chunk(name) && (oldest.empty() || name < oldest)) oldest = name;
  }
  closedir(listing);
  return oldest;
}

class Relay {
 public:
  Relay(const std::string& folder, pid_t container, int near, int log, bool is_terminal)
      : folder_(folder), container_(container), near_(near), log_(log), is_terminal_(is_terminal) {}

  void run() {
    int pause = kFirstPauseMs;
    while (!is_over_) {
      const bool has_moved = take_chunk();
      if (is_terminal_) resize();
      pause = has_moved ? kFirstPauseMs : std::min(pause + 1, kLongestPauseMs);
      if (wait(pause)) pause = kFirstPauseMs;
    }
  }

 private:
  /// Reads the next chunk once the one before it has gone.
  bool take_chunk() {
    if (folder_.empty() || !pending_.empty() || has_ended_) return false;
    const std::string name = oldest_chunk(folder_);
    if (name.empty()) return false;
    const std::string path = folder_ + "/" + name;
    auto content = read_file(path);
    unlink(path.c_str());
    if (!content) return false;
    pending_ = std::move(*content);
    if (!pending_.empty()) return true;
    has_ended_ = true;
    if (is_terminal_) pending_ = kEndOfFile;
    is_over_ = !is_terminal_;  // our end closes with us
    return true;
  }

  /// Whether bytes have moved.
  bool wait(int pause_ms) {
    const short wanted = static_cast<short>((is_terminal_ ? POLLIN : 0) | (pending_.empty() ? 0 : POLLOUT));
    pollfd descriptor = {.fd = is_over_ ? -1 : near_, .events = wanted, .revents = 0};
    if (poll(&descriptor, 1, pause_ms) <= 0) return false;
    if ((descriptor.revents & POLLOUT) != 0) send();
    if (is_terminal_ && (descriptor.revents & (POLLIN | POLLHUP)) != 0) return show();
    if (!is_terminal_ && (descriptor.revents & (POLLERR | POLLHUP)) != 0) drop_all();
    return true;
  }

  void send() {
    const ssize_t written = write(near_, pending_.data(), pending_.size());
    if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) pending_.clear();
  }

  bool show() {
    char buffer[16 * 1024];
    const ssize_t got = read(near_, buffer, sizeof buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {  // EIO: no process has the terminal open any more
      is_over_ = true;
      return false;
    }
    for (ssize_t at = 0; at < got;) {
      const ssize_t written = write(log_, buffer + at, static_cast<std::size_t>(got - at));
      if (written <= 0) break;  // a full disk loses output, as it does for a log
      at += written;
    }
    return true;
  }

  /// The reader has gone: what still comes is dropped, so that its sender does not wait, until the container has ended.
  void drop_all() {
    is_over_ = kill(container_, 0) != 0;
    pending_.clear();
    for (std::string name = oldest_chunk(folder_); !name.empty(); name = oldest_chunk(folder_)) {
      if (unlink((folder_ + "/" + name).c_str()) != 0) break;
    }
    poll(nullptr, 0, kLongestPauseMs);
  }

  void resize() {
    if (folder_.empty()) return;
    const auto text = read_file(fmt::format("{}/{}", folder_, kPodWindowFile));
    if (!text || *text == window_) return;
    window_ = *text;
    winsize size = {};
    const char* const end = window_.data() + window_.size();
    const auto columns = std::from_chars(window_.data(), end, size.ws_col);
    if (columns.ec == std::errc() && columns.ptr != end) std::from_chars(columns.ptr + 1, end, size.ws_row);
    ioctl(near_, TIOCSWINSZ, &size);
  }

  std::string folder_;
  pid_t container_;
  int near_;
  int log_;
  bool is_terminal_;
  bool has_ended_ = false;
  bool is_over_ = false;
  std::string pending_;
  std::string window_;
};

std::string failure(std::string_view what) { return fmt::format("{}: {}", what, strerrordesc_np(errno)); }

/// Null when it fails; errno tells.
Descriptor open_log(const std::string& path) {
  return Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

bool open_terminal(Streams& streams) {
  streams.is_terminal = true;
  streams.near = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[128];
  if (!streams.near || grantpt(streams.near.get()) != 0 || unlockpt(streams.near.get()) != 0 ||
      ptsname_r(streams.near.get(), name, sizeof name) != 0) {
    return false;
  }
  for (Descriptor* end : {&streams.in, &streams.out, &streams.error}) {
    *end = Descriptor(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!*end) return false;
  }
  return true;
}

bool open_pipe(Streams& streams) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  streams.in = Descriptor(ends[0]);
  streams.near = Descriptor(ends[1]);
  return fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

std::expected<Streams, std::string> open_streams(const PodContainer& container) {
  Streams streams;
  const std::string log = container.log.empty() ? "/dev/null" : container.log;
  streams.out = open_log(log);
  if (!streams.out) return std::unexpected(failure("cannot open log " + log));
  if (container.has_terminal) {
    streams.log = std::move(streams.out);
    if (!open_terminal(streams)) return std::unexpected(failure("cannot open a terminal"));
    return streams;
  }
  const std::string error_log = container.error_log.empty() ? log : container.error_log;
  streams.error = open_log(error_log);
  if (!streams.error) return std::unexpected(failure("cannot open log " + error_log));
  if (!container.input.empty()) {
    if (!open_pipe(streams)) return std::unexpected(failure("cannot make a pipe"));
    return streams;
  }
  streams.in = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!streams.in) return std::unexpected(failure("cannot open /dev/null"));
  return streams;
}

pid_t start_relay(const PodContainer& container, pid_t process, const Streams& streams) {
  if (!streams.near) return 0;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return std::max<pid_t>(child, 0);
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  // The container's ends must not stay open here, nor the supervisor's lock; near and log come to known places first.
  const int near = fcntl(streams.near.get(), F_DUPFD, 100);
  const int log = near < 0 ? -1 : streams.log ? dup2(streams.log.get(), near + 1) : near;
  if (near < 0 || log < 0) _exit(1);
  close_range(0, static_cast<unsigned>(near) - 1, 0);
  close_range(static_cast<unsigned>(log) + 1, ~0U, 0);
  Relay(container.input, process, near, log, streams.is_terminal).run();
  _exit(0);
}

}  // namespace slipway::os
