#include "delivery/application/query_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/application/query_tree.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

constexpr const char* kDeployVersion = "app.oam.dev/deployVersion";

struct Filter {
  std::string cluster, ns;
  std::vector<std::string> components;
  KindFilter kind;
  bool is_newest_only = false;

  bool takes(const ManagedResource& one) const {
    if (!cluster.empty() && cluster != one.cluster) return false;
    if (!ns.empty() && ns != one.ns) return false;
    return components.empty() || std::ranges::find(components, one.component) != components.end();
  }
};

/// The parameter `app`.
struct Query {
  std::string name, ns;
  Filter filter;
  bool wants_status = false;
  bool wants_tree = false;
};

Query read_query(const Value& app) {
  const Value& filter = app["filter"];
  Query query{.name = app["name"].str(),
              .ns = app["namespace"].str(),
              .filter = {.cluster = filter["cluster"].str(),
                         .ns = filter["clusterNamespace"].str(),
                         .components = {},
                         .kind = {filter["apiVersion"].str(), filter["kind"].str()},
                         .is_newest_only = filter["queryNewest"].as_bool()},
              .wants_status = app["withStatus"].as_bool(),
              .wants_tree = app["withTree"].as_bool()};
  for (const Value& one : filter["components"].items()) query.filter.components.push_back(one.str());
  return query;
}

/// The trackers of an application.
struct Trackers {
  Tracker root, current;
  std::vector<Tracker> outdated;

  std::vector<const Tracker*> newest_first() const {
    std::vector<const Tracker*> all = {&root, &current};
    for (const Tracker& one : outdated) all.push_back(&one);
    return all;
  }
};

/// Of the run's own application as they stand in this reconcile; those of another are read. NotFound when there is no such one.
Task<Result<Trackers>> trackers_of(AppRun& run, std::string ns, std::string name) {
  if (name == kube::name(run.application()) && ns == kube::ns(run.application())) {
    co_return Trackers{run.root(), run.current(), run.outdated()};
  }
  SLIPWAY_CO_TRY(client, run.on(kHub));
  SLIPWAY_CO_TRY(application, co_await client::get(*client, kApplications, {ns, name}));
  client::ListQuery query;
  query.label_selector = fmt::format("{}={},{}={}", kLabelName, name, kLabelNamespace, ns);
  SLIPWAY_CO_TRY(listed, co_await client::list(*client, kTrackers, query));
  Trackers found;
  for (const Value& object : listed["items"].items()) {
    if (!belongs_to(object, application)) continue;
    Tracker tracker = Tracker::from_object(object);
    const bool is_current = is_named_for(tracker, application, TrackerType::Versioned);
    if (tracker.type == TrackerType::Root) {
      found.root = std::move(tracker);
    } else if (is_current) {
      found.current = std::move(tracker);
    } else {
      found.outdated.push_back(std::move(tracker));
    }
  }
  co_return found;
}

/// One object that the application made.
struct Entry {
  ManagedResource resource;
  std::string publish_version, revision;
  bool is_latest = false;
};

/// Each object once, as its newest tracker has it.
std::vector<Entry> entries_of(const Trackers& trackers, const Filter& filter, bool wants_tree) {
  std::vector<Entry> entries;
  std::set<ObjectId> seen;
  for (const Tracker* tracker : trackers.newest_first()) {
    const bool is_old = tracker != &trackers.root && tracker != &trackers.current;
    if (is_old && filter.is_newest_only) continue;
    for (const ManagedResource& one : tracker->resources) {
      const Value names = json::object({{"apiVersion", one.api_version}, {"kind", one.kind}});
      if (!filter.takes(one) || (!wants_tree && !filter.kind.matches(names))) continue;
      if (!seen.insert(one.id()).second) continue;
      entries.push_back({.resource = one,
                         .publish_version = std::string(kube::annotation(tracker->object, kPublishVersion)),
                         .revision = std::string(kube::label(tracker->object, kLabelRevision)),
                         .is_latest = tracker == &trackers.current});
    }
  }
  return entries;
}

Value applied_resource(const Entry& entry) {
  const ManagedResource& one = entry.resource;
  json::ObjectBuilder out;
  out.set("cluster", one.cluster);
  out.set("component", one.component);
  out.set("trait", one.trait);
  out.set("kind", one.kind);
  if (!one.ns.empty()) out.set("namespace", one.ns);
  out.set("name", one.name);
  out.set("apiVersion", one.api_version);
  const auto deployed = kube::annotation(one.raw, kDeployVersion);
  if (!deployed.empty()) out.set("deployVersion", Value(deployed));
  if (!entry.publish_version.empty()) out.set("publishVersion", entry.publish_version);
  if (!entry.revision.empty()) out.set("revision", entry.revision);
  out.set("latest", entry.is_latest);
  return out.build();
}

