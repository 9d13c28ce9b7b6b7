// What the kinds that are only answered have in common: the body is read, judged and given back with its status.
#pragma once

#include <string_view>
#include <vector>

#include "client/client.h"
#include "kube/resource.h"
#include "kube/user.h"

namespace slipway::server {

/// BadRequest when the body is not of that kind.
Result<void> check_review_body(const json::Value& body, const kube::GroupVersionKind& kind);
/// The body with a status and no more metadata than `metadata`; 201.
client::Reply reviewed(const json::Value& body, json::Value metadata, json::Value status);

/// Who asks; the process itself, which asks without a user, is one of system:masters.
kube::UserInfo user_of(const client::Request& request);
/// UserInfo of authentication.k8s.io: {username, uid, groups, extra}, empty parts left out.
json::Value user_object(const kube::UserInfo& user);

std::vector<std::string> strings_of(const json::Value& list);

}  // namespace slipway::server
