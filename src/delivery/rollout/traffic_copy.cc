#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_forms.h"
#include "delivery/rollout/traffic_match.h"
#include "json/members.h"
#include "json/text.h"

namespace slipway::delivery::rollout::copies {

using json::Value;

namespace {

constexpr std::string_view kWeights = "zalando.org/backend-weights";
constexpr std::string_view kPredicate = "zalando.org/skipper-predicate";
constexpr std::string_view kWins = "Weight(100)";
constexpr std::string_view kOff = "False()";
constexpr std::string_view kMatchNames[] = {"canary-by-header", "canary-by-header-value", "canary-by-header-pattern",
                                            "canary-by-cookie"};

bool is_mapping(const TrafficRow& row) { return row.kind.kind == "Mapping"; }
std::string copy_name(const TrafficRow& row, const Route& route) { return object_name(row, route) + "-canary"; }

// --- backends of an Ingress

/// Calls `edit` with each place ("host path", "*" for the default) and its path; what it gives takes the path's place.
using CopyEdit = std::function<std::vector<Value>(const std::string&, const Value&)>;

Value with_backends(const Value& ingress_spec, const CopyEdit& edit) {
  Value spec = ingress_spec;
  if (spec.has("defaultBackend")) {
    const auto kept = edit("*", json::object({{"backend", spec["defaultBackend"]}}));
    spec = kept.empty() ? spec.without("defaultBackend") : spec.with("defaultBackend", kept.front()["backend"]);
  }
  if (!spec.has("rules")) return spec;
  Value rules = Value::empty_array();
  for (const Value& rule : spec["rules"].items()) {
    Value paths = Value::empty_array();
    for (const Value& path : rule["http"]["paths"].items()) {
      const std::string place = fmt::format("{} {}", rule["host"].as_string(), path["path"].as_string());
      for (Value& one : edit(place, path)) paths = paths.appended(std::move(one));
    }
    if (!paths.empty()) rules = rules.appended(rule.with_path({"http", "paths"}, paths));
    if (!rule.has("http")) rules = rules.appended(rule);
  }
  return rules.empty() ? spec.without("rules") : spec.with("rules", rules);
}

std::string_view service_of(const Value& path) { return path["backend"]["service"]["name"].as_string(); }
Value with_service(const Value& path, std::string_view service) {
  return path.with_path({"backend", "service", "name"}, service);
}

/// Whether the user's Ingress names the service; if not, it names the source.
bool names_service(const kube::Object& ingress, const Route& route) {
  bool found = false;
  with_backends(ingress["spec"], [&](const std::string&, const Value& path) {
    found = found || service_of(path) == route.service;
    return std::vector{path};
  });
  return found;
}

// --- the service of a Mapping: [scheme://]name[.namespace][:port]

struct MappingService {
  std::string before;
  std::string name;
  std::string after;
};

MappingService mapping_service(const kube::Object& mapping) {
  const std::string text = mapping["spec"]["service"].str();
  const std::size_t scheme = text.find("://");
  const std::size_t start = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = std::min(text.find_first_of(".:/", start), text.size());
  return {text.substr(0, start), text.substr(start, end - start), text.substr(end)};
}

kube::Object with_mapping_service(const kube::Object& mapping, std::string_view service) {
  const MappingService parts = mapping_service(mapping);
  return mapping.with_path({"spec", "service"}, parts.before + std::string(service) + parts.after);
}

// --- the user's own object: its backends for the service go to the source meanwhile

/// As its owner wrote it. `record` says which backends were changed.
kube::Object original(const TrafficRow& row, const kube::Object& base) {
  const Value record = record_of(base);
  if (record.is_null()) return base;
  kube::Object back = base;
  if (is_mapping(row)) {
    if (mapping_service(base).name == record["source"].as_string())
      back = with_mapping_service(base, record["was"].as_string());
  } else {
    const auto places = record["places"].items();
    const CopyEdit to_service = [&](const std::string& place, const Value& path) {
      const bool is_ours =
          service_of(path) == record["source"].as_string() && std::ranges::find(places, Value(place)) != places.end();
      return std::vector{is_ours ? with_service(path, record["was"].as_string()) : path};
    };
    back = base.with("spec", with_backends(base["spec"], to_service));
  }
  return without_record(back);
}

kube::Object to_source(const TrafficRow& row, const Route& route, const kube::Object& own, const kube::Object& present) {
  if (route.source_service == route.service) return own;
  Value record = json::object({{"source", route.source_service}, {"was", route.service}});
  if (is_mapping(row)) {
    if (mapping_service(own).name != route.service) return own;
    return with_record(with_mapping_service(own, route.source_service), record, present);
  }
  Value places = Value::empty_array();
  const Value spec = with_backends(own["spec"], [&](const std::string& place, const Value& path) {
    if (service_of(path) != route.service) return std::vector{path};
    places = places.appended(place);
    return std::vector{with_service(path, route.source_service)};
  });
  if (places.empty()) return own;
  return with_record(own.with("spec", spec), record.with("places", places), present);
}

/// An object that names the source itself, and not the service, with the target in its place.
kube::Object to_target(const TrafficRow& row, const Route& route, const kube::Object& own) {
  if (is_mapping(row)) {
    const bool is_direct = mapping_service(own).name == route.source_service && route.source_service != route.service;
    return is_direct ? with_mapping_service(own, route.target_service) : own;
  }
  if (names_service(own, route)) return own;
  const CopyEdit edit = [&](const std::string&, const Value& path) {
    return std::vector{service_of(path) == route.source_service ? with_service(path, route.target_service) : path};
  };
  return own.with("spec", with_backends(own["spec"], edit));
}

// --- the second object

/// Annotations and labels by which tools find what they have made, or make more: a copy must not carry them.
bool is_of_tools(std::string_view key) {
  constexpr std::string_view kPrefixes[] = {"kubectl.kubernetes.io/",
                                            "argocd.argoproj.io/",
                                            "meta.helm.sh/",
                                            "helm.sh/",
                                            "helm.toolkit.fluxcd.io/",
                                            "kustomize.toolkit.fluxcd.io/",
                                            "cert-manager.io/",
                                            "acme.cert-manager.io/",
                                            "external-dns.alpha.kubernetes.io/",
                                            "rollout.slipway.dev/",
                                            "app.kubernetes.io/instance",
                                            "app.kubernetes.io/managed-by"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return key.starts_with(prefix); });
}

Value without_tools(const Value& map) {
  return json::members_where(map, [](std::string_view key) { return !is_of_tools(key); });
}

kube::Object new_copy(const TrafficRow& row, const Route& route, const kube::Object& own) {
  Value metadata = json::object({{"name", copy_name(row, route)}, {"namespace", route.ns}});
  if (const Value labels = without_tools(own["metadata"]["labels"]); !labels.empty())
    metadata = metadata.with("labels", labels);
  metadata = metadata.with("annotations",
                           without_tools(own["metadata"]["annotations"]).with(kTrafficAnnotation, "{\"created\":true}"));
  return json::object({{"apiVersion", row.kind.api_version()}, {"kind", row.kind.kind}, {"metadata", metadata}});
}

/// The paths of the service alone, for the target; of Skipper for both.
Value copied_spec(const TrafficRow& row, const Route& route, const kube::Object& own) {
  if (is_mapping(row)) return with_mapping_service(own, route.target_service)["spec"];
  const std::string& named = names_service(own, route) ? route.service : route.source_service;
  return with_backends(own["spec"], [&](const std::string& place, const Value& path) -> std::vector<Value> {
    if (service_of(path) != named) return {};
    if (row.form == TrafficRow::Form::Copy) return {with_service(path, route.target_service)};
    if (place == "*") return {};
    return {with_service(path, route.source_service), with_service(path, route.target_service)};
  });
}

Result<kube::Object> with_weight(const TrafficRow& row, const Route& route, kube::Object copy, const Split& split) {
  if (is_mapping(row)) return copy.with_path({"spec", "weight"}, split.weight);
  const auto annotate = [&](std::string_view key, Value text) { copy = with_annotation(copy, key, std::move(text)); };
  if (row.form == TrafficRow::Form::Skipper) {
    const Value weights = json::object({{route.source_service, 100 - split.weight}, {route.target_service, split.weight}});
    annotate(kWeights, json::print(weights));
    annotate(kPredicate, insert_predicate(kube::annotation(copy, kPredicate), split.weight == 0 ? kOff : kWins));
    return copy;
  }
  const std::string prefix(row.prefix);
  SLIPWAY_TRY(matches, canary_annotations(split));
  annotate(prefix + "canary", "true");
  annotate(prefix + "canary-weight", std::to_string(split.weight));
  for (const std::string_view name : kMatchNames) annotate(prefix + std::string(name), nullptr);
  for (const auto& [name, value] : matches) annotate(prefix + name, value);
  for (const auto& [key, value] : row.extra) annotate(key, value);
  return copy;
}

Result<void> require_carries(const TrafficRow& row, const Route& route, const kube::Object& own, const Split& split) {
  const std::string_view provider = row.providers.front();
  if (split.mirror_percent > 0) {
    return fail(Reason::Invalid, fmt::format("traffic.mirrorPercent: {} cannot mirror; leave it out", provider));
  }
  if (!split.matches.empty() && row.dialect == TrafficRow::Dialect::None) {
    return fail(Reason::Invalid, fmt::format("traffic.matches: {} cannot match requests; leave it out", provider));
  }
  if (!split.request_headers.is_null()) {
    return fail(Reason::Invalid, fmt::format("traffic: {} cannot change request headers", provider));
  }
  if (is_mapping(row) && own["spec"]["weight"].as_int() != 0) {
    return fail(Reason::Invalid, fmt::format("traffic: Mapping \"{}\" has a weight of its own; take it out: the copy gets one",
                                             kube::name(own)));
  }
  const std::string has = is_mapping(row) ? mapping_service(own).name : "";
  const Value spec = copied_spec(row, route, own);
  const bool is_found = is_mapping(row) ? has == route.service || has == route.source_service
                                        : !spec["rules"].empty() || spec.has("defaultBackend");
  if (is_found) return {};
  return fail(Reason::Invalid,
              fmt::format("traffic: {} \"{}\" sends nothing to the service \"{}\"; add a backend for it, or name "
                          "another object in ingressRef",
                          row.kind.kind, kube::name(own), route.service));
}

}  // namespace

