// What an ApplicationController tells of a reconcile: events, and the conditions that are there only when there is something to
// know.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "delivery/application/conditions.h"
#include "delivery/application/controller.h"
#include "delivery/application/definition_changes.h"
#include "delivery/application/events.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

/// Conditions that are there only in trouble, with the reason of the event that tells of them.
constexpr std::pair<const char*, const char*> kTroubles[] = {
    {"StateKeep", "FailedStateKeep"}, {kProgressing, kDeadlineExceeded}, {kContested, "FieldContested"}};

/// Conditions of stages, and their events. DIVERGES: KubeVela records these events whenever a run begins. Here there is one
/// when the stage had failed before: the stages come about at once, and the event Applied says that all have.
constexpr std::pair<const char*, Told> kStages[] = {
    {"Parsed", Told::Parsed}, {"Revision", Told::Revisioned}, {"Policy", Told::PolicyGenerated}, {"Render", Told::Rendered}};

/// It had failed before this reconcile, and has not now.
bool is_mended(const json::Value& before, const ApplicationStatus& status, std::string_view type) {
  const AppCondition* now = find_condition(status, type);
  if (now != nullptr && now->status == "False") return false;
  return std::ranges::any_of(before["conditions"].items(), [&](const json::Value& one) {
    return one["type"].as_string() == type && one["status"].as_string() == "False";
  });
}

std::string failure_text(const workflow::RunStatus& run) {
  std::vector<std::string> texts;
  for (const workflow::StepStatus& step : run.steps) {
    if (step.phase != workflow::kFailed) continue;
    texts.push_back(
        fmt::format("step {} failed ({}){}{}", step.name, step.reason, step.message.empty() ? "" : ": ", step.message));
  }
  return texts.empty() ? "the workflow was terminated" : fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

/// Records what has come about in this reconcile.
Task<Result<void>> ApplicationController::tell_of(client::Client& client, kube::Object application, Status status,
                                                  Since since) {
  for (const auto& [type, what] : kStages) {
    if (!is_mended(since.before, status, type)) continue;
    SLIPWAY_CO_TRY_VOID(co_await tell_success(env_, client, application, what));
  }
  if (const workflow::RunStatus& run = *status.workflow; run.is_finished && !since.was_finished) {
    const bool has_succeeded = run.phase == workflow::kSucceeded;
    SLIPWAY_CO_TRY_VOID(
        has_succeeded ? co_await tell_success(env_, client, application, Told::Applied)
                      : co_await tell_failure(env_, client, application, "FailedWorkflow", failure_text(*status.workflow)));
  }
  const AppCondition* ready = find_condition(status, "Ready");
  if (ready != nullptr && ready->status == "True" && is_news(since.before, status, "Ready")) {
    SLIPWAY_CO_TRY_VOID(co_await tell_success(env_, client, application, Told::Deployed));
  }
  for (const auto& [type, reason] : kTroubles) {
    const AppCondition* trouble = find_condition(status, type);
    if (trouble == nullptr || !is_news(since.before, status, type)) continue;
    SLIPWAY_CO_TRY_VOID(co_await tell_failure(env_, client, application, reason, trouble->message));
  }
  co_return Result<void>{};
}

/// Says which definitions are not those of the revision any more.
void ApplicationController::note_definitions(const kube::Object& application, const Parsed& parsed, Status& status) {
  Lookup live = live_lookup(application);
  if (kube::annotation(application, kSkipGlobalPolicies) == "true") live.global_policies = nullptr;
  const std::vector<std::string> changed = changed_definitions(parsed, live);
  if (changed.empty()) return drop_condition(status, kDefinitionChanged);
  set_condition(
      status, kDefinitionChanged, true, kDefinitionChanged,
      fmt::format("changed since revision {}, which goes on using what it has of: {}; a change of the spec takes what "
                  "is new, and so does the annotation {}: \"true\"",
                  status.latest_revision->name, fmt::join(changed, ", "), kAutoUpdate),
      env_.clock.now());
}

/// Says which fields others change again and again. When that may be over.
std::optional<Duration> ApplicationController::note_contested(RepairLog& log, Status& status) {
  const std::vector<std::string> contested = log.contested(env_.clock.steady());
  if (contested.empty()) {
    drop_condition(status, kContested);
    return std::nullopt;
  }
  const std::string advice = "stop the other writer, or leave the field to it with policy apply-once";
  set_condition(status, kContested, true, "FieldContested", fmt::format("{} ({})", fmt::join(contested, "; "), advice),
                env_.clock.now());
  return log.next(env_.clock.steady());
}

/// Status and ConfigMap say what policies of scope Application made of it; events tell of what is new.
Task<Result<void>> ApplicationController::record_policies(client::Client& client, kube::Object application, Scoped scoped,
                                                          Status& status) {
  const std::vector<AppliedPolicy> before = std::exchange(status.policies, scoped.policies);
  status.policies_config_map = scoped.policies.empty() ? "" : policies_config_map(application);
  if (scoped.policies.empty()) co_return Result<void>{};
  const Value wanted =
      json::object({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", json::object({{"name", status.policies_config_map},
                                               {"namespace", Value(kube::ns(application))},
                                               {"ownerReferences", json::array({kube::owner_reference(application)})}})},
                    {"data", scoped.record}});
  const kube::ObjectKey key = kube::key_of(wanted);
  auto there = co_await client::get(client, kube::kConfigMaps, key);
  if (!there && there.error().reason != Reason::NotFound) co_return fail(std::move(there).error());
  if (!there) {
    SLIPWAY_CO_TRY_VOID(co_await client::create(client, kube::kConfigMaps, wanted, kManager));
  } else if ((*there)["data"] != scoped.record && kube::is_owned_by(*there, kube::uid(application))) {
    SLIPWAY_CO_TRY_VOID(co_await client::update(client, kube::kConfigMaps, there->with("data", scoped.record), kManager));
  }
  for (const AppliedPolicy& policy : scoped.policies) {
    if (std::ranges::find(before, policy) != before.end()) continue;
    SLIPWAY_CO_TRY_VOID(co_await tell_normal(
        env_, client, application,
        fmt::format("{}{}", policy.source.empty() ? "" : "Global", policy.is_applied ? "PolicyApplied" : "PolicySkipped"),
        fmt::format("policy {}: {}", policy.name, policy.is_applied ? "applied to the application" : policy.message)));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
