// Who asks, by the client certificate: its common name is the user, its organizations are the groups.
#pragma once

#include "base/status.h"
#include "kube/user.h"
#include "net/server.h"

namespace slipway::serve {

/// Unauthorized without a certificate that our authority has signed.
Result<kube::UserInfo> user_of(const net::ConnectionInfo& connection);

}  // namespace slipway::serve
