// Who may do what: RBAC over the Role, ClusterRole and binding objects in the store (k8s.io/kubernetes
// plugin/pkg/auth/authorizer/rbac), as access/role_index.h keeps them in step with the log. A question costs the bindings of
// its user and groups in its namespace and in the whole cluster. system:masters may do everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/user.h"
#include "server/access/policy.h"
#include "server/access/role_index.h"
#include "store/store.h"

namespace slipway::server {

inline constexpr std::string_view kMasters = "system:masters";

bool is_in_group(const kube::UserInfo& user, std::string_view group);

class Authorizer {
 public:
  explicit Authorizer(store::Store& store) : roles_(store) {}

  struct Decision {
    bool is_allowed = false;
    /// `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to User "u"`, or why a binding could not be read.
    std::string reason{};
  };
  /// Of a user whose rights are narrowed: what all may.
  Decision decide(const kube::UserInfo& user, const Attributes& attributes);
  /// Forbidden, worded as upstream, unless decide() allows it.
  Result<void> check(const kube::UserInfo& user, const Attributes& attributes);

  /// All rules that hold for a user in a namespace; "" gives those of the cluster scope only.
  std::vector<PolicyRule> rules_for(const kube::UserInfo& user, std::string_view ns);
  /// The rules of a role by a roleRef's kind and name. NotFound when there is no such role.
  Result<std::vector<PolicyRule>> rules_of(std::string_view kind, std::string_view name, std::string_view ns) const;

  /// Objects that were looked at since the beginning, see RoleIndex.
  std::uint64_t objects_read() const { return roles_.objects_read(); }

 private:
  Decision decide_narrowing(const kube::Narrowing& narrowing, const Attributes& attributes);

  RoleIndex roles_;
};

}  // namespace slipway::server
