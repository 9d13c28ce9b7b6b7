#include "delivery/pipeline/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/current_promotion.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/scene.h"
#include "delivery/pipeline/show.h"
#include "delivery/pipeline/version.h"
#include "delivery/pipeline/workload.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Wait;
using json::Value;

Value reference(const std::string& api_version, const std::string& kind, std::string_view ns, const std::string& name) {
  return json::object({{"apiVersion", api_version}, {"kind", kind}, {"namespace", ns}, {"name", name}});
}

Value reference(const kube::GroupVersionKind& kind, std::string_view ns, const std::string& name) {
  return reference(kind.api_version(), kind.kind, ns, name);
}

/// "rolled back" → "RolledBack".
std::string reason_of(State state) {
  std::string out;
  bool is_first = true;
  for (const char c : json::enum_name(state)) {
    if (c != ' ') out += is_first ? upper(c) : c;
    is_first = c == ' ';
  }
  return out;
}

/// A cluster that does not answer is looked at next, else the application where it is in the pipeline's own cluster.
Value next_of(const TargetStatus& target, std::string_view home_ns) {
  const std::optional<ClusterRef>& cluster = target.app.cluster;
  if (cluster) return reference(kGitopsClusterKind, cluster->ns.empty() ? home_ns : cluster->ns, cluster->name);
  return reference(target.app.api_version, target.app.kind, target.ns, target.app.name);
}

Wait target_wait(const TargetStatus& target, std::string_view home_ns) {
  const std::string at = target.app.cluster ? fmt::format(" of cluster {}", cluster_text(target.app.cluster, home_ns)) : "";
  const std::string& why = target.error.empty() ? target.text : target.error;
  std::string text = why.empty() && !target.is_ready ? fmt::format("not ready at {}", target.specified.text) : why;
  return {.on = fmt::format("target {}{}", target.ns, at),
          .reason = reason_of(target.state),
          .message = std::move(text),
          .since = target.since,
          .next = next_of(target, home_ns),
          .part = {}};
}

/// The version that the environment is to come to: the newest that a target runs.
std::string newest_in(const EnvironmentStatus& environment) {
  std::string newest;
  for (const auto& [version, count] : environment.versions) {
    if (newest.empty() || (!version.empty() && order(newest, version) == Order::Newer)) newest = version;
  }
  return newest;
}

/// The targets that hold the environment up: not settled, or settled at another version than `wanted` (empty: the newest
/// there).
std::vector<Wait> target_waits(const EnvironmentStatus& environment, std::string_view home_ns, std::string wanted = "") {
  if (wanted.empty()) wanted = newest_in(environment);
  std::vector<Wait> out;
  for (const TargetStatus& one : environment.targets) {
    const bool is_settled = one.is_ready && one.state == State::Settled;
    const bool is_other =
        !one.running.text.empty() && one.running.text != wanted && order(one.running.text, wanted) != Order::Same;
    if (is_settled && !is_other) continue;
    Wait wait = target_wait(one, home_ns);
    if (is_settled) {
      wait.reason = "OtherVersion";
      wait.message = fmt::format("runs {}, not {}", one.running.text, wanted);
    }
    out.push_back(std::move(wait));
  }
  return out;
}

Wait promotion_wait(const std::string& environment, const PromotionSummary& one, std::string_view ns) {
  return {.on = fmt::format("promotion of {} into {}", one.version, environment),
          .reason = one.reason.empty() ? one.phase : one.reason,
          .message = one.text,
          .since = one.since,
          .next = reference(kPromotionKind, ns, one.name),
          .part = {}};
}

/// What keeps one environment from the version that those before it have.
std::vector<Wait> explain_environment(const Scene& scene, const std::string& name) {
  const EnvironmentStatus there = scene.status_of(name);
  if (!has_current_promotion(scene.spec, scene.status, name)) return target_waits(there, scene.ns());
  std::vector<Wait> out = {promotion_wait(name, *there.promotion, scene.ns())};
  // Those of a promotion that settles are told below it.
  if (there.promotion->phase != json::enum_name(Phase::Settling))
    std::ranges::move(target_waits(there, scene.ns()), std::back_inserter(out));
  return out;
}

