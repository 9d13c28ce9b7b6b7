#include "serve/target.h"

#include "serve/route.h"

namespace slipway::serve {
namespace {

using client::Verb;

std::unexpected<Status> not_allowed() {
  return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
}

/// Whether objects of this scope live at such a path.
Result<void> check_scope(bool is_namespaced, const Route& route, Verb verb) {
  const bool has_namespace = !route.ns.empty();
  if (!is_namespaced) return has_namespace ? Result<void>(not_found()) : Result<void>{};
  if (has_namespace) return {};
  if (!route.name.empty()) return not_found();
  if (verb != Verb::List && verb != Verb::Watch) return not_allowed();
  return {};
}

/// Whether a verb of whole objects goes with a path that ends in a name, or with one that does not.
bool is_object_verb(Verb verb, bool has_name) {
  switch (verb) {
    case Verb::Get:
    case Verb::Update:
    case Verb::Patch:
    case Verb::Delete:
      return has_name;
    case Verb::List:
    case Verb::Create:
    case Verb::DeleteCollection:
      return !has_name;
    case Verb::Watch:
      return true;
  }
  return false;
}

/// For the shape of an answer that is no stored object.
server::TypePtr answered_type(const server::Endpoint& endpoint) {
  auto type = std::make_shared<kube::ResourceType>();
  type->resource = endpoint.resource;
  type->kind = endpoint.kind;
  type->list_kind = endpoint.kind.kind + "List";
  type->is_namespaced = endpoint.is_namespaced;
  return type;
}

}  // namespace

Result<Target> target_of(const server::Registry& registry, const Route& route, Verb verb) {
  if (const server::Endpoint* endpoint = registry.find_endpoint(route.resource, route.subresource)) {
    if (endpoint->is_namespaced != !route.ns.empty()) return not_found();
    if (!endpoint->takes(verb)) return not_allowed();
    return Target{answered_type(*endpoint), endpoint};
  }
  const auto served = registry.served(route.resource);
  if (!served) return fail(served.error());
  SLIPWAY_TRY_VOID(check_scope((*served)->type.is_namespaced, route, verb));
  const auto part = (*served)->part(route.subresource);
  if (!route.tail.empty() || !part) return not_found();
  if (!part->takes(verb)) return not_allowed();
  if (part->content == server::Part::Content::Whole && !is_object_verb(verb, !route.name.empty())) return not_allowed();
  return Target{server::type_of(*served), nullptr};
}

client::Request request_of(const Call& call, Verb verb) {
  client::Request request;
  request.verb = verb;
  request.resource = call.route.resource;
  request.ns = call.route.ns;
  request.name = call.route.name;
  request.subresource = call.route.subresource;
  request.field_selector = call.query.get("fieldSelector");
  request.user_agent = call.http.headers.get("User-Agent");
  request.user = call.user;
  return request;
}

}  // namespace slipway::serve
