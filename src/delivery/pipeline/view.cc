#include "delivery/pipeline/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/lookup.h"
#include "base/text.h"
#include "delivery/pipeline/current_promotion.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostProblems = 50;
constexpr std::size_t kMostTriggers = 50;
constexpr std::size_t kShortDigest = 7;

using Targets = std::vector<const TargetView*>;

const Target& spec_of(const PipelineSpec& spec, const TargetView& target) {
  return spec.environments[target.environment].targets[target.target];
}

VersionStatus shown(const Version& version) { return {.text = version.text, .digest = version.digest, .time = version.time}; }

bool is_ready(const TargetView& target) { return target.state == State::Settled && !target.memory.last.ready_at.empty(); }

/// A state that held through a change of the version began with the version that runs now.
std::optional<Time> since_of(const TargetView& target) {
  const std::optional<Time>& running = target.memory.last.running.time;
  return target.since && running ? std::max(*target.since, *running) : target.since;
}

TargetStatus row_of(const PipelineSpec& spec, const TargetView& target) {
  const Target& where = spec_of(spec, target);
  const Values& values = target.memory.last;
  TargetStatus row{.app = {.api_version = target.api_version.empty() ? spec.app.api_version : target.api_version,
                           .kind = spec.app.kind,
                           .name = spec.app.name,
                           .cluster = where.cluster},
                   .ns = where.ns,
                   .chart = values.chart,
                   .is_ready = is_ready(target),
                   .revision = values.running.text,
                   .error = target.error,
                   .state = target.state,
                   .text = target.text,
                   .since = since_of(target),
                   .specified = shown(values.specified),
                   .attempted = shown(values.attempted),
                   .running = shown(values.running),
                   .is_drifted = values.is_drifted,
                   .related = target.related};
  for (const Image& image : values.images) row.images.push_back(image.to_string());
  return row;
}

/// Nullopt unless all are settled at one version and digest.
std::optional<VersionStatus> version_of(const Targets& targets) {
  std::optional<VersionStatus> version;
  for (const TargetView* target : targets) {
    const Version& running = target->memory.last.running;
    if (!is_ready(*target)) return std::nullopt;
    if (!version) {
      version = shown(running);
      continue;
    }
    const bool is_other_content =
        !version->digest.empty() && !running.digest.empty() && !is_same_digest(version->digest, running.digest);
    if (version->text != running.text || is_other_content) return std::nullopt;
    if (version->digest.empty()) version->digest = running.digest;
    version->time = std::max(version->time, running.time);
  }
  return version;
}

/// Settled where the others are: not shown among many.
bool is_exception(const TargetView& target, const std::optional<VersionStatus>& version, const std::string& most_common) {
  return !is_ready(target) || target.memory.last.running.text != (version ? version->text : most_common);
}

std::string most_common(const EnvironmentStatus& environment) {
  const auto most = std::ranges::max_element(environment.versions, {}, [](const auto& one) { return one.second; });
  return most == environment.versions.end() ? "" : most->first;
}

std::string line_of(const std::string& name, const EnvironmentStatus& environment) {
  if (environment.version) return fmt::format("{} {}", name, short_version(environment.version->text));
  std::vector<std::string> versions;
  for (const auto& [version, count] : environment.versions) {
    if (!version.empty()) versions.push_back(short_version(version));
  }
  return fmt::format("{} {} ({}/{} ready)", name, versions.empty() ? "-" : joined(versions, ", "), environment.ready_count,
                     environment.target_count);
}

const PromotionView* newest(const std::vector<PromotionView>& promotions, const std::string& environment) {
  const PromotionView* found = nullptr;
  for (const PromotionView& one : promotions) {
    if (one.spec.environment != environment) continue;
    const auto age = [](const PromotionView& p) { return std::tuple(p.created, p.spec.attempt, p.name); };
    if (found == nullptr || age(*found) < age(one)) found = &one;
  }
  return found;
}

