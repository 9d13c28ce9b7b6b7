// One connection of the HTTP server, from handshake to end, and what the connections of a server share. Internal to net.
#pragma once

#include <cstdint>
#include <map>

#include "net/server.h"

namespace slipway::net {

class Connection;

struct HttpServer::State {
  State(Env& handed, ServerOptions given, Listener open)
      : env(handed), options(std::move(given)), listener(std::move(open)), tasks(handed) {}

  Env& env;
  ServerOptions options;
  Listener listener;
  Handler handler;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections;  // by number, ascending with their age
  std::map<std::uint64_t, Connection*> idle;                         // by the moment they fell idle: the longest idle first
  std::uint64_t next_number = 0;
  std::uint64_t bodies_in_flight = 0;
  bool is_stopping = false;
  std::unique_ptr<Timer> stop_timer;
  Tasks tasks;
};

class Connection {
 public:
  Connection(HttpServer::State& server, std::shared_ptr<Stream> stream) : server_(server), stream_(std::move(stream)) {}

  /// Until the connection has ended.
  Task<> serve();
  /// Ends an idle connection, and a stream that is being sent; lets a request in work be answered.
  void wind_down();
  void cut() { stream_->close(); }

 private:
  Task<bool> answer_requests();
  Task<Answer> answer_guarded(http::Request request);
  Task<Result<std::optional<std::string>>> next_guarded(std::shared_ptr<http::BodyStream> body);
  void log_thrown(std::string_view what, std::string_view cause);
  Task<bool> wait_for_bytes();
  Task<std::optional<http::Request>> read_request();
  Task<Result<void>> read_head(MessageParser& parser);
  Task<Result<void>> read_body(MessageParser& parser, std::uint64_t limit);
  Result<void> check_head(const MessageHead& head) const;
  Task<bool> respond(http::Response response, bool is_head);
  Task<bool> send_stream(std::shared_ptr<http::BodyStream> body);
  Task<> watch_hangup(std::shared_ptr<http::BodyStream> body);
  Task<> refuse(Status status);
  Task<> upgrade(Upgrade upgrade, std::string key);
  Task<> part();
  void hold_body(std::uint64_t bytes);

  HttpServer::State& server_;
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<const ConnectionInfo> info_;
  std::string input_;  // read, not yet understood
  std::shared_ptr<http::BodyStream> sending_;
  std::uint64_t held_ = 0;  // of server_.bodies_in_flight
  bool is_first_ = true;
  bool keeps_alive_ = true;
  bool must_linger_ = false;  // the peer may still be sending, and must get to read our answer
};

}  // namespace slipway::net
