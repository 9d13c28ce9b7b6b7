#include <fmt/format.h>

#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_match.h"

namespace slipway::delivery::rollout {

namespace {

using json::Value;

constexpr std::int64_t kAll = 100;

Value gateway_filter(const Value& target, std::int64_t percent) {
  Value backend = target.without("weight").without("filters");
  Value mirror = json::object({{"backendRef", std::move(backend)}});
  if (percent < kAll) mirror = mirror.with("percent", percent);
  return json::object({{"type", "RequestMirror"}, {"requestMirror", std::move(mirror)}});
}

/// Members of `of` that say which Service is meant.
bool is_same_backend(const Value& a, const Value& b) { return a["name"] == b["name"]; }

Value without_items(const Value& list, auto&& is_gone) {
  Value left = list;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (is_gone(list.item(i))) left = left.without_item(i);
  }
  return left;
}

/// `rule` with `list` at `pointer`, or without the member where the list is empty.
Value with_list(const Value& rule, std::string_view pointer, const Value& list) {
  return list.empty() ? without_value(rule, pointer) : with_value(rule, pointer, list);
}

}  // namespace

Result<Value> with_mirror(const TrafficRow& row, const EntryList& list, const Value& rule, const Value& target,
                          std::int64_t percent) {
  const auto taken = [&] {
    return fail(Reason::Invalid, fmt::format("traffic.mirrorPercent: a rule that sends to the service has a mirror already; {} "
                                             "allows one: take it out for the rollout, or leave mirrorPercent out",
                                             row.providers.front()));
  };
  switch (row.mirror) {
    case TrafficRow::Mirror::Gateway:
      return rule.with("filters", rule["filters"].appended(gateway_filter(target, percent)));
    case TrafficRow::Mirror::Istio:
      if (rule.has("mirror") || rule.has("mirrors")) return taken();
      return rule.with("mirror", target["destination"])
          .with("mirrorPercentage", json::object({{"value", static_cast<double>(percent)}}));
    case TrafficRow::Mirror::Contour: {
      const Value& services = value_at(rule, list.entries);
      for (const Value& service : services.items()) {
        if (service["mirror"].as_bool()) return taken();
      }
      return with_value(rule, list.entries, services.appended(target.with("weight", percent).with("mirror", true)));
    }
    case TrafficRow::Mirror::Gloo:
      if (!value_at(rule, "/options/shadowing").is_null()) return taken();
      return with_value(rule, "/options/shadowing",
                        json::object({{"upstream", target["destination"]["upstream"]}, {"percentage", percent}}));
    case TrafficRow::Mirror::None:
      break;
  }
  return fail(Reason::Invalid, fmt::format("traffic.mirrorPercent: {} cannot mirror; leave it out or use another provider",
                                           row.providers.front()));
}

Value without_mirror(const TrafficRow& row, const EntryList& list, const Value& rule, const Value& target) {
  switch (row.mirror) {
    case TrafficRow::Mirror::Gateway:
      if (!rule.has("filters")) return rule;
      return with_list(rule, "/filters", without_items(rule["filters"], [&](const Value& filter) {
                         return is_same_backend(filter["requestMirror"]["backendRef"], target) && filter.has("requestMirror");
                       }));
    case TrafficRow::Mirror::Istio: {
      const Value& to = rule["mirror"];
      const bool is_ours =
          !to.is_null() && to["host"] == target["destination"]["host"] && to["subset"] == target["destination"]["subset"];
      return is_ours ? rule.without("mirror").without("mirrorPercentage") : rule;
    }
    case TrafficRow::Mirror::Contour:
      return with_value(rule, list.entries, without_items(value_at(rule, list.entries), [&](const Value& service) {
                          return service["mirror"].as_bool() && is_same_backend(service, target);
                        }));
    case TrafficRow::Mirror::Gloo: {
      if (value_at(rule, "/options/shadowing/upstream/name") != target["destination"]["upstream"]["name"] ||
          value_at(rule, "/options/shadowing").is_null()) {
        return rule;
      }
      const Value left = without_value(rule, "/options/shadowing");
      return left["options"].empty() ? left.without("options") : left;
    }
    case TrafficRow::Mirror::None:
      break;
  }
  return rule;
}

}  // namespace slipway::delivery::rollout
