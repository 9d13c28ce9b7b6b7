// The gates of an environment in a promotion into it: `before` gates are asked until they let it in, `after` gates and the soak
// time until it may leave. Windows and approvals are judged from what is known; webhooks and metrics say when they are to be
// asked, and what they answered stands in the promotion's status. A pass of those is kept; windows and approvals are looked at
// each time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/pipeline/promote_world.h"
#include "delivery/probe/probe.h"

namespace slipway::delivery::pipeline {

/// What keeps a promotion from going on, and what may be done about it.
struct Obstacle {
  PromotionCause cause = PromotionCause::GatePending;
  std::string text{};
  std::vector<Blocker> blockers{};
};

struct GatesView {
  std::optional<Obstacle> obstacle{};  // nothing: all have passed. One that rejects comes before one that waits
  std::vector<std::string> asks{};     // gates to ask now
  std::optional<Time> next{};          // when to look again
};

/// Opens records of gates that are looked at for the first time, and keeps them up to date.
GatesView judge_gates(const PromotionWorld& world, const Environment& environment, KnownPromotion& promotion,
                      std::string_view at);
/// The soak time, counted from when all targets are seen ready without a break. REQUIRES: they are.
GatesView judge_soak(const PromotionWorld& world, const Environment& environment, KnownPromotion& promotion);
/// A target is not ready: the soak time begins anew.
void break_soak(PromotionStatus& status);

/// `manual`: an approval that names no gate. Nothing when there is one.
std::optional<Obstacle> judge_manual(const PromotionWorld& world, const KnownPromotion& promotion);
/// A no that names no gate and that its author did not take back.
std::optional<Obstacle> judge_refusals(const PromotionWorld& world, const KnownPromotion& promotion);

/// The record of a gate, or null.
GateRecord* find_record(PromotionStatus& status, std::string_view name, std::string_view at);
/// What probe::ask is asked for a gate of a promotion. REQUIRES: its record is open.
probe::Question question_for(const PromotionInput& input, const std::string& ns, const Environment& environment,
                             const KnownPromotion& promotion, const gate::GateSpec& gate);
/// Records what the gate answered.
void take_answer(PromotionStatus& status, const gate::GateSpec& gate, const probe::Answer& answer, Time now);

}  // namespace slipway::delivery::pipeline
