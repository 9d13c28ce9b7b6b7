// get, describe, why: commands that only look.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/controller_notes.h"
#include "cli/place.h"
#include "cli/target.h"
#include "json/text.h"
#include "kube/table.h"
#include "plane/show.h"

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
  const auto found = co_await find_object(session, std::move(arguments));
  if (!found) co_return report(found.error());
  std::string text;
  const auto looked = co_await look_at(
      *found, [&](const control::View& view) { text = plane::description(found->object, found->events, view); });
  if (!looked) co_return report(looked.error());
  fmt::print("{}", text);
  co_return kDelivered;
}

Task<int> why(Session& session, Arguments arguments) {
  if (arguments.is_elsewhere) co_return co_await plugin_why(session, std::move(arguments));
  const auto found = co_await find_object(session, std::move(arguments));
  if (!found) co_return report(found.error());
  for (const std::string& note : co_await controller_notes(session.server())) fmt::print("note: {}\n", note);
  co_return co_await print_why(session, *found);
}

Task<int> print_why(Session& session, Found found) {
  const delivery::KindRow* row = plane::find_row(found.object);
  if (row != nullptr && row->why) {
    delivery::CommandCall call{.env = session.env(),
                               .client = found.place.client.get(),
                               .ns = found.place.ns,
                               .words = {},
                               .objects = {},
                               .options = {}};
    const auto text = co_await row->why(std::move(call), found.object, found.part);
    if (!text) co_return report(text.error());
    fmt::print("{}", *text);
    co_return kDelivered;
  }
  plane::Answer answer;
  const auto looked =
      co_await look_at(found, [&](const control::View& view) { answer = plane::why(found.object, found.part, view); });
  if (!looked) co_return report(looked.error());
  fmt::print("{}", answer.text);
  co_return answer.is_unknown_part ? kBadInput : kDelivered;
}

}  // namespace slipway::cli
