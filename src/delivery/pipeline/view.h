// From what is known of the targets to the status of their Pipeline, purely: rows, counts, the version of each environment, the
// line for tables, conditions in Weave's words. An environment has a version only while all its targets are settled at one
// version and one digest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// Which word of Weave's says why a target is not known.
enum class Trouble : std::uint8_t { None, ClusterNotFound, ClusterNotReady, NotReadable };

/// A target between two looks. Its values are those of `memory.last`.
struct TargetView {
  std::size_t environment = 0;  // index in the spec
  std::size_t target = 0;       // in the environment
  Memory memory{};
  State state = State::Absent;
  Trouble trouble = Trouble::None;
  std::string text{};
  std::string error{};
  std::string problem{};  // kind of the Problem that it is, with the error as its text; empty: none
  std::string claim{};    // "namespace/name" of the Pipeline that the object is annotated with; empty: none
  std::optional<Time> since{};
  std::string api_version{};
  std::vector<std::string> related{};
  bool was_looked_at = false;

  /// Moves `since` when the state is another.
  void set(State now, Time at);
};

/// A Promotion object, decoded.
struct PromotionView {
  std::string name{};
  std::string version{};  // of its Release; empty while that is not known
  std::optional<Time> created{};
  PromotionSpec spec{};
  PromotionStatus status{};
};

struct ViewInput {
  const PipelineSpec& spec;
  std::vector<const TargetView*> targets{};  // in the order of the spec
  std::vector<PromotionView> promotions{};   // of this pipeline
  std::vector<Problem> problems{};
  std::vector<Trigger> triggers{};
};

struct Viewed {
  PipelineStatus status;  // without conditions
  std::vector<kube::Condition> conditions;
};
Viewed view_of(const ViewInput& input);

/// The row of a target as it was written, for a controller that has just started.
void restore(TargetView& target, const TargetStatus& row);
/// The same for one that was left out of the rows: it was settled at the environment's version.
void restore(TargetView& target, const EnvironmentStatus& environment);

/// "main@sha1:0cc9a84" of a revision with a long digest; other versions as they are.
std::string short_version(const std::string& version);
/// "dev/podinfo in cluster default/eu": a target for messages.
std::string target_name(const PipelineSpec& spec, const TargetView& target);
/// "HelmRelease podinfo/web in cluster default/eu": the object of a target, for problems.
std::string target_object(const PipelineSpec& spec, const TargetView& target);

}  // namespace slipway::delivery::pipeline
