#include "delivery/pipeline/kinds.h"

#include <fmt/format.h>

#include "delivery/family/field_table.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/pipeline_views.h"
#include "delivery/pipeline/spec.h"
#include "delivery/pipeline/status.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::column;

constexpr int kWideOnly = 1;
/// The last entry that was there stands where it stood. Its hash covers all before it.
constexpr const char* kOnlyGrows =
    "!has(oldSelf.entries) || size(oldSelf.entries) == 0 || (has(self.entries) && size(self.entries) >= size(oldSelf.entries) "
    "&& "
    "self.entries[size(oldSelf.entries) - 1] == oldSelf.entries[size(oldSelf.entries) - 1])";

kube::Column age() { return column("Age", ".metadata.creationTimestamp", "date"); }
kube::Column by() { return column("By", ".spec.by.user"); }

kube::Column condition(std::string name, const std::string& type, const std::string& member) {
  return column(std::move(name), fmt::format(".status.conditions[?(@.type==\"{}\")].{}", type, member));
}

template <class Spec>
kube::CrdSpec made_of(const kube::GroupVersionKind& kind, const kube::Resource& resource, std::string doc) {
  kube::CrdSpec made;
  made.group = kind.group;
  made.version = kind.version;
  made.kind = kind.kind;
  made.plural = resource.plural;
  made.has_status = false;
  made.doc = std::move(doc);
  made.spec_schema = kube::open_api_schema(json::describe<Spec>());
  return made;
}

template <class Status>
void give_status(kube::CrdSpec& made) {
  made.has_status = true;
  made.status_schema = kube::open_api_schema(json::describe<Status>());
}

Value rule(const std::string& text, const std::string& message) { return json::object({{"rule", text}, {"message", message}}); }

void make_immutable(kube::CrdSpec& made, const std::string& message) {
  made.spec_schema = made.spec_schema.with("x-kubernetes-validations", json::array({rule("self == oldSelf", message)}));
}

constexpr const char* kPipelineDoc = "An application on its way through environments.";

std::vector<kube::Column> pipeline_columns() {
  return {column("App Kind", ".spec.appRef.kind"), column("App Name", ".spec.appRef.name"), age(),
          condition("Ready", "Ready", "status"),   condition("Status", "Ready", "message"), column("Versions", ".status.line")};
}

Value pipeline() {
  auto made = made_of<PipelineSpec>(kPipelineKind, kPipelines, kPipelineDoc);
  give_status<PipelineStatus>(made);
  made.columns = pipeline_columns();
  return kube::make_crd(made);
}

Value gitops_cluster() {
  auto made = made_of<GitopsClusterSpec>(kGitopsClusterKind, kGitopsClusters, "A cluster that pipelines may have targets in.");
  give_status<GitopsClusterStatus>(made);
  made.columns = {age(), condition("Ready", "Ready", "status"), condition("Status", "Ready", "message"),
                  condition("ClusterConnectivity", "ClusterConnectivity", "status")};
  return kube::make_crd(made);
}

Value release() {
  auto made = made_of<ReleaseSpec>(kReleaseKind, kReleases, "A version of a pipeline's application. It never changes.");
  make_immutable(made, "a release never changes: announce another one");
  made.columns = {column("Pipeline", ".spec.pipeline"),
                  column("Version", ".spec.version"),
                  column("First Seen In", ".spec.environment"),
                  age(),
                  column("Digest", ".spec.digest", "string", "", kWideOnly),
                  column("Commit", ".spec.commit", "string", "", kWideOnly)};
  return kube::make_crd(made);
}

Value promotion() {
  auto made = made_of<PromotionSpec>(kPromotionKind, kPromotions, "A release is to get into an environment.");
  give_status<PromotionStatus>(made);
  json::ArrayBuilder rules;
  for (const char* name : {"pipeline", "environment", "release", "attempt", "action"}) {
    rules.add(
        rule(fmt::format("self.{0} == oldSelf.{0}", name), fmt::format("{} never changes: make another promotion", name)));
  }
  made.spec_schema = made.spec_schema.with("x-kubernetes-validations", rules.build());
  made.columns = {column("Pipeline", ".spec.pipeline"),
                  column("Environment", ".spec.environment"),
                  column("Release", ".spec.release"),
                  column("Action", ".spec.action"),
                  column("Phase", ".status.phase"),
                  column("Reason", ".status.reason"),
                  by(),
                  age(),
                  column("Message", ".status.message", "string", "", kWideOnly),
                  column("Pull Request", ".status.pullRequest", "string", "", kWideOnly)};
  return kube::make_crd(made);
}

