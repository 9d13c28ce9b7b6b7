// The metrics that have a name instead of a query: request-success-rate (percent of requests without a server error) and
// request-duration (milliseconds, the 99th percentile or the mean, as the proxy offers; for apisix, appmesh and http in its own
// unit), as proxies and meshes report them to Prometheus. The new version's series are told apart as Flagger names its objects
// (pkg/metrics/observers): by `target`, or by names with "-canary" at their end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::delivery::probe {

/// The PromQL of a metric by the traffic provider's name ("istio", "gatewayapi:v1"), with `{{ }}` variables in it; nullopt
/// where there is none. Without a traffic provider it is what pods themselves report.
std::optional<std::string> builtin_query(std::string_view metric, std::string_view traffic_provider);

/// The query with its variables filled in. A name of a built-in metric stands for its query; `variables["traffic"]` says whose.
Result<std::string> query_text(std::string_view text, std::map<std::string, std::string> variables);

}  // namespace slipway::delivery::probe
