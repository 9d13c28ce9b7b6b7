// The web service of the demos, on $POD_IP:$PORT: GET /version answers with JSON, /healthz with ok, /metrics with a counter in
// the text format of Prometheus, and everything else with a line of text, of which $ERRORS_PERCENT are errors. After SIGTERM it
// serves until nobody has asked for $DRAIN_SECONDS. Plain POSIX sockets; one connection after the other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

volatile std::sig_atomic_t is_ending = 0;

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

std::string response(int status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK" : " Internal Server Error") +
         "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

class Service {
 public:
  std::string answer_to(const std::string& request) {
    if (request.starts_with("GET /healthz ")) return response(200, "text/plain", "ok\n");
    if (request.starts_with("GET /metrics ")) return response(200, "text/plain; version=0.0.4", metrics());
    if (request.starts_with("GET /version ")) {
      return response(200, "application/json",
                      R"({"version": ")" + version_ + R"(", "pod": ")" + pod_ + R"(", "cluster": ")" + cluster_ + "\"}\n");
    }
    // Errors are spread evenly: with 25 percent each fourth answer is one.
    const bool is_error = (requests_ + 1) * errors_percent_ / 100 > requests_ * errors_percent_ / 100;
    ++requests_;
    if (is_error) ++errors_;
    const std::string body =
        (is_error ? "Sorry from " : "Hello from ") + pod_ + " in " + cluster_ + ", version " + version_ + "\n";
    return response(is_error ? 500 : 200, "text/plain", body);
  }

 private:
  std::string metrics() const {
    return "# TYPE http_requests_total counter\nhttp_requests_total{code=\"200\"} " + std::to_string(requests_ - errors_) +
           "\nhttp_requests_total{code=\"500\"} " + std::to_string(errors_) + "\n";
  }

  const std::string version_ = variable("VERSION", "unknown");
  const std::string pod_ = variable("POD_NAME", "unknown");
  const std::string cluster_ = variable("CLUSTER", "unknown");
  const long errors_percent_ = std::stol(variable("ERRORS_PERCENT", "0"));
  long requests_ = 0;
  long errors_ = 0;
};

/// Reads up to the end of the request's head and answers; true for a request that is no check of health and no look at metrics.
bool serve(Service& service, int connection) {
  std::string request;
  char bytes[1024];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < sizeof bytes * 16) {
    const ssize_t count = read(connection, bytes, sizeof bytes);
    if (count <= 0) return false;
    request.append(bytes, static_cast<std::size_t>(count));
  }
  const std::string answer = service.answer_to(request);
  const bool is_watching = request.starts_with("GET /healthz ") || request.starts_with("GET /metrics ");
  if (!is_watching) std::printf("%s\n", request.substr(0, request.find('\r')).c_str());
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t count = write(connection, answer.data() + at, answer.size() - at);
    if (count <= 0) break;
    at += static_cast<std::size_t>(count);
  }
  return !is_watching;
}

int listen_on(const std::string& address, const std::string& port) {
  sockaddr_in place{
      .sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(std::stoi(port))), .sin_addr = {}, .sin_zero = {}};
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1 ||
      bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || listen(listener, 512) != 0) {
    std::perror(("listen on " + address + ":" + port).c_str());
    return -1;
  }
  std::printf("listening on %s:%s\n", address.c_str(), port.c_str());
  return listener;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { is_ending = 1; });
  const int listener = listen_on(variable("POD_IP", "127.0.0.1"), variable("PORT", "8080"));
  if (listener < 0) return 1;
  const std::chrono::seconds quiet{std::stol(variable("DRAIN_SECONDS", "0"))};
  auto last_asked = std::chrono::steady_clock::now();
  bool was_ending = false;
  Service service;
  for (;;) {
    pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, 100);
    if (ready < 0) continue;
    if (ready == 0) {  // who waits is served first, however late it has become
      const auto now = std::chrono::steady_clock::now();
      if (is_ending != 0 && !was_ending) last_asked = now;
      was_ending = is_ending != 0;
      if (was_ending && now >= last_asked + quiet) return 0;
      continue;
    }
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (serve(service, connection)) last_asked = std::chrono::steady_clock::now();
    close(connection);
  }
}
