#include "delivery/application/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/definition_changes.h"
#include "delivery/application/kind.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/show_run.h"
#include "delivery/application/show_steps.h"
#include "delivery/application/standstill.h"
#include "delivery/family/rolled_workloads.h"
#include "delivery/family/template_owner.h"
#include "delivery/family/text.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

bool is_current(const kube::Object& application) {
  return application["status"]["observedGeneration"].as_int() == kube::generation(application);
}

const Value& run_of(const kube::Object& application) { return application["status"]["workflow"]; }

std::string place_of(const Value& service) {
  const std::string cluster = service["cluster"].as_string().empty() ? kHub : service["cluster"].str();
  return fmt::format("{}/{}", cluster, service["namespace"].as_string());
}

std::string health_of(const Value& service) {
  std::string text = service["healthy"].as_bool() ? "healthy" : "unhealthy";
  if (const auto message = service["message"].as_string(); !message.empty()) text += " " + one_line(std::string(message));
  return text;
}

std::string tables(const kube::Object& application) {
  std::vector<std::vector<std::string>> services = {{"COMPONENT", "PLACE", "HEALTH", "TRAITS"}};
  for (const Value& service : application["status"]["services"].items()) {
    std::string traits;
    for (const Value& trait : service["traits"].items()) {
      const char* mark = trait["pending"].as_bool() ? " (pending)" : trait["healthy"].as_bool() ? "" : " (unhealthy)";
      traits += (traits.empty() ? "" : ", ") + trait["type"].str() + mark;
    }
    services.push_back({service["name"].str(), place_of(service), health_of(service), traits});
  }
  std::string out = steps_table(run_of(application));
  if (services.size() > 1) out += (out.empty() ? "" : "\n") + aligned(services);
  return out;
}

std::string failure_of(const kube::Object& application) {
  const Value& ready = kube::condition(application, "Ready");
  if (ready["status"].as_string() == "False") return ready["message"].str();
  return failed_step(run_of(application));
}

/// What the trait of a service made here and has a status; null: nothing.
Value watched_of_trait(const kube::Object& application, const control::View& view, const Value& service,
                       std::string_view type) {
  for (const Value& reference : application["status"]["appliedResources"].items()) {
    const auto cluster = reference["cluster"].as_string();
    if ((!cluster.empty() && cluster != kHub) || reference["namespace"] != service["namespace"]) continue;
    const kube::Object object = view.find(reference);
    const bool is_it = kube::label(object, kLabelTrait) == type && kube::label(object, kLabelComponent) == service["name"];
    if (is_it && object["status"].is_object()) return reference;
  }
  return {};
}

std::vector<control::Wait> waits_of_traits(const kube::Object& application, const control::View& view) {
  std::vector<control::Wait> waits;
  for (const Value& service : application["status"]["services"].items()) {
    for (const Value& trait : service["traits"].items()) {
      if (trait["healthy"].as_bool() || trait["pending"].as_bool()) continue;
      waits.push_back({.on = fmt::format("trait \"{}\" of component \"{}\" in {}", trait["type"].as_string(),
                                         service["name"].as_string(), place_of(service)),
                       .reason = "Unhealthy",
                       .message = trait["message"].str(),
                       .since = {},
                       .next = watched_of_trait(application, view, service, trait["type"].as_string()),
                       .part = ""});
    }
  }
  return waits;
}

/// Of a component that a rollout delivers: the rollout or, once that has succeeded, its workload. Else null.
Value rolled_next(const kube::Object& application, const control::View& view, const Value& service) {
  for (const Value& reference : application["status"]["appliedResources"].items()) {
    if (!reference["cluster"].as_string().empty() && reference["cluster"].as_string() != kHub) continue;
    const kube::Object object = view.find(reference);
    const Value& listed = object["spec"]["componentList"];
    const bool is_its = (listed.size() == 1 && listed.item(0) == service["name"]) ||
                        kube::label(object, kLabelComponent) == service["name"].as_string();
    if (!has_plan(object) || !is_its) continue;
    const std::vector<Value> workloads = rolled_workloads(object);
    return has_rolled_out(object) && !workloads.empty() ? workloads.front() : reference;
  }
  return {};
}

/// What its workflow waited for is past.
control::Wait wait_for_deletion(const kube::Object& application) {
  control::Wait wait{.on = "its deletion",
                     .reason = "Deleting",
                     .message = kube::condition(application, "Deleting")["message"].str(),
                     .since = kube::time_of(application["metadata"]["deletionTimestamp"]),
                     .next = {},
                     .part = ""};
  if (!wait.message.empty()) return wait;
  std::vector<std::string> finalizers;
  for (const Value& one : application["metadata"]["finalizers"].items()) finalizers.push_back(one.str());
  wait.message = fmt::format("finalizers are left: {}", joined(finalizers, ", "));
  return wait;
}

