#include "net/server.h"

#include "net/connection.h"

namespace slipway::net {
namespace {

/// Out of the lists when its task ends.
Task<> serve(HttpServer::State& state, std::uint64_t number, std::shared_ptr<Connection> connection) {
  co_await connection->serve();
  state.connections.erase(number);
}

/// Makes room for one more connection; false when all are at work.
bool make_room(HttpServer::State& state) {
  if (state.connections.size() < state.options.limits.connections) return true;
  if (state.idle.empty()) return false;
  const auto longest = state.idle.begin();
  longest->second->cut();
  state.idle.erase(longest);
  return true;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Env& env, ServerOptions options) {
  SLIPWAY_TRY(listener, Listener::open(env, options.address, options.port));
  return std::unique_ptr<HttpServer>(new HttpServer(std::make_unique<State>(env, std::move(options), std::move(listener))));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Task<> HttpServer::run(Handler handler) {
  State& state = *state_;
  state.handler = std::move(handler);
  while (!state.is_stopping) {
    auto stream = co_await state.listener.accept();
    if (!stream) break;
    if (state.is_stopping || !make_room(state)) {
      (*stream)->close();
      continue;
    }
    const std::uint64_t number = ++state.next_number;
    auto connection = std::make_shared<Connection>(state, std::move(*stream));
    state.connections.emplace(number, connection);
    state.tasks.spawn(serve(state, number, std::move(connection)));
  }
  co_await state.tasks.join();
  state.stop_timer.reset();
}

void HttpServer::stop(Duration grace) {
  State& state = *state_;
  state.is_stopping = true;
  state.listener.close();
  for (const auto& [moment, connection] : state.idle) connection->cut();
  const auto connections = state.connections;  // closing a stream may end a connection
  for (const auto& [number, connection] : connections) connection->wind_down();
  state.stop_timer = state.env.clock.call_at(state.env.clock.steady() + grace, [&state] {
    for (const auto& [number, connection] : state.connections) connection->cut();
  });
}

unsigned short HttpServer::port() const { return state_->listener.port(); }
std::string HttpServer::address() const { return state_->listener.address(); }
std::size_t HttpServer::connections() const { return state_->connections.size(); }
std::size_t HttpServer::idle_connections() const { return state_->idle.size(); }

}  // namespace slipway::net
