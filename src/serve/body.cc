#include "serve/body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/loose.h"
#include "kube/protobuf.h"
#include "serve/negotiate.h"

namespace slipway::serve {
namespace {

using client::Verb;

Result<json::LooseText> decode(std::string_view body, BodyEncoding encoding, const kube::GroupVersionKind& kind) {
  Result<json::Value> value = fail(Reason::InternalError, "");
  switch (encoding) {
    case BodyEncoding::Json:
      return json::parse_loosely(body);
    case BodyEncoding::Yaml:
      value = json::parse_yaml(body);
      break;
    case BodyEncoding::Protobuf:
      value = kube::decode_protobuf(body, kind);
      break;
  }
  if (!value) return fail(std::move(value).error());
  return json::LooseText{std::move(*value), {}};
}

Result<std::vector<std::string>> read_patch(const http::Request& http, client::Request& request) {
  SLIPWAY_TRY(type, client::patch_type_of(http.headers.get("Content-Type")));
  request.patch_type = type;
  auto body = decode(http.body, type == client::PatchType::Apply ? BodyEncoding::Yaml : BodyEncoding::Json, {});
  if (!body) {
    return fail(Reason::BadRequest, fmt::format("error decoding patch: {}", body.error().message));
  }
  request.body = std::move(body->value);
  return std::move(body->doubled);
}

/// Typed clients leave out what the path says.
json::Value with_kind(json::Value body, const kube::GroupVersionKind& kind) {
  if (!body.is_object()) return body;
  if (body["apiVersion"].is_null()) body = body.with("apiVersion", kind.api_version());
  if (body["kind"].is_null()) body = body.with("kind", kind.kind);
  return body;
}

}  // namespace

Result<std::vector<std::string>> read_body(const http::Request& http, const Taken& taken, client::Request& request) {
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
      return std::vector<std::string>();
  }
  const bool is_delete = request.verb == Verb::Delete || request.verb == Verb::DeleteCollection;
  if (is_delete && http.body.empty()) return std::vector<std::string>();
  SLIPWAY_TRY(encoding, body_encoding(http.headers.get("Content-Type")));
  const kube::GroupVersionKind options{"", "v1", "DeleteOptions"};
  SLIPWAY_TRY(body, decode(http.body, encoding, is_delete ? options : taken.kind));
  request.body = is_delete || taken.says_kind ? std::move(body.value) : with_kind(std::move(body.value), taken.kind);
  return std::move(body.doubled);
}

Result<std::vector<std::string>> judge_doubled(std::vector<std::string> doubled, const Taken& taken,
                                               const client::Request& request) {
  const bool is_strict = request.field_validation == "Strict";
  if (doubled.empty() || request.field_validation == "Ignore") return std::vector<std::string>();
  for (std::string& path : doubled) path = fmt::format("duplicate field \"{}\"", path);
  if (!is_strict) return doubled;
  const auto& [group, version, kind] = taken.kind;
  return fail(Reason::BadRequest, fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}", kind,
                                              version, kind, fmt::join(doubled, ", ")));
}

}  // namespace slipway::serve
