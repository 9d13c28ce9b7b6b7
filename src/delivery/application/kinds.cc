#include "delivery/application/kinds.h"

#include "delivery/application/kind.h"
#include "delivery/application/spec_shape.h"
#include "delivery/application/status.h"
#include "delivery/application/workflow_run_status.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::application {
namespace {

/// A kind of the family, as far as one row says it.
struct Row {
  std::string version;
  std::string kind;
  std::string plural;
  std::vector<std::string> short_names;
  bool is_namespaced;
  std::vector<kube::Column> columns;
  std::string doc;
};

const std::vector<kube::Column> kAge = {kube::column("AGE", ".metadata.creationTimestamp", "date")};

Value open_object(const char* description) {
  return json::object({{"type", "object"}, {"description", description}, {"x-kubernetes-preserve-unknown-fields", true}});
}

/// Of a record that has one writer: managedFields need not say who owns which field in it.
Value atomic_object(const char* description) { return open_object(description).with("x-kubernetes-map-type", "atomic"); }

kube::CrdSpec crd_of(const Row& row, Value spec, Value status) {
  kube::CrdSpec made;
  made.group = kGroup;
  made.version = row.version;
  made.kind = row.kind;
  made.plural = row.plural;
  made.short_names = row.short_names;
  made.categories = {"oam"};
  made.is_namespaced = row.is_namespaced;
  made.has_status = !status.is_null();
  made.columns = row.columns;
  made.doc = row.doc;
  made.spec_schema = std::move(spec);
  made.status_schema = std::move(status);
  return made;
}

Value application_crd() {
  const Row row{"v1beta1",
                "Application",
                "applications",
                {"app", "velaapp"},
                true,
                {kube::column("COMPONENT", ".spec.components[*].name"), kube::column("TYPE", ".spec.components[*].type"),
                 kube::column("PHASE", ".status.status"), kube::column("HEALTHY", ".status.services[*].healthy", "boolean"),
                 kube::column("STATUS", ".status.services[*].message"), kAge[0]},
                "An application: components with traits, policies, and the workflow that delivers them."};
  return kube::make_crd(crd_of(row, kube::open_api_schema(json::describe<shape::Application>()),
                               kube::open_api_schema(json::describe<ApplicationStatus>())));
}

std::vector<kube::Column> definition_columns(const char* what, const char* path) {
  return {kube::column(what, path), kube::column("DESCRIPTION", ".metadata.annotations.definition\\.oam\\.dev/description")};
}

/// Kinds whose content is free, or checked by the reader of it.
std::vector<Row> open_rows() {
  return {
      {"v1beta1",
       "ApplicationRevision",
       "applicationrevisions",
       {"apprev"},
       true,
       {kube::column("AGE", ".metadata.creationTimestamp", "date"),
        kube::column("PUBLISH_VERSION", ".metadata.annotations.app\\.oam\\.dev/publishVersion"),
        kube::column("SUCCEEDED", ".status.succeeded", "boolean")},
       "What an application was made of at one time: its spec and every definition it used."},
      {"v1beta1",
       "ResourceTracker",
       "resourcetrackers",
       {"rt"},
       false,
       {kube::column("TYPE", ".spec.type"), kube::column("APP", ".metadata.labels.app\\.oam\\.dev/name"),
        kube::column("APP-NS", ".metadata.labels.app\\.oam\\.dev/namespace"),
        kube::column("APP-GEN", ".spec.applicationGeneration", "number")},
       "The objects that an application has made, recorded before they are applied."},
      {"v1beta1",
       "ComponentDefinition",
       "componentdefinitions",
       {"comp"},
       true,
       definition_columns("WORKLOAD-KIND", ".spec.workload.definition.kind"),
       "How components of a type are rendered."},
      {"v1beta1",
       "TraitDefinition",
       "traitdefinitions",
       {"trait"},
       true,
       definition_columns("APPLIES-TO", ".spec.appliesToWorkloads"),
       "How traits of a type are rendered."},
      {"v1beta1",
       "PolicyDefinition",
       "policydefinitions",
       {"def-policy"},
       true,
       kAge,
       "What policies of a type take and make."},
      {"v1beta1",
       "WorkflowStepDefinition",
       "workflowstepdefinitions",
       {"workflowstep"},
       true,
       kAge,
       "What steps of a type do."},
      {"v1beta1",
       "WorkloadDefinition",
       "workloaddefinitions",
       {"workload"},
       true,
       definition_columns("DEFINITION-NAME", ".spec.definitionRef.name"),
       "A kind of workload; of old."},
      {"v1beta1",
       "DefinitionRevision",
       "definitionrevisions",
       {"defrev"},
       true,
       {kube::column("REVISION", ".spec.revision", "integer"), kube::column("HASH", ".spec.revisionHash"),
        kube::column("TYPE", ".spec.definitionType")},
       "A definition as it was at one time."},
  };
}

/// Policy and Workflow have their content beside metadata, without a spec.
Value with_root_fields(Value crd, std::vector<std::pair<std::string, Value>> fields) {
  Value version = crd["spec"]["versions"].item(0);
  for (auto& [name, schema] : fields) {
    version = version.with_path({"schema", "openAPIV3Schema", "properties", name}, std::move(schema));
  }
  return crd.with_path({"spec", "versions"}, json::array({version}));
}

Value policy_crd() {
  const Row row{
      "v1alpha1", "Policy", "policies", {}, true, {kube::column("TYPE", ".type")}, "A policy that several applications share."};
  return with_root_fields(kube::make_crd(crd_of(row, {}, {})),
                          {{"type", json::object({{"type", "string"}, {"description", "Name of a PolicyDefinition."}})},
                           {"properties", open_object("Parameters of its definition.")}});
}

Value workflow_crd() {
  const Row row{"v1alpha1", "Workflow", "workflows", {}, true, kAge, "Steps that several applications and runs share."};
  const Value steps = kube::open_api_schema(json::describe<shape::WorkflowSpec>())["properties"]["steps"];
  return with_root_fields(kube::make_crd(crd_of(row, {}, {})),
                          {{"mode", kube::open_api_schema(json::describe<shape::Mode>())}, {"steps", steps}});
}

Value workflow_run_crd() {
  const Row row{"v1alpha1",
                "WorkflowRun",
                "workflowruns",
                {"wr"},
                true,
                {kube::column("PHASE", ".status.status"), kAge[0]},
                "A run of steps that belongs to no application."};
  return kube::make_crd(crd_of(row, kube::open_api_schema(json::describe<shape::WorkflowRun>()),
                               kube::open_api_schema(json::describe<WorkflowRunStatus>())));
}

Value package_crd() {
  kube::CrdSpec spec;
  spec.group = "cue.oam.dev";
  spec.version = "v1alpha1";
  spec.kind = "Package";
  spec.plural = "packages";
  spec.short_names = {"pkg", "cpkg", "cuepkg"};
  spec.has_status = false;
  spec.columns = {kube::column("PATH", ".spec.path"), kube::column("PROTO", ".spec.provider.protocol"),
                  kube::column("ENDPOINT", ".spec.provider.endpoint")};
  spec.doc = "A CUE package that templates may import, perhaps with a provider behind it.";
  spec.spec_schema = open_object("path, templates, provider {protocol, endpoint, header}.");
  return kube::make_crd(spec);
}

}  // namespace

std::vector<Value> custom_resource_definitions() {
  std::vector<Value> made = {application_crd()};
  for (const Row& row : open_rows()) {
    const bool is_record = row.kind == kRevisionKind.kind || row.kind == kTrackerKind.kind;
    const auto part = is_record ? atomic_object : open_object;
    made.push_back(kube::make_crd(crd_of(row, part("Its content."), part("How it stands."))));
  }
  made.push_back(policy_crd());
  made.push_back(workflow_crd());
  made.push_back(workflow_run_crd());
  made.push_back(package_crd());
  return made;
}

}  // namespace slipway::delivery::application
