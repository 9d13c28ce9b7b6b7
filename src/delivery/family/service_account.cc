#include "delivery/family/service_account.h"

#include <fmt/format.h>

namespace slipway::delivery {

std::shared_ptr<const kube::UserInfo> service_account_user(std::string_view ns, std::string_view account) {
  auto user = std::make_shared<kube::UserInfo>();
  user->name = fmt::format("system:serviceaccount:{}:{}", ns, account);
  user->groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns), "system:authenticated"};
  return user;
}

}  // namespace slipway::delivery
