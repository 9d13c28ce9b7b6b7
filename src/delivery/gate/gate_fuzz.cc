// Conditions and rules come from whoever may write a gate, zones from files: whatever the bytes, the readers end in a value or
// an error, and what was read can be used within its limits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "delivery/gate/expression.h"
#include "delivery/gate/window.h"
#include "json/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::delivery::gate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const json::Value result = json::parse(R"({"a":[1,2.5,"x",null],"b":{"c":true},"n":0.5})").value();
  if (const auto expression = Expression::compile(text)) {
    const auto value = expression->evaluate(result);
    SLIPWAY_CHECK(value.has_value() || !value.error().empty());
  } else {
    SLIPWAY_CHECK(!expression.error().empty());
  }
  const auto zone = size > 0 && data[0] == 'T' ? Zone::parse("x", text) : Zone::from_rule("x", text);
  constexpr Time kNow{std::chrono::seconds{1'767'225'600}};
  if (zone) SLIPWAY_CHECK(zone->to_utc(kNow) - kNow < std::chrono::hours{24 * 366});
  const WindowView view = look({.rrule = std::string(text)}, zone ? *zone : Zone(), kNow);
  if (view.changes) SLIPWAY_CHECK(*view.changes > kNow);
  return 0;
}
