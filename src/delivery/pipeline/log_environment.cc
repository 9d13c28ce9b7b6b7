#include "delivery/pipeline/log_environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

/// Nothing is known of how such a target does.
bool is_unknown(State state) {
  return state == State::Stale || state == State::Unreachable || state == State::Forbidden || state == State::Suspended;
}

std::string place_of(const TargetStatus& target) {
  if (!target.app.cluster) return target.ns;
  const ClusterRef& cluster = *target.app.cluster;
  return fmt::format("{}@{}{}{}", target.ns, cluster.ns, cluster.ns.empty() ? "" : "/", cluster.name);
}

bool is_at(const VersionStatus& version, std::string_view text, std::string_view digest) {
  if (version.text != text) return false;
  return version.digest.empty() || digest.empty() || is_same_digest(version.digest, digest);
}

class Observer {
 public:
  Observer(const Told& told, const LogWorld& world) : told_(told), world_(world) {}

  void environment(const std::string& name, const EnvironmentStatus& status);
  void targets(const std::string& name, const EnvironmentStatus& status);
  void counts(const std::string& name, const EnvironmentStatus& status);
  NewEntries take() { return std::move(made_); }

 private:
  void settled(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status);
  void unsettled(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status);
  void unready(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status);
  void fell(const std::string& name, const Told::Environment& told, std::string version, std::string text, Time at);
  void transition(const std::string& subject, const std::string& signature, DeliveryEntry entry);
  void add(DeliveryEntry entry);
  void look_again(Time when) { made_.look_again = std::min(made_.look_again.value_or(when), when); }
  /// `seen` when it is later than what was told last, else now.
  Time moment(const std::optional<Time>& seen, Time told) const {
    return seen && *seen > told && *seen <= world_.now ? *seen : world_.now;
  }
  std::string release_of(const std::string& version, const std::string& digest) const;
  Duration soak_of(const std::string& environment) const {
    const auto at = std::ranges::find(world_.spec.environments, environment, &Environment::name);
    return at == world_.spec.environments.end() ? world_.soak : at->soak.value_or(world_.soak);
  }

  const Told& told_;
  const LogWorld& world_;
  NewEntries made_;
};

std::string Observer::release_of(const std::string& version, const std::string& digest) const {
  for (const kube::Object& release : world_.releases) {
    const VersionStatus known{.text = release["spec"]["version"].str(), .digest = release["spec"]["digest"].str()};
    const bool is_same = is_at(known, version, digest) || order(known.text, version, known.digest, digest) == Order::Same;
    if (is_same) return std::string(kube::name(release));
  }
  return "";
}

void Observer::add(DeliveryEntry entry) {
  entry.release = release_of(entry.version, entry.digest);
  if (entry.by.empty()) entry.by = "slipway";
  made_.entries.push_back(std::move(entry));
}

void Observer::environment(const std::string& name, const EnvironmentStatus& status) {
  const auto at = told_.environments().find(name);
  const Told::Environment told = at == told_.environments().end() ? Told::Environment{} : at->second;
  if (status.version) {
    settled(name, told, status);
  } else {
    unsettled(name, told, status);
  }
}

/// All targets are ready at one version.
void Observer::settled(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status) {
  const VersionStatus& version = *status.version;
  const bool is_same = is_at(version, told.version, told.digest);
  if (is_same && told.is_there && !told.is_failing) return;
  std::optional<Time> since = version.time;
  for (const TargetStatus& target : status.targets) {
    if (target.since) since = std::max(since.value_or(*target.since), *target.since);
  }
  const Time when = moment(since, told.at);
  const Order order_of = told.version.empty() ? Order::Unknown : order(told.version, version.text, told.digest, version.digest);
  if (!is_same && told.is_there && order_of == Order::Older) {
    fell(name, told, told.version, fmt::format("replaced by the lower version {}", version.text), when);
  }
  std::string text = is_same ? "ready again" : "";
  if (order_of == Order::Drifted) text = "the same version with other content";
  add({.at = when,
       .what = "observed",
       .environment = name,
       .version = version.text,
       .digest = version.digest,
       .before = told.version,
       .text = text,
       .key = fmt::format("Environment/{}/observed/{}/{}", name, version.text, to_rfc3339_micro(when))});
}

/// Tells that a version went or did not get in, unless that was told since the environment was last ready.
void Observer::fell(const std::string& name, const Told::Environment& told, std::string version, std::string text, Time at) {
  if (told.failed.contains(version)) return;
  const bool was_there = told.is_there && version == told.version;
  add({.at = at,
       .what = was_there ? "departed" : "failed",
       .environment = name,
       .version = version,
       .before = was_there ? "" : told.version,
       .text = std::move(text),
       .key = fmt::format("Environment/{}/fell/{}/{}", name, version, to_rfc3339_micro(at))});
}

