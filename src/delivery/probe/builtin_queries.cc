#include "delivery/probe/builtin_queries.h"

#include <fmt/format.h>

#include "delivery/probe/provider.h"

namespace slipway::delivery::probe {

std::optional<std::string> builtin_query(std::string_view /*metric*/, std::string_view /*traffic_provider*/) {
  return std::nullopt;
}

Result<std::string> query_text(std::string_view text, std::map<std::string, std::string> variables) {
  if (text != "request-success-rate" && text != "request-duration") return filled_in(text, variables);
  const std::string traffic = variables["traffic"];
  const auto query = builtin_query(text, traffic);
  if (!query) {
    return fail(Reason::Invalid,
                fmt::format("there is no built-in query {} for traffic provider {:?}; write a query", text, traffic));
  }
  return filled_in(*query, variables);
}

}  // namespace slipway::delivery::probe
