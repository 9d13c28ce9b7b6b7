// The status of Repository, and the conditions that objects of config.porch.kpt.dev and packages.slipway.dev have
// (metav1.Condition).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery::package {

struct ObjectCondition {
  std::string type{};
  std::string status{};
  std::optional<std::int64_t> observed_generation{};
  std::optional<Time> last_transition_time{};
  std::string reason{};
  std::string message{};

  static void describe(auto& d) {
    d.doc("A condition: Ready or Stalled.");
    d.field("type", &ObjectCondition::type, "Which one.").required();
    d.field("status", &ObjectCondition::status, "True, False or Unknown.").required().one_of({"True", "False", "Unknown"});
    d.field("observedGeneration", &ObjectCondition::observed_generation, "Generation of the spec that it is about.");
    d.field("lastTransitionTime", &ObjectCondition::last_transition_time, "When its status last changed.");
    d.field("reason", &ObjectCondition::reason, "Why, as one word.").always();
    d.field("message", &ObjectCondition::message, "Why, for people.").always();
  }
  bool operator==(const ObjectCondition&) const = default;
};

struct RepositoryStatus {
  std::vector<ObjectCondition> conditions{};
  std::optional<Time> last_full_sync{};
  std::optional<Time> next_full_sync{};
  std::int64_t observed_generation = 0;
  std::optional<Time> observed_run_once_at{};
  std::int64_t package_count = 0;
  std::string commit{};

  static void describe(auto& d) {
    d.doc("How reading the repository goes.");
    d.field("conditions", &RepositoryStatus::conditions, "Ready, with the reason Ready, Reconciling or Error.")
        .list_type("map", {"type"});
    d.field("lastFullSyncTime", &RepositoryStatus::last_full_sync, "When it was last read as a whole.");
    d.field("nextFullSyncTime", &RepositoryStatus::next_full_sync, "When it is next.");
    d.field("observedGeneration", &RepositoryStatus::observed_generation, "Generation of the spec that this is about.");
    d.field("observedRunOnceAt", &RepositoryStatus::observed_run_once_at, "The spec.sync.runOnceAt that was last heeded.");
    d.field("packageCount", &RepositoryStatus::package_count, "Package revisions that it has.");
    d.field("gitCommitHash", &RepositoryStatus::commit, "The commit of its branch.");
  }
  bool operator==(const RepositoryStatus&) const = default;
};

}  // namespace slipway::delivery::package