/// Of one that a rollout delivers.
std::optional<control::Wait> wait_for_rollout(const kube::Object& application) {
  const Value owner = rolled_out_by(application);
  if (owner.is_null() && !is_rollout_template(application)) return std::nullopt;
  const std::string revision = application["status"]["latestRevision"]["name"].str();
  control::Wait wait{.on = "a rollout", .reason = "RolloutTemplate", .message = {}, .since = {}, .next = {}, .part = ""};
  if (owner.is_null()) {
    wait.message = revision.empty()
                       ? "it is a template, and is being rendered"
                       : fmt::format("it is a template: apply an AppRollout with targetAppRevisionName {}", revision);
    return wait;
  }
  wait.on = fmt::format("{} {}", owner["kind"].as_string(), owner["name"].as_string());
  wait.reason = "RollingOut";
  wait.message = fmt::format("it has charge of the application until its end; the annotation {} says so", kRolledOutBy);
  wait.next = owner.with("namespace", Value(kube::ns(application)));
  return wait;
}
/// Conditions without which the workflow does not begin, and what they are about.
struct Obstacle {
  const char* condition;
  const char* on;
};
constexpr Obstacle kObstacles[] = {
    {"Parsed", "its spec"}, {"Revision", "its revision"}, {"Policy", "the objects of its policies"}};

std::vector<control::Wait> explain(const kube::Object& application, const control::View& view) {
  std::vector<control::Wait> waits;
  const Value& status = application["status"];
  if (kube::is_deleting(application)) return {wait_for_deletion(application)};
  if (const std::string why = standstill(application); !why.empty()) {
    waits.push_back({.on = "nothing", .reason = "Paused", .message = why, .since = {}, .next = {}, .part = ""});
    return waits;
  }
  for (const Obstacle& obstacle : kObstacles) {
    const Value& condition = kube::condition(application, obstacle.condition);
    if (condition["status"].as_string() != "False") continue;
    waits.push_back({.on = obstacle.on,
                     .reason = condition["reason"].str(),
                     .message = condition["message"].str(),
                     .since = kube::time_of(condition["lastTransitionTime"]),
                     .next = {},
                     .part = ""});
    return waits;
  }
  if (const auto wait = wait_for_rollout(application)) return {*wait};
  const std::string resume =
      fmt::format("slipway workflow resume app/{} -n {}", kube::name(application), kube::ns(application));
  waits = waits_of_steps(run_of(application), resume);
  std::ranges::move(waits_of_traits(application, view), std::back_inserter(waits));
  if (!waits.empty()) return waits;
  for (const Value& service : status["services"].items()) {
    if (service["healthy"].as_bool()) continue;
    control::Wait wait{.on = fmt::format("component \"{}\" in {}", service["name"].as_string(), place_of(service)),
                       .reason = "Unhealthy",
                       .message = service["message"].str(),
                       .since = {},
                       .next = {},
                       .part = ""};
    if (Value rolled = rolled_next(application, view, service); !rolled.is_null()) {
      wait.next = std::move(rolled);
    } else if (service["cluster"].as_string().empty()) {
      wait.next = json::object({{"apiVersion", service["workloadDefinition"]["apiVersion"]},
                                {"kind", service["workloadDefinition"]["kind"]},
                                {"namespace", service["namespace"]},
                                {"name", service["name"]}});
    }
    waits.push_back(std::move(wait));
  }
  // Nothing is wrong, but something newer waits to be used.
  if (const Value& newer = kube::condition(application, kDefinitionChanged); waits.empty() && !newer.is_null()) {
    waits.push_back({.on = "a change of its spec",
                     .reason = newer["reason"].str(),
                     .message = newer["message"].str(),
                     .since = kube::time_of(newer["lastTransitionTime"]),
                     .next = {},
                     .part = ""});
  }
  return waits;
}

/// Conditions that are there only when there is something to know.
std::string notes_of(const kube::Object& application) {
  std::string out;
  for (const Obstacle& obstacle : kObstacles) {
    const Value& condition = kube::condition(application, obstacle.condition);
    if (condition["status"].as_string() != "False") continue;
    out += fmt::format("note: {}: {}\n", obstacle.condition, one_line(condition["message"].str()));
  }
  for (const char* type : {"Progressing", "PlanApplied", "StateKeep", "Contested", kDefinitionChanged, "Deleting"}) {
    const Value& condition = kube::condition(application, type);
    if (!condition.is_null()) out += fmt::format("note: {}: {}\n", type, one_line(condition["message"].str()));
  }
  return out;
}

}  // namespace

