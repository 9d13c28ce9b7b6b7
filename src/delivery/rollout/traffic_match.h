// Requests that go to the target whatever the weight, and copies of requests: HTTPRouteMatch and a percentage, written in the
// words of each provider. What a provider cannot say is Invalid and named; nothing is left out silently.
#pragma once

#include <utility>

#include "delivery/rollout/traffic_rows.h"

namespace slipway::delivery::rollout {

/// The rules to put before `rule`: each is `rule` with a match added, still with its entries. Empty when the split has no
/// matches.
Result<std::vector<json::Value>> matched_rules(const TrafficRow& row, const json::Value& rule, const Split& split);

/// What nginx and its kin say in annotations of a canary: name after the prefix, and value. One match of one header and one of
/// a cookie can be said; a cookie counts when it is "always".
Result<std::vector<std::pair<std::string, std::string>>> canary_annotations(const Split& split);

/// `rule` with copies of `percent` of its requests to `target`, an entry of the rule's list. Invalid when the rule has a mirror
/// already and can have only one.
Result<json::Value> with_mirror(const TrafficRow& row, const EntryList& list, const json::Value& rule,
                                const json::Value& target, std::int64_t percent);
/// Without what with_mirror() wrote for the entry.
json::Value without_mirror(const TrafficRow& row, const EntryList& list, const json::Value& rule, const json::Value& target);

}  // namespace slipway::delivery::rollout
