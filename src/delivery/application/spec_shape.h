// What users write into the kinds of the family, as described structs: only for the schemas of their definitions. Steps and
// components are read by read_steps and read_application, which say more about what is wrong with them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery::application::shape {

using json::Value;

struct Input {
  std::string from;
  std::string parameter_key;
  static void describe(auto& d) {
    d.doc("A value that goes into the parameters.");
    d.field("from", &Input::from, "A variable, a path into one, or an expression on context and parameter.").required();
    d.field("parameterKey", &Input::parameter_key, "Where in the parameters it goes.");
  }
};

struct Output {
  std::string name;
  std::string value_from;
  static void describe(auto& d) {
    d.doc("A value that becomes a variable.");
    d.field("name", &Output::name, "Name of the variable.").required();
    d.field("valueFrom", &Output::value_from, "A CUE expression over the evaluated value.").required();
  }
};

struct Backoff {
  std::string duration;
  std::optional<double> factor;
  std::string cap;
  static void describe(auto& d) {
    d.doc("Pauses between attempts.");
    d.field("duration", &Backoff::duration, "The first pause, as Go writes durations.");
    d.field("factor", &Backoff::factor, "What each further pause is multiplied by.").minimum(1);
    d.field("cap", &Backoff::cap, "The longest pause.");
  }
};

struct Retry {
  std::int64_t limit = 0;
  std::optional<Backoff> backoff;
  static void describe(auto& d) {
    d.doc("How a failed step is tried again.");
    d.field("limit", &Retry::limit, "Retries after the first attempt.").required().minimum(0);
    d.field("backoff", &Retry::backoff, "The pauses between attempts.");
  }
};

struct Meta {
  std::string alias;
  static void describe(auto& d) {
    d.doc("What is shown of a step.");
    d.field("alias", &Meta::alias, "Another name.");
  }
};

struct SubStep {
  std::string name;
  std::string type;
  std::optional<Meta> meta;
  std::string condition;
  std::string timeout;
  std::vector<std::string> depends_on;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Value properties;
  std::optional<Retry> retry;
  static void describe(auto& d) {
    d.doc("A step of a workflow.");
    d.field("name", &SubStep::name, "Name, once among steps and sub-steps; by default step-<number>.");
    d.field("type", &SubStep::type, "Name of a WorkflowStepDefinition.").required();
    d.field("meta", &SubStep::meta, "What is shown of it.");
    d.field("if", &SubStep::condition, "`always`, or a CUE expression that must be true.");
    d.field("timeout", &SubStep::timeout, "How long it may take, as Go writes durations.");
    d.field("dependsOn", &SubStep::depends_on, "Steps that must have ended before.");
    d.field("inputs", &SubStep::inputs, "Values that go into its parameters.");
    d.field("outputs", &SubStep::outputs, "Values that become variables.");
    d.field("properties", &SubStep::properties, "Parameters of its definition.").any_object();
    d.field("retry", &SubStep::retry, "How it is tried again when it fails.");
  }
};

struct Step : SubStep {
  std::string mode;
  std::string stage;
  std::vector<SubStep> sub_steps;
  static void describe(auto& d) {
    SubStep::describe(d);
    d.field("mode", &Step::mode, "How sub-steps run: StepByStep or DAG.");
    d.field("stage", &Step::stage, "pre-render steps run before anything is rendered; default post-render.");
    d.field("subSteps", &Step::sub_steps, "The steps of a group.");
  }
};

struct Mode {
  std::string steps;
  std::string sub_steps;
  static void describe(auto& d) {
    d.doc("How steps run.");
    d.field("steps", &Mode::steps, "StepByStep or DAG.");
    d.field("subSteps", &Mode::sub_steps, "StepByStep or DAG.");
  }
};

struct Trait {
  std::string type;
  Value properties;
  static void describe(auto& d) {
    d.doc("What a component has beside its workload.");
    d.field("type", &Trait::type, "Name of a TraitDefinition.").required();
    d.field("properties", &Trait::properties, "Parameters of its definition.").any_object();
  }
};

struct Component {
  std::string name;
  std::string type;
  std::string external_revision;
  Value properties;
  std::vector<std::string> depends_on;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Trait> traits;
  Value scopes;
  static void describe(auto& d) {
    d.doc("A part of the application.");
    d.field("name", &Component::name, "Name, once in the application.").required();
    d.field("type", &Component::type, "Name of a ComponentDefinition, perhaps with @revision.").required();
    d.field("externalRevision", &Component::external_revision, "Names the component's revision where a trait rolls it out.");
    d.field("properties", &Component::properties, "Parameters of its definition.").any_object();
    d.field("dependsOn", &Component::depends_on, "Components that must have been delivered before.");
    d.field("inputs", &Component::inputs, "Variables that go into its properties.");
    d.field("outputs", &Component::outputs, "Values of its objects that become variables.");
    d.field("traits", &Component::traits, "Its traits, in the order of their rendering.");
    d.field("scopes", &Component::scopes, "Without effect.").any_object();
  }
};

struct Policy {
  std::string name;
  std::string type;
  Value properties;
  static void describe(auto& d) {
    d.doc("A rule about the whole application.");
    d.field("name", &Policy::name, "Name, to which steps refer.");
    d.field("type", &Policy::type, "Name of a PolicyDefinition.").required();
    d.field("properties", &Policy::properties, "Parameters of its definition.").any_object();
  }
};

struct Workflow {
  std::string ref;
  std::optional<Mode> mode;
  std::vector<Step> steps;
  static void describe(auto& d) {
    d.doc("How the application is delivered; without it one step per component, or per topology policy.");
    d.field("ref", &Workflow::ref, "Name of a Workflow in the application's namespace, instead of steps.");
    d.field("mode", &Workflow::mode, "How steps run.");
    d.field("steps", &Workflow::steps, "The steps.");
  }
};

struct Application {
  std::vector<Component> components;
  std::vector<Policy> policies;
  std::optional<Workflow> workflow;
  Value rollout_plan;
  static void describe(auto& d) {
    d.doc("What is delivered, where and how.");
    d.field("components", &Application::components,
            "Its parts. Required unless a step of stage pre-render writes them, as helm-template does; may be empty.");
    d.field("policies", &Application::policies, "Rules about the whole.");
    d.field("workflow", &Application::workflow, "How it is delivered.");
    d.field(
         "rolloutPlan", &Application::rollout_plan,
         "Without a workflow: a new revision takes the place of the one before in batches, as this plan of a rollout says. A "
         "change of the plan alone goes into the running rollout and makes no revision.")
        .any_object();
  }
};

struct WorkflowSpec {
  std::vector<Step> steps;
  static void describe(auto& d) {
    d.doc("Steps.");
    d.field("steps", &WorkflowSpec::steps, "The steps.");
  }
};

struct WorkflowRun {
  std::optional<Mode> mode;
  Value context;
  std::optional<WorkflowSpec> workflow;
  std::string workflow_ref;
  static void describe(auto& d) {
    d.doc("A run of steps that belongs to no application.");
    d.field("mode", &WorkflowRun::mode, "How steps run; wins over the workflow's.");
    d.field("context", &WorkflowRun::context, "Members of `context` in templates.").any_object();
    d.field("workflowSpec", &WorkflowRun::workflow, "The steps.");
    d.field("workflowRef", &WorkflowRun::workflow_ref, "Name of a Workflow in the same namespace, instead of steps.");
  }
};

}  // namespace slipway::delivery::application::shape
