#include "delivery/package/kinds.h"

#include <utility>

#include "delivery/family/field_table.h"
#include "delivery/package/function_config.h"
#include "delivery/package/kind.h"
#include "delivery/package/policy_spec.h"
#include "delivery/package/repository_status.h"
#include "delivery/package/rollout_status.h"
#include "delivery/package/spec.h"
#include "delivery/package/status.h"
#include "delivery/package/variant_set_spec.h"
#include "delivery/package/variant_spec.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using kube::column;

kube::ResourceType served(const kube::Resource& resource, const kube::GroupVersionKind& kind, std::string list_kind,
                          std::string singular, std::vector<kube::Column> columns) {
  kube::ResourceType type;
  type.resource = resource;
  type.kind = kind;
  type.list_kind = std::move(list_kind);
  type.singular = std::move(singular);
  type.counts_generation = false;
  type.allows_blind_update = false;
  type.columns = std::move(columns);
  return type;
}

std::vector<std::string> revision_fields() {
  return {"spec.revision", "spec.packageName", "spec.repository", "spec.workspaceName", "spec.lifecycle"};
}

template <class Spec, class Status>
Value schema_of(std::string doc) {
  const Value properties = json::object({{"apiVersion", json::object({{"type", "string"}})},
                                         {"kind", json::object({{"type", "string"}})},
                                         {"metadata", json::object({{"type", "object"}})},
                                         {"spec", kube::open_api_schema(json::describe<Spec>())},
                                         {"status", kube::open_api_schema(json::describe<Status>())}});
  return json::object({{"description", Value(doc)}, {"type", "object"}, {"properties", properties}});
}

template <class Spec, class Status>
kube::CrdSpec crd_of(const kube::GroupVersionKind& kind, const kube::Resource& resource, std::string doc) {
  kube::CrdSpec made;
  made.group = kind.group;
  made.version = kind.version;
  made.kind = kind.kind;
  made.plural = resource.plural;
  made.doc = std::move(doc);
  made.spec_schema = kube::open_api_schema(json::describe<Spec>());
  made.status_schema = kube::open_api_schema(json::describe<Status>());
  return made;
}

kube::Column ready_column() { return column("Ready", ".status.conditions[?(@.type=='Ready')].status"); }

Value rule(std::string_view expression, std::string_view message) {
  return json::object({{"rule", expression}, {"message", message}});
}

/// A rule over the whole object: the field, once set, stays.
Value immutable(std::string_view guard, std::string_view field) {
  std::string old_field = "oldSelf.";
  old_field += field;
  std::string text(guard);
  text += " || (";
  std::size_t dot = field.find('.');
  for (; (dot = field.find('.', dot + 1)) != std::string_view::npos;) {
    text += "has(self.";
    text += field.substr(0, dot);
    text += ") && ";
  }
  text += "has(self.";
  text += field;
  text += ") && self.";
  text += field;
  text += " == " + old_field + ")";
  return rule(text, std::string(field) + " is immutable");
}

