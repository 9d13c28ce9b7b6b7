#include "delivery/workflow/older_forms.h"

#include <algorithm>
#include <iterator>

#include "json/members.h"

namespace slipway::delivery::workflow {
namespace {

using json::Value;

/// Of calls, which win over fields of objects.
constexpr const char* kOwn[] = {"apiVersion", "kind", "name", "namespace", "cluster", "value", "resource", "patch", "err"};

}  // namespace

Value object_in(const Value& params) {
  if (params.has("value")) return params["value"];
  if (params.has("resource")) return params["resource"];
  if (!params.has("kind")) return {};
  Value metadata = params["metadata"].is_object() ? params["metadata"] : Value::empty_object();
  for (const char* key : {"name", "namespace"}) {
    if (params.has(key)) metadata = metadata.with(key, params[key]);
  }
  return json::object({{"apiVersion", params["apiVersion"]}, {"kind", params["kind"]}, {"metadata", metadata}});
}

Value returned_object(const Value& params, const Value& object) {
  const Value returned = json::object({{"value", object}});
  if (params.has("value") || !object.is_object()) return returned;
  const auto is_shown = [](std::string_view key) { return std::ranges::find(kOwn, key) == std::end(kOwn); };
  return json::with_members(returned, json::members_where(object, is_shown));
}

}  // namespace slipway::delivery::workflow
