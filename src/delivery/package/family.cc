#include "delivery/package/family.h"

#include "delivery/package/admission.h"
#include "delivery/package/approval_controller.h"
#include "delivery/package/auto_propose_controller.h"
#include "delivery/package/commands.h"
#include "delivery/package/explain.h"
#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/repository_controller.h"
#include "delivery/package/resources_verbs.h"
#include "delivery/package/revision_verbs.h"
#include "delivery/package/rollout_controller.h"
#include "delivery/package/show.h"
#include "delivery/package/ticket_controller.h"
#include "delivery/package/variant_controller.h"
#include "delivery/package/variant_set_controller.h"
#include "delivery/package/worker.h"

namespace slipway::delivery::package {
namespace {

using Made = std::vector<std::unique_ptr<control::Controller>>;

/// Those that keep the log and the repositories in step.
Made repository_controllers(const ControllerContext& context) {
  Made made;
  made.push_back(std::make_unique<RepositoryController>(context));
  made.push_back(std::make_unique<RecordWorker>(context));
  return made;
}

/// Those that work on revisions through the API: variants, auto-propose, approval, rollouts, sync.
Made revision_controllers(const ControllerContext& context) {
  const auto records = std::make_shared<RecordIndex>(context.env);
  Made made;
  made.push_back(std::make_unique<VariantController>(context, records));
  made.push_back(std::make_unique<VariantSetController>(context, records));
  made.push_back(std::make_unique<AutoProposeController>(context, records));
  made.push_back(std::make_unique<ApprovalController>(context, records));
  made.push_back(std::make_unique<PolicyController>(context, records));
  made.push_back(std::make_unique<RolloutController>(context, records));
  made.push_back(std::make_unique<TicketController>(context, records));
  return made;
}

/// `slipway pkg …`.
std::vector<Command> package_commands() { return commands(); }

/// How kinds of the family are judged and shown.
std::vector<KindRow> kind_rows() {
  return {
      {.group = kRevisionKind.group, .kind = kRevisionKind.kind, .summary = revision_summary, .describe = describe_revision},
      {.group = kRolloutKind.group, .kind = kRolloutKind.kind, .summary = rollout_summary}};
}

/// "GROUP/RESOURCE/SUBRESOURCE"
std::string part_of(const kube::Resource& resource, std::string_view subresource) {
  return resource.group + "/" + resource.plural + "/" + std::string(subresource);
}

Family make() {
  Family family{.name = "package", .groups = {std::string(kServedGroup), std::string(kConfigGroup)}};
  // Who approves is not said by `edit`.
  family.guarded_groups = {std::string(kOwnGroup), part_of(kRevisions, kApproval), part_of(kRevisions, kVotes)};
  family.definitions = installed_definitions();
  const auto turns = std::make_shared<WriterTurns>();
  family.answered = {revision_kind(turns), resources_kind(turns), package_kind()};
  family.admission = [](const AdmissionContext&) { return admission_rows(); };
  family.explain = explain_rows;
  family.kinds = kind_rows();
  family.commands = package_commands();
  family.controllers = [](const ControllerContext& context) {
    Made made = repository_controllers(context);
    for (auto& one : revision_controllers(context)) made.push_back(std::move(one));
    return made;
  };
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::package
