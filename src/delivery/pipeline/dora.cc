#include "delivery/pipeline/dora.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

bool is_same(std::string_view version, std::string_view digest, std::string_view other, std::string_view other_digest) {
  if (!digest.empty() && !other_digest.empty()) return is_same_digest(digest, other_digest);
  return version == other || order(version, other, digest, other_digest) == Order::Same;
}

/// One walk over a log.
class Walk {
 public:
  Walk(const DoraInput& input, Time from, Time to) : input_(input), from_(from), to_(to) {
    facts_.pipeline = input.pipeline;
    facts_.environment = input.environment;
  }

  void take(const DeliveryEntry& entry) {
    if (entry.environment != input_.environment) return;
    if (entry.what == "observed") return observed(entry);
    if (entry.what == "departed" || entry.what == "failed") fell(entry);
  }
  DoraFacts finish() {
    std::erase_if(facts_.deployments, [&](const Deployment& one) { return !is_in(one.at); });
    std::erase_if(facts_.attempts, [&](const Deployment& one) { return !is_in(one.at); });
    std::erase_if(facts_.outages, [&](const Outage& one) { return !is_in(one.at); });
    return std::move(facts_);
  }

 private:
  bool is_in(Time at) const { return at >= from_ && at < to_; }

  void observed(const DeliveryEntry& entry) {
    if (entry.at >= to_) return;
    for (Outage& outage : facts_.outages) {
      if (!outage.recovery) outage.recovery = std::max(entry.at - outage.at, Duration{0});
    }
    if (find(entry) != nullptr) return;
    facts_.deployments.push_back(
        {.at = entry.at, .version = entry.version, .digest = entry.digest, .lead_time = lead_time(entry)});
  }

  /// A failure of a version counts for its newest deployment, or as an attempt.
  void fell(const DeliveryEntry& entry) {
    if (entry.at >= to_) return;
    if (Deployment* deployed = find(entry)) {
      deployed->has_failed = true;
    } else if (entry.what == "failed") {
      const bool is_known = std::ranges::any_of(facts_.attempts, [&](const Deployment& one) {
        return is_same(one.version, one.digest, entry.version, entry.digest);
      });
      if (!is_known) {
        facts_.attempts.push_back({.at = entry.at, .version = entry.version, .digest = entry.digest, .has_failed = true});
      }
    }
    // What fails while something has failed already is the same outage.
    if (!facts_.outages.empty() && !facts_.outages.back().recovery) return;
    facts_.outages.push_back({.at = entry.at, .version = entry.version, .text = entry.text});
  }

  Deployment* find(const DeliveryEntry& entry) {
    for (auto one = facts_.deployments.rbegin(); one != facts_.deployments.rend(); ++one) {
      if (is_same(one->version, one->digest, entry.version, entry.digest)) return &*one;
    }
    return nullptr;
  }

  std::optional<Duration> lead_time(const DeliveryEntry& deployed) const {
    std::optional<Time> made;
    for (const ReleaseSpec& release : input_.releases) {
      if (is_same(release.version, release.digest, deployed.version, deployed.digest) && release.artifact_created) {
        made = release.artifact_created;
      }
    }
    for (const DeliveryEntry& entry : input_.entries) {
      if (made || entry.what != "released" || !entry.artifact_created) continue;
      if (is_same(entry.version, entry.digest, deployed.version, deployed.digest)) made = entry.artifact_created;
    }
    // Made after it ran: a clock that is wrong, or the wrong artifact.
    if (!made || *made > deployed.at) return std::nullopt;
    return deployed.at - *made;
  }

  const DoraInput& input_;
  Time from_;
  Time to_;
  DoraFacts facts_;
};

Duration rank(const std::vector<Duration>& sorted, double share) {
  const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(at, 1)) - 1];
}

}  // namespace

DoraFacts dora_facts(const DoraInput& input, Time from, Time to) {
  Walk walk(input, from, to);
  for (const DeliveryEntry& entry : input.entries) walk.take(entry);
  return walk.finish();
}

std::optional<Spread> spread(std::vector<Duration> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  Duration sum{0};
  for (const Duration value : values) sum += value;
  return Spread{.p50 = rank(values, 0.5),
                .p90 = rank(values, 0.9),
                .mean = Duration(sum.count() / static_cast<std::int64_t>(values.size()))};
}

DoraKeys dora_keys(const std::vector<DoraFacts>& facts, Duration range) {
  DoraKeys keys;
  std::vector<Duration> leads;
  std::vector<Duration> recoveries;
  for (const DoraFacts& one : facts) {
    keys.pipeline = facts.size() == 1 ? one.pipeline : "*";
    keys.environment =
        facts.size() == 1 || keys.environment == one.environment || &one == &facts.front() ? one.environment : "*";
    keys.deployments += static_cast<std::int64_t>(one.deployments.size());
    for (const Deployment& deployment : one.deployments) {
      keys.failures += deployment.has_failed ? 1 : 0;
      if (deployment.lead_time) leads.push_back(*deployment.lead_time);
      keys.unknown_lead_times += deployment.lead_time ? 0 : 1;
    }
    keys.failures += static_cast<std::int64_t>(one.attempts.size());
    keys.changes += static_cast<std::int64_t>(one.deployments.size() + one.attempts.size());
    keys.outages += static_cast<std::int64_t>(one.outages.size());
    for (const Outage& outage : one.outages) {
      if (outage.recovery) recoveries.push_back(*outage.recovery);
      keys.open_outages += outage.recovery ? 0 : 1;
    }
  }
  if (facts.empty()) keys.pipeline = "*";
  keys.per_day = static_cast<double>(keys.deployments) / std::chrono::duration<double, std::ratio<86400>>(range).count();
  if (keys.changes > 0) keys.failure_share = static_cast<double>(keys.failures) / static_cast<double>(keys.changes);
  keys.lead_time = spread(std::move(leads));
  keys.recovery = spread(std::move(recoveries));
  return keys;
}

}  // namespace slipway::delivery::pipeline
