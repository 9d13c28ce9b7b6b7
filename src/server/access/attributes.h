// What is to be authorized: one request as a verb on a resource or on a path (k8s.io/apiserver's authorizer.Attributes, made as
// its RequestInfo is), and how a refusal is worded.
#pragma once

#include <string>
#include <string_view>

#include "client/client.h"
#include "kube/user.h"

namespace slipway::server {

struct Attributes {
  std::string verb{};
  std::string group{};
  std::string version{};
  std::string resource{};  // plural; empty: a path that is no resource
  std::string subresource{};
  std::string ns{};  // empty: the cluster scope
  std::string name{};
  std::string path{};  // only without a resource, "/metrics"

  bool is_resource() const { return !resource.empty(); }

  /// As upstream reads a URL: the name of a list or watch may come from a field selector metadata.name=x (never that of a
  /// deletecollection), and a Namespace lies in itself.
  static Attributes of(const client::Request& request);
  /// `verb` is the HTTP method in lower case.
  static Attributes of_path(std::string_view verb, std::string_view path);
};

/// 403 `pods "x" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "default"`, then ": " and
/// the reason, if there is one.
Status forbidden(const kube::UserInfo& user, const Attributes& attributes, std::string_view reason);
/// 403 `roles.rbac.authorization.k8s.io "x" is forbidden: WHY`.
Status forbidden_because(const kube::Resource& resource, std::string_view name, std::string_view why);

}  // namespace slipway::server
