#include <fmt/format.h>

#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_forms.h"

namespace slipway::delivery::rollout {

using json::Value;

namespace selectors {

std::vector<Need> needs(const TrafficRow& row, const Route& route) {
  return {{row.kind, route.service, true}, {row.kind, route.source_service, true}, {row.kind, route.target_service, true}};
}

Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split) {
  if ((split.weight != 0 && split.weight != 100) || !split.matches.empty() || split.mirror_percent != 0) {
    return fail(Reason::Invalid,
                fmt::format("traffic: {} can only send all requests to the source or all to the target, at weights "
                            "0 and 100; use another provider for {} percent, matches or a mirror",
                            row.providers.front(), split.weight));
  }
  SLIPWAY_TRY(service, required_object(objects, row.kind, route.service));
  SLIPWAY_TRY(chosen, required_object(objects, row.kind, split.weight == 0 ? route.source_service : route.target_service));
  if (chosen["spec"]["selector"].empty()) {
    return fail(Reason::Invalid,
                fmt::format("traffic: Service \"{}\" selects no pods; give it a selector", kube::name(chosen)));
  }
  const Value old = record_of(service);
  const Value was = old.is_null() ? service["spec"]["selector"] : old["was"];
  const kube::Object after = with_record(service.with_path({"spec", "selector"}, chosen["spec"]["selector"]),
                                         json::object({{"was", was}, {"weight", split.weight}}), service);
  std::vector<Change> changes;
  add_patch(changes, row, service, after);
  return changes;
}

std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects) {
  const auto found = required_object(objects, row.kind, route.service);
  const Value record = found ? record_of(*found) : Value();
  return record.is_null() ? std::nullopt : std::optional(record["weight"].as_int());
}

std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects) {
  std::vector<Change> changes;
  const auto found = required_object(objects, row.kind, route.service);
  const Value record = found ? record_of(*found) : Value();
  if (record.is_null()) return changes;
  const kube::Object back = record["was"].is_null() ? found->without_path({"spec", "selector"})
                                                    : found->with_path({"spec", "selector"}, record["was"]);
  add_patch(changes, row, *found, without_record(back));
  return changes;
}

}  // namespace selectors

namespace subsets {
namespace {

const kube::GroupVersionKind kRule = {"networking.istio.io", "v1beta1", "DestinationRule"};

/// The one whose host is the service, whatever its name.
const kube::Object* rule_of(const Route& route, const Objects& objects) {
  for (const auto& [key, object] : objects) {
    const std::string_view host = object["spec"]["host"].as_string();
    if (kube::kind(object) != kRule.kind) continue;
    if (host == route.service || host.starts_with(fmt::format("{}.{}", route.service, route.ns))) return &object;
  }
  return nullptr;
}

Value labels_of(const std::map<std::string, std::string>& labels) {
  json::ObjectBuilder built;
  for (const auto& [key, value] : labels) built.set(key, value);
  return built.build();
}

/// Without the subsets that a record says are ours.
kube::Object original(const kube::Object& rule) {
  const Value record = record_of(rule);
  if (record.is_null()) return rule;
  Value list = rule["spec"]["subsets"];
  for (const Value& name : record["subsets"].items()) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (list.item(i)["name"] == name) list = list.without_item(i);
    }
  }
  const bool is_gone = list.empty() && record["alone"].as_bool();
  return without_record(is_gone ? rule.without_path({"spec", "subsets"}) : rule.with_path({"spec", "subsets"}, list));
}

}  // namespace

Need need(const Route& route) { return {kRule, route.service, true}; }

Result<std::vector<Change>> add(const Route& route, const Objects& objects) {
  std::vector<Change> changes;
  const kube::Object* rule = rule_of(route, objects);
  if (rule == nullptr) return fail(required_object(objects, kRule, route.service).error());
  const kube::Object own = original(*rule);
  Value list = own["spec"]["subsets"];
  Value names = Value::empty_array();
  for (const auto& [name, labels] :
       {std::pair{&route.source_service, &route.source_labels}, std::pair{&route.target_service, &route.target_labels}}) {
    bool has = false;
    for (const Value& subset : list.items()) has = has || subset["name"].as_string() == *name;
    if (has) continue;
    if (labels->empty()) {
      return fail(Reason::Invalid,
                  fmt::format("traffic: DestinationRule \"{}\" has no subset \"{}\", and no labels of its pods are "
                              "known; add the subset",
                              kube::name(*rule), *name));
    }
    list = list.appended(json::object({{"name", *name}, {"labels", labels_of(*labels)}}));
    names = names.appended(*name);
  }
  if (names.empty()) {
    add_patch(changes, kRule, "/name", *rule, own);
    return changes;
  }
  Value record = json::object({{"subsets", names}});
  if (!own["spec"].has("subsets")) record = record.with("alone", true);
  const kube::Object after = with_record(own.with_path({"spec", "subsets"}, list), record, *rule);
  add_patch(changes, kRule, "/name", *rule, after);
  return changes;
}

std::vector<Change> restore(const Route& route, const Objects& objects) {
  std::vector<Change> changes;
  if (const kube::Object* rule = rule_of(route, objects)) add_patch(changes, kRule, "/name", *rule, original(*rule));
  return changes;
}

}  // namespace subsets
}  // namespace slipway::delivery::rollout
