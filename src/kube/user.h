// Who sends a request, as authentication found out (authentication.k8s.io/v1 UserInfo).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace slipway::kube {

struct UserInfo {
  std::string name;  // "system:admin", "system:serviceaccount:ns:name", "system:anonymous"
  std::string uid;
  std::vector<std::string> groups;  // in order; "system:masters" may do everything
  std::map<std::string, std::vector<std::string>> extra;
};

}  // namespace slipway::kube
