// The query parameters of a request as Kubernetes reads them (meta/v1 ListOptions, CreateOptions, UpdateOptions, PatchOptions,
// DeleteOptions; the conversions of k8s.io/apimachinery/pkg/runtime): a bool is true for everything but "false" and "0",
// integers that cannot be read are a BadRequest, an unknown dryRun is Invalid.
#pragma once

#include "client/client.h"
#include "net/http.h"

namespace slipway::serve {

/// True unless absent, "false" or "0".
bool flag_of(const net::Query& query, std::string_view name);
/// nullopt when absent. BadRequest.
Result<std::optional<std::int64_t>> integer_of(const net::Query& query, std::string_view name);

/// Fills what `request.verb` takes from the query. The body of a delete must be in place already: where there is none, the
/// query says the DeleteOptions.
Result<void> read_parameters(const net::Query& query, client::Request& request);

/// BadRequest when `timeout` is given and is no duration. DIVERGES: it is not obeyed; no answer takes as long as clients ask.
Result<void> check_timeout(const net::Query& query);

}  // namespace slipway::serve
