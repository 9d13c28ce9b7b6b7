#include "delivery/package/auto_propose.h"

#include "base/text.h"

namespace slipway::delivery::package {

bool is_auto_lifecycle(std::string_view annotation) { return lower(annotation) == "true"; }

ProposeDecision decide_propose(const ProposeView& view, const Now& now) {
  using Kind = ProposeDecision::Kind;
  const bool is_asked = is_auto_lifecycle(view.annotation) && view.lifecycle == Lifecycle::Draft && !view.is_deleting;
  if (!is_asked) return {.kind = Kind::NotAsked};
  if (view.render == Render::Running) return {.kind = Kind::Waits, .text = "waits for the rendering"};
  if (view.render == Render::Failed) return {.kind = Kind::Waits, .text = "the package could not be rendered"};
  if (view.render == Render::Unreadable) return {.kind = Kind::Waits, .text = "the Kptfile cannot be read"};
  if (!view.missing.empty()) {
    std::vector<std::string> texts;
    texts.reserve(view.missing.size());
    for (const Unmet& one : view.missing) texts.push_back(one.text());
    return {.kind = Kind::Waits, .text = "waits for " + joined(texts, "; ")};
  }
  if (view.is_rejected) return {.kind = Kind::Waits, .text = "it was sent back: its content or gates have to change first"};
  const Time due = now.present(view.settled) + kRest;
  if (now.time() < due) return {.kind = Kind::Rests, .text = "its content has just changed", .wake = due};
  return {.kind = Kind::Propose};
}

}  // namespace slipway::delivery::package
