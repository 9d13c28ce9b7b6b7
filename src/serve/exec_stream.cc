#include "serve/exec_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "serve/parameters.h"
#include "serve/pod_container.h"

namespace slipway::serve {
namespace {

enum class Channel : char { out = 1, err = 2, status = 3 };

// The newest first: what is chosen when a client offers several.
constexpr std::string_view kProtocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
const kube::Resource kPods{"", "v1", "pods"};

Task<bool> send(std::shared_ptr<net::WebSocket> socket, Channel channel, std::string text) {
  text.insert(text.begin(), static_cast<char>(channel));
  net::WebSocketMessage message{.kind = net::WebSocketMessage::Kind::binary, .payload = std::move(text)};
  co_return (co_await socket->write(std::move(message))).has_value();
}

/// Reads to notice that the client has gone. Its input and its window sizes are for nobody.
Task<> drain(std::shared_ptr<net::WebSocket> socket, std::shared_ptr<server::PodExec> exec) {
  while (true) {
    const auto message = co_await socket->read();
    if (!message || !*message) break;
  }
  exec->close();
}

/// Everything the command prints, then how it ended.
Task<> pump(std::shared_ptr<net::WebSocket> socket, std::shared_ptr<server::PodExec> exec) {
  while (true) {
    auto output = co_await exec->next();
    if (!output) {
      static_cast<void>(co_await send(socket, Channel::status, json::print(kube::to_json(output.error()))));
      co_return;
    }
    if (!output->out.empty() && !co_await send(socket, Channel::out, std::move(output->out))) break;
    if (!output->err.empty() && !co_await send(socket, Channel::err, std::move(output->err))) break;
    if (!output->exit_code) continue;
    static_cast<void>(co_await send(socket, Channel::status, json::print(exit_status(*output->exit_code))));
    co_return;
  }
  exec->close();
}

Task<> run(Env& env, std::shared_ptr<server::PodExec> exec, std::shared_ptr<net::WebSocket> socket) {
  Tasks reader(env);
  reader.spawn(drain(socket, exec));
  co_await pump(socket, exec);
  co_await socket->close();
  co_await reader.join();
}

Result<std::string> protocol_of(const http::Request& request) {
  SLIPWAY_TRY(offer, net::websocket_offer(request));
  if (!offer) {
    if (request.headers.has_token("Upgrade", "SPDY/3.1")) {
      return fail(Reason::NotImplemented, "exec over SPDY is not implemented; kubectl 1.30 and newer use WebSockets");
    }
    return fail(Reason::BadRequest, "Upgrade request required");
  }
  for (const std::string_view known : kProtocols) {
    if (std::ranges::find(*offer, known) != offer->end()) return std::string(known);
  }
  return fail(Reason::BadRequest,
              fmt::format("none of the offered subprotocols is spoken here: {}, {}", kProtocols[0], kProtocols[1]));
}

/// What can be refused without looking at the pod.
Result<server::ExecQuery> query_of(const net::Query& query) {
  server::ExecQuery made;
  made.container = query.get("container");
  for (const std::string_view word : query.all("command")) made.command.emplace_back(word);
  if (made.command.empty()) {
    return fail(kube::invalid({"", "", "PodExecOptions"}, "", {field::required("command")}));
  }
  if (flag_of(query, "tty")) return fail(Reason::NotImplemented, "exec with a terminal (-t) is not implemented");
  if (flag_of(query, "stdin")) return fail(Reason::NotImplemented, "exec with input (-i) is not implemented");
  return made;
}

}  // namespace

json::Value exit_status(int exit_code) {
  if (exit_code == 0) return json::object({{"metadata", json::Value::empty_object()}, {"status", "Success"}});
  const json::Value cause = json::object({{"reason", "ExitCode"}, {"message", std::to_string(exit_code)}});
  return json::object({{"metadata", json::Value::empty_object()},
                       {"status", "Failure"},
                       {"message", fmt::format("command terminated with non-zero exit code: exit status {}", exit_code)},
                       {"reason", "NonZeroExitCode"},
                       {"details", json::object({{"causes", json::array({cause})}})}});
}

Task<Result<net::Answer>> answer_exec(Env& env, server::Server& server, server::PodBackend* pods, Call call) {
  SLIPWAY_CO_TRY(pod, co_await client::get(server, kPods, {call.route.ns, call.route.name}));
  SLIPWAY_CO_TRY(query, query_of(call.query));
  SLIPWAY_CO_TRY(container, container_of(pod, query.container));
  query.container = container;
  // Before the protocol is looked at: a client that is refused a WebSocket asks again by SPDY and shows what it hears then.
  if (pods == nullptr || !pods->runs_commands())
    co_return fail(Reason::NotImplemented, "commands in simulated pods are not implemented");
  SLIPWAY_CO_TRY(protocol, protocol_of(call.http));
  if (!container_status(pod, container)["state"].has("running")) {
    co_return fail(Reason::BadRequest, fmt::format("container {} is not running", container));
  }
  SLIPWAY_CO_TRY(started, co_await pods->exec(pod, query));
  const std::shared_ptr<server::PodExec> exec = std::move(started);
  net::Upgrade upgrade;
  upgrade.subprotocol = protocol;
  upgrade.run = [&env, exec](std::shared_ptr<net::WebSocket> socket) { return run(env, exec, std::move(socket)); };
  co_return net::Answer(std::move(upgrade));
}

}  // namespace slipway::serve
