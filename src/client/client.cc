#include "client/client.h"

#include <fmt/format.h>

#include <array>

namespace slipway::client {

namespace {

struct MediaType {
  std::string_view text;
  PatchType type;
};

constexpr std::array kPatchTypes{MediaType{"application/json-patch+json", PatchType::Json},
                                 MediaType{"application/merge-patch+json", PatchType::Merge},
                                 MediaType{"application/strategic-merge-patch+json", PatchType::StrategicMerge},
                                 MediaType{"application/apply-patch+yaml", PatchType::Apply}};

/// How a request reads in a log: HTTP's verb, except where that says too little.
std::string_view spoken(Verb verb) {
  switch (verb) {
    case Verb::Get:
      return "GET";
    case Verb::List:
      return "LIST";
    case Verb::Watch:
      return "WATCH";
    case Verb::Create:
      return "POST";
    case Verb::Update:
      return "PUT";
    case Verb::Patch:
      return "PATCH";
    case Verb::Delete:
      return "DELETE";
    case Verb::DeleteCollection:
      return "DELETECOLLECTION";
  }
  return "";
}

Request about(Verb verb, Resource resource, ObjectKey key) {
  Request request;
  request.verb = verb;
  request.resource = std::move(resource);
  request.ns = std::move(key.ns);
  request.name = std::move(key.name);
  return request;
}

Request writing(Verb verb, Resource resource, Value object, std::string field_manager) {
  Request request = about(verb, std::move(resource), kube::key_of(object));
  request.body = std::move(object);
  request.field_manager = std::move(field_manager);
  return request;
}

Task<Result<Value>> object_of(Client& client, Request request) {
  auto reply = co_await client.call(std::move(request));
  if (!reply) co_return fail(std::move(reply).error());
  co_return std::move(reply->object);
}

}  // namespace

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::Get:
      return "get";
    case Verb::List:
      return "list";
    case Verb::Watch:
      return "watch";
    case Verb::Create:
      return "create";
    case Verb::Update:
      return "update";
    case Verb::Patch:
      return "patch";
    case Verb::Delete:
      return "delete";
    case Verb::DeleteCollection:
      return "deletecollection";
  }
  return "";
}

std::string_view to_string(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::Added:
      return "ADDED";
    case WatchEvent::Type::Modified:
      return "MODIFIED";
    case WatchEvent::Type::Deleted:
      return "DELETED";
    case WatchEvent::Type::Bookmark:
      return "BOOKMARK";
  }
  return "";
}

Result<PatchType> patch_type_of(std::string_view media_type) {
  std::string_view bare = media_type.substr(0, media_type.find(';'));
  while (bare.ends_with(' ')) bare.remove_suffix(1);
  std::string known;
  for (const MediaType& row : kPatchTypes) {
    if (row.text == bare) return row.type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.text);
  }
  return fail(Reason::UnsupportedMediaType,
              fmt::format("the body of the request was in an unknown format - accepted media types include: {}", known));
}

std::string Request::to_string() const {
  std::string text = fmt::format("{} {}", spoken(verb), resource.group_resource());
  if (!subresource.empty()) text += "/" + subresource;
  if (!ns.empty() || !name.empty()) text += " " + ObjectKey{ns, name}.to_string();
  return text;
}

Task<Result<Value>> get(Client& client, Resource resource, ObjectKey key) {
  return object_of(client, about(Verb::Get, std::move(resource), std::move(key)));
}

Task<Result<Value>> list(Client& client, Resource resource, ListQuery query) {
  Request request = about(Verb::List, std::move(resource), {std::move(query.ns), ""});
  request.label_selector = std::move(query.label_selector);
  request.field_selector = std::move(query.field_selector);
  return object_of(client, std::move(request));
}

Task<Result<Value>> create(Client& client, Resource resource, Value object, std::string field_manager) {
  Request request = writing(Verb::Create, std::move(resource), std::move(object), std::move(field_manager));
  request.name.clear();  // the name is the object's, not the URL's
  return object_of(client, std::move(request));
}

Task<Result<Value>> update(Client& client, Resource resource, Value object, std::string field_manager) {
  return object_of(client, writing(Verb::Update, std::move(resource), std::move(object), std::move(field_manager)));
}

Task<Result<Value>> update_status(Client& client, Resource resource, Value object, std::string field_manager) {
  Request request = writing(Verb::Update, std::move(resource), std::move(object), std::move(field_manager));
  request.subresource = "status";
  return object_of(client, std::move(request));
}

Task<Result<Value>> apply(Client& client, Resource resource, Value object, std::string field_manager, std::string subresource,
                          bool force) {
  Request request = writing(Verb::Patch, std::move(resource), std::move(object), std::move(field_manager));
  request.patch_type = PatchType::Apply;
  request.subresource = std::move(subresource);
  request.force = force;
  return object_of(client, std::move(request));
}

Task<Result<Value>> merge_patch(Client& client, Resource resource, ObjectKey key, Value patch, std::string field_manager,
                                std::string subresource) {
  Request request = about(Verb::Patch, std::move(resource), std::move(key));
  request.body = std::move(patch);
  request.patch_type = PatchType::Merge;
  request.field_manager = std::move(field_manager);
  request.subresource = std::move(subresource);
  return object_of(client, std::move(request));
}

Task<Result<Value>> remove(Client& client, Resource resource, ObjectKey key, DeleteQuery query) {
  json::ObjectBuilder options;
  options.add("apiVersion", "v1").add("kind", "DeleteOptions");
  if (!query.propagation.empty()) options.add("propagationPolicy", query.propagation);
  if (query.grace_seconds) options.add("gracePeriodSeconds", *query.grace_seconds);
  json::ObjectBuilder preconditions;
  if (!query.uid.empty()) preconditions.add("uid", query.uid);
  if (!query.resource_version.empty()) preconditions.add("resourceVersion", query.resource_version);
  if (!preconditions.empty()) options.add("preconditions", preconditions.build());
  Request request = about(Verb::Delete, std::move(resource), std::move(key));
  request.body = options.build();
  return object_of(client, std::move(request));
}

Task<Result<void>> remove_exactly(Client& client, Resource resource, ObjectKey key, DeleteQuery query) {
  const auto removed = co_await remove(client, resource, key, query);
  if (removed || removed.error().reason == Reason::NotFound) co_return Result<void>{};
  if (removed.error().reason != Reason::Conflict) co_return fail(removed.error());
  // A uid that does not match and a lost race are both told as Conflict.
  const auto present = co_await get(client, resource, key);
  if (!present && present.error().reason != Reason::NotFound) co_return fail(present.error());
  if (present && kube::uid(*present) == query.uid) co_return fail(removed.error());
  co_return Result<void>{};
}

}  // namespace slipway::client
