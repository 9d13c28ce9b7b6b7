#include "etcd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.h"

namespace slipway::bench {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

pid_t start(std::vector<std::string> argv) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  std::vector<char*> args;
  for (std::string& one : argv) args.push_back(one.data());
  args.push_back(nullptr);
  execvp(args[0], args.data());
  _exit(127);
}

/// Whether head and body of an answer have come; etcd says the length of every answer asked for here.
bool is_whole(const std::string& answer) {
  constexpr std::string_view mark = "\r\nContent-Length: ";
  const std::size_t head = answer.find("\r\n\r\n");
  const std::size_t length = answer.find(mark);
  if (head == std::string::npos || length > head) return false;
  return answer.size() >= head + 4 + std::strtoul(answer.c_str() + length + mark.size(), nullptr, 10);
}

}  // namespace

std::array<int, 2> free_ports() {
  std::array<int, 2> sockets{};
  std::array<int, 2> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    SLIPWAY_CHECK(bind(sockets[i], reinterpret_cast<sockaddr*>(&address), size) == 0, "no free port");
    SLIPWAY_CHECK(getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ports[i] = ntohs(address.sin_port);
  }
  for (const int one : sockets) close(one);
  return ports;
}

std::string ask_etcd(int connection, const std::string& path, const std::string& body) {
  const std::string request =
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
                  body.size(), body);
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return "";
  std::string answer;
  std::array<char, 4096> buffer{};
  while (!is_whole(answer)) {
    const ssize_t got = recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0) return "";
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer.starts_with("HTTP/1.1 200") ? answer : "";
}

Etcd::Etcd(const std::string& folder) : name_(fmt::format("slipway-bench-{}", getpid())) {
  std::filesystem::remove_all(folder);
  const auto [client_port, peer_port] = free_ports();
  port_ = client_port;
  const std::string url = fmt::format("http://127.0.0.1:{}", client_port);
  const std::string peer = fmt::format("http://127.0.0.1:{}", peer_port);
  pid_ = start({"etcd", "--name", name_, "--data-dir", folder, "--listen-client-urls", url, "--advertise-client-urls", url,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", name_ + "=" + peer});
  for (int i = 0; i < 100 && !is_ready_; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = 0;
      return;
    }
    is_ready_ = says_its_name();
    if (!is_ready_) std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
}

Etcd::~Etcd() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

int Etcd::connect() const {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port_);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }
  close(fd);
  return -1;
}

bool Etcd::says_its_name() const {
  const int fd = connect();
  if (fd < 0) return false;
  const std::string answer = ask_etcd(fd, "/v3/cluster/member/list", "{}");
  close(fd);
  return answer.find('"' + name_ + '"') != std::string::npos;
}

}  // namespace slipway::bench
