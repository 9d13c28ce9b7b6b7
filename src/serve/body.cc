#include "serve/body.h"

#include <fmt/format.h>

#include "json/text.h"
#include "kube/protobuf.h"
#include "serve/negotiate.h"

namespace slipway::serve {
namespace {

using client::Verb;

Result<json::Value> decode(std::string_view body, BodyEncoding encoding, const kube::GroupVersionKind& kind) {
  switch (encoding) {
    case BodyEncoding::Json:
      return json::parse(body);
    case BodyEncoding::Yaml:
      return json::parse_yaml(body);
    case BodyEncoding::Protobuf:
      return kube::decode_protobuf(body, kind);
  }
  return {};
}

Result<void> read_patch(const http::Request& http, client::Request& request) {
  SLIPWAY_TRY(type, client::patch_type_of(http.headers.get("Content-Type")));
  request.patch_type = type;
  auto body = decode(http.body, type == client::PatchType::Apply ? BodyEncoding::Yaml : BodyEncoding::Json, {});
  if (!body) {
    return fail(Reason::BadRequest, fmt::format("error decoding patch: {}", body.error().message));
  }
  request.body = std::move(*body);
  return {};
}

}  // namespace

Result<void> read_body(const http::Request& http, const kube::GroupVersionKind& kind, client::Request& request) {
  switch (request.verb) {
    case Verb::Patch:
      return read_patch(http, request);
    case Verb::Create:
    case Verb::Update:
    case Verb::Delete:
    case Verb::DeleteCollection:
      break;
    case Verb::Get:
    case Verb::List:
    case Verb::Watch:
      return {};
  }
  const bool is_delete = request.verb == Verb::Delete || request.verb == Verb::DeleteCollection;
  if (is_delete && http.body.empty()) return {};
  SLIPWAY_TRY(encoding, body_encoding(http.headers.get("Content-Type")));
  const kube::GroupVersionKind options{"", "v1", "DeleteOptions"};
  SLIPWAY_TRY(body, decode(http.body, encoding, is_delete ? options : kind));
  request.body = std::move(body);
  return {};
}

}  // namespace slipway::serve
