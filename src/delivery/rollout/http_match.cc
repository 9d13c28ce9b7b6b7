#include "delivery/rollout/http_match.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::delivery::rollout {

namespace {

using json::Value;
using HttpType = HttpMatch::Type;

Result<HttpType> type_of(const Value& value, const std::string& where, HttpType fallback) {
  if (!value.has("type")) return fallback;
  for (const HttpType type : {HttpType::Exact, HttpType::PathPrefix, HttpType::RegularExpression}) {
    const bool is_allowed = type != HttpType::PathPrefix || fallback == HttpType::PathPrefix;
    if (is_allowed && value["type"].as_string() == to_string(type)) return type;
  }
  return fail(Reason::Invalid, fmt::format("{}.type: \"{}\" is not one of Exact, {}RegularExpression", where,
                                           value["type"].as_string(), fallback == HttpType::PathPrefix ? "PathPrefix, " : ""));
}

Result<std::vector<HttpMatch::Field>> fields_of(const Value& list, const std::string& where) {
  std::vector<HttpMatch::Field> fields;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value& item = list.item(i);
    const std::string place = fmt::format("{}[{}]", where, i);
    if (item["name"].as_string().empty()) return fail(Reason::Invalid, place + ".name: Required value");
    SLIPWAY_TRY(type, type_of(item, place, HttpType::Exact));
    fields.push_back({.name = item["name"].str(), .type = type, .value = item["value"].str()});
  }
  return fields;
}

}  // namespace

std::string_view to_string(HttpType type) {
  constexpr std::string_view kNames[] = {"Exact", "PathPrefix", "RegularExpression"};
  return kNames[static_cast<std::size_t>(type)];
}

Result<HttpMatch> HttpMatch::of(const Value& match, const std::string& where) {
  for (const auto [key, value] : match.members()) {
    constexpr std::string_view kFields[] = {"path", "headers", "queryParams", "method"};
    if (std::ranges::find(kFields, key) == std::end(kFields)) {
      return fail(Reason::Invalid, fmt::format("{}.{}: is not a field of HTTPRouteMatch", where, key));
    }
  }
  HttpMatch decoded;
  if (const Value* path = match.find("path")) {
    SLIPWAY_TRY(type, type_of(*path, where + ".path", HttpType::PathPrefix));
    decoded.path = {.type = type, .value = path->has("value") ? (*path)["value"].str() : "/"};
  }
  SLIPWAY_TRY(headers, fields_of(match["headers"], where + ".headers"));
  SLIPWAY_TRY(params, fields_of(match["queryParams"], where + ".queryParams"));
  decoded.headers = std::move(headers);
  decoded.params = std::move(params);
  decoded.method = match["method"].str();
  return decoded;
}

}  // namespace slipway::delivery::rollout
