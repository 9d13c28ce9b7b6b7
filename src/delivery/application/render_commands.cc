#include "delivery/application/render_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/application/kind.h"
#include "delivery/application/offline_render.h"
#include "delivery/application/policy_properties.h"
#include "delivery/application/settings.h"
#include "delivery/application/text_diff.h"
#include "delivery/family/kind_mapper.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr int kBadInput = 2;

std::string option(const CommandCall& call, const std::string& name) {
  const auto at = call.options.find(name);
  return at == call.options.end() ? "" : at->second;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::string namespace_of(const SourceObject& one, const std::string& otherwise) {
  return kube::ns(one.object).empty() ? otherwise : std::string(kube::ns(one.object));
}

/// Those of all applications.
std::set<std::string> namespaces_of(const std::vector<SourceObject>& objects, const std::string& otherwise) {
  std::set<std::string> namespaces;
  for (const SourceObject& one : objects) {
    if (is_application(one.object)) namespaces.insert(namespace_of(one, otherwise));
  }
  return namespaces;
}

/// Everything of the files, rendered. BadRequest when they hold no application.
Task<Result<OfflineRendering>> render_all(const CommandCall& call) {
  SLIPWAY_CO_TRY(settings, read_settings(call.options));
  Known known(std::move(settings.definition_namespace));
  const std::vector<SourceObject> objects = call.objects;
  if (call.client != nullptr) SLIPWAY_CO_TRY_VOID(co_await known.read(*call.client, namespaces_of(objects, call.ns)));
  known.add(call.objects, call.ns);
  std::vector<ClusterEntry> clusters;
  if (call.client != nullptr) clusters = co_await clusters_of_hub(*call.client);
  for (const std::string& name : listed(option(call, "clusters"))) {
    if (!contains(clusters, name, &ClusterEntry::name)) clusters.push_back({name, {}});
  }
  OfflineRendering all;
  bool has_application = false;
  for (const SourceObject& one : objects) {
    if (!is_application(one.object)) continue;
    has_application = true;
    const std::string ns = namespace_of(one, call.ns);
    OfflineRendering made = co_await render_offline(call.env, call.client, one, ns, clusters, known.lookup(ns));
    std::ranges::move(made.objects, std::back_inserter(all.objects));
    std::ranges::move(made.errors, std::back_inserter(all.errors));
    std::ranges::move(made.notes, std::back_inserter(all.notes));
  }
  if (!has_application) co_return fail(Reason::BadRequest, "there is no Application in the files given with -f");
  co_return all;
}

CommandAnswer refused(const OfflineRendering& rendering) {
  CommandAnswer answer{.exit_code = kBadInput};
  for (const std::string& error : rendering.errors) answer.notes.push_back("slipway: " + error);
  std::ranges::copy(rendering.notes, std::back_inserter(answer.notes));
  return answer;
}

std::string print_objects(const std::vector<OfflineObject>& objects, const std::string& form) {
  if (form == "json") {
    json::ArrayBuilder items;
    for (const OfflineObject& one : objects) items.add(one.object);
    return json::print_pretty(json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", items.build()}})) + "\n";
  }
  std::string text;
  for (const OfflineObject& one : objects) {
    text += fmt::format("---\n# component {}{}\n{}", one.component, one.cluster == kHub ? "" : ", cluster " + one.cluster,
                        json::print_yaml(one.object));
  }
  return text;
}

Task<Result<CommandAnswer>> render(CommandCall call) {
  SLIPWAY_CO_TRY(rendering, co_await render_all(call));
  if (!rendering.errors.empty()) co_return refused(rendering);
  co_return CommandAnswer{.text = print_objects(rendering.objects, option(call, "output")), .notes = rendering.notes};
}

/// What the server would make of an object, and what it has.
struct Tried {
  Value before;  // null: not there
  Value after;
};

Task<Result<Tried>> try_object(client::Client& client, KindMapper& kinds, Value object) {
  SLIPWAY_CO_TRY(kind, co_await kinds.find_for(client, "", object));
  const std::string ns = kind.is_namespaced ? std::string(kube::ns(object)) : "";
  auto live = co_await client::get(client, kind.resource, {ns, std::string(kube::name(object))});
  if (!live && live.error().reason != Reason::NotFound) co_return fail(std::move(live).error());
  client::Request request;
  request.verb = client::Verb::Patch;
  request.patch_type = client::PatchType::Apply;
  request.resource = kind.resource;
  request.ns = ns;
  request.name = std::string(kube::name(object));
  request.body = object;
  request.field_manager = kManager;
  request.force = true;
  request.dry_run = true;
  SLIPWAY_CO_TRY(reply, co_await client.call(std::move(request)));
  co_return Tried{live ? *live : Value(), reply.object};
}

std::string name_of(const OfflineObject& one) {
  return fmt::format("{} {}{}{}", kube::kind(one.object), kube::ns(one.object), kube::ns(one.object).empty() ? "" : "/",
                     kube::name(one.object));
}

/// What a person compares: without what the server writes.
std::string comparable(const Value& object) {
  if (object.is_null()) return "";
  Value shown = object.without("status");
  for (const char* field : {"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"}) {
    shown = shown.without_path({"metadata", field});
  }
  return json::print_yaml(shown);
}

/// Each rendered object of the hub against the server; `told` adds what there is to say of one.
using Teller = std::function<void(const OfflineObject& one, const Tried& tried, CommandAnswer& answer)>;

Task<Result<CommandAnswer>> against_server(CommandCall call, Teller tell) {
  SLIPWAY_CO_TRY(rendering, co_await render_all(call));
  if (!rendering.errors.empty()) co_return refused(rendering);
  CommandAnswer answer{.notes = rendering.notes};
  KindMapper kinds;
  for (const OfflineObject& one : rendering.objects) {
    if (one.cluster != kHub) {
      answer.notes.push_back(fmt::format("{} in cluster {}: not tried there", name_of(one), one.cluster));
      continue;
    }
    const auto tried = co_await try_object(*call.client, kinds, one.object);
    if (!tried) {
      answer.notes.push_back(fmt::format("slipway: component {}: {}: {}", one.component, name_of(one), tried.error().message));
      answer.exit_code = kBadInput;
      continue;
    }
    tell(one, *tried, answer);
  }
  co_return answer;
}

Task<Result<CommandAnswer>> dry_run(CommandCall call) {
  const std::string form = option(call, "output");
  co_return co_await against_server(
      std::move(call), [form](const OfflineObject& one, const Tried& tried, CommandAnswer& answer) {
        if (form == "yaml") {
          answer.text +=
              print_objects({{one.cluster, one.component, tried.after.without_path({"metadata", "managedFields"})}}, "yaml");
          return;
        }
        const bool is_same = comparable(tried.before) == comparable(tried.after);
        const char* what = tried.before.is_null() ? "would be created" : is_same ? "unchanged" : "would be changed";
        answer.text += fmt::format("{} {} (component {})\n", name_of(one), what, one.component);
      });
}

Task<Result<CommandAnswer>> diff(CommandCall call) {
  auto answer = co_await against_server(std::move(call), [](const OfflineObject& one, const Tried& tried, CommandAnswer& told) {
    const std::string name = name_of(one);
    told.text += text_diff("live " + name, comparable(tried.before), "rendered " + name, comparable(tried.after));
  });
  if (answer && answer->text.empty() && answer->exit_code == 0) answer->notes.emplace_back("nothing would change");
  co_return answer;
}

}  // namespace

std::vector<Command> render_commands() {
  const CommandOption clusters{.name = "clusters",
                               .help = "names of clusters that topologies may choose from, beside those that they name"};
  return {{.verb = "render",
           .help = "print the objects that applications in files become, without a cluster",
           .options = {{.name = "output", .help = "yaml or json"}, clusters, definition_namespace_option()},
           .run = render},
          {.verb = "dry-run",
           .help = "say what a cluster would make of the objects of applications in files; nothing is written",
           .cluster = Command::Cluster::Always,
           .options = {{.name = "output", .help = "table or yaml: the objects as they would be stored"},
                       clusters,
                       definition_namespace_option()},
           .run = dry_run},
          {.verb = "diff",
           .help = "compare the objects of applications in files with those in a cluster",
           .cluster = Command::Cluster::Always,
           .options = {clusters, definition_namespace_option()},
           .run = diff}};
}

}  // namespace slipway::delivery::application
