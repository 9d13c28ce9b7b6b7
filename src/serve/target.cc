#include "serve/target.h"

namespace slipway::serve {
namespace {

using client::Verb;

std::unexpected<Status> not_found() { return fail(Reason::NotFound, "the server could not find the requested resource"); }
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

bool is_status_verb(Verb verb) { return verb == Verb::Get || verb == Verb::Update || verb == Verb::Patch; }

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
  if (const server::Endpoint* endpoint = server::find_endpoint(route.resource, route.subresource)) {
    if (endpoint->is_namespaced != !route.ns.empty()) return not_found();
    if (!endpoint->takes(verb)) return not_allowed();
    return Target{answered_type(*endpoint), endpoint};
  }
  const auto type = registry.find(route.resource);
  if (!type) return not_found();
  SLIPWAY_TRY_VOID(check_scope((*type)->is_namespaced, route, verb));
  if (!route.tail.empty()) return not_found();
  if (route.subresource.empty()) {
    if (!is_object_verb(verb, !route.name.empty())) return not_allowed();
  } else {
    const bool is_status = route.subresource == "status" && (*type)->has_status;
    const bool is_scale = route.subresource == "scale" && (*type)->scale.has_value();
    const server::Endpoint* part = server::find_stored_part(route.resource, route.subresource);
    if (!is_status && !is_scale && part == nullptr) return not_found();
    if (part != nullptr ? !part->takes(verb) : !is_status_verb(verb)) return not_allowed();
  }
  return Target{*type, nullptr};
}

client::Request request_of(const Call& call, Verb verb) {
  client::Request request;
  request.verb = verb;
  request.resource = call.route.resource;
  request.ns = call.route.ns;
  request.name = call.route.name;
  request.subresource = call.route.subresource;
  request.user_agent = call.http.headers.get("User-Agent");
  request.user = call.user;
  return request;
}

}  // namespace slipway::serve
