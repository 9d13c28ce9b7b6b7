// Users with few rights, for what is done as an author, with the roles they are given.
#pragma once

#include "control/acting_client.h"
#include "plane_fixture.h"

namespace slipway::jobflow_test {

class RightsTest : public PlaneTest {
 public:
  /// A client of a user of no group.
  control::ActingClient& as(const std::string& user) {
    auto& client = users_[user];
    if (!client) {
      kube::UserInfo info;
      info.name = user;
      client = std::make_unique<control::ActingClient>(server(), std::make_shared<const kube::UserInfo>(info));
    }
    return *client;
  }
  /// Allows the user all verbs on the resources ("apigroup/plural") of namespace default.
  void allow(const std::string& user, const std::vector<std::string>& resources) {
    std::string rules;
    for (const std::string& one : resources) {
      const auto slash = one.find('/');
      rules += fmt::format("{{apiGroups: ['{}'], resources: ['{}', '{}/*'], verbs: ['*']}}, ", one.substr(0, slash),
                           one.substr(slash + 1), one.substr(slash + 1));
    }
    const std::string role = user + "-" + std::to_string(++roles_);
    must(create({"rbac.authorization.k8s.io", "v1", "roles"},
                yaml(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {}, namespace: "
                                 "default}}, rules: [{}]}}",
                                 role, rules))));
    must(
        create({"rbac.authorization.k8s.io", "v1", "rolebindings"},
               yaml(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {}, "
                                "namespace: default}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {}}}, "
                                "subjects: [{{kind: User, apiGroup: rbac.authorization.k8s.io, name: {}}}]}}",
                                role, role, user))));
  }
  /// Takes away what the last allow() gave the user.
  void forbid(const std::string& user) {
    const std::string role = user + "-" + std::to_string(roles_);
    ASSERT_TRUE(
        env_->run(client::remove(server(), {"rbac.authorization.k8s.io", "v1", "rolebindings"}, {"default", role}, {})));
  }
  Result<Value> create_as(const std::string& user, const kube::Resource& resource, Value object) {
    return env_->run(client::create(as(user), resource, std::move(object), "tester"));
  }
  void must(const Result<Value>& made) { ASSERT_TRUE(made) << made.error().message; }

 private:
  std::map<std::string, std::unique_ptr<control::ActingClient>> users_;
  int roles_ = 0;
};

}  // namespace slipway::jobflow_test
