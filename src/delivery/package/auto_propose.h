// Whether a draft is proposed by itself (kptdev/kpt#3455): only where it was asked for with the annotation
// config.porch.kpt.dev/auto-lifecycle-mgmt: "true", on the revision or through its PackageVariant; and then as soon as all its
// gates, perhaps none, are met, its rendering has passed and its content has rested for a while. The rest gives controllers
// that add gates of their own the time to do so; it is counted from the last change of content or gates. What was sent back is
// not proposed again before content or gates are others. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "delivery/package/readiness.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

inline constexpr Duration kRest = std::chrono::seconds{5};

/// Whether the annotation kAutoLifecycle has a value that asks for it: true, in any case.
bool is_auto_lifecycle(std::string_view annotation);

/// A revision as auto-propose looks at it.
struct ProposeView {
  Lifecycle lifecycle = Lifecycle::Draft;
  bool is_deleting = false;
  std::string annotation{};  // kAutoLifecycle; empty: absent
  std::vector<Unmet> missing{};
  Render render = Render::Passed;
  bool is_rejected = false;  // it was sent back, and is as it was then
  Time settled{};            // when content or gates last changed
};

struct ProposeDecision {
  enum class Kind : std::uint8_t {
    NotAsked,  // nothing to do, ever, as it is
    Waits,     // for gates, a person or a rendering: a change wakes it
    Rests,     // until `wake`
    Propose,
  };
  Kind kind = Kind::NotAsked;
  std::string text{};  // "waits for ipam is False (owner ipam, for 3m)"
  std::optional<Time> wake{};
};
ProposeDecision decide_propose(const ProposeView& view, const Now& now);

}  // namespace slipway::delivery::package
