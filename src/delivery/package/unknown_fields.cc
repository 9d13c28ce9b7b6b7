#include "delivery/package/unknown_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/kind.h"
#include "json/text.h"
#include "kube/schema.h"

namespace slipway::delivery::package {
namespace {

using client::PatchType;
using client::Reply;
using client::Request;
using client::ServedContext;
using client::Verb;

/// Which fields there are, without how lists are merged: that is these kinds' own, and their keys need not be required.
json::Value only_fields(const json::Value& schema) {
  if (schema.is_object()) {
    json::ObjectBuilder made;
    for (const auto& [key, value] : schema.members()) {
      if (!key.starts_with("x-kubernetes-list-")) made.add(key, only_fields(value));
    }
    return made.build();
  }
  return schema;
}

std::vector<std::string> unknown_in(const Request& request, const kube::Schema& schema) {
  const bool is_asked = request.field_validation == "Strict" || request.field_validation == "Warn";
  const bool is_object = request.verb != Verb::Patch || request.patch_type != PatchType::Json;
  std::vector<std::string> dropped;
  if (!is_asked || !is_object || !request.body.is_object()) return dropped;
  (void)schema.prune(request.body, &dropped);
  for (std::string& path : dropped) path = fmt::format("unknown field \"{}\"", path);
  return dropped;
}

Status refusal(const Request& request, const std::vector<std::string>& unknown) {
  const std::string text = "strict decoding error: " + joined(unknown, ", ");
  if (request.verb == Verb::Patch) {
    const json::Value sent(json::print(request.body));
    return kube::invalid({}, "", {field::invalid("patch", json::print(sent), text)});
  }
  const std::string kind = request.body["kind"].str();
  return fail(Reason::BadRequest,
              fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, request.resource.version, kind, text))
      .error();
}

}  // namespace

client::AnsweredVerb with_known_fields(client::AnsweredVerb row, const json::Value& schema) {
  row.run = [run = std::move(row.run), known = kube::Schema::deferred(only_fields(schema))](
                ServedContext context, Request request) -> Task<Result<Reply>> {
    std::vector<std::string> unknown = unknown_in(request, *known);
    if (!unknown.empty() && request.field_validation == "Strict") co_return fail(refusal(request, unknown));
    SLIPWAY_CO_TRY(reply, co_await run(context, std::move(request)));
    reply.warnings.insert(reply.warnings.end(), unknown.begin(), unknown.end());
    co_return std::move(reply);
  };
  return row;
}

}  // namespace slipway::delivery::package
