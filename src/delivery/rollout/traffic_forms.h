// The forms that providers keep a split in, one set of functions each; traffic.cc chooses by TrafficRow::form. All are pure:
// the objects as they are in, changes out.
#pragma once

#include <vector>

#include "delivery/rollout/traffic_rows.h"

namespace slipway::delivery::rollout {

/// "Kind/name", as Objects has it.
std::string object_key(const kube::GroupVersionKind& kind, std::string_view name);
/// NotFound, with what to do, when it is not there.
Result<kube::Object> required_object(const Objects& objects, const kube::GroupVersionKind& kind, std::string_view name);
/// What kTrafficAnnotation says; null without one, or when it is no JSON.
json::Value record_of(const kube::Object& object);
/// `object` with the record; what it had to be restored (`bare`) is kept from the record before it.
kube::Object with_record(const kube::Object& object, json::Value record, const kube::Object& before);
kube::Object without_record(const kube::Object& object);
/// A patch from `before` to `after`, unless they are equal.
void add_patch(std::vector<Change>& changes, const TrafficRow& row, const kube::Object& before, const kube::Object& after);
void add_patch(std::vector<Change>& changes, const kube::GroupVersionKind& kind, std::string_view name_path,
               const kube::Object& before, const kube::Object& after);

namespace entries {  // Form::Entries
std::vector<Need> needs(const TrafficRow& row, const Route& route);
Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split);
std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects);
std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects, bool target_stays);
}  // namespace entries

namespace copies {  // Form::Copy and Form::Skipper
std::vector<Need> needs(const TrafficRow& row, const Route& route);
Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split);
std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects);
std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects, bool target_stays);

/// Skipper's predicates, joined by "&&", with `inserted` first and neither Weight(100) nor False() elsewhere.
std::string insert_predicate(std::string_view predicates, std::string_view inserted);
}  // namespace copies

namespace selectors {  // Form::Selector
std::vector<Need> needs(const TrafficRow& row, const Route& route);
Result<std::vector<Change>> shift(const TrafficRow& row, const Route& route, const Objects& objects, const Split& split);
std::optional<std::int64_t> weight(const TrafficRow& row, const Route& route, const Objects& objects);
std::vector<Change> restore(const TrafficRow& row, const Route& route, const Objects& objects);
}  // namespace selectors

namespace subsets {  // the DestinationRule of `istio-subset`
Need need(const Route& route);
/// Adds the subsets that are missing. Invalid when the labels of one are not known.
Result<std::vector<Change>> add(const Route& route, const Objects& objects);
std::vector<Change> restore(const Route& route, const Objects& objects);
}  // namespace subsets

}  // namespace slipway::delivery::rollout
