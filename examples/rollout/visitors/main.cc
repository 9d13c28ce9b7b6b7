// demo_visitors PORT RATE: asks 127.0.0.1:PORT for / so many times a second, each time over a connection of its own, and counts
// who answers. Each line on standard input is answered by one on standard output with the counts since the line before; it ends
// with the input. Plain POSIX sockets; one request after the other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

/// The whole answer; empty when there is none.
std::string ask(std::uint16_t port) {
  const sockaddr_in place{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string answer;
  const std::string request = "GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n";
  if (connect(connection, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
      write(connection, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char bytes[4096];
    for (ssize_t count = 0; (count = read(connection, bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<std::size_t>(count));
  }
  close(connection);
  return answer;
}

struct Counts {
  std::map<std::string, long> answers;  // by version
  long total = 0;
  long errors = 0;

  void add(const std::string& answer) {
    ++total;
    if (!answer.starts_with("HTTP/1.1 200 ")) ++errors;
    const std::string mark = ", version ";
    const std::size_t at = answer.find(mark);
    if (at != std::string::npos) ++answers[answer.substr(at + mark.size(), answer.find('\n', at) - at - mark.size())];
  }

  void print() const {
    std::printf("%ld requests", total);
    for (const auto& [version, count] : answers)
      std::printf(", %.1f %% answered by %s", 100.0 * count / total, version.c_str());
    std::printf(", %ld failed\n", errors);
    std::fflush(stdout);
  }
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: demo_visitors PORT RATE\n", stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const auto port = static_cast<std::uint16_t>(std::atoi(words[1]));
  const auto pause = std::chrono::microseconds{1'000'000 / std::max(1, std::atoi(words[2]))};
  Counts counts;
  for (auto next = Clock::now();;) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    if (poll(&input, 1, static_cast<int>(std::max<long>(left, 0))) > 0) {
      char bytes[256];
      if (read(STDIN_FILENO, bytes, sizeof bytes) <= 0) return 0;
      counts.print();
      counts = {};
    }
    if (Clock::now() < next) continue;
    counts.add(ask(port));
    next = std::max(next + pause, Clock::now() - std::chrono::seconds{1});
  }
}
