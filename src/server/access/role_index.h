// The Role, ClusterRole and binding objects of the store by who they are for: a projection of the log, so a binding is in force
// from the moment its write is durable until its deletion is, whoever wrote it and however that request ended. A change of one
// object costs a few look-ups by key, whatever the number of the others: bindings hold their role's place, which is filled and
// emptied as the role comes and goes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/user.h"
#include "server/access/policy.h"
#include "store/store.h"

namespace slipway::server {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

/// "system:serviceaccount:NAMESPACE:NAME".
std::string account_user(std::string_view ns, std::string_view name);

class RoleIndex : public store::Projection {
 public:
  using Rules = std::vector<PolicyRule>;
  /// The place of a role. Stays valid as long as it is held.
  struct Role {
    std::shared_ptr<const Rules> rules;  // null: there is no such role
  };
  /// What one binding gives to its subjects.
  struct Grant {
    std::string key;          // in the store
    std::string ns;           // empty: everywhere
    std::string description;  // `RoleBinding "x/ns" of Role "y"`
    std::string role_key;
    std::shared_ptr<const Role> role;
    std::string missing_role;  // what to say when the role is not there
  };
  /// A grant and to whom it goes. In order: bindings of the cluster first, then by key.
  struct Share {
    const Grant* grant = nullptr;
    std::string subject;  // `User "u"`

    bool operator<(const Share& other) const;
  };

  explicit RoleIndex(store::Store& store);

  void apply(const store::Change& change) override;
  /// The shares of a user and of their groups that hold in `ns`, in order. Valid until the next change.
  std::vector<const Share*> shares(const kube::UserInfo& user, std::string_view ns) const;
  /// By a roleRef's kind and name; null when there is no such role.
  std::shared_ptr<const Rules> role(std::string_view kind, std::string_view name, std::string_view ns) const;

  /// Objects that were looked at since the beginning: the work that changes have made.
  std::uint64_t objects_read() const { return objects_read_; }

 private:
  /// Who a binding names, and where it holds.
  struct Subject {
    bool is_group = false;
    std::string name;
    std::string ns;

    auto operator<=>(const Subject&) const = default;
  };
  struct Binding {
    Grant grant;
    std::vector<std::pair<Subject, Share>> subjects;
  };

  void put_role(const std::string& key, const json::Value& role);
  void remove_role(const std::string& key);
  void put_binding(const std::string& key, const json::Value& binding);
  void remove_binding(const std::string& key);
  std::shared_ptr<Role>& place_of(const std::string& role_key);
  /// A place that is empty and that no binding holds is not kept.
  void drop_if_unused(const std::string& role_key);

  std::map<std::string, std::shared_ptr<Role>, std::less<>> roles_;  // by key in the store
  std::map<std::string, Binding> bindings_;                          // by key in the store
  std::map<Subject, std::set<Share>> shares_;
  std::uint64_t objects_read_ = 0;
  std::unique_ptr<store::Following> following_;  // last: feeds the others
};

}  // namespace slipway::server
