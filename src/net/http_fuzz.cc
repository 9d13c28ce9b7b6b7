// Requests and answers come from strangers: no bytes may crash the parser, it keeps its bounds, and how bytes are cut into
// pieces does not change what they mean. Targets, queries and URLs are read from the same bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/http.h"
#include "net/http_parser.h"

namespace {

using slipway::net::MessageLimits;
using slipway::net::MessageParser;

constexpr MessageLimits kLimits{.header_bytes = 512, .body_bytes = 256};

struct Outcome {
  bool is_done = false;
  std::string target;
  std::string body;
  bool operator==(const Outcome&) const = default;
};

Outcome parse(MessageParser parser, std::string_view bytes, std::size_t step) {
  std::string input;
  Outcome outcome;
  for (std::size_t at = 0; at < bytes.size() && !parser.is_done(); at += step) {
    input += bytes.substr(at, step);
    if (!parser.feed(input)) return {};
    SLIPWAY_CHECK(input.size() <= kLimits.header_bytes + step || parser.is_done());
    outcome.body += parser.take_body();
    SLIPWAY_CHECK(outcome.body.size() <= kLimits.body_bytes);
  }
  if (!parser.is_done()) return {};
  outcome.is_done = true;
  outcome.target = parser.head().target;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using slipway::net::Query;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = parse(MessageParser::request(kLimits), bytes, size + 1);
  if (whole.is_done) SLIPWAY_CHECK(parse(MessageParser::request(kLimits), bytes, 3) == whole);
  static_cast<void>(parse(MessageParser::response(kLimits, false), bytes, size + 1));
  static_cast<void>(slipway::net::Url::parse(bytes));
  const auto target = slipway::net::Target::split(bytes);
  static_cast<void>(target.segments());
  if (const auto query = Query::parse(bytes)) {
    const auto again = Query::parse(query->encode());
    SLIPWAY_CHECK(again && again->encode() == query->encode());
  }
  return 0;
}