std::vector<Wait> explain_conditions(const PipelineStatus& status) {
  std::vector<Wait> out;
  for (const PipelineCondition& one : status.conditions) {
    const bool is_bad = one.type == "PromotionPending" ? one.status == "True" : one.status != "True";
    if (!is_bad) continue;
    out.push_back({.on = "the pipeline",
                   .reason = one.reason,
                   .message = one.message,
                   .since = one.last_transition_time,
                   .next = {},
                   .part = {}});
  }
  return out;
}

std::vector<Wait> explain_pipeline(const Scene& scene, const std::string& part) {
  if (!part.empty() && scene.find_environment(part) == nullptr) {
    return {{.on = fmt::format("environment {}", part),
             .reason = "NoSuchEnvironment",
             .message = fmt::format("{} has {}", scene.name(), scene.environment_names()),
             .since = {},
             .next = {},
             .part = {}}};
  }
  if (scene.status.observed_generation < 0) {
    return {{.on = "the pipeline controller",
             .reason = "Pending",
             .message = "it has not looked at the pipeline yet: see that slipway up or slipway controller runs",
             .since = kube::creation_time(scene.object),
             .next = {},
             .part = {}}};
  }
  std::vector<Wait> out;
  if (scene.spec.is_suspended) {
    out.push_back({.on = "whoever suspended it",
                   .reason = "Suspended",
                   .message = "spec.suspend is true: nothing is promoted until it is false",
                   .since = {},
                   .next = {},
                   .part = {}});
  }
  for (const Environment& one : scene.spec.environments) {
    if (!part.empty() && one.name != part) continue;
    const std::vector<Wait> causes = explain_environment(scene, one.name);
    if (causes.empty()) continue;
    if (part.empty()) {
      out.push_back({.on = fmt::format("environment {}", one.name),
                     .reason = causes.front().reason,
                     .message = versions_text(scene.status_of(one.name)) + " runs there",
                     .since = causes.front().since,
                     .next = kube::reference_to(scene.object),
                     .part = one.name});
    } else {
      std::ranges::copy(causes, std::back_inserter(out));
    }
  }
  return out.empty() ? explain_conditions(scene.status) : out;
}

Wait gate_wait(const GateRecord& gate) {
  const std::string verdict = gate.verdict.empty() ? "Wait" : gate.verdict;
  return {.on = fmt::format("gate {} ({})", gate.name, gate.at),
          .reason = "Gate" + verdict,
          .message = gate.text,
          .since = gate.since,
          .next = {},
          .part = {}};
}

kube::GroupVersionKind kind_of(const Blocker& blocker) {
  return {std::string(kOwnGroup), kPromotionKind.version, blocker.kind};
}

std::vector<Wait> settling_waits(const Value& promotion, const control::View& view) {
  const Value found = view.find(reference(kPipelineKind, kube::ns(promotion), promotion["spec"]["pipeline"].str()));
  if (found.is_null()) return {};
  const Scene scene = Scene::of(found, {}, view.now());
  const EnvironmentStatus there = scene.status_of(promotion["spec"]["environment"].str());
  const bool is_newest = there.promotion && there.promotion->name == kube::name(promotion);
  return target_waits(there, scene.ns(), is_newest ? there.promotion->version : "");
}

