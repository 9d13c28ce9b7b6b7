// status, logs, exec: commands that look at what an object has made.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/place.h"
#include "cli/tree.h"
#include "json/text.h"
#include "plane/show.h"

namespace slipway::cli {
namespace {

using kube::Object;

/// The pods that a target means: the pod itself, or those in its tree, oldest first.
Task<Result<std::vector<TreeNode>>> pods_of(Session& session, Found found, std::string cluster) {
  std::vector<TreeNode> pods;
  if (kube::kind(found.object) == "Pod") {
    pods.push_back({.cluster = "", .reference = {}, .object = found.object, .problem = "", .children = {}});
    co_return pods;
  }
  pods = pods_in(co_await tree_of(session, found.place, found.object, found.part));
  if (!cluster.empty()) std::erase_if(pods, [&](const TreeNode& pod) { return pod.cluster != cluster; });
  std::ranges::sort(pods, [](const TreeNode& a, const TreeNode& b) {
    return std::tuple(a.cluster, a.object["status"]["startTime"].str(), kube::name(a.object)) <
           std::tuple(b.cluster, b.object["status"]["startTime"].str(), kube::name(b.object));
  });
  if (pods.empty()) {
    co_return fail(Reason::NotFound, fmt::format("{}{}{} has no pods{} (yet, or they were deleted with what made them)",
                                                 plane::title(found.object), found.part.empty() ? "" : "/", found.part,
                                                 cluster.empty() ? "" : " in cluster " + cluster));
  }
  co_return pods;
}

std::vector<std::string> containers_of(const Object& pod, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto* field : {"initContainers", "containers"}) {
    for (const json::Value& container : pod["spec"][field].items()) {
      if (wanted.empty() || container["name"].as_string() == wanted) names.push_back(container["name"].str());
    }
  }
  return names;
}

/// Bytes as they are, each line behind the prefix.
struct LinePrinter {
  std::string prefix;
  bool is_line_start = true;

  void print(std::string_view bytes) {
    for (const char c : bytes) {
      if (std::exchange(is_line_start, c == '\n')) fmt::print("{}", prefix);
      std::fputc(c, stdout);
    }
  }
  void end() {
    if (!is_line_start) std::fputc('\n', stdout);
  }
};

/// A whole log of a pod of this machine.
Task<Result<void>> print_log(server::PodBackend& pods, Object pod, std::string container, std::string prefix) {
  server::LogQuery query;
  query.container = container;
  LinePrinter out{.prefix = prefix};
  for (;;) {
    auto bytes = co_await pods.logs(pod, query);
    if (!bytes) co_return fail(bytes.error());
    if (bytes->empty()) break;
    query.offset += bytes->size();
    out.print(*bytes);
  }
  out.end();
  co_return Result<void>{};
}

/// One container's log, from wherever the pod runs.
Task<Result<void>> print_any_log(Session& session, Place place, TreeNode pod, std::string container, std::string prefix) {
  if (place.elsewhere) {
    SLIPWAY_CO_TRY(client, find_cluster(session, place, pod.cluster));
    const std::string path =
        fmt::format("/api/v1/namespaces/{}/pods/{}/log?container={}", kube::ns(pod.object), kube::name(pod.object), container);
    SLIPWAY_CO_TRY(text, co_await std::dynamic_pointer_cast<remote::RemoteClient>(client)->get_text(path));
    LinePrinter out{.prefix = prefix};
    out.print(text);
    out.end();
    co_return Result<void>{};
  }
  server::PodBackend* backend = session.pod_logs(pod.cluster);
  if (backend == nullptr) co_return fail(Reason::BadRequest, "simulated pods write no logs");
  co_return co_await print_log(*backend, pod.object, container, prefix);
}

void print_whole(const Found& found, const std::string& output) {
  fmt::print("{}", output == "json" ? json::print_pretty(found.object) + "\n" : json::print_yaml(found.object));
}

Task<Result<std::string>> status_text(Session& session, Found found, bool shows_tree) {
  std::string text;
  SLIPWAY_CO_TRY_VOID(co_await look_at(found, [&](const control::View& view) { text = plane::summary(found.object, view); }));
  if (!shows_tree) co_return text;
  const std::string tree = print_tree(co_await tree_of(session, found.place, found.object));
  co_return text + "\n" + (tree.empty() ? "it has made nothing\n" : tree);
}

/// Until it has ended or waits for a person.
Task<int> watch_status(Session& session, Arguments arguments) {
  const auto found = co_await find_object(session, arguments);
  if (!found) co_return report(found.error());
  const auto type = co_await site_of(session.env(), found->place.client).find_type(found->object);
  if (!type) co_return report(type.error());
  DeliverOptions options;
  options.elsewhere = found->place.client;
  if (!arguments.kubeconfig.empty()) options.place = "--kubeconfig " + arguments.kubeconfig;
  const int code = co_await follow(session, {Delivery{*type, kube::key_of(found->object)}}, options);
  if (arguments.shows_tree && !session.is_interrupted()) {
    fmt::print("\n{}", print_tree(co_await tree_of(session, found->place, found->object)));
  }
  co_return code == kTimedOut ? kDelivered : code;
}

}  // namespace

Task<int> status(Session& session, Arguments arguments) {
  if (arguments.watches && !arguments.is_elsewhere) {
    Status refused;
    refused.reason = Reason::BadRequest;
    refused.message =
        fmt::format("--watch needs a server, such as `slipway up`: give --kubeconfig {}/kubeconfig", arguments.data_dir);
    co_return report(refused);
  }
  if (arguments.watches) co_return co_await watch_status(session, std::move(arguments));
  const auto found = co_await find_object(session, arguments);
  if (!found) co_return report(found.error());
  if (arguments.output != "table") {
    print_whole(*found, arguments.output);
    co_return kDelivered;
  }
  const auto text = co_await status_text(session, *found, arguments.shows_tree);
  if (!text) co_return report(text.error());
  fmt::print("{}", *text);
  co_return kDelivered;
}

Task<int> logs(Session& session, Arguments arguments) {
  const auto found = co_await find_object(session, arguments);
  if (!found) co_return report(found.error());
  const auto pods = co_await pods_of(session, *found, arguments.cluster);
  if (!pods) co_return report(pods.error());
  const bool has_clusters = std::ranges::any_of(*pods, [](const TreeNode& pod) { return !pod.cluster.empty(); });
  for (const TreeNode& pod : *pods) {
    const auto containers = containers_of(pod.object, arguments.container);
    for (const std::string& container : containers) {
      const std::string cluster = !has_clusters ? "" : (pod.cluster.empty() ? "local" : pod.cluster) + "/";
      std::string prefix;
      if (pods->size() > 1 || containers.size() > 1)
        prefix = fmt::format("[{}{}/{}] ", cluster, kube::name(pod.object), container);
      const auto printed = co_await print_any_log(session, found->place, pod, container, prefix);
      if (!printed && printed.error().reason != Reason::NotFound) co_return report(printed.error());
    }
  }
  co_return kDelivered;
}

}  // namespace slipway::cli
