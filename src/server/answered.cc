#include "server/answered.h"

#include <fmt/format.h>

#include "server/list_options.h"
#include "server/verbs.h"

namespace slipway::server {
namespace {

using client::Verb;

json::Value typed(const json::Value& object, const std::string& api_version, const std::string& kind) {
  json::Value out = object;
  if (out["apiVersion"].is_null()) out = out.with("apiVersion", api_version);
  if (out["kind"].is_null()) out = out.with("kind", kind);
  return out;
}

/// Fills one field of metadata, or checks it against the request.
Result<void> agree(client::Request& request, const char* field, const std::string& wanted) {
  const std::string_view given = request.body["metadata"][field].as_string();
  if (wanted.empty() || given == wanted) return {};
  if (!given.empty()) {
    return fail(Reason::BadRequest,
                fmt::format("the {} of the provided object does not match the {} sent on the request", field, field));
  }
  request.body = request.body.with_path({"metadata", field}, wanted);
  return {};
}

}  // namespace

Status not_allowed() {
  Status status;
  status.reason = Reason::MethodNotAllowed;
  status.message = "the server does not allow this method on the requested resource";
  return status;
}

Result<void> check_body(const kube::ResourceType& type, client::Request& request) {
  if (request.verb != Verb::Create && request.verb != Verb::Update) return {};
  if (!request.body.is_object()) return fail(Reason::BadRequest, "the body of the request must be an object");
  request.body = typed(request.body, type.kind.api_version(), type.kind.kind);
  SLIPWAY_TRY(kind, kube::GroupVersionKind::of(request.body));
  if (request.subresource.empty() && kind != type.kind) {
    return fail(Reason::BadRequest, fmt::format("{} {} in the request body is not {} {}", kind.api_version(), kind.kind,
                                                type.kind.api_version(), type.kind.kind));
  }
  if (type.is_namespaced) SLIPWAY_TRY_VOID(agree(request, "namespace", request.ns));
  return request.verb == Verb::Update ? agree(request, "name", request.name) : Result<void>{};
}

Result<client::Reply> completed(const kube::ResourceType& type, const client::Request& request, client::Reply reply) {
  const std::string api_version = type.kind.api_version();
  if (request.verb != Verb::List) {
    if (reply.object.is_object()) reply.object = typed(reply.object, api_version, type.kind.kind);
    if (request.verb == Verb::Create && reply.code == 200) reply.code = 201;
    return reply;
  }
  Served served;
  served.type = type;
  SLIPWAY_TRY(selection, Selection::of(request, served));
  json::ArrayBuilder items;
  for (const json::Value& item : reply.object["items"].items()) {
    if (selection.takes_everything() || selection.matches(item)) items.add(typed(item, api_version, type.kind.kind));
  }
  const json::Value& metadata = reply.object["metadata"];
  reply.object = json::object({{"kind", type.list_kind},
                               {"apiVersion", api_version},
                               {"metadata", metadata.is_object() ? metadata : json::Value::empty_object()},
                               {"items", items.build()}});
  return reply;
}

Task<Result<Reply>> Verbs::ask(Request request, ServedPtr served) {
  const client::AnsweredVerb* row = served->answers->find(request.verb, request.subresource);
  if (row == nullptr) co_return fail(not_allowed());
  SLIPWAY_CO_TRY_VOID(check_body(served->type, request));
  auto reply = co_await row->run({context_.env, context_.server}, request);
  if (!reply) co_return fail(std::move(reply).error());
  co_return completed(served->type, request, std::move(*reply));
}

Task<Result<ListReply>> Verbs::ask_list(Request request, ServedPtr served) {
  SLIPWAY_CO_TRY(reply, co_await ask(std::move(request), std::move(served)));
  co_return ListReply{
      reply.object.with("items", json::Value::empty_array()), {reply.object["items"]}, std::move(reply.warnings)};
}

}  // namespace slipway::server
