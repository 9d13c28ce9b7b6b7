#include "delivery/jobflow/family.h"

#include <fmt/format.h>

#include <set>

#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/controller.h"
#include "delivery/jobflow/cron_controller.h"
#include "delivery/jobflow/cron_show.h"
#include "delivery/jobflow/explain.h"
#include "delivery/jobflow/kinds.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/render.h"

namespace slipway::delivery::jobflow {
namespace {

using kube::Object;

std::string step_text(const Value& step) {
  std::string text = step["phase"].str();
  if (const auto attempt = step["attempts"].as_int(); attempt > 1) text += fmt::format(" (attempt {})", attempt);
  if (const auto reason = step["reason"].as_string(); !reason.empty()) text += fmt::format(" {}", reason);
  if (const auto message = step["message"].as_string(); !message.empty()) text += fmt::format(": {}", message);
  return text;
}

void tell_steps(const Object& before, const Object& after, std::vector<News>& news) {
  // What ended first, then what started because of it: one status write may hold both.
  for (const bool is_complete : {true, false}) {
    for (const auto& [name, step] : after["status"]["statuses"].members()) {
      const std::string text = step_text(step);
      if (step["complete"].as_bool() != is_complete || text == step_text(before["status"]["statuses"][name])) continue;
      news.push_back({.part = std::string(name), .text = text});
    }
  }
}

/// A large graph, whose steps are in step sets: its status lists the first failures and counts the rest.
void tell_counts(const Value& before, const Value& after, std::vector<News>& news) {
  std::set<std::string> known;
  for (const Value& failure : before["failures"].items()) known.insert(failure["step"].str());
  for (const Value& failure : after["failures"].items()) {
    if (known.contains(failure["step"].str())) continue;
    news.push_back({.part = failure["step"].str(),
                    .text = fmt::format("Failed {}: {}", failure["reason"].as_string(), failure["message"].as_string())});
  }
  if (before["progress"] == after["progress"]) return;
  news.push_back({.text = fmt::format("{} steps have ended", after["progress"].as_string()), .is_progress = true});
}

std::string summary_of(const Object& workflow, const control::View& view) {
  const bool has_sets = workflow["status"]["stepSets"].as_int() > 0;
  return summary(workflow, has_sets ? view.owned_by(workflow, kStepSetKind) : std::vector<Value>{}, view.now());
}

/// By a new id in spec.rerun. Without a step all run again, so a `from` of a rerun before is taken away.
Task<Result<CommandAnswer>> rerun(ActionCall call) {
  const auto given = call.options.find("from");
  const std::string from = given == call.options.end() ? call.part : given->second;
  const Value step = from.empty() ? Value() : Value(from);
  const Value patch =
      json::object({{"spec", json::object({{"rerun", json::object({{"id", name_suffix(call.env.random)}, {"from", step}})}})}});
  SLIPWAY_CO_TRY(patched, co_await client::merge_patch(call.client, call.resource, call.key, patch, "slipway-rerun"));
  co_return CommandAnswer{.text = fmt::format("workflow/{}: runs again\n", kube::name(patched)), .follows = true};
}

KindRow workflow_row() {
  KindRow row{.group = kWorkflowKind.group, .kind = kWorkflowKind.kind};
  row.verdict = verdict;
  row.news = news;
  row.summary = summary_of;
  row.describe = describe;
  row.has_part = [](const Object& workflow, const std::string& part) { return workflow["spec"]["steps"].has(part); };
  row.is_of_part = [](const Object& owned, const std::string& part) {
    return kube::annotation(owned, kStepAnnotation) == part;
  };
  row.actions.push_back({.verb = "rerun",
                         .help = "run a step of a workflow again, and all that depends on it",
                         .options = {{"from", "the step to run again, with all that depends on it (default: all steps)"}},
                         .run = rerun});
  return row;
}

KindRow cron_row() {
  KindRow row{.group = kCronWorkflowKind.group, .kind = kCronWorkflowKind.kind};
  row.describe = describe_cron;
  return row;
}

Family make() {
  Family family{.name = "jobflow", .groups = {kWorkflowKind.group}};
  family.definitions = custom_resource_definitions();
  family.follows = {kJobKind};
  family.admission = [](const AdmissionContext& context) { return admission_rows(context.create_check(kJobKind)); };
  family.authored = {.in = kIdentity, .resources = {kWorkflows, kCronWorkflows}};
  family.explain = explain_rows;
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    made.push_back(std::make_unique<WorkflowController>(context.env, ControllerOptions{.acts_as = context.acts_as}));
    made.push_back(std::make_unique<CronWorkflowController>(context.env, context.acts_as));
    return made;
  };
  family.kinds = {workflow_row(), cron_row()};
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

std::optional<Verdict> verdict(const Object& workflow) {
  if (workflow["spec"]["rerun"]["id"].as_string() != workflow["status"]["rerun"].as_string()) return std::nullopt;
  for (const auto* type : {"Complete", "Failed", "Invalid"}) {
    if (kube::is_true(workflow, type)) return ended_by(kube::condition(workflow, type));
  }
  return std::nullopt;
}

std::vector<News> news(const Object& before, const Object& after) {
  std::vector<News> news;
  tell_steps(before, after, news);
  const Value& suspended = kube::condition(after, "Suspended");
  if (suspended["status"] != kube::condition(before, "Suspended")["status"]) {
    news.push_back({.text = fmt::format("{}: {}", suspended["reason"].as_string(), suspended["message"].as_string())});
  }
  if (after["status"]["stepSets"].as_int() > 0) tell_counts(before["status"], after["status"], news);
  return news;
}

}  // namespace slipway::delivery::jobflow
