// Which Releases may go, each with its promotions and approvals, once all of them have ended: etcd is no archive, and what
// happened stays in the DeliveryLog. A release stays while it is among the newest kKeptReleases, younger than kKept, runs
// somewhere, or was rejected somewhere and not lifted (that is remembered until it is). A promotion goes with its release and
// never alone, since its name is the key under which its change is found in git: a name that came again would find the old
// change and make none. For the same reason a release that comes again after it went gets another name (prunings_of).
#pragma once

#include <string>
#include <vector>

#include "delivery/pipeline/promote.h"

namespace slipway::delivery::pipeline {

inline constexpr std::size_t kKeptReleases = 20;
inline constexpr Duration kKept = std::chrono::days{14};
/// Of one look: the rest goes with the next.
inline constexpr std::size_t kMostRetired = 10;
/// On a Pipeline: how often releases of it went. Counted up before any goes.
inline constexpr std::string_view kPruningsAnnotation = "pipelines.slipway.dev/prunings";

struct RetiredRelease {
  std::string name{};
  std::vector<std::string> promotions{};
  std::vector<std::string> approvals{};

  bool operator==(const RetiredRelease&) const = default;
};

/// Oldest first, at most kMostRetired.
std::vector<RetiredRelease> retired_releases(const PromotionInput& input);

/// The annotation's number; 0 when it is absent or no number.
std::int64_t prunings_of(const kube::Object& pipeline);

}  // namespace slipway::delivery::pipeline
