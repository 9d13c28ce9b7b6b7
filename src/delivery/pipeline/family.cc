#include "delivery/pipeline/family.h"

#include "delivery/pipeline/admission.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/dora_command.h"
#include "delivery/pipeline/explain.h"
#include "delivery/pipeline/gitops_clusters.h"
#include "delivery/pipeline/history_command.h"
#include "delivery/pipeline/hooks.h"
#include "delivery/pipeline/import.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/kinds.h"
#include "delivery/pipeline/log_controller.h"
#include "delivery/pipeline/pipeline_views.h"
#include "delivery/pipeline/promotion_controller.h"
#include "delivery/pipeline/show.h"
#include "delivery/pipeline/view_controller.h"
#include "delivery/pipeline/workload.h"

namespace slipway::delivery::pipeline {
namespace {

delivery::KindRow pipeline_row() {
  return {.group = kPipelineKind.group, .kind = kPipelineKind.kind, .summary = pipeline_summary, .describe = describe_pipeline};
}

delivery::KindRow promotion_row() {
  return {.group = kPromotionKind.group,
          .kind = kPromotionKind.kind,
          .verdict = promotion_verdict,
          .news = promotion_news,
          .summary = promotion_summary,
          .describe = describe_promotion,
          .hold = promotion_hold};
}

Family make() {
  Family family{.name = "pipeline", .groups = {kPipelineKind.group, kGitopsClusterKind.group}};
  family.guarded_groups = {std::string(kOwnGroup)};
  family.definitions = custom_resource_definitions();
  family.answered = {pipeline_view_kind()};
  family.admission = [](const AdmissionContext&) { return admission_rows(); };
  family.authored = {.in = kIdentity, .resources = {kPipelines, kGitopsClusters}};
  family.explain = explain_rows;
  family.kinds = {pipeline_row(), promotion_row()};
  // Nothing but that they name pipelines, so that files may bring both.
  for (const auto& kind : {kReleaseKind, kApprovalKind, kHoldKind, kFreezeKind}) {
    family.kinds.push_back({.group = kind.group, .kind = kind.kind});
  }
  for (const KindRow* one : described_workloads()) {
    family.kinds.push_back({.group = std::string(one->group), .kind = std::string(one->kind), .describe = describe_workload});
  }
  family.commands = commands();
  family.commands.push_back(history_command());
  family.commands.push_back(dora_command());
  family.commands.push_back(import_command());
  family.paths = [] { return hook_paths(std::make_shared<HookMemory>()); };
  family.named_by_others = {kPipelineKind};
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    const auto viewed = std::make_shared<ViewedPipelines>();
    made.push_back(std::make_unique<GitopsClusterController>(context));
    made.push_back(std::make_unique<ViewController>(context, viewed));
    made.push_back(std::make_unique<PromotionController>(context, changes(), viewed));
    made.push_back(std::make_unique<LogController>(context));
    return made;
  };
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::pipeline