/// What was found, and what could not be looked at.
struct Found {
  json::ArrayBuilder list;
  std::set<std::string> errors;

  Answer answer() {
    json::ObjectBuilder out;
    out.set("list", list.build());
    if (!errors.empty()) out.set("err", fmt::format("{}", fmt::join(errors, "; ")));
    return Answer::done(out.build());
  }
  void note(const Entry& entry, const Status& error) {
    if (error.reason == Reason::NotFound) return;
    errors.insert(fmt::format("{}: {}", entry.resource.id().to_string(), error.message));
  }
};

Answer failed_query(const Status& error) {
  Found none;
  none.errors.insert(error.message);
  return none.answer();
}

Task<Answer> list_resources(AppRun& run, ProviderCall call) {
  const Query query = read_query(call.params["app"]);
  const auto trackers = co_await trackers_of(run, query.ns, query.name);
  if (!trackers) co_return failed_query(trackers.error());
  Found found;
  for (const Entry& entry : entries_of(*trackers, query.filter, false)) {
    Value object = entry.resource.raw;
    if (query.wants_status || !entry.resource.is_whole) {
      auto live = co_await run.live_object(entry.resource);
      if (!live) found.note(entry, live.error());
      if (!live || live->is_null()) continue;
      object = shown(*live);
    }
    found.list.add(json::object({{"cluster", entry.resource.cluster},
                                 {"component", entry.resource.component},
                                 {"revision", entry.publish_version},
                                 {"object", object}}));
  }
  co_return found.answer();
}

using Visit = std::function<void(const Entry& entry, TreeNode tree)>;

/// Visits the tree of every object that is there and matches, or leads to what does.
Task<Result<void>> visit_trees(AppRun& run, Query query, Found& found, Visit visit) {
  SLIPWAY_CO_TRY(trackers, co_await trackers_of(run, query.ns, query.name));
  const std::vector<Entry> entries = entries_of(trackers, query.filter, true);
  for (const Entry& entry : entries) {
    auto live = co_await run.live_object(entry.resource);
    if (!live) found.note(entry, live.error());
    if (!live || live->is_null()) continue;
    auto tree = co_await tree_below(run, entry.resource.cluster, std::move(*live), query.filter.kind);
    if (!tree) {
      found.note(entry, tree.error());
      continue;
    }
    if (query.filter.kind.matches(tree->object) || !tree->leaves.empty()) visit(entry, std::move(*tree));
  }
  co_return Result<void>{};
}

Task<Answer> list_applied(AppRun& run, ProviderCall call) {
  const Query query = read_query(call.params["app"]);
  Found found;
  if (query.wants_tree) {
    const Time now = run.tools().env.clock.now();
    const auto done = co_await visit_trees(run, query, found, [&found, now](const Entry& entry, TreeNode tree) {
      found.list.add(applied_resource(entry).with("resourceTree", tree.to_json(entry.resource.cluster, now)));
    });
    co_return done ? found.answer() : failed_query(done.error());
  }
  const auto trackers = co_await trackers_of(run, query.ns, query.name);
  if (!trackers) co_return failed_query(trackers.error());
  for (const Entry& entry : entries_of(*trackers, query.filter, false)) found.list.add(applied_resource(entry));
  co_return found.answer();
}

Value workload_of(const Value& object) {
  return json::object({{"apiVersion", object["apiVersion"]},
                       {"kind", object["kind"]},
                       {"name", Value(kube::name(object))},
                       {"namespace", Value(kube::ns(object))}});
}

/// The nodes without leaves that match, each with the object above it.
void add_items(const Entry& entry, const KindFilter& filter, const Value& parent, const TreeNode& node, Found& found) {
  for (const TreeNode& leaf : node.leaves) add_items(entry, filter, node.object, leaf, found);
  if (!node.leaves.empty() || !filter.matches(node.object)) return;
  const auto version = [&](const char* annotation, const std::string& otherwise) {
    const auto own = kube::annotation(node.object, annotation);
    return own.empty() ? otherwise : std::string(own);
  };
  found.list.add(json::object(
      {{"cluster", entry.resource.cluster},
       {"workload", workload_of(parent)},
       {"component", entry.resource.component},
       {"object", node.object},
       {"publishVersion", version(kPublishVersion, entry.publish_version)},
       {"deployVersion", version(kDeployVersion, std::string(kube::annotation(entry.resource.raw, kDeployVersion)))}}));
}

Task<Answer> collect_resources(AppRun& run, ProviderCall call) {
  const Query query = read_query(call.params["app"]);
  Found found;
  const auto done = co_await visit_trees(run, query, found, [&](const Entry& entry, const TreeNode& tree) {
    add_items(entry, query.filter.kind, tree.object, tree, found);
  });
  co_return done ? found.answer() : failed_query(done.error());
}

