#include "delivery/rollout/family.h"

#include "delivery/family/rolled_workloads.h"
#include "delivery/rollout/actions.h"
#include "delivery/rollout/admission.h"
#include "delivery/rollout/controller.h"
#include "delivery/rollout/explain.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/kinds.h"
#include "delivery/rollout/plan.h"
#include "delivery/rollout/plan_edit.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/show.h"

namespace slipway::delivery::rollout {
namespace {

/// They go on when the rollout has gone.
std::vector<MadeObject> made(const kube::Object& rollout) {
  std::vector<MadeObject> all;
  for (json::Value& workload : rolled_workloads(rollout)) all.push_back({.cluster = "", .reference = std::move(workload)});
  return all;
}

KindRow row_of(const kube::GroupVersionKind& kind) {
  KindRow row{.group = kind.group, .kind = kind.kind};
  row.verdict = verdict;
  row.news = news;
  row.summary = [](const kube::Object& rollout, const control::View&) { return summary_text(rollout); };
  row.describe = describe;
  row.has_part = has_part;
  row.made = made;
  row.hold = hold;
  row.actions = actions();
  for (Action& action : row.actions) action.takes_bare_name = true;
  return row;
}

Family make() {
  Family family{.name = "rollout", .groups = {std::string(kTraitGroup)}};
  family.definitions = custom_resource_definitions();
  family.admission = [](const AdmissionContext&) { return admission_rows(); };
  family.authored = {.in = kAuthor, .resources = {kTraits, kRollouts, kAppRollouts}};
  family.check_plan = check_plan_edit;
  family.explain = explain_rows;
  for (const kube::GroupVersionKind& kind : {kTraitKind, kRolloutKind, kAppRolloutKind}) family.kinds.push_back(row_of(kind));
  family.commands = {plan_command()};
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    made.push_back(std::make_unique<RolloutController>(context, "rollout-trait", kTraits));
    made.push_back(std::make_unique<RolloutController>(context, "rollout", kRollouts));
    made.push_back(std::make_unique<RolloutController>(context, "app-rollout", kAppRollouts));
    return made;
  };
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::rollout
