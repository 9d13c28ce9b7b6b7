#include "serve/body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/loose.h"
#include "kube/protobuf.h"
#include "serve/negotiate.h"

namespace slipway::serve {
namespace {

using client::Verb;

/// Text up to this size is read in well under a millisecond (YAML, the slowest, at some 20 MB/s).
constexpr std::size_t kReadAtOnce = std::size_t{16} << 10;

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

Result<Body> parse_patch(const SentBody& sent) {
  SLIPWAY_TRY(type, client::patch_type_of(sent.content_type));
  auto patch = decode(sent.text, type == client::PatchType::Apply ? BodyEncoding::Yaml : BodyEncoding::Json, {});
  if (!patch) {
    return fail(Reason::BadRequest, fmt::format("error decoding patch: {}", patch.error().message));
  }
  return Body{std::move(patch->value), type, std::move(patch->doubled)};
}

/// Typed clients leave out what the path says.
json::Value with_kind(json::Value body, const kube::GroupVersionKind& kind) {
  if (!body.is_object()) return body;
  if (body["apiVersion"].is_null()) body = body.with("apiVersion", kind.api_version());
  if (body["kind"].is_null()) body = body.with("kind", kind.kind);
  return body;
}

}  // namespace

Task<Result<Body>> read_body(Env& env, SentBody sent, Taken taken) {
  if (sent.text.size() <= kReadAtOnce) co_return parse_body(sent, taken);
  Result<Body> body = Body{};
  co_await run_on(env, env.compute, [&] { body = parse_body(sent, taken); });
  co_return body;
}

Result<Body> parse_body(const SentBody& sent, const Taken& taken) {
  if (sent.verb == Verb::Patch) return parse_patch(sent);
  const bool is_delete = sent.verb == Verb::Delete || sent.verb == Verb::DeleteCollection;
  if (is_delete && sent.text.empty()) return Body{};
  SLIPWAY_TRY(encoding, body_encoding(sent.content_type));
  const kube::GroupVersionKind options{"", "v1", "DeleteOptions"};
  SLIPWAY_TRY(body, decode(sent.text, encoding, is_delete ? options : taken.kind));
  if (!is_delete && !taken.says_kind) body.value = with_kind(std::move(body.value), taken.kind);
  return Body{.value = std::move(body.value), .doubled = std::move(body.doubled)};
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
