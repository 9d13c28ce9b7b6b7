#include "delivery/rollout/traffic.h"

#include <fmt/format.h>

#include "delivery/rollout/traffic_forms.h"

namespace slipway::delivery::rollout {

namespace {

using json::Value;
using Form = TrafficRow::Form;

Result<void> require_route(const TrafficRow& row, const Route& route, const Split& split) {
  const auto outside = [](std::int64_t percent) { return percent < 0 || percent > 100; };
  if (outside(split.weight)) return fail(Reason::Invalid, fmt::format("traffic.weight: {} is not within 0..100", split.weight));
  if (outside(split.mirror_percent)) {
    return fail(Reason::Invalid, fmt::format("traffic.mirrorPercent: {} is not within 0..100", split.mirror_percent));
  }
  if (route.service.empty() && route.ingress.empty()) {
    return fail(Reason::Invalid, "traffic.service: Required value: it or ingressRef says which object carries the weights");
  }
  if (route.source_service.empty()) return fail(Reason::Invalid, "traffic.sourceService: Required value");
  const bool names_target = row.naming == TrafficRow::Naming::Revision || !route.target_service.empty();
  if (!names_target) return fail(Reason::Invalid, "traffic.targetService: Required value");
  if (route.source_service == route.target_service) {
    return fail(Reason::Invalid,
                fmt::format("traffic: source and target are both \"{}\"; they must differ", route.source_service));
  }
  return {};
}

/// Whether the condition holds for the object's newest generation. Older reports and none at all do not.
struct Condition {
  bool is_there = false;
  bool holds = false;
  std::string text;
};

Condition condition_of(const Value& conditions, std::string_view type, std::int64_t generation, const Value& observed) {
  for (const Value& condition : conditions.items()) {
    if (condition["type"].as_string() != type) continue;
    const Value& seen = condition.has("observedGeneration") ? condition["observedGeneration"] : observed;
    if (!seen.is_null() && seen.as_int() < generation) {
      return {true, false, fmt::format("{} is of generation {}, not {}", type, seen.as_int(), generation)};
    }
    if (condition["status"].as_string() == "True") return {true, true, ""};
    return {true, false,
            fmt::format("{} is {}: {} {}", type, condition["status"].as_string(), condition["reason"].as_string(),
                        condition["message"].as_string())};
  }
  return {false, false, fmt::format("{} is not reported yet", type)};
}

void judge_parents(const kube::Object& object, Observed& observed) {
  const Value& parents = object["status"]["parents"];
  observed.has_report = true;
  if (parents.empty() || parents.size() < object["spec"]["parentRefs"].size()) {
    observed.text = fmt::format("{} of {} parents have reported", parents.size(), object["spec"]["parentRefs"].size());
    return;
  }
  for (const Value& parent : parents.items()) {
    for (const std::string_view type : {"Accepted", "ResolvedRefs"}) {
      const Condition judged = condition_of(parent["conditions"], type, kube::generation(object), Value());
      if (judged.holds) continue;
      observed.text = fmt::format("parent {}: {}", parent["parentRef"]["name"].as_string(), judged.text);
      return;
    }
  }
  observed.is_accepted = true;
}

void judge(const TrafficRow& row, const kube::Object& object, Observed& observed) {
  if (row.report == TrafficRow::Report::None) return;
  if (row.report == TrafficRow::Report::Parents) return judge_parents(object, observed);
  const Value& status = object["status"];
  const Condition judged =
      condition_of(status["conditions"], row.condition, kube::generation(object), status["observedGeneration"]);
  observed.has_report = judged.is_there || row.report == TrafficRow::Report::Condition;
  observed.is_accepted = judged.holds;
  if (observed.has_report) observed.text = judged.text;
}

std::optional<std::int64_t> weight_of(const TrafficRow& row, const Route& route, const Objects& objects) {
  switch (row.form) {
    case Form::Entries:
      return entries::weight(row, route, objects);
    case Form::Copy:
    case Form::Skipper:
      return copies::weight(row, route, objects);
    case Form::Selector:
      return selectors::weight(row, route, objects);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Need>> needs(const Route& route) {
  SLIPWAY_TRY(row, traffic_row(route.provider));
  switch (row->form) {
    case Form::Entries:
      return entries::needs(*row, route);
    case Form::Copy:
    case Form::Skipper:
      return copies::needs(*row, route);
    case Form::Selector:
      return selectors::needs(*row, route);
  }
  return std::vector<Need>{};
}

Result<std::vector<Change>> shift(const Route& route, const Objects& objects, const Split& split) {
  SLIPWAY_TRY(row, traffic_row(route.provider));
  SLIPWAY_TRY_VOID(require_route(*row, route, split));
  switch (row->form) {
    case Form::Entries:
      return entries::shift(*row, route, objects, split);
    case Form::Copy:
    case Form::Skipper:
      return copies::shift(*row, route, objects, split);
    case Form::Selector:
      return selectors::shift(*row, route, objects, split);
  }
  return std::vector<Change>{};
}

Result<Observed> observe(const Route& route, const Objects& objects) {
  SLIPWAY_TRY(row, traffic_row(route.provider));
  Observed observed;
  const auto object = required_object(objects, row->kind, object_name(*row, route));
  if (!object) return observed;
  observed.weight = weight_of(*row, route, objects);
  judge(*row, *object, observed);
  return observed;
}

Result<std::vector<Change>> restore(const Route& route, const Objects& objects, bool target_stays) {
  SLIPWAY_TRY(row, traffic_row(route.provider));
  switch (row->form) {
    case Form::Entries:
      return entries::restore(*row, route, objects, target_stays);
    case Form::Copy:
    case Form::Skipper:
      return copies::restore(*row, route, objects, target_stays);
    case Form::Selector:
      return selectors::restore(*row, route, objects);
  }
  return std::vector<Change>{};
}

}  // namespace slipway::delivery::rollout
