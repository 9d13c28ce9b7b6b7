#include "cluster/contents.h"

namespace slipway::cluster {

namespace {

client::Request about(client::Verb verb, const kube::Resource& resource, const std::string& ns) {
  client::Request request;
  request.verb = verb;
  request.resource = resource;
  request.ns = ns;
  return request;
}

Task<Result<json::Value>> items(client::Client& client, kube::Resource resource, std::string ns) {
  auto reply = co_await client.call(about(client::Verb::List, resource, ns));
  if (!reply && reply.error().reason == Reason::NotFound) co_return json::Value::empty_array();
  if (!reply) co_return fail(reply.error());
  co_return reply->object["items"];
}

}  // namespace

Task<Result<json::Value>> empty(client::Client& client, kube::Resource resource, std::string ns) {
  SLIPWAY_CO_TRY(before, co_await items(client, resource, ns));
  bool has_new = false;
  for (const json::Value& item : before.items()) has_new |= !kube::is_deleting(item);
  if (!has_new) co_return before;
  client::Request request = about(client::Verb::DeleteCollection, resource, ns);
  // Said, because Jobs would otherwise leave their pods behind, by their own default.
  request.body = json::object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}});
  auto deleted = co_await client.call(std::move(request));
  if (!deleted && deleted.error().reason != Reason::NotFound) co_return fail(deleted.error());
  co_return co_await items(client, resource, ns);
}

}  // namespace slipway::cluster