std::string insert_predicate(std::string_view predicates, std::string_view inserted) {
  std::vector<std::string> all = {std::string(inserted)};
  std::size_t start = 0;
  while (start <= predicates.size()) {
    const std::size_t end = std::min(predicates.find("&&", start), predicates.size());
    const std::string_view one = trimmed(predicates.substr(start, end - start));
    if (!one.empty() && one != kWins && one != kOff) all.emplace_back(one);
    start = end + 2;
  }
  return joined(all, " && ");
}

std::vector<Need> needs(const TrafficRow& row, const Route& route) {
  return {{row.kind, object_name(row, route), true}, {row.kind, copy_name(row, route), false}};
}

Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split) {
  SLIPWAY_TRY(base, required_object(objects, row.kind, object_name(row, route)));
  const kube::Object own = original(row, base);
  SLIPWAY_TRY_VOID(require_carries(row, route, own, split));
  std::vector<Change> changes;
  const auto found = objects.find(object_key(row.kind, copy_name(row, route)));
  const bool is_new = found == objects.end();
  const kube::Object before = is_new ? new_copy(row, route, own) : found->second;
  if (!record_of(before)["created"].as_bool()) {
    return fail(Reason::Invalid,
                fmt::format("traffic: {} \"{}\" is not of this rollout; delete or rename it: the weight is written "
                            "in an object of that name",
                            row.kind.kind, copy_name(row, route)));
  }
  const Value spec = copied_spec(row, route, own);
  const Value present = is_mapping(row) ? before["spec"].without("weight") : before["spec"];
  SLIPWAY_TRY(after, with_weight(row, route, before.with("spec", covers(present, spec) ? before["spec"] : spec), split));
  if (is_new) {
    changes.push_back({Change::Kind::Create, row.kind, copy_name(row, route), after});
  } else {
    add_patch(changes, row, before, after);
  }
  add_patch(changes, row, base, to_source(row, route, own, base));
  return changes;
}

