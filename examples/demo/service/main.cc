// The web service of the demo: answers GET /version with JSON and everything else with a line of text, on $POD_IP:$PORT, until
// SIGTERM. Plain POSIX sockets; one connection after the other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

std::string answer_to(const std::string& request) {
  const std::string version = variable("VERSION", "unknown");
  const std::string pod = variable("POD_NAME", "unknown");
  const std::string cluster = variable("CLUSTER", "unknown");
  const bool wants_version = request.starts_with("GET /version ");
  const std::string body =
      wants_version ? R"({"version": ")" + version + R"(", "pod": ")" + pod + R"(", "cluster": ")" + cluster + "\"}\n"
                    : "Hello from " + pod + " in " + cluster + ", version " + version + "\n";
  return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(wants_version ? "application/json" : "text/plain") +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

/// Reads up to the end of the request's head and answers.
void serve(int connection) {
  std::string request;
  char bytes[1024];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < sizeof bytes * 16) {
    const ssize_t count = read(connection, bytes, sizeof bytes);
    if (count <= 0) return;
    request.append(bytes, static_cast<std::size_t>(count));
  }
  const std::string answer = answer_to(request);
  std::printf("%s\n", request.substr(0, request.find('\r')).c_str());
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t count = write(connection, answer.data() + at, answer.size() - at);
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { _exit(0); });
  const std::string address = variable("POD_IP", "127.0.0.1");
  const std::string port = variable("PORT", "8080");
  sockaddr_in place{
      .sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(std::stoi(port))), .sin_addr = {}, .sin_zero = {}};
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1 ||
      bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || listen(listener, 64) != 0) {
    std::perror(("listen on " + address + ":" + port).c_str());
    return 1;
  }
  std::printf("listening on %s:%s\n", address.c_str(), port.c_str());
  for (;;) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    serve(connection);
    close(connection);
  }
}
