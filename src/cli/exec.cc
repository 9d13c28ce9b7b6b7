// exec: a command in a container, of a cluster elsewhere over a WebSocket (subprotocol v5.channel.k8s.io). In a data folder no
// pods run while a command looks at it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/count.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/place.h"
#include "cli/tree.h"
#include "json/text.h"
#include "net/websocket.h"
#include "plane/show.h"

namespace slipway::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                          c == '.' || c == '~';
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string path_of(const kube::Object& pod, const Arguments& arguments) {
  std::string path = fmt::format("/api/v1/namespaces/{}/pods/{}/exec?stdout=true&stderr=true", kube::ns(pod), kube::name(pod));
  const std::string container =
      arguments.container.empty() ? pod["spec"]["containers"].item(0)["name"].str() : arguments.container;
  path += "&container=" + escaped(container);
  for (const std::string& word : arguments.words) path += "&command=" + escaped(word);
  return path;
}

/// The exit code out of the Status that ends a v4 or v5 stream.
int exit_code_of(std::string_view text) {
  const auto ended = json::parse(text);
  if (!ended || (*ended)["status"].as_string() == "Success") return 0;
  for (const json::Value& cause : (*ended)["details"]["causes"].items()) {
    if (cause["reason"].as_string() == "ExitCode") return static_cast<int>(leading_count(cause["message"].as_string()));
  }
  fmt::print(stderr, "slipway: {}\n", (*ended)["message"].as_string());
  return kFailed;
}

/// Passes the command's outputs on until it ends. The first byte of a message is its channel: 1 output, 2 errors, 3 the end.
Task<int> pass_on(std::shared_ptr<net::WebSocket> socket) {
  int code = kFailed;
  for (;;) {
    const auto message = co_await socket->read();
    if (!message) co_return report(message.error());
    if (!*message) break;
    const std::string& payload = (*message)->payload;
    if (payload.empty()) continue;
    const std::string_view bytes = std::string_view(payload).substr(1);
    if (payload[0] == 1) std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    if (payload[0] == 2) std::fwrite(bytes.data(), 1, bytes.size(), stderr);
    if (payload[0] == 3) code = exit_code_of(bytes);
    std::fflush(stdout);
  }
  co_return code;
}

Status refused(Reason reason, std::string message) {
  Status status;
  status.reason = reason;
  status.message = std::move(message);
  return status;
}

}  // namespace

Task<int> exec(Session& session, Arguments arguments) {
  arguments.words.assign(arguments.target.begin() + 1, arguments.target.end());
  arguments.target.resize(1);
  if (!arguments.is_elsewhere) {
    co_return report(refused(Reason::BadRequest,
                             fmt::format("pods run only while something serves them, such as `slipway up`: give --kubeconfig "
                                         "{}/kubeconfig",
                                         arguments.data_dir)));
  }
  const auto found = co_await find_object(session, arguments);
  if (!found) co_return report(found.error());
  std::vector<TreeNode> pods;
  if (kube::kind(found->object) == "Pod") {
    pods.push_back({.cluster = "", .reference = {}, .object = found->object, .problem = "", .children = {}});
  } else {
    pods = pods_in(co_await tree_of(session, found->place, found->object, found->part));
  }
  std::erase_if(pods, [&](const TreeNode& pod) {
    return pod.object["status"]["phase"].as_string() != "Running" ||
           (!arguments.cluster.empty() && pod.cluster != arguments.cluster);
  });
  if (pods.empty()) {
    co_return report(refused(Reason::NotFound, fmt::format("{} has no running pods", plane::title(found->object))));
  }
  const auto cluster = find_cluster(session, found->place, pods.front().cluster);
  if (!cluster) co_return report(cluster.error());
  const auto client = std::dynamic_pointer_cast<remote::RemoteClient>(*cluster);
  auto socket =
      co_await client->open_websocket(path_of(pods.front().object, arguments), {"v5.channel.k8s.io", "v4.channel.k8s.io"});
  if (!socket) co_return report(socket.error());
  const int code = co_await pass_on(*socket);
  co_await (*socket)->close();
  co_return code;
}

}  // namespace slipway::cli
