#include "delivery/application/family.h"

#include <fmt/format.h>

#include "delivery/application/admission.h"
#include "delivery/application/controller.h"
#include "delivery/application/definition_commands.h"
#include "delivery/application/definition_controller.h"
#include "delivery/application/holdings.h"
#include "delivery/application/identity.h"
#include "delivery/application/kind.h"
#include "delivery/application/kinds.h"
#include "delivery/application/render_commands.h"
#include "delivery/application/revision_actions.h"
#include "delivery/application/run_actions.h"
#include "delivery/application/show.h"
#include "delivery/application/show_run.h"
#include "delivery/application/workflow_run.h"

namespace slipway::delivery::application {
namespace {

KindRow application_row() {
  KindRow row{.group = kApplicationKind.group, .kind = kApplicationKind.kind};
  row.verdict = verdict;
  row.news = news;
  row.summary = summary;
  row.describe = describe;
  row.has_part = has_part;
  row.is_of_part = is_of_part;
  row.made = made;
  row.hold = hold;
  row.actions = application_run_actions();
  for (Action& action : revision_actions()) row.actions.push_back(std::move(action));
  return row;
}

KindRow run_row() {
  KindRow row{.group = kWorkflowRunKind.group, .kind = kWorkflowRunKind.kind};
  row.verdict = run_verdict;
  row.news = run_news;
  row.summary = run_summary;
  row.describe = run_describe;
  row.has_part = run_has_part;
  row.hold = run_hold;
  row.actions = workflow_run_actions();
  return row;
}

/// The options were checked before.
Settings settings_of(const std::map<std::string, std::string>& options) { return read_settings(options).value_or(Settings{}); }

Family make() {
  Family family{.name = "application", .groups = {kGroup, "cue.oam.dev"}};
  family.definitions = custom_resource_definitions();
  family.admission = [](const AdmissionContext& context) {
    return admission_rows(context.on_fault, settings_of(context.options).definition_namespace, context.check_plan);
  };
  family.authored = {.in = kIdentityAnnotations, .resources = {kApplications, kWorkflowRuns}};
  family.explain = explain_rows;
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    const Settings settings = settings_of(context.options);
    made.push_back(
        std::make_unique<ApplicationController>(context.env, context.http,
                                                ControllerOptions{.engine = settings.engine,
                                                                  .progress_deadline = settings.progress_deadline,
                                                                  .apply_mode = settings.apply_mode,
                                                                  .acts_as = context.acts_as,
                                                                  .definition_namespace = settings.definition_namespace}));
    made.push_back(std::make_unique<WorkflowRunController>(
        context.env, context.http,
        WorkflowRunOptions{
            .engine = settings.engine, .acts_as = context.acts_as, .definition_namespace = settings.definition_namespace}));
    if (!context.keeps_definitions) return made;
    for (DefinitionKind kind :
         {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy, DefinitionKind::WorkflowStep}) {
      made.push_back(std::make_unique<DefinitionController>(context.env, kind, settings.definition_namespace));
    }
    return made;
  };
  family.held_in = held_in;
  family.forget_cluster = forget_cluster;
  family.kinds = {application_row(), run_row()};
  for (const DefinitionKind kind :
       {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy, DefinitionKind::WorkflowStep}) {
    family.named_by_others.push_back({kGroup, "v1beta1", std::string(kind_of(kind))});
  }
  for (const char* kind : {"Policy", "Workflow"}) family.named_by_others.push_back({kGroup, "v1alpha1", kind});
  family.commands = render_commands();
  for (Command& command : definition_commands()) family.commands.push_back(std::move(command));
  family.controller_options = setting_options();
  family.check_options = [](const std::map<std::string, std::string>& options) -> Result<void> {
    SLIPWAY_TRY_VOID(read_settings(options));
    return {};
  };
  family.source_forms = {{.extension = ".cue", .read = definition_from_cue}};
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::application
