// What a pipeline's log has yet to tell: from what it has told (Told) and the objects as they are now, the entries that are
// missing. Level-triggered: whatever happened unseen is told from what the objects still say, with their times;
// what was told is not told again. Nothing here holds state that a restart would lose: Told is made from the log.
//
// Of an environment: `observed` when all its targets run one version, ready; `departed` when the version that was observed was
// replaced by a lower one, rolled back or remediated by the agent, failed, or was not ready for longer than the soak; `failed`
// when that happened to a version on its way in. Targets that cannot be looked at (unreachable, stale, forbidden, suspended)
// make an environment unknown, which is no failure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/spec.h"
#include "delivery/pipeline/status.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

/// On a Pipeline: for how long a version may be not ready in an environment without a soak of its own, before it counts as
/// departed; absent: ten minutes.
inline constexpr std::string_view kSoakAnnotation = "pipelines.slipway.dev/soak";
inline constexpr Duration kSoak = std::chrono::minutes{10};
/// A target, or the counts of an environment, is told of at most that often.
inline constexpr Duration kTransitionPause = std::chrono::minutes{1};

/// What a log says, so far.
class Told {
 public:
  struct Environment {
    std::string version{};  // observed last
    std::string digest{};
    bool is_there = false;    // and not departed since
    bool is_failing = false;  // something failed since it was observed
    std::set<std::string> failed{};
    Time at{};  // of the newest entry
  };
  struct Target {
    std::uint64_t signature = 0;  // digest() of "settled|1.2.0|"
    Time told{};                  // when it was told, by the log's order the newest
  };
  /// What is only told apart is kept as 64 bits: of some thousand keys of a pipeline no two are alike by chance.
  static std::uint64_t digest(std::string_view text) { return std::hash<std::string_view>{}(text); }

  /// In the log's order.
  void take(const DeliveryEntry& entry);

  /// Of what objects say. What runs is told by its state, not by keys.
  bool has(const std::string& key) const { return keys_.contains(digest(key)); }
  const std::map<std::string, Environment>& environments() const { return environments_; }
  /// Null: nothing was told of it.
  const Target* target(const std::string& subject) const {
    const auto found = targets_.find(digest(subject));
    return found == targets_.end() ? nullptr : &found->second;
  }
  /// Holds and freezes that were told to begin and not to end: keys to versions of the key's object, "Hold/NAME/UID".
  const std::map<std::string, DeliveryEntry>& open() const { return open_; }

 private:
  void take_environment(const DeliveryEntry& entry);

  std::set<std::uint64_t> keys_;
  std::map<std::string, Environment> environments_;
  std::map<std::uint64_t, Target> targets_;
  std::map<std::string, DeliveryEntry> open_;
};

/// Everything that is looked at. Objects are those of the pipeline's namespace that name it.
struct LogWorld {
  PipelineSpec spec{};
  std::optional<PipelineStatus> status{};  // absent: not written yet
  std::string pipeline{};
  std::vector<kube::Object> releases{};
  std::vector<kube::Object> promotions{};
  std::vector<kube::Object> approvals{};
  std::vector<kube::Object> holds{};
  std::vector<kube::Object> freezes{};
  Duration keep{};  // what is older is not told: it may have been, and pruned
  Duration soak = kSoak;
  ActsAs acts_as = ActsAs::User;  // Controller: nothing stood in the way of a false name in spec.by
  Time now{};
};

struct NewEntries {
  std::vector<DeliveryEntry> entries{};  // by time
  std::optional<Time> look_again{};      // when there may be more although no object changes
};
NewEntries new_entries(const Told& told, const LogWorld& world);

/// That the pipeline was deleted; the last entry of its chain.
DeliveryEntry removed_entry(std::string_view uid, Time now);

}  // namespace slipway::delivery::pipeline
