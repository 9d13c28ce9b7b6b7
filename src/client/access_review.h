// Bodies of SubjectAccessReview and SelfSubjectAccessReview (authorization.k8s.io/v1): requests that ask an API server about
// the rights of a user. The answer is in status.allowed.
#pragma once

#include <string_view>

#include "json/value.h"
#include "kube/resource.h"
#include "kube/user.h"

namespace slipway::client {

inline const kube::Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};
inline const kube::Resource kOwnAccessReviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};

/// Asks whether `user` may do what `attributes` say; a null user asks about whoever sends it (for kOwnAccessReviews). `member`
/// is what the attributes are: "resourceAttributes" or "nonResourceAttributes".
json::Value access_review(const kube::UserInfo* user, json::Value attributes, std::string_view member = "resourceAttributes");

}  // namespace slipway::client