void Observer::unsettled(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status) {
  Told::Environment now = told;
  bool is_told = false;
  for (const TargetStatus& target : status.targets) {
    if (target.state != State::RolledBack && target.state != State::Failed) continue;
    const std::string version = target.attempted.text.empty() ? told.version : target.attempted.text;
    if (version.empty()) continue;
    const char* how = target.state == State::RolledBack ? "rolled back by the agent" : "failed";
    fell(name, now, version, fmt::format("{}: {}: {}", how, place_of(target), target.text), moment(target.since, told.at));
    now.failed.insert(version);
    is_told = true;
  }
  if (!is_told && told.is_there) unready(name, told, status);
}

/// The version that was there is not ready, and nothing newer is on its way.
void Observer::unready(const std::string& name, const Told::Environment& told, const EnvironmentStatus& status) {
  std::optional<Time> since;
  for (const TargetStatus& target : status.targets) {
    if (target.is_ready || target.state == State::Settled) continue;
    if (is_unknown(target.state)) return;
    const auto is_other = [&](const VersionStatus& version) {
      return !version.text.empty() && !is_satisfied(version.text, told.version) && !is_at(version, told.version, told.digest);
    };
    if (target.state == State::Progressing && (is_other(target.specified) || is_other(target.attempted))) return;
    if (target.since) since = std::min(since.value_or(*target.since), *target.since);
  }
  if (!since) return;
  const Duration soak = soak_of(name);
  const Time end = std::max(*since, told.at) + soak;
  if (end > world_.now) return look_again(end);
  fell(name, told, told.version, fmt::format("not ready for {}", human_duration(soak)), end);
}

void Observer::transition(const std::string& subject, const std::string& signature, DeliveryEntry entry) {
  if (const Told::Target* last = told_.target(subject); last != nullptr) {
    if (last->signature == Told::digest(signature)) return;
    const Time next = last->told + kTransitionPause;
    if (next > world_.now && last->told <= world_.now) return look_again(next);
  }
  const std::string told = to_rfc3339(world_.now);
  entry.key = fmt::format("{}|{}|{}", subject, signature, told);
  add(std::move(entry));
}

void Observer::targets(const std::string& name, const EnvironmentStatus& status) {
  for (const TargetStatus& target : status.targets) {
    // It does not rest: where it ends is told.
    if (target.state == State::Progressing && !target.is_drifted) continue;
    const std::string place = place_of(target);
    const std::string_view state = json::enum_name(target.state);
    DeliveryEntry entry{.at = target.since && *target.since <= world_.now ? *target.since : world_.now,
                        .what = target.is_drifted ? "drifted" : "target",
                        .environment = name,
                        .version = target.revision,
                        .digest = target.running.digest,
                        .text = fmt::format("{} is {}{}{}", place, state, target.text.empty() ? "" : ": ", target.text)};
    transition(fmt::format("Target/{}/{}", name, place),
               fmt::format("{}|{}|{}", state, target.revision, target.is_drifted ? "drifted" : ""), std::move(entry));
  }
}

void Observer::counts(const std::string& name, const EnvironmentStatus& status) {
  std::string text = fmt::format("{} of {} ready", status.ready_count, status.target_count);
  for (const auto& [state, count] : status.states) text += fmt::format(", {} {}", count, state);
  for (const auto& [version, count] : status.versions)
    text += fmt::format(", {} at {}", count, version.empty() ? "-" : version);
  transition(fmt::format("Counts/{}", name), fmt::format("{}||", text),
             {.at = world_.now, .what = "targets", .environment = name, .text = text});
}

}  // namespace

NewEntries environment_entries(const Told& told, const LogWorld& world) {
  Observer observer(told, world);
  if (!world.status) return {};
  std::size_t target_count = 0;
  for (const Environment& environment : world.spec.environments) target_count += environment.targets.size();
  for (const Environment& environment : world.spec.environments) {
    const auto status = world.status->environments.find(environment.name);
    if (status == world.status->environments.end()) continue;
    if (target_count > kMostTargetsShown) {
      observer.counts(environment.name, status->second);
    } else {
      observer.targets(environment.name, status->second);
    }
    observer.environment(environment.name, status->second);
  }
  return observer.take();
}

std::optional<std::pair<std::string, Told::Target>> target_of(const DeliveryEntry& entry) {
  if (entry.what != "target" && entry.what != "drifted" && entry.what != "targets") return std::nullopt;
  const auto begin = entry.key.find('|');
  const auto end = entry.key.rfind('|');
  if (begin == std::string::npos || begin == end) return std::nullopt;
  const auto told = parse_rfc3339(entry.key.substr(end + 1));
  return std::pair{entry.key.substr(0, begin),
                   Told::Target{.signature = Told::digest(std::string_view(entry.key).substr(begin + 1, end - begin - 1)),
                                .told = told.value_or(entry.at)}};
}

}  // namespace slipway::delivery::pipeline