void add_promotion(EnvironmentStatus& to, const PromotionView& promotion) {
  const PromotionStatus& status = promotion.status;
  to.promotion = PromotionSummary{.name = promotion.name,
                                  .release = promotion.spec.release,
                                  .version = promotion.version,
                                  .phase = std::string(json::enum_name(status.phase)),
                                  .reason = status.reason,
                                  .text = status.text,
                                  .pull_request = status.pull_request,
                                  .since = status.since};
  if (status.phase == Phase::Waiting && status.reason == kApprovalMissing) {
    to.waiting_approval = WaitingApproval{promotion.version.empty() ? promotion.spec.release : promotion.version};
  }
}

EnvironmentStatus environment_of(const ViewInput& input, const Targets& targets, const std::string& name) {
  EnvironmentStatus made{.version = version_of(targets), .target_count = static_cast<std::int64_t>(targets.size())};
  for (const TargetView* target : targets) {
    made.ready_count += is_ready(*target) ? 1 : 0;
    ++made.states[std::string(json::enum_name(target->state))];
    ++made.versions[target->memory.last.running.text];
  }
  const auto is_of_other_chart = [&](const TargetView* one) {
    return one->memory.last.chart != targets.front()->memory.last.chart;
  };
  if (!targets.empty() && std::ranges::none_of(targets, is_of_other_chart)) made.chart = targets.front()->memory.last.chart;
  if (const PromotionView* promotion = newest(input.promotions, name)) add_promotion(made, *promotion);
  return made;
}

/// "a; b; c; and 2 more".
std::string names_text(const std::vector<std::string>& texts) {
  std::vector<std::string> first(texts.begin(),
                                 texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), kMostNamed)));
  if (texts.size() > kMostNamed) first.push_back(fmt::format("and {} more", texts.size() - kMostNamed));
  return joined(first, "; ");
}

/// The worst trouble that a target has; ready where there is none, whatever state the applications are in.
kube::Condition ready_condition(const ViewInput& input) {
  for (const auto& [trouble, reason] :
       {std::pair(Trouble::ClusterNotFound, "TargetClusterNotFound"),
        std::pair(Trouble::ClusterNotReady, "TargetClusterNotReady"), std::pair(Trouble::NotReadable, "TargetNotReadable")}) {
    std::vector<std::string> texts;
    for (const TargetView* target : input.targets) {
      if (target->trouble == trouble) texts.push_back(fmt::format("{}: {}", target_name(input.spec, *target), target->error));
    }
    if (!texts.empty()) return {"Ready", "False", reason, names_text(texts)};
  }
  return {"Ready", "True", "ReconciliationSucceeded", "All clusters checked"};
}

/// Why nothing goes further, in upstream's words where it has some.
kube::Condition pending_condition(const ViewInput& input, const PipelineStatus& status) {
  const EnvironmentStatus& first = value_at(status.environments, input.spec.environments.front().name);
  const auto pending = [](std::string reason, std::string text) {
    return kube::Condition{"PromotionPending", "True", std::move(reason), std::move(text)};
  };
  if (input.spec.is_suspended) return pending("Suspended", "spec.suspend is set: nothing is promoted");
  if (first.versions.size() > 1 || first.versions.contains("")) {
    return pending("EnvironmentNotReady", "Waiting for all targets to have the same revision");
  }
  if (!first.version) return pending("EnvironmentNotReady", "Waiting for all targets to be ready");
  for (const Environment& environment : input.spec.environments) {
    const auto& promotion = value_at(status.environments, environment.name).promotion;
    if (!has_current_promotion(input.spec, status, environment.name)) continue;
    return pending(promotion->reason.empty() ? promotion->phase : promotion->reason,
                   fmt::format("{}: {}", environment.name, promotion->text.empty() ? promotion->phase : promotion->text));
  }
  return {"PromotionPending", "False", "NothingPending", "nothing waits to be promoted"};
}

