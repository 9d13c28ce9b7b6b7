// What a family serves beside the objects of its definitions, as rows of functions: kinds whose content lives elsewhere (files
// of a Git repository, objects of another cluster) and HTTP paths (webhooks). The server is made with these rows; requests
// reach them authenticated, authorized and with their body as a value, as those for stored objects do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/http.h"
#include "client/client.h"
#include "kube/user.h"

namespace slipway::client {

/// What the functions work with. Both outlive every request.
struct ServedContext {
  Env& env;
  Client& server;  // the server that asks, without a user: what is written through it is the process's own
};

/// One verb of an answered kind, or of a subresource of it.
struct AnsweredVerb {
  Verb verb = Verb::Get;
  std::string subresource{};  // "" is the resource itself
  /// Get, Create, Update and Patch give the object, List an object with `items`; apiVersion and kind may be left out of both.
  /// A list need not look at the selectors. Delete gives a Status or the object.
  std::function<Task<Result<Reply>>(ServedContext context, Request request)> run;
};

/// A kind of which the server stores nothing: every verb is a function. It is in discovery, tables, OpenAPI and RBAC like any
/// other. What has no row is refused as not allowed; so is a watch without a function. Paging (limit, continue) is not
/// offered: a list is always whole, as the API conventions allow. Admission rows are not run for it.
struct AnsweredKind {
  kube::ResourceType type;
  json::Value schema{};  // openAPIV3Schema, for documents only; null: any object
  std::vector<AnsweredVerb> verbs{};
  std::function<Task<Result<std::unique_ptr<Watch>>>(ServedContext context, Request request)> watch{};

  /// Null when there is no such row.
  const AnsweredVerb* find(Verb verb, std::string_view subresource) const;
};

/// A version of a group that clients know of and nothing here serves: requests are answered NotImplemented, with what to use
/// instead. It is in no discovery.
struct UnservedVersion {
  std::string group{};
  std::string version{};
  std::string message{};
};

/// The same answer to every caller without a valid signature, so that strangers learn no names.
inline constexpr const char* kNotSigned = "the call is not signed with a key that is known here for this path";

/// A path that is no resource, such as a webhook's. Requests to it count as writes under way, of which there is a limit.
struct HttpPath {
  /// "/hooks/git": the path and all below it, below the cluster's own root. Not one of the server's own paths.
  std::string prefix;
  std::vector<std::string> methods{};
  enum class Access : std::uint8_t {
    Authorized,  // as other paths: RBAC rules with nonResourceURLs
    Anyone,      // whoever asks; the function must judge a signature before it reads anything else
  };
  Access access = Access::Authorized;
  std::size_t max_body_bytes = std::size_t{1}
                               << 20;  // 413 beyond; where anyone may call, no more is read (serve::body_limit_of)
  /// The header without which nothing of a body is read (401). Empty: none is needed.
  std::string signature_header{};
  /// `user` is who asks; someone unauthenticated has the user system:anonymous.
  std::function<Task<Result<http::Response>>(ServedContext context, http::Request request,
                                             std::shared_ptr<const kube::UserInfo> user)>
      run;

  /// Whether a decoded path, such as "/hooks/git/main", is the prefix or below it.
  bool covers(std::string_view path) const;
};

}  // namespace slipway::client
