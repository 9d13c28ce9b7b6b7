// Kinds that functions answer (client/served.h): what the server does for them before and after the function.
#pragma once

#include "base/status.h"
#include "client/served.h"

namespace slipway::server {

/// 405, for a verb that a resource does not offer.
Status not_allowed();

/// Checks a create or update as for stored objects: its body must be of the kind, and in the namespace and of the name that
/// the request has; what is missing of these is filled in. BadRequest otherwise.
Result<void> check_body(const kube::ResourceType& type, client::Request& request);

/// A reply with apiVersion and kind, and a list with the items that the request's selectors take.
Result<client::Reply> completed(const kube::ResourceType& type, const client::Request& request, client::Reply reply);

}  // namespace slipway::server
