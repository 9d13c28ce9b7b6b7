// The four keys of software delivery over the logs of pipelines, pure. A deployment is the first moment at which every target
// of an environment was observed at a version, ready; not a merge, and not a promotion. Lead time is from the making of the
// artifact to that moment, unknown where that is not recorded. A change has failed when its version was replaced by a
// lower one, rolled back or remediated by the agent, failed, or was not ready for longer than the soak; recovery is from there
// to the next moment at which all targets were ready.
//
// DIVERGES: where DORA's surveys ask people and most tools count merges, these are observations; what was not observed (an
// environment out of reach, a log that began later) is not counted, and the answer says how much of it is unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/pipeline/own_kinds.h"

namespace slipway::delivery::pipeline {

/// What is counted: one pipeline in one environment.
struct DoraInput {
  std::string pipeline;
  std::string environment;
  std::vector<DeliveryEntry> entries;   // of the whole log in its order, also before the range
  std::vector<ReleaseSpec> releases{};  // for when artifacts were made; the log's own `released` entries count too
};

struct Deployment {
  Time at{};
  std::string version{};
  std::string digest{};
  std::optional<Duration> lead_time{};
  bool has_failed = false;
};

/// From a failure to the next moment all targets were ready; absent: not yet.
struct Outage {
  Time at{};
  std::string version{};
  std::string text{};
  std::optional<Duration> recovery{};
};

struct DoraFacts {
  std::string pipeline{};
  std::string environment{};
  std::vector<Deployment> deployments{};  // in the range
  std::vector<Deployment> attempts{};     // that failed before all targets were there
  std::vector<Outage> outages{};          // that began in the range
};
/// What the range [from, to) saw.
DoraFacts dora_facts(const DoraInput& input, Time from, Time to);

/// Of some durations; nullopt when there are none.
struct Spread {
  Duration p50{};
  Duration p90{};
  Duration mean{};
};
/// Nearest rank: the least value that at least that share of all does not exceed.
std::optional<Spread> spread(std::vector<Duration> values);

struct DoraKeys {
  std::string pipeline{};  // "*": of all
  std::string environment{};
  std::int64_t deployments = 0;
  double per_day = 0;
  std::optional<Spread> lead_time{};
  std::int64_t unknown_lead_times = 0;
  std::int64_t changes = 0;  // deployments and failed attempts
  std::int64_t failures = 0;
  std::optional<double> failure_share{};  // absent without changes
  std::optional<Spread> recovery{};
  std::int64_t outages = 0;
  std::int64_t open_outages = 0;
};
/// Of the facts together, over `range`.
DoraKeys dora_keys(const std::vector<DoraFacts>& facts, Duration range);

}  // namespace slipway::delivery::pipeline
