// What is served beside plain stored objects, as rows: subresources with a body of their own kind (pods/eviction,
// deployments/scale, serviceaccounts/token) and kinds that are only answered, never stored (SubjectAccessReview). A row says
// what discovery shows and which function answers. The function may run ordinary requests through the same server
// (ServerContext::server), as the process itself: who asks was authorized for the endpoint before.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "client/client.h"
#include "kube/resource.h"

namespace slipway::server {

struct ServerContext;

struct Endpoint {
  kube::Resource resource{};
  std::string subresource{};      // "" is the resource itself: a kind that is only answered
  kube::GroupVersionKind kind{};  // of the body; may be of another group, such as autoscaling/v1 Scale
  bool is_namespaced = true;
  bool is_listed = true;   // in discovery; false for what only old clients still ask for
  bool is_stored = false;  // a part of the stored object, which ordinary reads and writes serve; a row only for discovery
  std::vector<client::Verb> verbs{};
  /// Answers a request with one of `verbs`. Null: bytes flow (pods/log, pods/exec), which only the wire can carry; it is in the
  /// table so that discovery shows it.
  Task<Result<client::Reply>> (*run)(ServerContext& context, client::Request request) = nullptr;

  bool takes(client::Verb verb) const;
};

/// All rows, made once, in no order that means anything.
std::span<const Endpoint> endpoints();
/// Null when there is no such row, or it is_stored.
const Endpoint* find_endpoint(const kube::Resource& resource, std::string_view subresource);

/// The row that is_stored of that name, or null.
const Endpoint* find_stored_part(const kube::Resource& resource, std::string_view subresource);

// The tables joined in endpoints(), by subject.
std::vector<Endpoint> access_endpoints();  // access/: reviews, tokens
std::vector<Endpoint> object_endpoints();  // builtin/: scale, eviction, binding and others of stored kinds

}  // namespace slipway::server