void add_rows(PipelineStatus& status, const ViewInput& input) {
  const bool are_many = input.targets.size() > kMostTargetsShown;
  std::size_t shown_rows = 0;
  for (const TargetView* target : input.targets) {
    EnvironmentStatus& environment = status.environments[input.spec.environments[target->environment].name];
    const bool is_shown =
        !are_many || (shown_rows < kMostTargetsShown && is_exception(*target, environment.version, most_common(environment)));
    status.left_out += is_shown ? 0 : 1;
    shown_rows += is_shown ? 1 : 0;
    if (is_shown) environment.targets.push_back(row_of(input.spec, *target));
  }
}

template <class Row>
std::vector<Row> at_most(std::vector<Row> rows, std::size_t most) {
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace

void TargetView::set(State now, Time at) {
  if (!since || state != now) since = at;
  state = now;
}

Viewed view_of(const ViewInput& input) {
  Viewed viewed;
  PipelineStatus& status = viewed.status;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < input.spec.environments.size(); ++i) {
    const std::string& name = input.spec.environments[i].name;
    Targets own;
    std::ranges::copy_if(input.targets, std::back_inserter(own), [&](const TargetView* one) { return one->environment == i; });
    status.environments[name] = environment_of(input, own, name);
    lines.push_back(line_of(name, status.environments[name]));
  }
  add_rows(status, input);
  status.line = joined(lines, " → ");
  status.problems = at_most(input.problems, kMostProblems);
  status.triggers = at_most(input.triggers, kMostTriggers);
  viewed.conditions.push_back(ready_condition(input));
  if (input.spec.environments.size() > 1) viewed.conditions.push_back(pending_condition(input, status));
  return viewed;
}

void restore(TargetView& target, const TargetStatus& row) {
  const auto version = [](const VersionStatus& from) {
    return Version{.text = from.text, .digest = from.digest, .time = from.time};
  };
  Values& values = target.memory.last;
  values.specified = version(row.specified);
  values.attempted = version(row.attempted);
  values.running = version(row.running);
  values.chart = row.chart;
  for (const std::string& image : row.images) values.images.push_back(Image::parse(image));
  values.is_drifted = row.is_drifted;
  values.state = row.state;
  values.text = row.text;
  if (row.is_ready) values.ready_at = row.revision;
  target.state = row.state;
  target.text = row.text;
  target.error = row.error;
  target.since = row.since;
  target.api_version = row.app.api_version;
  target.related = row.related;
  target.was_looked_at = true;
}

void restore(TargetView& target, const EnvironmentStatus& environment) {
  if (!environment.version) return;
  const VersionStatus& from = *environment.version;
  Values& values = target.memory.last;
  values.running = {.text = from.text, .digest = from.digest, .time = from.time};
  values.attempted = values.running;
  values.ready_at = from.text;
  values.chart = environment.chart;
  values.state = State::Settled;
  target.state = State::Settled;
  target.since = from.time;
  target.was_looked_at = true;
}

std::string short_version(const std::string& version) {
  const SourceRevision revision = SourceRevision::parse(version);
  const auto colon = revision.digest.find(':');
  if (colon == std::string::npos || Semver::parse(version)) return version;
  const std::string digest = revision.digest.substr(0, colon + 1 + kShortDigest);
  return revision.name.empty() ? digest : fmt::format("{}@{}", revision.name, digest);
}

namespace {

std::string with_cluster(std::string name, const Target& where) {
  if (!where.cluster) return name;
  const std::string cluster =
      where.cluster->ns.empty() ? where.cluster->name : fmt::format("{}/{}", where.cluster->ns, where.cluster->name);
  return fmt::format("{} in cluster {}", name, cluster);
}

}  // namespace

std::string target_name(const PipelineSpec& spec, const TargetView& target) {
  const Target& where = spec_of(spec, target);
  return with_cluster(fmt::format("{}/{}", spec.environments[target.environment].name, where.ns), where);
}

std::string target_object(const PipelineSpec& spec, const TargetView& target) {
  const Target& where = spec_of(spec, target);
  return with_cluster(fmt::format("{} {}/{}", spec.app.kind, where.ns, spec.app.name), where);
}

}  // namespace slipway::delivery::pipeline
