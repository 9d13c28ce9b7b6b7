// store_create_per_s: durable creates through the server with 64 in flight, beside etcd with the same payload.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/digest.h"
#include "json/text.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

constexpr int kInFlight = 64;
constexpr int kCreates = 20'000;
constexpr std::size_t kPayload = 1000;
constexpr int kEtcdPort = 23790;

Task<> create_some(PlaneBench& plane, int& next, int end) {
  while (next < end) {
    const auto created =
        co_await client::create(plane.server(), {"", "v1", "configmaps"}, config_map(next++, kPayload), "bench");
    SLIPWAY_CHECK(created.has_value(), created.error().message);
  }
}

double slipway_creates_per_s(const Settings& settings) {
  double rate = 0;
  PlaneBench plane(settings.folder + "/store");
  plane.run([&](PlaneBench& open) -> Task<> {
    int next = 0;
    const Instant start = tick();
    Tasks tasks(open.env());
    for (int i = 0; i < kInFlight; ++i) tasks.spawn(create_some(open, next, kCreates));
    co_await tasks.join();
    rate = kCreates / seconds_since(start);
  });
  return rate;
}

/// A process started for the measurement, ended with it.
class Child {
 public:
  explicit Child(std::vector<std::string> argv) {
    pid_ = fork();
    if (pid_ != 0) return;
    const int null = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    std::vector<char*> args;
    for (std::string& one : argv) args.push_back(one.data());
    args.push_back(nullptr);
    execvp(args[0], args.data());
    _exit(127);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
};

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }
  close(fd);
  return -1;
}

bool wait_for_port(int port) {
  for (int i = 0; i < 100; ++i) {
    if (const int fd = connect_to(port); fd >= 0) {
      close(fd);
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  return false;
}

/// One put over a kept connection; true when etcd answered 200.
bool put(int fd, int number) {
  const std::string body =
      fmt::format(R"({{"key":"{}","value":"{}"}})", base64_encode(fmt::format("/registry/configmaps/default/c{}", number)),
                  base64_encode(json::print(config_map(number, kPayload))));
  const std::string request = fmt::format(
      "POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return false;
  std::string answer;
  char buffer[4096];
  while (answer.find("\r\n\r\n") == std::string::npos || answer.find('}') == std::string::npos) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return answer.starts_with("HTTP/1.1 200");
}

double etcd_puts_per_s(const Settings& settings) {
  const std::string folder = settings.folder + "/etcd";
  std::filesystem::remove_all(folder);
  const std::string url = fmt::format("http://127.0.0.1:{}", kEtcdPort);
  const std::string peer = fmt::format("http://127.0.0.1:{}", kEtcdPort + 1);
  Child etcd({"etcd", "--data-dir", folder, "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls",
              peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer});
  if (!wait_for_port(kEtcdPort)) return 0;
  constexpr int kPuts = 10'000;
  std::atomic<int> next = 0;
  std::atomic<int> done = 0;
  const Instant start = tick();
  std::vector<std::thread> threads;
  for (int i = 0; i < kInFlight; ++i) {
    threads.emplace_back([&] {
      const int fd = connect_to(kEtcdPort);
      for (int number = next++; number < kPuts && fd >= 0; number = next++) {
        if (!put(fd, number)) break;
        ++done;
      }
      if (fd >= 0) close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return done / seconds_since(start);
}

}  // namespace

Figures measure_store(const Settings& settings) {
  std::vector<double> ours;
  for (int i = 0; i < 3; ++i) ours.push_back(slipway_creates_per_s(settings));
  const double etcd = etcd_puts_per_s(settings);
  Figures figures;
  figures["store_create_per_s"] = {
      median(ours), "1/s", "", "ConfigMaps of 1 kB, durable, 64 in flight, validated and tracked by the API server in process"};
  if (etcd > 0)
    figures["etcd_put_per_s"] = {etcd, "1/s", "", "the same objects into Debian's etcd over its HTTP gateway, 64 connections"};
  return figures;
}

}  // namespace slipway::bench
