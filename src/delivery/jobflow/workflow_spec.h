// What users write of a Workflow, as described structs: the CRD and the field table of docs/workflow.md are made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/graph/graph.h"
#include "delivery/jobflow/kind.h"
#include "json/codec.h"

namespace slipway::delivery::graph {

/// The triggers a Workflow offers (the others belong to other families).
inline auto describe_enum(Trigger) {
  return json::enum_names<Trigger>({{Trigger::AllSucceeded, "AllSucceeded"},
                                    {Trigger::AllTerminated, "AllTerminated"},
                                    {Trigger::AllFailed, "AllFailed"},
                                    {Trigger::AnySucceeded, "AnySucceeded"},
                                    {Trigger::AnyFailed, "AnyFailed"}});
}

}  // namespace slipway::delivery::graph

namespace slipway::delivery::jobflow {

struct Backoff {
  Duration duration = std::chrono::seconds{1};
  double factor = 2;
  std::optional<Duration> cap = std::chrono::minutes{5};

  static void describe(auto& d) {
    d.doc("Pauses between attempts: duration, then each time factor times the one before, cap at most.");
    d.field("duration", &Backoff::duration, "Pause before the first retry, as Go writes durations (`10s`, `1m30s`).")
        .with_default();
    d.field("factor", &Backoff::factor, "What each further pause is multiplied by.").minimum(1).maximum(100).with_default();
    d.field("cap", &Backoff::cap, "The longest pause.").with_default();
  }
};

struct Retry {
  std::int64_t limit = 0;
  Backoff backoff;

  static void describe(auto& d) {
    d.doc("How a failed step is tried again. Each retry is a new Job; the Job's own backoffLimit counts within one attempt.");
    d.field("limit", &Retry::limit, "Retries after the first attempt.").required().minimum(0).maximum(1000);
    d.field("backoff", &Retry::backoff, "The pause between attempts.");
  }
};

struct EnvVar {
  std::string name;
  std::string value;
  std::optional<Value> value_from;

  static void describe(auto& d) {
    d.doc("An environment variable, as in a container.");
    d.field("name", &EnvVar::name, "Name of the variable.").required().min_length(1);
    d.field("value", &EnvVar::value, "Its value.");
    d.field("valueFrom", &EnvVar::value_from, "Where its value comes from, as in a container.").any_object();
  }
};

struct TemplateRef {
  std::string name;
  std::vector<EnvVar> env;

  static void describe(auto& d) {
    d.doc("A template of spec.templates, made the step's own by environment variables.");
    d.field("name", &TemplateRef::name, "A key of spec.templates.").required().min_length(1);
    d.field("env", &TemplateRef::env,
            "Set in every container and init container of the template; wins over one of the same name.")
        .list_type("map", {"name"});
  }
};

struct ExternalRef {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string cluster;

  static void describe(auto& d) {
    d.doc("An object of another owner. The step waits for it and never creates, changes or deletes it.");
    d.field(
        "apiVersion", &ExternalRef::api_version,
        "API version of the object. Default: `batch.slipway.dev/v1alpha1` for a Workflow and `batch/v1` for a Job; other kinds "
        "need it.");
    d.field("kind", &ExternalRef::kind, "Kind of the object.").required().min_length(1);
    d.field("name", &ExternalRef::name, "Name of the object.").required().min_length(1);
    d.field(
        "namespace", &ExternalRef::ns,
        "Namespace of the object, when it is not the workflow's. Who writes the workflow must be allowed to get the object.");
    d.field("uid", &ExternalRef::uid, "Only this object counts. Without it, the first object seen is the one.");
    d.field("cluster", &ExternalRef::cluster,
            "Cluster of the object, when it is not the workflow's. Who writes the workflow must be allowed to get the object "
            "there.");
  }
};

struct Until {
  std::string condition;
  std::string status = "True";

  static void describe(auto& d) {
    d.doc("The condition of the object that ends the wait.");
    d.field("condition", &Until::condition, "Type of the condition in status.conditions.").required().min_length(1);
    d.field("status", &Until::status, "The status it must have.").one_of({"True", "False", "Unknown"}).with_default();
  }
};

struct Step {
  std::optional<Value> job_template;
  std::optional<TemplateRef> template_ref;
  std::optional<Value> object_template;
  std::optional<ExternalRef> external_ref;
  std::optional<Until> until;
  /// DIVERGES: also for external steps, which the proposal looks at without regard to dependencies.
  std::optional<std::vector<std::string>> dependencies;
  std::optional<graph::Trigger> trigger;
  std::optional<Retry> retry;
  std::optional<std::int64_t> timeout_seconds;
  bool tolerated = false;
  bool suspend = false;
  std::optional<Value> object_reference;  // old spelling
  std::optional<Value> dependency_ids;    // of the old spelling `dependencies: {dependencyIDs: […]}`: mutate() moves it here

