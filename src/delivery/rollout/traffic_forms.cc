#include "delivery/rollout/traffic_forms.h"

#include <fmt/format.h>

#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_entries.h"
#include "json/text.h"

namespace slipway::delivery::rollout {

using json::Value;

std::string object_key(const kube::GroupVersionKind& kind, std::string_view name) {
  return fmt::format("{}/{}", kind.kind, name);
}

Result<kube::Object> required_object(const Objects& objects, const kube::GroupVersionKind& kind, std::string_view name) {
  const auto found = objects.find(object_key(kind, name));
  if (found != objects.end()) return found->second;
  return fail(Reason::NotFound,
              fmt::format("traffic: {} \"{}\" ({}) is not there; create it, or name another one in ingressRef", kind.kind, name,
                          kind.api_version()));
}

Value record_of(const kube::Object& object) {
  const auto record = json::parse(kube::annotation(object, kTrafficAnnotation));
  return record && record->is_object() ? *record : Value();
}

kube::Object with_record(const kube::Object& object, Value record, const kube::Object& before) {
  const Value old = record_of(before);
  if (old.is_null() ? !before["metadata"].has("annotations") : old["bare"].as_bool()) record = record.with("bare", true);
  return with_annotation(object, kTrafficAnnotation, json::print(record));
}

kube::Object without_record(const kube::Object& object) {
  return with_annotation(object, kTrafficAnnotation, nullptr, record_of(object)["bare"].as_bool());
}

void add_patch(std::vector<Change>& changes, const kube::GroupVersionKind& kind, std::string_view name_path,
               const kube::Object& before, const kube::Object& after) {
  Value patch = guarded_patch(before, after, name_path);
  if (patch.empty()) return;
  changes.push_back(
      {.kind = Change::Kind::Patch, .object_kind = kind, .name = std::string(kube::name(before)), .body = std::move(patch)});
}

void add_patch(std::vector<Change>& changes, const TrafficRow& row, const kube::Object& before, const kube::Object& after) {
  add_patch(changes, row.kind, row.name_path, before, after);
}

namespace entries {
namespace {

bool is_made(const TrafficRow& row, const Route& route) { return row.is_created && route.ingress.empty(); }

kube::GroupVersionKind upstream_kind() { return {"gloo.solo.io", "v1", "Upstream"}; }
bool has_upstreams(const TrafficRow& row) { return row.naming == TrafficRow::Naming::Upstream; }

Value metadata_of(const TrafficRow& row, const Route& route, std::string_view name) {
  Value metadata = json::object({{"name", name}});
  return row.is_cluster_scoped ? metadata : metadata.with("namespace", route.ns);
}

/// As a user would write it who sends everything to the service.
kube::Object made_object(const TrafficRow& row, const Route& route) {
  Value spec;
  const std::string own = entry_name(row, route, route.service);
  if (row.kind.kind == "VirtualService") {
    const Value entry = json::object({{"destination", json::object({{"host", own}})}});
    spec = json::object({{"hosts", json::array({Value(route.service)})},
                         {"http", json::array({json::object({{"route", json::array({entry})}})})}});
  } else if (row.kind.kind == "TrafficSplit") {
    const Value weight = row.codec == TrafficRow::Codec::Quantity ? Value("100") : Value(100);
    spec = json::object(
        {{"service", route.service}, {"backends", json::array({json::object({{"service", own}, {"weight", weight}})})}});
  } else {
    const auto tag = [](std::string_view value) { return json::object({{"kuma.io/service", value}}); };
    const auto selects = [&](std::string_view value) { return json::array({json::object({{"match", tag(value)}})}); };
    spec = json::object({{"sources", selects("*")}, {"destinations", selects(own)}})
               .with_path({"conf", "split"}, json::array({json::object({{"weight", 100}, {"destination", tag(own)}})}));
  }
  Value object = json::object({{"apiVersion", row.kind.api_version()},
                               {"kind", row.kind.kind},
                               {"metadata", metadata_of(row, route, object_name(row, route))}});
  if (row.is_cluster_scoped) object = object.with("mesh", "default");
  return object.with("spec", spec);
}

/// The JSON that the lists are in.
Result<Value> document_of(const TrafficRow& row, const Route& route, const kube::Object& object) {
  if (row.annotation.empty()) return object;
  const std::string key = fmt::format("{}{}{}", row.prefix, row.annotation, route.service);
  if (const std::string_view text = kube::annotation(object, key); !text.empty()) return json::parse(text);
  const Value entry =
      json::object({{"serviceName", route.service}, {"servicePort", std::to_string(route.port.value_or(80))}, {"weight", 100}});
  return json::object({{"type", "forward"}}).with_path({"forwardConfig", "targetGroups"}, json::array({entry}));
}

kube::Object with_document(const TrafficRow& row, const Route& route, const kube::Object& object, const Value& document,
                           const Value& text) {
  if (row.annotation.empty()) return document;
  const std::string key = fmt::format("{}{}{}", row.prefix, row.annotation, route.service);
  const bool is_as_before = !text.is_null() && json::parse(text.as_string()).value_or(Value()) == document;
  return with_annotation(object, key, is_as_before ? text : Value(json::print(document)));
}

/// An action of an Ingress is read only where a backend names it so.
Result<void> require_action(const TrafficRow& row, const Route& route, const kube::Object& object) {
  if (row.annotation.empty()) return {};
  const auto is_action = [&](const Value& backend) {
    return backend["service"]["name"].as_string() == route.service &&
           backend["service"]["port"]["name"].as_string() == "use-annotation";
  };
  bool has_action = is_action(object["spec"]["defaultBackend"]);
  for (const Value& rule : object["spec"]["rules"].items()) {
    for (const Value& path : rule["http"]["paths"].items()) has_action = has_action || is_action(path["backend"]);
  }
  if (has_action) return {};
  return fail(Reason::Invalid,
              fmt::format("traffic: no backend of Ingress \"{}\" has the service name \"{}\" with the port name "
                          "use-annotation, so the load balancer would not read the weights; write one so",
                          kube::name(object), route.service));
}

kube::Object upstream(const TrafficRow& row, const Route& route, const std::string& service) {
  const std::string name = entry_name(row, route, service);
  const Value kube =
      json::object({{"serviceName", service}, {"serviceNamespace", route.ns}, {"servicePort", route.port.value_or(80)}});
  return json::object({{"apiVersion", upstream_kind().api_version()},
                       {"kind", "Upstream"},
                       {"metadata", json::object({{"name", name}, {"namespace", route.ns}})
                                        .with_path({"annotations", kTrafficAnnotation}, "{\"created\":true}")},
                       {"spec", json::object({{"kube", kube}})}});
}

Result<std::vector<Change>> companions(const TrafficRow& row, const Route& route, const Objects& objects) {
  if (row.naming == TrafficRow::Naming::Subset) return subsets::add(route, objects);
  std::vector<Change> changes;
  if (!has_upstreams(row)) return changes;
  for (const std::string& service : {route.source_service, route.target_service}) {
    const std::string name = entry_name(row, route, service);
    if (service == route.service || objects.contains(object_key(upstream_kind(), name))) continue;
    changes.push_back({Change::Kind::Create, upstream_kind(), name, upstream(row, route, service)});
  }
  return changes;
}

}  // namespace

std::vector<Need> needs(const TrafficRow& row, const Route& route) {
  std::vector<Need> all = {{row.kind, object_name(row, route), !is_made(row, route)}};
  if (row.naming == TrafficRow::Naming::Subset) all.push_back(subsets::need(route));
  for (const std::string& service : {route.source_service, route.target_service}) {
    if (has_upstreams(row)) all.push_back({upstream_kind(), entry_name(row, route, service), false});
    if (row.kind.kind == "VirtualRouter") all.push_back({{row.kind.group, row.kind.version, "VirtualNode"}, service, true});
  }
  return all;
}

Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split) {
  const std::string name = object_name(row, route);
  const bool is_new = is_made(row, route) && !objects.contains(object_key(row.kind, name));
  auto found = is_new ? made_object(row, route) : required_object(objects, row.kind, name);
  if (!found) return fail(found.error());
  const kube::Object& before = *found;
  SLIPWAY_TRY_VOID(require_action(row, route, before));
  SLIPWAY_TRY(document, document_of(row, route, before));
  const Value old = record_of(before);
  const Entries list(row, route);
  SLIPWAY_TRY(written, list.write(list.take_back(document, old, false), split));
  Value record = written.record;
  if (is_new || old["created"].as_bool()) record = record.with("created", true);
  if (!row.annotation.empty()) {
    const std::string key = fmt::format("{}{}{}", row.prefix, row.annotation, route.service);
    const Value& text = old.is_null() ? before["metadata"]["annotations"][key] : old["text"];
    if (!text.is_null()) record = record.with("text", text);
  }
  const kube::Object after = with_record(with_document(row, route, before, written.document, nullptr), record, before);
  SLIPWAY_TRY(changes, companions(row, route, objects));
  if (is_new) {
    changes.push_back({Change::Kind::Create, row.kind, name, after});
  } else {
    add_patch(changes, row, before, after);
  }
  for (const char* version : {"source", "target"}) {
    const std::string abandoned = old[version].str();
    const bool is_used = abandoned.empty() || abandoned == route.target_service || abandoned == route.source_service;
    if (!has_upstreams(row) || is_used || abandoned == route.service) continue;
    changes.push_back({Change::Kind::Delete, upstream_kind(), entry_name(row, route, abandoned), {}});
  }
  return changes;
}

std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects) {
  const auto found = required_object(objects, row.kind, object_name(row, route));
  if (!found) return std::nullopt;
  const auto document = document_of(row, route, *found);
  return document ? Entries(row, route).weight(*document, record_of(*found)) : std::nullopt;
}

