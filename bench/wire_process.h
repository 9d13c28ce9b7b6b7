// `slipway up` as a child process, and this process as its load: a RealEnv with an HTTP client over kept TLS connections.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "json/value.h"
#include "net/client.h"
#include "os/real_env.h"

namespace slipway::bench {

/// Where a server is and how it knows us, out of the kubeconfig it wrote.
struct Access {
  std::string url;
  net::TlsClientOptions tls;
};

class WireProcess {
 public:
  /// Starts `slipway up --data-dir FOLDER` on any port and waits until /readyz says ok.
  WireProcess(const Settings& settings, std::string folder, std::vector<std::string> more = {});
  ~WireProcess() { stop(); }
  WireProcess(const WireProcess&) = delete;
  WireProcess& operator=(const WireProcess&) = delete;

  const Access& access() const { return access_; }
  double rss_mb() const { return resident_mb(pid_); }
  /// From exec to the first 200 of /readyz.
  double start_ms() const { return start_ms_; }
  /// SIGINT, and its end.
  void stop();

 private:
  bool is_ready(const std::string& kubeconfig);

  std::string folder_;
  pid_t pid_ = 0;
  double start_ms_ = 0;
  Access access_;
};

/// A loop with a client. `connections` bounds how many calls are on the way at once.
class WireLoad {
 public:
  WireLoad(const Access& access, std::size_t connections);
  ~WireLoad();

  Env& env() { return real_.env(); }
  net::Client& client() { return *client_; }
  const std::string& url() const { return url_; }
  /// Runs `work` to its end.
  void run(std::function<Task<>(WireLoad&)> work);
  /// Runs `calls` calls with `workers` at a time. Gives the seconds of each, in the order of their ends.
  std::vector<double> measure(int workers, int calls, std::function<HttpCall(int)> make);
  HttpCall get(const std::string& path) const { return {.url = url_ + path}; }
  /// POST of a ConfigMap `name` with `bytes` of data.
  HttpCall create(const std::string& name, std::size_t bytes) const;

 private:
  os::RealEnv real_;
  std::string url_;
  std::unique_ptr<net::Client> client_;
};

}  // namespace slipway::bench