  static void describe(auto& d) {
    d.doc(
        "One vertex of the graph: a Job or another object to create, or an object to wait for. Exactly one of jobTemplate, "
        "template, objectTemplate and externalRef.");
    d.field("jobTemplate", &Step::job_template, "The Job to create: a JobTemplateSpec {metadata, spec}.").any_object();
    d.field("template", &Step::template_ref, "The Job to create, by a template shared with other steps.");
    d.field(
         "objectTemplate", &Step::object_template,
         "The object to create, of any namespaced kind: apiVersion, kind, metadata and the kind's own fields. It is created in "
         "the workflow's namespace with the rights of the user who last wrote the workflow's spec, and owned by the workflow. "
         "metadata.name may be left out.")
        .any_object();
    d.field("externalRef", &Step::external_ref, "An object to wait for.");
    d.field("until", &Step::until,
            "When the object of externalRef or objectTemplate counts as succeeded. Workflows and Jobs: Complete (and Failed "
            "fails the "
            "step). Other kinds of externalRef need it; an objectTemplate without it has succeeded once it is created.");
    d.field("dependencies", &Step::dependencies, "Names of the steps this one comes after.");
    d.field("trigger", &Step::trigger, "When the step may start, given how its dependencies ended. Default: spec.trigger.");
    d.field("retry", &Step::retry, "How often and when a failed step is tried again. Not for externalRef.");
    d.field("timeoutSeconds", &Step::timeout_seconds,
            "Longest time from the step's start to its end, all attempts and pauses included; then it is Failed StepTimeout.")
        .minimum(1)
        .maximum(1e9);
    d.field("tolerated", &Step::tolerated, "The step's failure does not fail the workflow.");
    d.field("suspend", &Step::suspend, "The step becomes Suspended where it would start, until this is false again.");
    d.field("objectReference", &Step::object_reference, "Old spelling of externalRef; refused.");
    d.field("dependencyIDs", &Step::dependency_ids, "Old spelling of dependencies; refused.");
  }
};

struct JobMetadata {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;

  static void describe(auto& d) {
    d.doc("What goes on every Job of the workflow.");
    d.field("labels", &JobMetadata::labels, "Labels of every Job. The template's own win.");
    d.field("annotations", &JobMetadata::annotations, "Annotations of every Job. The template's own win.");
  }
};

struct Rerun {
  std::string id;
  std::string from;

  static void describe(auto& d) {
    d.doc("Runs a part of the graph again. Finished steps outside of it are kept.");
    d.field("id", &Rerun::id, "A new id asks for a rerun; the one last done is in status.rerun.")
        .required()
        .min_length(1)
        .max_length(253);
    d.field("from", &Rerun::from, "The step to run again, with everything that depends on it; empty: all steps.");
  }
};

struct WorkflowSpec {
  /// DIVERGES: at least one; the proposal says nothing of a workflow without steps, which would end at once.
  std::map<std::string, Step> steps;
  std::map<std::string, Value> templates;
  graph::Trigger trigger = graph::Trigger::AllSucceeded;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> parallelism;
  bool suspend = false;
  std::optional<Value> selector;
  JobMetadata metadata;
  std::optional<Rerun> rerun;

  static void describe(auto& d) {
    d.doc("The graph and how it is run.");
    d.field("steps", &WorkflowSpec::steps, "The steps by name, at least one. A name is any text up to 253 bytes.")
        .required()
        .map_type("atomic")
        .max_properties(kMaxSteps);
    d.field("templates", &WorkflowSpec::templates, "JobTemplateSpecs shared by steps, by name.")
        .max_properties(kMaxTemplates)
        .items()
        .any_object();
    d.field("trigger", &WorkflowSpec::trigger, "The trigger of steps that name none.").with_default();
    d.field("activeDeadlineSeconds", &WorkflowSpec::active_deadline_seconds,
            "Longest time from status.startTime; then the workflow is Failed DeadlineExceeded. It goes on while suspended.")
        .minimum(1)
        .maximum(1e9);
    d.field("parallelism", &WorkflowSpec::parallelism, "How many steps may run at once. External steps do not count.")
        .minimum(1);
    d.field("suspend", &WorkflowSpec::suspend, "Nothing new starts; running Jobs end.");
    d.field("selector", &WorkflowSpec::selector,
            "Label selector of the Jobs. Default: the workflow's own label. Immutable; the labels of all templates must "
            "satisfy it.")
        .any_object();
    d.field("metadata", &WorkflowSpec::metadata, "Labels and annotations of every Job.");
    d.field("rerun", &WorkflowSpec::rerun, "The one change a finished workflow takes.");
  }
};

}  // namespace slipway::delivery::jobflow
