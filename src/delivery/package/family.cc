#include "delivery/package/family.h"

#include "delivery/package/admission.h"
#include "delivery/package/approval_controller.h"
#include "delivery/package/author.h"
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
#include "delivery/package/ticket_answer.h"
#include "delivery/package/ticket_controller.h"
#include "delivery/package/variant_controller.h"
#include "delivery/package/variant_set_controller.h"
#include "delivery/package/why.h"
#include "delivery/package/worker.h"

namespace slipway::delivery::package {
namespace {

std::vector<std::unique_ptr<control::Controller>> controllers(const ControllerContext& context) {
  std::vector<std::unique_ptr<control::Controller>> made;
  made.push_back(std::make_unique<RepositoryController>(context));
  made.push_back(std::make_unique<RecordWorker>(context));
  // All others work on revisions through the API.
  const auto records = std::make_shared<RecordIndex>(context.env);
  made.push_back(std::make_unique<VariantController>(context, records));
  made.push_back(std::make_unique<VariantSetController>(context, records));
  made.push_back(std::make_unique<AutoProposeController>(context, records));
  made.push_back(std::make_unique<ApprovalController>(context, records));
  made.push_back(std::make_unique<PolicyController>(context, records));
  made.push_back(std::make_unique<RolloutController>(context, records));
  made.push_back(std::make_unique<TicketController>(context, records));
  return made;
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
  family.unserved = {{std::string(kServedGroup), "v1alpha2",
                      "porch.kpt.dev/v1alpha2 is not implemented: use v1alpha1, which has the same revisions"}};
  family.paths = ticket_paths;
  family.admission = [](const AdmissionContext&) { return admission_rows(); };
  family.authored = {.in = kAuthor,
                     .resources = {kRepositories, kVariants, kVariantSets, kApprovalPolicies, kRollouts, kRootSyncs}};
  family.explain = explain_rows;
  family.kinds = {{.group = kRevisionKind.group,
                   .kind = kRevisionKind.kind,
                   .summary = revision_summary,
                   .describe = describe_revision,
                   .why = why_revision},
                  {.group = kRolloutKind.group, .kind = kRolloutKind.kind, .summary = rollout_summary}};
  family.commands = commands();
  family.controllers = controllers;
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::package