std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects, bool target_stays) {
  std::vector<Change> changes;
  const auto found = required_object(objects, row.kind, object_name(row, route));
  const Value record = found ? record_of(*found) : Value();
  if (record["created"].as_bool()) {
    changes.push_back({Change::Kind::Delete, row.kind, std::string(kube::name(*found)), {}});
  } else if (!record.is_null()) {
    const std::string key = fmt::format("{}{}{}", row.prefix, row.annotation, route.service);
    const auto document = document_of(row, route, *found);
    kube::Object after = *found;
    if (document && (row.annotation.empty() || (*found)["metadata"]["annotations"].has(key))) {
      const Value back = Entries(row, route).take_back(*document, record, target_stays).document;
      const bool was_absent = !row.annotation.empty() && !record.has("text");
      after = was_absent ? with_annotation(*found, key, nullptr) : with_document(row, route, *found, back, record["text"]);
    }
    add_patch(changes, row, *found, without_record(after));
  }
  for (const std::string& service : {route.source_service, route.target_service}) {
    const std::string name = entry_name(row, route, service);
    const auto made = objects.find(object_key(upstream_kind(), name));
    if (has_upstreams(row) && made != objects.end() && record_of(made->second)["created"].as_bool()) {
      changes.push_back({Change::Kind::Delete, upstream_kind(), name, {}});
    }
  }
  if (row.naming == TrafficRow::Naming::Subset) {
    for (Change& change : subsets::restore(route, objects)) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace entries
}  // namespace slipway::delivery::rollout