Value repository_rules() {
  return json::array({rule("self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                           "metadata.name must conform to the RFC1123 DNS label standard"),
                      rule("size(self.metadata.name) <= 63", "metadata.name must be no more than 63 characters"),
                      immutable("!has(oldSelf.spec.type)", "spec.type"), immutable("!has(oldSelf.spec.git)", "spec.git.repo"),
                      immutable("!has(oldSelf.spec.git) || !has(oldSelf.spec.git.branch)", "spec.git.branch"),
                      immutable("!has(oldSelf.spec.git) || !has(oldSelf.spec.git.directory)", "spec.git.directory"),
                      immutable("!has(oldSelf.spec.oci)", "spec.oci.registry")});
}

Value with_rules(const Value& definition, Value rules) {
  const Value& version = definition["spec"]["versions"].item(0);
  const Value root = version["schema"]["openAPIV3Schema"].with("x-kubernetes-validations", std::move(rules));
  const Value changed = version.with_path({"schema", "openAPIV3Schema"}, root);
  return definition.with_path({"spec", "versions"}, json::array({changed}));
}

Value repository_definition() {
  kube::CrdSpec made = crd_of<RepositorySpec, RepositoryStatus>(kRepositoryKind, kRepositories, "A repository with packages.");
  made.short_names = {"repo"};
  made.columns = {column("Type", ".spec.type"),
                  column("Content", ".spec.content"),
                  column("Sync schedule", ".spec.sync.schedule"),
                  column("Deployment", ".spec.deployment", "boolean"),
                  ready_column(),
                  column("Address", ".spec['git','oci']['repo','registry']"),
                  column("Branch", ".spec.git.branch"),
                  column("Age", ".metadata.creationTimestamp", "date")};
  return with_rules(kube::make_crd(made), repository_rules());
}

Value function_definition() {
  kube::CrdSpec made =
      crd_of<FunctionConfigSpec, FunctionConfigStatus>(kFunctionConfigKind, kFunctionConfigs, "What runs for an image.");
  made.columns = {column("Server Applied", ".status.apiServerObservedGeneration", "integer"),
                  column("FnRunner Applied", ".status.functionRunnerObservedGeneration", "integer"),
                  column("Controller Applied", ".status.controllerObservedGeneration", "integer")};
  const Value definition = kube::make_crd(made);
  const Value& version = definition["spec"]["versions"].item(0);
  const Value rules = json::array({rule("has(self.podExecutor) || has(self.binaryExecutor) || has(self.goExecutor)",
                                        "At least one configuration must be specified")});
  const Value changed =
      version.with_path({"schema", "openAPIV3Schema", "properties", "spec", "x-kubernetes-validations"}, rules);
  return definition.with_path({"spec", "versions"}, json::array({changed}));
}

Value policy_definition() {
  kube::CrdSpec made =
      crd_of<ApprovalPolicySpec, ApprovalPolicyStatus>(kApprovalPolicyKind, kApprovalPolicies, "When proposals are approved.");
  made.singular = "approvalpolicy";
  made.columns = {column("Approve", ".spec.approve"), ready_column(), column("Age", ".metadata.creationTimestamp", "date")};
  return kube::make_crd(made);
}

Value rollout_definition() {
  kube::CrdSpec made =
      crd_of<PackageRolloutSpec, PackageRolloutStatus>(kRolloutKind, kRollouts, "Approves proposals a few percent at a time.");
  made.columns = {column("Package", ".spec.upstream.package"),
                  column("Revision", ".spec.upstream.revision", "integer"),
                  column("Phase", ".status.phase"),
                  column("Step", ".status.step", "integer"),
                  column("Targets", ".status.targets", "integer"),
                  column("Approved", ".status.approved", "integer"),
                  column("Healthy", ".status.healthy", "integer"),
                  column("Failed", ".status.failed", "integer"),
                  column("Age", ".metadata.creationTimestamp", "date")};
  return kube::make_crd(made);
}

/// Written by the program only: the struct RevisionRecord is its schema, and here are the fields that lists select by. The spec
/// is one field to whoever tracks fields, so a change of a condition costs no walk over all of them.
Value record_definition() {
  kube::CrdSpec made;
  made.group = kRecordKind.group;
  made.version = kRecordKind.version;
  made.kind = kRecordKind.kind;
  made.plural = kRecords.plural;
  made.doc = "A package revision in the log: written by the server only, shown as PackageRevision.";
  made.has_status = false;
  made.columns = {column("Lifecycle", ".spec.lifecycle"), column("Revision", ".spec.revision", "integer"),
                  column("Commit", ".spec.commit"), column("Age", ".metadata.creationTimestamp", "date")};
  made.selectable_fields = revision_fields();
  made.selectable_fields.emplace_back(kUpstreamField);
  json::ObjectBuilder fields;
  for (const char* name : {"repository", "packageName", "workspaceName", "lifecycle", "upstreamName"}) {
    fields.add(name, json::object({{"type", "string"}}));
  }
  fields.add("revision", json::object({{"type", "integer"}}));
  made.spec_schema = json::object({{"description", Value("The struct RevisionRecord.")},
                                   {"type", Value("object")},
                                   {"properties", fields.build()},
                                   {"x-kubernetes-preserve-unknown-fields", Value(true)},
                                   {"x-kubernetes-map-type", Value("atomic")}});
  return kube::make_crd(made);
}

}  // namespace

