// A server whose tests act as users: requests with a user, roles and bindings in one line.
#pragma once

#include <memory>
#include <string>

#include "kube/well_known.h"
#include "server/access/authorizer.h"
#include "server/server_fixture.h"

namespace slipway::server {

using kube::kClusterRoleBindings;
using kube::kClusterRoles;
using kube::kRoleBindings;
using kube::kRoles;
inline const kube::Resource kAccounts{"", "v1", "serviceaccounts"};

/// Signs by writing down that it did.
class PaperSigner : public TokenSigner {
 public:
  Result<std::string> sign(std::string_view claims) const override { return "signed:" + std::string(claims); }
  Result<std::string> verify(std::string_view token) const override {
    if (!token.starts_with("signed:")) return fail(Reason::Unauthorized, "not signed");
    return std::string(token.substr(7));
  }
};

class AccessTest : public ServerTest {
 public:
  void SetUp() override {
    Options options;
    options.access.signer = std::make_shared<const PaperSigner>();
    options.access.static_tokens = *read_static_tokens("secret,alice,u1,\"devs,ops\"\n");
    open(std::move(options));
  }

  static UserPtr user(std::string name, std::vector<std::string> groups = {"system:authenticated"}) {
    return std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = std::move(name), .uid = "", .groups = std::move(groups), .extra = {}});
  }
  Result<Value> as(const UserPtr& who, Request request) {
    request.user = who;
    return object_of(std::move(request));
  }
  Result<Value> create_as(const UserPtr& who, const kube::Resource& resource, Value body) {
    return as(who, writing(Verb::Create, resource, std::move(body)));
  }

  /// `rules` is YAML of the list; `ns` empty makes a ClusterRole.
  static Value role(std::string_view name, std::string_view rules, std::string_view ns = "default") {
    const std::string where = ns.empty() ? "" : fmt::format(", namespace: {}", ns);
    return yaml(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: {}, metadata: {{name: '{}'{}}}, rules: {}}}",
                            ns.empty() ? "ClusterRole" : "Role", name, where, rules));
  }
  /// `subject` is YAML of one subject.
  static Value binding(std::string_view name, std::string_view role_kind, std::string_view role_name, std::string_view subject,
                       std::string_view ns = "default") {
    const std::string where = ns.empty() ? "" : fmt::format(", namespace: {}", ns);
    return yaml(
        fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: {}, metadata: {{name: '{}'{}}}, "
                    "subjects: [{}], roleRef: {{kind: {}, name: '{}'}}}}",
                    ns.empty() ? "ClusterRoleBinding" : "RoleBinding", name, where, subject, role_kind, role_name));
  }
  /// Gives bob these rules in the namespace default.
  void let_bob(std::string_view rules) {
    must(create(kRoles, role("bobs", rules)));
    must(create(kRoleBindings, binding("bobs", "Role", "bobs", "{kind: User, name: bob}")));
  }

  Result<UserPtr> authenticate(std::initializer_list<std::pair<std::string, std::string>> headers) {
    Credentials credentials;
    for (const auto& [name, value] : headers) credentials.take_header(name, value);
    return server_->authenticate(credentials);
  }
  std::string token_of(std::string_view account, std::string_view spec = "{}") {
    Request request = this->request(Verb::Create, kAccounts, std::string(account));
    request.subresource = "token";
    request.body = yaml(fmt::format("{{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {}}}", spec));
    return must(object_of(std::move(request)))["status"]["token"].str();
  }
};

}  // namespace slipway::server
