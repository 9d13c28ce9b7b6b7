// Selectors come from the query of any client: no text may crash the parsers, and what they accept must print to a text that
// means the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using slipway::kube::FieldSelector;
  using slipway::kube::LabelSelector;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto labels = LabelSelector::parse(text)) {
    const auto again = LabelSelector::parse(labels->to_string());
    SLIPWAY_CHECK(again.has_value() && again->to_string() == labels->to_string());
    static_cast<void>(labels->matches(slipway::json::Value()));
  }
  if (const auto fields = FieldSelector::parse(text)) {
    const auto again = FieldSelector::parse(fields->to_string());
    SLIPWAY_CHECK(again.has_value() && again->requirements().size() == fields->requirements().size());
    static_cast<void>(fields->matches(slipway::json::Value()));
  }
  return 0;
}