std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects) {
  const auto found = objects.find(object_key(row.kind, copy_name(row, route)));
  if (found == objects.end() || !record_of(found->second)["created"].as_bool()) return std::nullopt;
  const kube::Object& copy = found->second;
  if (is_mapping(row)) return copy["spec"]["weight"].as_int();
  if (row.form == TrafficRow::Form::Skipper) {
    const auto weights = json::parse(kube::annotation(copy, kWeights));
    if (!weights || !weights->has(route.target_service)) return std::nullopt;
    return (*weights)[route.target_service].as_int();
  }
  const auto text = json::parse(kube::annotation(copy, std::string(row.prefix) + "canary-weight"));
  return text && text->is_int() ? std::optional(text->as_int()) : std::nullopt;
}

std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects, bool target_stays) {
  std::vector<Change> changes;
  const auto copy = objects.find(object_key(row.kind, copy_name(row, route)));
  const bool has_copy = copy != objects.end() && record_of(copy->second)["created"].as_bool();
  if (const auto base = required_object(objects, row.kind, object_name(row, route)); base) {
    const kube::Object own = original(row, *base);
    add_patch(changes, row, *base, has_copy && target_stays ? to_target(row, route, own) : own);
  }
  if (has_copy) changes.push_back({Change::Kind::Delete, row.kind, copy_name(row, route), {}});
  return changes;
}

}  // namespace slipway::delivery::rollout::copies
