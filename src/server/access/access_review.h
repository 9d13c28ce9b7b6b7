// authorization.k8s.io/v1: whether a user may do something, and what a user may do. Create-only, nothing is stored.
#pragma once

#include "base/task.h"
#include "server/context.h"

namespace slipway::server {

Task<Result<Reply>> review_own_access(ServerContext& context, Request request);    // SelfSubjectAccessReview
Task<Result<Reply>> review_access(ServerContext& context, Request request);        // SubjectAccessReview
Task<Result<Reply>> review_local_access(ServerContext& context, Request request);  // LocalSubjectAccessReview
Task<Result<Reply>> review_own_rules(ServerContext& context, Request request);     // SelfSubjectRulesReview

}  // namespace slipway::server
