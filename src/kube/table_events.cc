// The cells of events, in both groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kube/table_cells.h"

namespace slipway::kube {
namespace {

/// A field of core/v1, or what events.k8s.io/v1 calls it.
const json::Value& either(const Object& event, std::string_view name, std::string_view other) {
  const json::Value& value = event[name];
  return value.is_null() ? event[other] : value;
}

const json::Value& subject(const Object& event) { return either(event, "involvedObject", "regarding"); }

json::Value first_seen(const Object& event, Time now) {
  const json::Value& first = either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  return since(first.is_null() ? event["eventTime"] : first, now);
}

std::int64_t count_of(const Object& event) {
  return event.has("series") ? event["series"]["count"].as_int() : either(event, "count", "deprecatedCount").as_int();
}

json::Value last_seen(const Object& event, Time now) {
  const std::int64_t count = count_of(event);
  const json::Value& stamp = either(event, "lastTimestamp", "deprecatedLastTimestamp");
  const json::Value& last = event.has("series") ? event["series"]["lastObservedTime"]
                            : stamp.is_null()   ? event["eventTime"]
                                                : stamp;
  if (count > 1) return fmt::format("{} (x{} over {})", since(last, now), count, first_seen(event, now).as_string());
  return since(last, now);
}

json::Value event_object(const Object& event, Time) {
  return lower(subject(event)["kind"].as_string()) + "/" + subject(event)["name"].str();
}

json::Value event_subobject(const Object& event, Time) { return subject(event)["fieldPath"].as_string(); }

json::Value event_source(const Object& event, Time) {
  const json::Value& source = either(event, "source", "deprecatedSource");
  const std::string_view component = source["component"].as_string().empty()
                                         ? either(event, "reportingComponent", "reportingController").as_string()
                                         : source["component"].as_string();
  if (source["host"].as_string().empty()) return component;
  return fmt::format("{}, {}", component, source["host"].as_string());
}

json::Value event_message(const Object& event, Time) {
  std::string text = either(event, "message", "note").str();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

json::Value event_count(const Object& event, Time) { return std::max<std::int64_t>(count_of(event), 1); }

}  // namespace

std::span<const CellRow> event_cells() {
  static constexpr std::array kRows{CellRow{"@event.last-seen", last_seen}, CellRow{"@event.first-seen", first_seen},
                                    CellRow{"@event.object", event_object}, CellRow{"@event.subobject", event_subobject},
                                    CellRow{"@event.source", event_source}, CellRow{"@event.message", event_message},
                                    CellRow{"@event.count", event_count}};
  return kRows;
}

}  // namespace slipway::kube
