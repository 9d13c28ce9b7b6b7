#include <fmt/format.h>

#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {

/// The batch's own, or the share of new pods; all of it where no old pod stays, or none is ready.
std::int64_t Pass::batch_weight() const {
  const std::int64_t total = r_.target_size;
  if (is_last() || goal() >= total || (old_ready() == 0 && new_ready() > 0)) return 100;
  if (batch().weight) return *batch().weight;
  return std::max(r_.weight.value_or(0), 100 * goal() / total);
}

/// The traffic of an abandoned attempt is given back before another one begins that moves another, or none. That nothing is
/// left is recorded first: what is seen of traffic in this pass is that of the old.
bool Pass::drop_traffic() {
  if (!settings_.drops_traffic || !world_.traffic.held_weight) return true;
  if (!world_.traffic.is_restored) return restore_traffic();
  out_.has_dropped_traffic = true;
  wake_at(world_.now.time());
  return false;
}

bool Pass::restore_traffic() {
  const std::int64_t last = world_.traffic.held_weight.value_or(0);
  out_.effects.push_back({.kind = Effect::Kind::Restore, .number = r_.weight.value_or(last)});
  const std::string& how = world_.traffic.text;
  return wait("traffic", fmt::format("Services and routes are being given back{}{}", how.empty() ? "" : ": ", how));
}

bool Pass::shift_for_batch() {
  if (!pass_gates(Moment::BeforeTraffic)) return false;
  if (settings_.has_traffic && r_.target_size > 0) {
    const std::int64_t weight = batch_weight();
    if (weight > 0 && new_ready() == 0) {
      return wait("pods of " + r_.target->id, "no new pod is ready to take traffic");
    }
    const bool was_routed = r_.shifted_batch >= 0 && r_.shifted_batch < static_cast<std::int64_t>(settings_.batches.size()) &&
                            settings_.batches[static_cast<std::size_t>(r_.shifted_batch)].routes_matches;
    if (r_.shifted_batch != r_.current_batch && (batch().routes_matches || was_routed)) r_.weight = std::nullopt;
    r_.shifted_batch = r_.current_batch;
    if (!shift_to(weight)) return false;
  }
  return pass_gates(Moment::AfterTraffic);
}

/// The weight is decided on, written and accepted.
bool Pass::shift_to(std::int64_t weight) {
  if (r_.weight != weight) {
    r_.weight = weight;
    r_.weight_accepted = std::nullopt;
  }
  if (r_.weight_accepted && world_.traffic.weight == weight) return true;
  const bool is_decided_now = old_.weight != weight || old_.shifted_batch != r_.shifted_batch;
  const char* on = is_decided_now ? "weight" : "traffic";
  if (is_decided_now || world_.traffic.weight != weight) {
    out_.effects.push_back({.kind = Effect::Kind::Shift, .set = r_.target->id, .number = weight, .batch = r_.current_batch});
  } else if (world_.traffic.is_accepted) {
    r_.weight_accepted = world_.now;
    return true;
  }
  const std::string why = world_.traffic.text.empty() ? "" : ": " + world_.traffic.text;
  return wait(on, fmt::format("a weight of {} % is not accepted yet{}", weight, why));
}

/// Connections that were open when the weight was accepted have had their time to end.
bool Pass::is_drained() {
  if (!settings_.has_traffic) return true;
  if (!r_.weight_accepted && !shift_to(r_.weight.value_or(0))) return false;
  const Time end = later(*r_.weight_accepted, settings_.drain);
  if (world_.now.time() >= end) return true;
  wake_at(end);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings_.drain).count();
  return wait("drain", fmt::format("draining old pods for {} s, in which their open connections may end", seconds),
              r_.weight_accepted);
}

}  // namespace slipway::delivery::wave
