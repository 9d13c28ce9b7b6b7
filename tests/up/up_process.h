// `slipway up` as a child process, and this process as its user: an Env with an HTTP client over kept TLS connections. For
// tests and measurements.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "json/value.h"
#include "net/client.h"
#include "os/real_env.h"

namespace slipway::up {

/// Where a server is and how it knows us, out of the kubeconfig it wrote.
struct Access {
  std::string url;
  net::TlsClientOptions tls;
};

class UpProcess {
 public:
  /// Starts `binary up --data-dir FOLDER --listen LISTEN` and waits until /readyz says ok; ends this program when it does not
  /// come.
  UpProcess(std::string binary, std::string folder, std::vector<std::string> more = {}, std::string listen = "127.0.0.1:0");
  ~UpProcess() { stop(); }
  UpProcess(const UpProcess&) = delete;
  UpProcess& operator=(const UpProcess&) = delete;

  const Access& access() const { return access_; }
  pid_t pid() const { return pid_; }
  /// From exec to the first 200 of /readyz.
  double start_ms() const { return start_ms_; }
  /// SIGINT, and its end. Gives the exit code, 128 + signal when a signal ended it.
  int stop();
  /// SIGKILL, as a power cut would.
  void kill();

 private:
  bool is_ready(const std::string& kubeconfig);
  int wait();

  std::string folder_;
  pid_t pid_ = 0;
  double start_ms_ = 0;
  Access access_;
};

/// SLIPWAY_LOAD=full: the long form of the tests, as `make test-load` runs them.
bool is_full();
/// $SLIPWAY_BINARY, else the one that was built beside this program.
std::string binary();

/// A loop with a client that has at most `connections` connections.
class User {
 public:
  User(const Access& access, std::size_t connections);
  ~User();

  Env& env() { return real_.env(); }
  net::Client& client() { return *client_; }
  const std::string& url() const { return url_; }
  /// Has `count` connections kept, made one after the other: each handshake has the machine for itself, however slow that is.
  Task<> open_connections(std::size_t count);
  /// Runs `work` to its end.
  void run(std::function<Task<>(User&)> work);
  /// Its time-out, as that of post() and create(), only ends a broken run.
  HttpCall get(const std::string& path) const { return {.url = url_ + path, .timeout = kBroken}; }
  /// POST of an object, as JSON text.
  HttpCall post(const std::string& path, std::string body) const;
  /// POST of a ConfigMap `name` with `bytes` of data into namespace default.
  HttpCall create(const std::string& name, std::size_t bytes) const;

 private:
  static constexpr Duration kBroken = std::chrono::minutes{10};

  os::RealEnv real_;
  std::string url_;
  std::unique_ptr<net::Client> client_;
};

}  // namespace slipway::up
