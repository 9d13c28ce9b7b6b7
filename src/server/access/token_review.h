// authentication.k8s.io: who a token belongs to, who asks, and tokens for service accounts. Create-only, nothing is stored.
#pragma once

#include "base/task.h"
#include "server/context.h"

namespace slipway::server {

Task<Result<Reply>> review_token(ServerContext& context, Request request);  // TokenReview
Task<Result<Reply>> review_self(ServerContext& context, Request request);   // SelfSubjectReview, in the version of its resource
/// serviceaccounts/token: a token that lasts for spec.expirationSeconds (3600 by default, 600 at least), or until the account
/// or the object it is bound to is gone. NotImplemented where the server has no key to sign with.
Task<Result<Reply>> create_token(ServerContext& context, Request request);

}  // namespace slipway::server
