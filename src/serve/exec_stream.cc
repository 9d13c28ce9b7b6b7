#include "serve/exec_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "kube/well_known.h"
#include "serve/parameters.h"
#include "serve/pod_container.h"

namespace slipway::serve {
namespace {

enum class Channel : unsigned char { in = 0, out = 1, err = 2, status = 3, window = 4, end = 255 };

// The newest first: what is chosen when a client offers several.
constexpr std::string_view kProtocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
constexpr std::int64_t kMostTerminalCharacters = 10'000;
using kube::kPods;

Task<bool> send(std::shared_ptr<net::WebSocket> socket, Channel channel, std::string text) {
  text.insert(text.begin(), static_cast<char>(channel));
  net::WebSocketMessage message{.kind = net::WebSocketMessage::Kind::binary, .payload = std::move(text)};
  co_return (co_await socket->write(std::move(message))).has_value();
}

void resize(server::PodExec& exec, std::string_view text) {
  const auto size = json::parse(text);
  if (!size) return;
  const std::int64_t columns = (*size)["Width"].as_int();
  const std::int64_t rows = (*size)["Height"].as_int();
  const auto is_size = [](std::int64_t number) { return number > 0 && number <= kMostTerminalCharacters; };
  if (is_size(columns) && is_size(rows)) exec.resize(static_cast<unsigned>(columns), static_cast<unsigned>(rows));
}

/// What the client sends, until it goes.
Task<> feed(std::shared_ptr<net::WebSocket> socket, std::shared_ptr<server::PodExec> exec, bool has_input) {
  while (true) {
    auto message = co_await socket->read();
    if (!message || !*message) break;
    const std::string payload = std::move((*message)->payload);
    if (payload.size() < 2) continue;
    const auto channel = static_cast<Channel>(payload[0]);
    const bool is_end = channel == Channel::end && static_cast<Channel>(payload[1]) == Channel::in;  // from v5 on
    if (channel == Channel::window) resize(*exec, std::string_view(payload).substr(1));
    if (!has_input || (channel != Channel::in && !is_end)) continue;
    if (!co_await exec->write(is_end ? std::string() : payload.substr(1))) break;
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

Task<> run(Env& env, std::shared_ptr<server::PodExec> exec, bool has_input, std::shared_ptr<net::WebSocket> socket) {
  Tasks reader(env);
  reader.spawn(feed(socket, exec, has_input));
  co_await pump(socket, exec);
  exec->close();
  co_await socket->close();
  co_await reader.join();
}

Result<std::string> protocol_of(const http::Request& request) {
  SLIPWAY_TRY(offer, net::websocket_offer(request));
  if (!offer) {
    if (request.headers.has_token("Upgrade", "SPDY/3.1")) {
      return fail(Reason::NotImplemented,
                  "SPDY is not implemented: exec and attach need WebSockets, which kubectl >= 1.30 uses");
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
Result<server::ExecQuery> query_of(const net::Query& query, bool is_attach) {
  server::ExecQuery made;
  made.container = query.get("container");
  for (const std::string_view word : query.all("command")) made.command.emplace_back(word);
  made.has_input = flag_of(query, "stdin");
  made.has_terminal = flag_of(query, "tty");
  if (is_attach) return made;
  if (made.command.empty()) {
    return fail(kube::invalid({"", "", "PodExecOptions"}, "", {field::required("command")}));
  }
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
  const bool is_attach = call.route.subresource == "attach";
  SLIPWAY_CO_TRY(query, query_of(call.query, is_attach));
  SLIPWAY_CO_TRY(container, container_of(pod, query.container));
  query.container = container;
  // Before the protocol is looked at: a client that is refused a WebSocket asks again by SPDY and shows what it hears then.
  if (pods == nullptr || !pods->runs_commands())
    co_return fail(Reason::NotImplemented, "commands in simulated pods are not implemented");
  if (!container_status(pod, container)["state"].has("running")) {
    co_return fail(Reason::BadRequest, fmt::format("container {} is not running", container));
  }
  SLIPWAY_CO_TRY(protocol, protocol_of(call.http));
  const bool has_input = query.has_input;
  auto started = is_attach ? co_await pods->attach(pod, query) : co_await pods->exec(pod, query);
  if (!started) co_return fail(std::move(started).error());
  const std::shared_ptr<server::PodExec> exec = std::move(*started);
  net::Upgrade upgrade;
  upgrade.subprotocol = protocol;
  upgrade.run = [&env, exec, has_input](std::shared_ptr<net::WebSocket> socket) {
    return run(env, exec, has_input, std::move(socket));
  };
  co_return net::Answer(std::move(upgrade));
}

}  // namespace slipway::serve
