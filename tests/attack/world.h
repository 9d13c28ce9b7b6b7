// A real `slipway up` with users of few rights, and what they attack it with: a server that lies or hangs (the peer, which the
// server may call) and one that it must not call (the victim, on the loopback). Everything goes over the wire.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "net/client.h"
#include "net/server.h"
#include "os/real_env.h"
#include "os/test_folder.h"
#include "up_process.h"

namespace slipway::attack {

using json::Value;

/// What came back.
struct Answer {
  int status = 0;
  std::string body;
};

/// A kind as discovery shows it.
struct Served {
  std::string root;  // "/api/v1", "/apis/apps/v1"
  std::string plural;
  bool is_namespaced = false;
  bool is_listed = false;
};

/// Answers by path: /hang never, /endless and /endless-git for ever, /asks/… with a demand for credentials,
/// /redirect/HOST:PORT/PATH with a redirect to there, /say/TEXT with TEXT, anything else with 200 {"value": 1}. Records what
/// was asked.
class Peer {
 public:
  explicit Peer(Env& env);

  Task<> serve();
  void stop();
  /// "127.0.0.1:4711"
  std::string address() const { return server_->address(); }
  /// A line for each request: method, target and headers.
  const std::vector<std::string>& requests() const { return requests_; }
  std::uint64_t sent_bytes() const { return *sent_; }

 private:
  Task<net::Answer> answer(http::Request request);

  Env& env_;
  std::unique_ptr<net::HttpServer> server_;
  std::vector<std::string> requests_;
  std::shared_ptr<std::uint64_t> sent_ = std::make_shared<std::uint64_t>(0);
  std::shared_ptr<bool> is_stopped_ = std::make_shared<bool>(false);
};

class World {
 public:
  World();
  ~World();

  /// Runs `work` to its end, the peer and the victim beside it.
  void run(std::function<Task<>()> work);
  Env& env() { return real_.env(); }
  Peer& peer() { return *peer_; }
  Peer& victim() { return *victim_; }
  /// Where the server listens: HOST:PORT.
  std::string own_address() const;
  std::string peer_address() const { return peer_->address(); }
  /// A bare git repository with one commit on branch main, which has the file Kptfile of a package in folder web. Its path.
  std::string make_repository(const std::string& name);
  pid_t pid() const { return up_->pid(); }

  /// As the user: "admin", "anonymous", or another, by a token of its own.
  Task<Answer> send(std::string user, std::string method, std::string path, std::string body = "",
                    std::string type = "application/json", http::Headers headers = {});
  /// Reads discovery; again where a CustomResourceDefinition was made.
  Task<> discover();
  /// Null when it is not served.
  const Served* find(const std::string& api_version, const std::string& kind) const;
  const std::map<std::pair<std::string, std::string>, Served>& served() const { return served_; }
  /// How many turns of the logic thread have cost more CPU than `above`, a bound of the histogram in seconds.
  Task<double> long_turns(std::string above);

  /// Standard error of the server.
  std::string log() const;
  /// Of the server and its children: their command lines.
  std::string command_lines() const;
  /// Of the server.
  std::int64_t resident_bytes() const;
  /// Files below the data folder that others may read and that contain `text`; those with secrets in them by their kind too.
  std::vector<std::string> loose_files(const std::string& text) const;
  /// SIGINT, and its end: the exit code.
  int stop() { return up_->stop(); }

 private:
  os::TestFolder folder_;
  os::RealEnv real_;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Peer> victim_;
  std::unique_ptr<up::UpProcess> up_;
  std::unique_ptr<net::Client> admin_;
  std::unique_ptr<net::Client> others_;
  std::map<std::pair<std::string, std::string>, Served> served_;
};

}  // namespace slipway::attack