/// Where node ports of the cluster are reached: an external address of a node, else an internal one.
Task<std::string> node_address(AppRun& run, std::string cluster) {
  const auto client = run.on(cluster);
  if (!client) co_return "";
  const auto nodes = co_await client::list(**client, {"", "v1", "nodes"}, {});
  if (!nodes) co_return "";
  for (const char* type : {"ExternalIP", "InternalIP"}) {
    for (const Value& node : (*nodes)["items"].items()) {
      for (const Value& address : node["status"]["addresses"].items()) {
        if (address["type"].as_string() == type) co_return address["address"].str();
      }
    }
  }
  co_return "";
}

void flatten(const TreeNode& node, std::vector<Value>& objects) {
  objects.push_back(node.object);
  for (const TreeNode& leaf : node.leaves) flatten(leaf, objects);
}

Value reference_to(const Value& object) {
  const Value& meta = object["metadata"];
  return json::object({{"kind", object["kind"]},
                       {"namespace", meta["namespace"]},
                       {"name", meta["name"]},
                       {"uid", meta["uid"]},
                       {"apiVersion", object["apiVersion"]},
                       {"resourceVersion", meta["resourceVersion"]}});
}

Task<Answer> collect_endpoints(AppRun& run, ProviderCall call) {
  const Query query = read_query(call.params["app"]);
  Found found;
  std::vector<std::pair<Entry, Value>> objects;
  const auto done = co_await visit_trees(run, query, found, [&objects](const Entry& entry, const TreeNode& tree) {
    std::vector<Value> all;
    flatten(tree, all);
    for (Value& one : all) objects.emplace_back(entry, std::move(one));
  });
  if (!done) co_return failed_query(done.error());
  std::map<std::string, std::string> addresses;  // by cluster
  for (const auto& [entry, object] : objects) {
    const std::string cluster = entry.resource.cluster;
    const bool has_node_port = object["spec"]["type"].as_string() == "NodePort";
    if (has_node_port && !addresses.contains(cluster)) addresses[cluster] = co_await node_address(run, cluster);
    for (Value& endpoint : endpoints_of(object, addresses[cluster])) {
      found.list.add(json::object({{"endpoint", std::move(endpoint)},
                                   {"ref", reference_to(object)},
                                   {"cluster", cluster},
                                   {"component", entry.resource.component}}));
    }
  }
  co_return found.answer();
}

Task<Answer> search_events(AppRun& run, ProviderCall call) {
  const Value about = call.params["value"];
  if (kube::name(about).empty()) co_return Answer::error("value: name an object to search the events of");
  const auto client = run.on(call.params["cluster"].str());
  if (!client) co_return failed_query(client.error());
  client::ListQuery query;
  query.ns = std::string(kube::ns(about));
  query.field_selector = fmt::format("involvedObject.kind={},involvedObject.name={},involvedObject.namespace={}",
                                     kube::kind(about), kube::name(about), kube::ns(about));
  if (!kube::uid(about).empty()) query.field_selector += fmt::format(",involvedObject.uid={}", kube::uid(about));
  const auto events = co_await client::list(**client, {"", "v1", "events"}, query);
  if (!events) co_return failed_query(events.error());
  Found found;
  for (const Value& event : (*events)["items"].items()) found.list.add(shown(event));
  co_return found.answer();
}

Task<Answer> collect_logs(AppRun&, ProviderCall call) {
  co_return Answer::error(
      fmt::format("collectLogsInPod is not done here (NotImplemented); read the logs of pod {}/{} with `slipway "
                  "logs` or kubectl",
                  call.params["namespace"].as_string(), call.params["pod"].as_string()));
}

using Function = Task<Answer> (*)(AppRun& run, ProviderCall call);

struct QueryRow {
  const char* function;
  std::vector<std::string> params;
  Function run;
};

}  // namespace

std::vector<workflow::Provider> query_providers(AppRun& run) {
  const QueryRow rows[] = {
      {"listResourcesInApp", {"app"}, list_resources},
      {"listAppliedResources", {"app"}, list_applied},
      {"collectResources", {"app"}, collect_resources},
      {"collectServiceEndpoints", {"app"}, collect_endpoints},
      {"searchEvents", {"value", "cluster"}, search_events},
      {"collectLogsInPod", {"cluster", "namespace", "pod", "options"}, collect_logs},
  };
  std::vector<workflow::Provider> providers;
  for (const QueryRow& row : rows) {
    for (const char* package : {"query", "ql"}) {
      providers.push_back({package, row.function, row.params,
                           [&run, function = row.run](ProviderCall call) { return function(run, std::move(call)); }});
    }
  }
  return providers;
}

}  // namespace slipway::delivery::application
