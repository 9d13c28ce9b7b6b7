// An etcd of our own for one measurement: Debian's server on two ports that were free, with a data folder that is emptied
// first, ended with its owner. Another etcd on this machine is neither written to nor stopped: a server is only used after it
// has said the name that we gave ours.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>

namespace slipway::bench {

/// Two different ports that nobody listens on now: both are held until both are known.
std::array<int, 2> free_ports();

class Etcd {
 public:
  /// Empties `folder`, starts etcd there and waits for at most ten seconds until it answers.
  explicit Etcd(const std::string& folder);
  ~Etcd();
  Etcd(const Etcd&) = delete;
  Etcd& operator=(const Etcd&) = delete;

  /// False when etcd is not installed or did not start.
  bool is_ready() const { return is_ready_; }
  /// A connection to it, -1 when there is none. The caller closes it.
  int connect() const;

 private:
  bool says_its_name() const;

  pid_t pid_ = 0;
  int port_ = 0;
  std::string name_;
  bool is_ready_ = false;
};

/// Sends one request with a JSON body over a kept connection to etcd's HTTP gateway. Gives the answer, empty when the
/// connection broke or the status was not 200.
std::string ask_etcd(int connection, const std::string& path, const std::string& body);

}  // namespace slipway::bench
