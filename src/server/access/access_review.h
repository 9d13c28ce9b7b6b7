// authorization.k8s.io/v1: whether somebody may do something, and what somebody may do. Create-only, nothing is stored.
#pragma once

#include "base/task.h"
#include "server/verbs.h"

namespace slipway::server {

Task<Result<Reply>> review_own_access(Site& site, Request request);    // SelfSubjectAccessReview
Task<Result<Reply>> review_access(Site& site, Request request);        // SubjectAccessReview
Task<Result<Reply>> review_local_access(Site& site, Request request);  // LocalSubjectAccessReview
Task<Result<Reply>> review_own_rules(Site& site, Request request);     // SelfSubjectRulesReview

}  // namespace slipway::server