kube::ResourceType revision_type() {
  kube::ResourceType type = served(
      kRevisions, kRevisionKind, "PackageRevisionList", "packagerevision",
      {column("Package", ".spec.packageName"), column("WorkspaceName", ".spec.workspaceName"),
       column("Revision", ".spec.revision", "integer"), column("Latest", ".status.latest", "boolean"),
       column("Lifecycle", ".spec.lifecycle"), column("Repository", ".spec.repository"), column("Ready", ".status.ready")});
  type.selectable_fields = revision_fields();
  return type;
}

kube::ResourceType resources_type() {
  kube::ResourceType type = served(kResources, kResourcesKind, "PackageRevisionResourcesList", "packagerevisionresources",
                                   {column("Package", ".spec.packageName"), column("WorkspaceName", ".spec.workspaceName"),
                                    column("Revision", ".spec.revision", "integer"), column("Repository", ".spec.repository"),
                                    column("Files", ".status.files", "integer")});
  type.selectable_fields = revision_fields();
  type.selectable_fields.pop_back();
  return type;
}

kube::ResourceType package_type() {
  kube::ResourceType type = served(kPackages, kPackageKind, "PorchPackageList", "package",
                                   {column("Package", ".spec.packageName"), column("Repository", ".spec.repository"),
                                    column("Latest Revision", ".status.latestRevision", "integer")});
  type.selectable_fields = {"spec.packageName", "spec.repository"};
  return type;
}

Value revision_schema() { return schema_of<RevisionSpec, RevisionStatus>("A version of a package."); }
Value resources_schema() { return schema_of<ResourcesSpec, ResourcesStatus>("The files of a version of a package."); }
Value package_schema() { return schema_of<PorchPackageSpec, PorchPackageStatus>("A package."); }

std::vector<Value> definitions() {
  return {repository_definition(),
          kube::make_crd(crd_of<VariantSpec, VariantStatus>(kVariantKind, kVariants, "A package that follows another one.")),
          kube::make_crd(
              crd_of<VariantSetSpec, VariantSetStatus>(kVariantSetKind, kVariantSets, "Packages that follow another one.")),
          function_definition(),
          policy_definition(),
          rollout_definition()};
}

std::vector<Value> installed_definitions() {
  std::vector<Value> all = definitions();
  all.push_back(record_definition());
  return all;
}

std::string field_table() {
  return delivery::field_table({{"PackageRevision spec", json::describe<RevisionSpec>()},
                                {"PackageRevision status", json::describe<RevisionStatus>()},
                                {"PackageRevisionResources spec", json::describe<ResourcesSpec>()},
                                {"PackageRevisionResources status", json::describe<ResourcesStatus>()},
                                {"PorchPackage spec", json::describe<PorchPackageSpec>()},
                                {"PorchPackage status", json::describe<PorchPackageStatus>()},
                                {"Repository spec", json::describe<RepositorySpec>()},
                                {"Repository status", json::describe<RepositoryStatus>()},
                                {"PackageVariant spec", json::describe<VariantSpec>()},
                                {"PackageVariant status", json::describe<VariantStatus>()},
                                {"PackageVariantSet spec", json::describe<VariantSetSpec>()},
                                {"FunctionConfig spec", json::describe<FunctionConfigSpec>()},
                                {"FunctionConfig status", json::describe<FunctionConfigStatus>()},
                                {"ApprovalPolicy spec", json::describe<ApprovalPolicySpec>()},
                                {"PackageRollout spec", json::describe<PackageRolloutSpec>()},
                                {"PackageRollout status", json::describe<PackageRolloutStatus>()}});
}

}  // namespace slipway::delivery::package
