// Whom a service account of a namespace is for an API server: the name and groups that its token has. Pure.
#pragma once

#include <memory>
#include <string_view>

#include "kube/user.h"

namespace slipway::delivery {

std::shared_ptr<const kube::UserInfo> service_account_user(std::string_view ns, std::string_view account);

}  // namespace slipway::delivery