Value approval() {
  auto made = made_of<ApprovalSpec>(kApprovalKind, kApprovals, "What a person said of a release on its way.");
  make_immutable(made, "what was said stays: delete the approval and make another one");
  made.columns = {column("Pipeline", ".spec.pipeline"),
                  column("Environment", ".spec.environment"),
                  column("Release", ".spec.release"),
                  column("Gate", ".spec.gate"),
                  column("Decision", ".spec.decision"),
                  by(),
                  age(),
                  column("Comment", ".spec.comment", "string", "", kWideOnly)};
  return kube::make_crd(made);
}

Value hold() {
  auto made = made_of<HoldSpec>(kHoldKind, kHolds, "Nothing is promoted into these environments until it is deleted or over.");
  made.columns = {column("Pipeline", ".spec.pipeline"),
                  column("Environments", ".spec.environments"),
                  column("Until", ".spec.until"),
                  by(),
                  age(),
                  column("Comment", ".spec.comment")};
  return kube::make_crd(made);
}

Value freeze() {
  auto made = made_of<FreezeSpec>(kFreezeKind, kFreezes, "Nothing is promoted while it is in force.");
  made.columns = {column("Pipelines", ".spec.pipelines"),
                  column("Environments", ".spec.environments"),
                  column("From", ".spec.from"),
                  column("Until", ".spec.until"),
                  column("Window", ".spec.window.rrule"),
                  by(),
                  age(),
                  column("Comment", ".spec.comment", "string", "", kWideOnly)};
  return kube::make_crd(made);
}

Value delivery_log() {
  auto made =
      made_of<DeliveryLogSpec>(kDeliveryLogKind, kDeliveryLogs, "What happened in a pipeline. It outlives the pipeline.");
  json::ArrayBuilder rules;
  for (const char* name : {"pipeline", "pipelineUID", "segment"}) {
    rules.add(rule(fmt::format("self.{0} == oldSelf.{0}", name), fmt::format("{} never changes", name)));
  }
  rules.add(rule(kOnlyGrows, "a segment of the log only grows"));
  made.spec_schema = made.spec_schema.with("x-kubernetes-validations", rules.build());
  made.columns = {column("Pipeline", ".spec.pipeline"), column("Segment", ".spec.segment", "integer"), age(),
                  column("UID", ".spec.pipelineUID", "string", "", kWideOnly)};
  return kube::make_crd(made);
}

}  // namespace

std::vector<json::Value> custom_resource_definitions() {
  return {pipeline(), gitops_cluster(), release(), promotion(), approval(), hold(), freeze(), delivery_log()};
}

kube::ResourceType pipeline_view_type() {
  kube::ResourceType type;
  type.resource = kPipelineViews;
  type.kind = kPipelineViewKind;
  type.list_kind = "PipelineViewList";
  type.singular = "pipelineview";
  type.counts_generation = false;
  type.allows_blind_update = false;
  type.columns = pipeline_columns();
  return type;
}

Value pipeline_schema() {
  const Value properties = json::object({{"apiVersion", json::object({{"type", "string"}})},
                                         {"kind", json::object({{"type", "string"}})},
                                         {"metadata", json::object({{"type", "object"}})},
                                         {"spec", kube::open_api_schema(json::describe<PipelineSpec>())},
                                         {"status", kube::open_api_schema(json::describe<PipelineStatus>())}});
  return json::object({{"description", kPipelineDoc}, {"type", "object"}, {"properties", properties}});
}

std::string field_table() {
  // A gate has the fields that every gate has; docs/rollout.md describes them.
  const auto without_gates = [](json::Description spec) {
    for (json::Description& field : spec.fields) {
      if (field.name != "environments") continue;
      std::erase_if(field.element.front().fields, [](const json::Description& one) { return one.name == "gates"; });
    }
    return spec;
  };
  const auto without_window = [](json::Description spec) {
    std::erase_if(spec.fields, [](const json::Description& field) { return field.name == "window"; });
    return spec;
  };
  return delivery::field_table({{"Pipeline spec", without_gates(json::describe<PipelineSpec>())},
                                {"Pipeline status", json::describe<PipelineStatus>()},
                                {"GitopsCluster spec", json::describe<GitopsClusterSpec>()},
                                {"GitopsCluster status", json::describe<GitopsClusterStatus>()},
                                {"Release spec", json::describe<ReleaseSpec>()},
                                {"Promotion spec", json::describe<PromotionSpec>()},
                                {"Promotion status", json::describe<PromotionStatus>()},
                                {"Approval spec", json::describe<ApprovalSpec>()},
                                {"Hold spec", json::describe<HoldSpec>()},
                                {"Freeze spec", without_window(json::describe<FreezeSpec>())},
                                {"Freeze spec.window", json::describe<gate::WindowGate>()},
                                {"DeliveryLog spec", json::describe<DeliveryLogSpec>()}});
}

}  // namespace slipway::delivery::pipeline
