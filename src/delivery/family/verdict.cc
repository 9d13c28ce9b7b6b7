#include <fmt/format.h>

#include "delivery/family.h"

namespace slipway::delivery {

Verdict ended_by(const json::Value& condition) {
  Verdict verdict{.is_success = condition["type"].as_string() == "Complete", .text = condition["type"].str()};
  const std::string_view reason = condition["reason"].as_string();
  if (!reason.empty() && !verdict.is_success) verdict.text += fmt::format(" ({})", reason);
  if (const auto message = condition["message"].as_string(); !message.empty()) verdict.text += fmt::format(": {}", message);
  return verdict;
}

}  // namespace slipway::delivery
