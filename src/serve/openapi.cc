#include "serve/openapi.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "serve/negotiate.h"
#include "serve/route.h"
#include "server/endpoint.h"

namespace slipway::serve {
namespace {

using Document = kube::OpenApiDocuments::Document;

/// HTTP methods of verbs, each once.
std::vector<std::string> methods_of(const server::Endpoint& endpoint) {
  using client::Verb;
  const auto takes = [&](std::initializer_list<Verb> verbs) {
    return std::ranges::any_of(verbs, [&](Verb verb) { return endpoint.takes(verb); });
  };
  std::vector<std::string> methods;
  if (takes({Verb::Get, Verb::List, Verb::Watch})) methods.emplace_back("get");
  if (takes({Verb::Create})) methods.emplace_back("post");
  if (takes({Verb::Update})) methods.emplace_back("put");
  if (takes({Verb::Patch})) methods.emplace_back("patch");
  if (takes({Verb::Delete, Verb::DeleteCollection})) methods.emplace_back("delete");
  return methods;
}

http::Response document_response(const Document& document, const http::Request& request, std::string_view content_type) {
  http::Response response;
  const std::string etag = fmt::format("\"{}\"", document.hash);
  response.headers.add("Content-Type", std::string(content_type));
  response.headers.add("ETag", etag);
  response.headers.add("Vary", "Accept");
  if (request.headers.has_token("If-None-Match", etag)) {
    response.status = 304;
  } else {
    response.body = document.text;
  }
  return response;
}

enum class V2Form : std::uint8_t { Json, Protobuf };

Result<V2Form> v2_form(std::string_view accept) {
  if (accept.empty()) return V2Form::Json;
  for (const std::string_view range : http::split_list(accept)) {
    if (range == kube::kOpenApiV2ProtobufAccept || range == kube::kOpenApiV2ProtobufType) return V2Form::Protobuf;
    for (const MediaRange& parsed : parse_accept(range)) {
      if (parsed.matches("application", "json")) return V2Form::Json;
    }
  }
  return fail(Reason::NotAcceptable,
              fmt::format("only the following media types are accepted: application/json, {}", kube::kOpenApiV2ProtobufAccept));
}

}  // namespace

kube::OpenApiInput openapi_input(const server::Registry& registry) {
  kube::OpenApiInput input;
  for (const server::TypePtr& type : registry.all()) {
    json::Value schema;
    if (type->is_custom) {
      if (const auto served = registry.served(type->resource)) schema = (*served)->source["schema"]["openAPIV3Schema"];
    }
    input.types.push_back({type, std::move(schema)});
  }
  for (const server::Endpoint& endpoint : registry.endpoints()) {
    input.endpoints.push_back({.resource = endpoint.resource,
                               .subresource = endpoint.subresource,
                               .kind = endpoint.kind,
                               .is_namespaced = endpoint.is_namespaced,
                               .methods = methods_of(endpoint)});
  }
  return input;
}

Result<http::Response> openapi_v2_response(kube::OpenApiDocuments& documents, const server::Registry& registry,
                                           const http::Request& request) {
  SLIPWAY_TRY(form, v2_form(request.headers.get("Accept")));
  const kube::OpenApiInput input = openapi_input(registry);
  if (form == V2Form::Json) return document_response(*documents.v2(input), request, "application/json");
  return document_response(*documents.v2_protobuf(input), request, kube::kOpenApiV2ProtobufType);
}

Result<http::Response> openapi_v3_response(kube::OpenApiDocuments& documents, const server::Registry& registry,
                                           const http::Request& request, std::span<const std::string> rest,
                                           std::string_view root) {
  const kube::OpenApiInput input = openapi_input(registry);
  if (rest.empty()) {
    http::Response index;
    index.headers.add("Content-Type", "application/json");
    index.body = json::print(documents.v3_index(input, root));
    return index;
  }
  const bool is_core = rest[0] == "api" && rest.size() == 2;
  if (!is_core && (rest[0] != "apis" || rest.size() != 3)) return not_found();
  const std::string group = is_core ? "" : rest[1];
  const std::string& version = rest.back();
  const bool is_served =
      std::ranges::any_of(input.types,
                          [&](const kube::OpenApiType& one) {
                            return one.type->resource.group == group && one.type->resource.version == version;
                          }) ||
      std::ranges::any_of(input.endpoints, [&](const kube::OpenApiEndpoint& one) {
        return one.resource.group == group && one.resource.version == version;
      });
  if (!is_served) return not_found();
  return document_response(*documents.v3(input, group, version), request, "application/json");
}

}  // namespace slipway::serve
