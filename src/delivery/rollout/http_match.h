// HTTPRouteMatch of the Gateway API, decoded: what every dialect is written from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::delivery::rollout {

struct HttpMatch {
  enum class Type : std::uint8_t { Exact, PathPrefix, RegularExpression };
  struct Field {
    std::string name;
    Type type = Type::Exact;  // Exact or RegularExpression
    std::string value;
  };
  struct Path {
    Type type = Type::PathPrefix;
    std::string value;
  };

  std::optional<Path> path;
  std::vector<Field> headers;
  std::vector<Field> params;
  std::string method;  // empty: any

  /// Invalid, with the place below `where`, for members and types that the Gateway API does not have.
  static Result<HttpMatch> of(const json::Value& match, const std::string& where);
};

std::string_view to_string(HttpMatch::Type type);

}  // namespace slipway::delivery::rollout
