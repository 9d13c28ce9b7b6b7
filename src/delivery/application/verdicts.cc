#include "delivery/application/verdicts.h"

#include <utility>

namespace slipway::delivery::application {

const HealthVerdict* Verdicts::find(const std::string& digest) {
  if (const auto known = recent_.find(digest); known != recent_.end()) return &known->second;
  auto known = before_.extract(digest);
  if (known.empty()) return nullptr;
  put(std::move(known.key()), std::move(known.mapped()));
  return &recent_[digest];
}

void Verdicts::put(std::string digest, HealthVerdict verdict) {
  if (recent_.size() == kKept) before_ = std::exchange(recent_, {});
  recent_.insert_or_assign(std::move(digest), std::move(verdict));
}

}  // namespace slipway::delivery::application
