// Who may do what: RBAC over the Role, ClusterRole and binding objects in the store (k8s.io/kubernetes
// plugin/pkg/auth/authorizer/rbac). What the objects say is kept as an index by subject, made anew at the first question after
// one of them changed; a question then costs the bindings of its user and groups. system:masters may do everything.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/user.h"
#include "server/access/policy.h"
#include "store/store.h"

namespace slipway::server {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
inline constexpr std::string_view kMasters = "system:masters";

/// "system:serviceaccount:NAMESPACE:NAME".
std::string account_user(std::string_view ns, std::string_view name);
bool is_in_group(const kube::UserInfo& user, std::string_view group);

class Authorizer {
 public:
  explicit Authorizer(const store::Store& store) : store_(store) {}

  struct Decision {
    bool is_allowed = false;
    /// `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to User "u"`, or why a binding could not be read.
    std::string reason{};
  };
  Decision decide(const kube::UserInfo& user, const Attributes& attributes);
  /// Forbidden, worded as upstream, unless decide() allows it.
  Result<void> check(const kube::UserInfo& user, const Attributes& attributes);

  /// All rules that hold for a user in a namespace; "" gives those of the cluster scope only.
  std::vector<PolicyRule> rules_for(const kube::UserInfo& user, std::string_view ns);
  /// The rules of a role by a roleRef's kind and name. NotFound when there is no such role.
  Result<std::vector<PolicyRule>> rules_of(std::string_view kind, std::string_view name, std::string_view ns) const;

  /// An object of the group rbac.authorization.k8s.io is durable in a new state.
  void changed() { is_current_ = false; }

 private:
  using Rules = std::vector<PolicyRule>;
  /// What one binding gives to its subjects.
  struct Grant {
    std::string ns;                      // empty: everywhere
    std::string description;             // `RoleBinding "x/ns" of Role "y"`
    std::shared_ptr<const Rules> rules;  // null: the role is missing, `fault` says which
    std::string fault;
  };
  /// A grant by its place in grants_, and to whom it goes: `User "u"`.
  using Share = std::pair<std::size_t, std::string>;

  void refresh();
  void read_bindings(std::string_view plural);
  void add_subject(std::size_t grant, const json::Value& subject, std::string_view binding_ns);
  std::shared_ptr<const Rules> role(std::string_view kind, std::string_view name, std::string_view ns) const;
  /// The shares of a user that hold in `ns`, in the order of grants_.
  std::vector<const Share*> shares(const kube::UserInfo& user, std::string_view ns) const;

  const store::Store& store_;
  bool is_current_ = false;
  std::vector<Grant> grants_;
  std::map<std::string, std::shared_ptr<const Rules>, std::less<>> roles_;  // by key in the store
  std::map<std::string, std::vector<Share>, std::less<>> of_users_;
  std::map<std::string, std::vector<Share>, std::less<>> of_groups_;
};

}  // namespace slipway::server
