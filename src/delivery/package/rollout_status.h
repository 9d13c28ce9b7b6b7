// What a PackageRollout has recorded: what rollout_plan.h must find again after a crash. The phase says what may be done, the
// step how much of it, inFlight what was decided and is not seen yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/repository_status.h"
#include "json/codec.h"

namespace slipway::delivery::package {

enum class RolloutPhase : std::uint8_t { Progressing, Completed, Stopped, Superseded, BackingOut, BackedOut };
inline auto describe_enum(RolloutPhase) {
  return json::enum_names<RolloutPhase>({{RolloutPhase::Progressing, "Progressing"},
                                         {RolloutPhase::Completed, "Completed"},
                                         {RolloutPhase::Stopped, "Stopped"},
                                         {RolloutPhase::Superseded, "Superseded"},
                                         {RolloutPhase::BackingOut, "BackingOut"},
                                         {RolloutPhase::BackedOut, "BackedOut"}});
}

struct RolloutRecord {
  RolloutPhase phase = RolloutPhase::Progressing;
  std::int64_t attempt = 0;
  std::int64_t revision = 0;
  std::int64_t step = 0;
  std::vector<std::string> in_flight{};
  std::vector<std::string> order{};
  std::optional<Time> step_since{};
  std::optional<Time> healthy_since{};
  std::vector<std::string> passed{};
  std::string reason{};
  std::string message{};

  static void describe(auto& d) {
    d.doc("How far it is.");
    d.field("phase", &RolloutRecord::phase, "Progressing, Completed, Stopped, Superseded, BackingOut or BackedOut.").always();
    d.field("attempt", &RolloutRecord::attempt, "The attempt that this is about.");
    d.field("revision", &RolloutRecord::revision, "The upstream revision that this is about.");
    d.field("step", &RolloutRecord::step, "The current step, from 0.");
    d.field("inFlight", &RolloutRecord::in_flight, "Targets whose approval was decided and is not seen yet.").list_type("set");
    d.field("order", &RolloutRecord::order, "Targets that were approved, in that order; a back-out goes backwards.")
        .list_type("atomic");
    d.field("stepSince", &RolloutRecord::step_since, "When the step began.");
    d.field("healthySince", &RolloutRecord::healthy_since, "Since when all approved targets have been healthy.");
    d.field("passed", &RolloutRecord::passed, "Gates of the step that have passed.").list_type("set");
    d.field("reason", &RolloutRecord::reason, "Why the phase is what it is, as one word.");
    d.field("message", &RolloutRecord::message, "Why, for people.");
  }
  bool operator==(const RolloutRecord&) const = default;
};

struct PackageRolloutStatus : RolloutRecord {
  std::vector<ObjectCondition> conditions{};
  std::int64_t targets = 0;
  std::int64_t approved = 0;
  std::int64_t healthy = 0;
  std::int64_t failed = 0;

  static void describe(auto& d) {
    RolloutRecord::describe(d);
    d.field("conditions", &PackageRolloutStatus::conditions, "Progressing and Ready.").list_type("map", {"type"});
    d.field("targets", &PackageRolloutStatus::targets, "Packages that it is about.");
    d.field("approved", &PackageRolloutStatus::approved, "Of them, those that are approved.");
    d.field("healthy", &PackageRolloutStatus::healthy, "Of those, the ones whose cluster reports the commit, healthy.");
    d.field("failed", &PackageRolloutStatus::failed, "Those that failed.");
  }
};

}  // namespace slipway::delivery::package
