// The metrics that have a name instead of a query: request-success-rate (percent of requests without a server error) and
// request-duration (99th percentile, milliseconds unless the table says otherwise), as the proxies and meshes report them to
// Prometheus (Flagger's pkg/metrics/observers). The new version's series are told apart as Flagger names them: `target`, or the
// Service `target`-canary.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::delivery::probe {

/// The PromQL of a metric by the traffic provider's name, with `{{ }}` variables in it; nullopt where there is none.
std::optional<std::string> builtin_query(std::string_view metric, std::string_view traffic_provider);

/// The query with its variables filled in. A name of a built-in metric stands for its query; `variables["traffic"]` says whose.
Result<std::string> query_text(std::string_view text, std::map<std::string, std::string> variables);

}  // namespace slipway::delivery::probe
