// get, describe, why, logs: commands that only look.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/controller_notes.h"
#include "cli/progress.h"
#include "cli/target.h"
#include "json/text.h"
#include "kube/table.h"
#include "plane/show.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

using kube::Object;

/// The one object a target names.
Task<Result<Object>> fetch(Session& session, Target target, std::string ns) {
  if (target.name.empty()) {
    co_return fail(Reason::BadRequest, fmt::format("name one: {}/NAME", target.type->singular));
  }
  co_return co_await client::get(session.server(), target.type->resource,
                                 kube::ObjectKey{target.type->is_namespaced ? ns : "", target.name});
}

/// How many were asked for: one by its name, or all that there are.
enum class Asked : std::uint8_t { One, All };

void print_objects(const std::string& output, const kube::ResourceType& type, const std::vector<Object>& objects, Asked asked,
                   bool has_namespaces, Time now) {
  if (output == "name") {
    for (const Object& object : objects) fmt::print("{}/{}\n", type.resource.group_resource(), kube::name(object));
    return;
  }
  if (output == "json" || output == "yaml") {
    const json::Value shown =
        asked == Asked::One
            ? objects.front()
            : json::object(
                  {{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array(std::span<const json::Value>(objects))}});
    fmt::print("{}", output == "json" ? json::print_pretty(shown) + "\n" : json::print_yaml(shown));
    return;
  }
  kube::TableStyle style;
  style.is_wide = output == "wide";
  style.has_namespace = has_namespaces;
  fmt::print("{}", kube::print_table(kube::make_table(type, objects, now), style));
}

/// The pods whose logs a target means: the pod itself, those of a Job, or those of the Jobs it owns, oldest first.
std::vector<Object> pods_of(const plane::StoreView& view, const Object& object, const std::string& part) {
  if (kube::kind(object) == "Pod") return {object};
  std::vector<Object> pods;
  const auto add_pods = [&](const Object& job) {
    for (Object& pod : view.owned_by(job, {"", "v1", "Pod"})) pods.push_back(std::move(pod));
  };
  if (kube::kind(object) == "Job") add_pods(object);
  const delivery::KindRow* row = plane::find_row(object);
  for (const Object& job : view.owned_by(object, {"batch", "v1", "Job"})) {
    const bool is_meant = part.empty() || row == nullptr || !row->is_of_part || row->is_of_part(job, part);
    if (is_meant) add_pods(job);
  }
  std::sort(pods.begin(), pods.end(), [](const Object& a, const Object& b) {
    return std::pair(a["status"]["startTime"].as_string(), kube::name(a)) <
           std::pair(b["status"]["startTime"].as_string(), kube::name(b));
  });
  return pods;
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

/// A whole log; bytes are passed on as they are.
Task<Result<std::size_t>> print_log(server::PodBackend& pods, Object pod, std::string container, std::string prefix) {
  server::LogQuery query;
  query.container = container;
  std::size_t lines = 0;
  bool is_line_start = true;
  for (;;) {
    auto bytes = co_await pods.logs(pod, query);
    if (!bytes) co_return fail(bytes.error());
    if (bytes->empty()) break;
    query.offset += bytes->size();
    for (const char c : *bytes) {
      if (std::exchange(is_line_start, c == '\n')) fmt::print("{}", prefix);
      std::fputc(c, stdout);
      lines += c == '\n' ? 1 : 0;
    }
  }
  if (!is_line_start) std::fputc('\n', stdout);
  co_return lines;
}

}  // namespace

Task<int> get(Session& session, Arguments arguments) {
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  const bool is_everywhere = arguments.all_namespaces || !target->type->is_namespaced;
  std::vector<Object> objects;
  if (target->name.empty()) {
    const auto list =
        co_await client::list(session.server(), target->type->resource, {is_everywhere ? "" : arguments.ns, "", ""});
    if (!list) co_return report(list.error());
    for (const json::Value& item : (*list)["items"].items()) objects.push_back(item);
  } else {
    const auto object = co_await fetch(session, *target, arguments.ns);
    if (!object) co_return report(object.error());
    objects.push_back(*object);
  }
  if (objects.empty() && (arguments.output == "table" || arguments.output == "wide")) {
    fmt::print(stderr, "No resources found{}.\n", is_everywhere ? "" : fmt::format(" in {} namespace", arguments.ns));
    co_return kDelivered;
  }
  print_objects(arguments.output, *target->type, objects, target->name.empty() ? Asked::All : Asked::One,
                arguments.all_namespaces && target->type->is_namespaced, session.env().clock.now());
  co_return kDelivered;
}

Task<int> describe(Session& session, Arguments arguments) {
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  const auto object = co_await fetch(session, *target, arguments.ns);
  if (!object) co_return report(object.error());
  const plane::StoreView view(session.server(), session.store(), session.env().clock.now());
  fmt::print("{}", plane::description(*object, view.all({"", "v1", "Event"}, std::string(kube::ns(*object))), view));
  co_return kDelivered;
}

Task<int> why(Session& session, Arguments arguments) {
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  const auto object = co_await fetch(session, *target, arguments.ns);
  if (!object) co_return report(object.error());
  const plane::StoreView view(session.server(), session.store(), session.env().clock.now());
  for (const std::string& note : co_await controller_notes(session.server())) fmt::print("note: {}\n", note);
  const plane::Answer answer = plane::why(*object, target->part, view);
  fmt::print("{}", answer.text);
  co_return answer.is_unknown_part ? kBadInput : kDelivered;
}

Task<int> logs(Session& session, Arguments arguments) {
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  const auto object = co_await fetch(session, *target, arguments.ns);
  if (!object) co_return report(object.error());
  const plane::StoreView view(session.server(), session.store(), session.env().clock.now());
  const std::vector<Object> pods = pods_of(view, *object, target->part);
  if (pods.empty()) {
    Status none;
    none.reason = Reason::NotFound;
    none.message = fmt::format("{}/{}{}{} has no pods (yet, or they were deleted with their Jobs)", target->type->singular,
                               target->name, target->part.empty() ? "" : "/", target->part);
    co_return report(none);
  }
  server::PodBackend* backend = session.pod_logs();
  if (backend == nullptr) {
    Status none;
    none.reason = Reason::NotFound;
    none.message = "simulated pods write no logs";
    co_return report(none);
  }
  for (const Object& pod : pods) {
    const auto containers = containers_of(pod, arguments.container);
    for (const std::string& container : containers) {
      std::string prefix;
      if (pods.size() > 1 || containers.size() > 1) prefix = fmt::format("[{}/{}] ", kube::name(pod), container);
      const auto printed = co_await print_log(*backend, pod, container, prefix);
      if (!printed && printed.error().reason != Reason::NotFound) co_return report(printed.error());
    }
  }
  co_return kDelivered;
}

}  // namespace slipway::cli
