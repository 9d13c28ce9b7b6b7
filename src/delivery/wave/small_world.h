// The world of explore.h: workloads with their controllers and kubelet, a traffic provider and gates, as small as they can be,
// and what a process keeps in memory. All moves but the passes of decide() are here.
#pragma once

#include <compare>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "delivery/wave/explore.h"

namespace slipway::delivery::wave {

/// 128 bits: among a hundred million states two are taken for one with a chance of 1 in 10^22.
struct Fingerprint {
  std::uint64_t low = 0x9e3779b97f4a7c15, high = 0xc2b2ae3d27d4eb4f;

  void add(std::initializer_list<std::int64_t> numbers) {
    for (const std::int64_t number : numbers) {
      const auto word = static_cast<std::uint64_t>(number);
      low = (low ^ word) * 0xff51afd7ed558ccd, low ^= low >> 32;
      high = (high + word) * 0x9fb21c651e98df25, high ^= high >> 28;
    }
  }
  auto operator<=>(const Fingerprint&) const = default;
};

struct SmallSet {
  std::int64_t desired = 0, present = 0, ready = 0;            // ready: Pair and Scale, all; InPlace and Replace: old ones
  std::int64_t asked_new = 0, updated = 0, updated_ready = 0;  // InPlace, Replace; Fields: asked_new alone
  std::int64_t first_old = 0;                                  // Replace: the number of the old pod that goes next
  std::int64_t stamp = 0, stamped = 0, revision = 1;
  bool is_ours = false, is_synced = true, is_undone = false;

  bool operator==(const SmallSet&) const = default;
};

struct SmallTraffic {
  std::int64_t weight = 0;
  bool is_accepted = true, is_restored = true;
};

struct SmallWorld {
  std::vector<SmallSet> sets;       // sources, the target, what Retarget brings
  std::vector<SmallSet> seen_sets;  // StaleRead: what is read in place of them
  std::size_t target = 0;
  std::int64_t template_number = 1;  // of all but Pair
  SmallTraffic traffic;
  std::int64_t now = 0;  // seconds
  std::string asked;     // gate
  GateAnswer::Kind answer = GateAnswer::Kind::Wait;
  bool is_deleted = false, is_paused = false, is_held = false, is_disturbed = false;
  std::shared_ptr<const Record> durable = std::make_shared<Record>(), memory = durable;

  /// What tells states apart; time only as far as it matters.
  Fingerprint fingerprint() const;
};

inline constexpr std::int64_t kDrainSeconds = 1;

/// The pods of both versions are those of one object.
inline bool is_mixed(const Scenario& scenario) { return scenario.shape == Shape::InPlace || scenario.shape == Shape::Replace; }

SmallWorld first_world(const Scenario& scenario);
World seen_world(const Scenario& scenario, const SmallWorld& small);
Settings settings_of(const Scenario& scenario, const SmallWorld& small);
/// As the caller of decide() carries it out. Writes test the revision that was read, unless `is_blind`.
void carry_out(const Scenario& scenario, SmallWorld& small, const Effect& effect, bool is_blind);
/// What can happen by itself: controllers, kubelet, provider, clock, gates. In the order of a fair schedule.
std::vector<SmallWorld> natural_moves(const Scenario& scenario, const SmallWorld& small);
/// The disturbance of the scenario at this point, in all its forms, and the end of what lasts.
std::vector<SmallWorld> disturbances(const Scenario& scenario, const SmallWorld& small);
/// What lasts (a pause, an old cache) is over. False: nothing did.
bool is_calmed(SmallWorld& small);
std::string text_of(const SmallWorld& small);

}  // namespace slipway::delivery::wave
