// Who sends a request, as authentication found out (authentication.k8s.io/v1 UserInfo).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace slipway::kube {

struct Narrowing;

struct UserInfo {
  std::string name;  // "system:admin", "system:serviceaccount:ns:name", "system:anonymous"
  std::string uid;
  std::vector<std::string> groups;  // in order; "system:masters" may do everything
  std::map<std::string, std::vector<std::string>> extra;
  /// Null: its rights are its own. Only Slipway's controllers set it, for what they do as this user.
  std::shared_ptr<const Narrowing> narrowing{};
};

/// Others who have a say in what is done as a user, such as the authors of definitions that the user's object uses: it may do
/// only what each of them may.
struct Narrowing {
  std::string ns;  // the only namespace where anything may be done; empty: that is not limited
  std::vector<UserInfo> by;
};

}  // namespace slipway::kube