std::vector<Wait> explain_promotion(const Value& promotion, const control::View& view) {
  const auto read = json::decode<PromotionStatus>(promotion["status"], "status", {.allow_unknown = true});
  const PromotionStatus status = read ? *read : PromotionStatus{};
  if (promotion["status"].is_null()) {
    return {{.on = "the pipeline controller",
             .reason = "Pending",
             .message = "it has not taken the promotion up yet: see that slipway up or slipway controller runs",
             .since = kube::creation_time(promotion),
             .next = {},
             .part = {}}};
  }
  if (status.phase == Phase::Succeeded) return {};
  std::vector<Wait> out;
  for (const Blocker& one : status.waits_for) {
    out.push_back({.on = fmt::format("{} {}", lower(one.kind), one.name),
                   .reason = status.reason,
                   .message = status.text,
                   .since = status.since,
                   .next = reference(kind_of(one), kube::ns(promotion), one.name),
                   .part = {}});
  }
  for (const GateRecord& gate : status.gates) {
    if (gate.verdict != "Pass") out.push_back(gate_wait(gate));
  }
  if (!status.pull_request.empty() && status.pull_request_state == "open" && is_under_way(status)) {
    out.push_back({.on = fmt::format("pull request {}", status.pull_request),
                   .reason = "PullRequestOpen",
                   .message = "somebody has to merge it",
                   .since = status.started,
                   .next = {},
                   .part = {}});
  }
  if (status.phase == Phase::Settling) std::ranges::move(settling_waits(promotion, view), std::back_inserter(out));
  if (out.empty() || status.phase == Phase::Rejected) {
    out.insert(out.begin(), {.on = std::string(status.phase == Phase::Rejected ? "somebody who lifts the rejection" : "it"),
                             .reason = status.reason.empty() ? std::string(json::enum_name(status.phase)) : status.reason,
                             .message = status.text,
                             .since = status.since,
                             .next = {},
                             .part = {}});
  }
  return out;
}

std::vector<Wait> explain_cluster(const Value& cluster, const control::View& /*view*/) {
  std::vector<Wait> out;
  for (const Value& one : cluster["status"]["conditions"].items()) {
    if (one["status"].as_string() == "True") continue;
    out.push_back({.on = fmt::format("cluster {}", kube::name(cluster)),
                   .reason = one["reason"].str(),
                   .message = one["message"].str(),
                   .since = kube::time_of(one["lastTransitionTime"]),
                   .next = {},
                   .part = {}});
  }
  return out;
}

/// Of a Hold and of a Freeze: who made it.
std::vector<Wait> explain_standstill(const Value& object, const control::View& /*view*/) {
  const Value& spec = object["spec"];
  const std::string user = spec["by"]["user"].str();
  const std::string until = spec["until"].str();
  const bool is_hold = kube::kind(object) == kHoldKind.kind;
  std::string text = spec["comment"].str();
  if (!until.empty()) text += fmt::format("{}until {}", text.empty() ? "" : ", ", until);
  const std::string how = is_hold ? fmt::format("slipway pipeline resume {}", spec["pipeline"].as_string())
                                  : fmt::format("slipway pipeline unfreeze {}", kube::name(object));
  text += fmt::format("{}{} ends it", text.empty() ? "" : "; ", how);
  return {{.on = user.empty() ? "whoever made it" : fmt::format("user {}", user),
           .reason = is_hold ? "Held" : "Frozen",
           .message = text,
           .since = kube::creation_time(object),
           .next = {},
           .part = {}}};
}

}  // namespace

std::vector<control::ExplainRow> explain_rows() {
  const auto open_pipeline = [](const Value& pipeline, const control::View& view) -> control::Explainer {
    return [scene = Scene::of(pipeline, {}, view.now())](const std::string& part) { return explain_pipeline(scene, part); };
  };
  using control::ExplainRow;
  return {{.group = kPipelineKind.group, .kind = kPipelineKind.kind, .open = open_pipeline},
          ExplainRow::without_parts(kPromotionKind, explain_promotion),
          ExplainRow::without_parts(kGitopsClusterKind, explain_cluster),
          ExplainRow::without_parts(kHoldKind, explain_standstill),
          ExplainRow::without_parts(kFreezeKind, explain_standstill),
          ExplainRow::without_parts(std::string(kHelmRelease.group), std::string(kHelmRelease.kind), explain_flux),
          ExplainRow::without_parts(std::string(kKustomization.group), std::string(kKustomization.kind), explain_flux)};
}

}  // namespace slipway::delivery::pipeline