std::optional<Verdict> verdict(const kube::Object& application) {
  if (!is_current(application)) return std::nullopt;
  const auto phase = application["status"]["status"].as_string();
  // Without its end the run is one that has just been asked for, and the phase that of the run before.
  const bool has_ended = application["status"]["workflow"]["finished"].as_bool();
  if (phase == "running" && has_ended) return Verdict{true, "running"};
  if (has_ended && (phase == "workflowFailed" || phase == "workflowTerminated")) {
    return Verdict{false, fmt::format("{}: {}", phase, failure_of(application))};
  }
  if (kube::condition(application, "Parsed")["status"].as_string() == "False") {
    return Verdict{false, fmt::format("{}: {}", phase, failure_of(application))};
  }
  return std::nullopt;
}

std::vector<News> news(const kube::Object& before, const kube::Object& after) {
  std::vector<News> told = step_news(run_of(before), run_of(after));
  const bool is_new = before["status"]["status"] != after["status"]["status"];
  if (is_new && !after["status"]["status"].as_string().empty() && !verdict(after)) {
    told.push_back({.part = "", .text = after["status"]["status"].str()});
  }
  return told;
}

std::string summary(const kube::Object& application, const control::View& view) {
  const Value& status = application["status"];
  const std::string phase = status["status"].as_string().empty() ? "starting" : status["status"].str();
  const std::string line =
      fmt::format("application {}/{}: {}, revision {}, age {}\n", kube::ns(application), kube::name(application), phase,
                  status["latestRevision"]["name"].as_string().empty() ? "-" : status["latestRevision"]["name"].as_string(),
                  age(kube::creation_time(application), view.now()));
  const std::string back = status["rolledBackTo"].str();
  return line + (back.empty() ? "" : fmt::format("note: rolled back: revision {} serves\n", back)) + notes_of(application) +
         tables(application);
}

std::string describe(const kube::Object& application, const control::View& view, const std::vector<kube::Object>& events) {
  std::string out = summary(application, view);
  std::vector<std::vector<std::string>> conditions = {{"CONDITION", "STATUS", "REASON", "MESSAGE"}};
  for (const Value& one : application["status"]["conditions"].items()) {
    conditions.push_back({one["type"].str(), one["status"].str(), one["reason"].str(), one_line(one["message"].str())});
  }
  if (conditions.size() > 1) out += "\n" + aligned(conditions);
  std::vector<std::vector<std::string>> objects = {{"OBJECT", "NAMESPACE", "CLUSTER"}};
  for (const Value& one : application["status"]["appliedResources"].items()) {
    objects.push_back({fmt::format("{}/{}", one["kind"].as_string(), one["name"].as_string()), one["namespace"].str(),
                       one["cluster"].as_string().empty() ? kHub : one["cluster"].str()});
  }
  if (objects.size() > 1) out += "\n" + aligned(objects);
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

bool has_part(const kube::Object& application, const std::string& part) {
  const auto is_named = [&](const Value& one) { return one["name"].as_string() == part; };
  return has_step(run_of(application), part) || std::ranges::any_of(application["spec"]["components"].items(), is_named);
}

bool is_of_part(const kube::Object& made, const std::string& component) {
  return kube::label(made, kLabelComponent) == component;
}

std::vector<MadeObject> made(const kube::Object& application) {
  std::vector<MadeObject> all;
  for (const Value& one : application["status"]["appliedResources"].items()) {
    const std::string cluster = one["cluster"].as_string() == kHub ? "" : one["cluster"].str();
    all.push_back({.cluster = cluster, .reference = one});
  }
  std::ranges::sort(all, {}, [](const MadeObject& one) { return std::pair(one.cluster, json::print(one.reference)); });
  return all;
}

std::optional<Hold> hold(const kube::Object& application) {
  // Once it is resumed the phase says so only when the workflow has gone on.
  const bool is_at_rest = application["status"]["status"].as_string() == "workflowSuspending";
  if (!is_current(application) || !is_at_rest) return std::nullopt;
  return hold_of(run_of(application), application["spec"]["workflow"]["steps"]);
}

std::vector<control::ExplainRow> explain_rows() {
  return {control::ExplainRow::without_parts(kApplicationKind, explain),
          control::ExplainRow::without_parts(kWorkflowRunKind, explain_run)};
}

}  // namespace slipway::delivery::application
