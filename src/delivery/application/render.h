// Rendering of one component with its traits: pure, for the compute pool. Templates are evaluated in order, each sees what the
// ones before made of the workload; patches merge values before they must be concrete. What comes out is the manifests with
// their names, namespaces and labels, in the words of kubevela/kubevela pkg/appfile and pkg/cue/definition.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/application/definition.h"
#include "delivery/application/spec.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

/// What every component of an application is rendered with.
struct RenderContext {
  std::string app_name;
  std::string ns;  // of the application
  std::string app_revision;
  std::int64_t app_revision_number = 0;
  Value app_labels = json::object({});
  Value app_annotations = json::object({});
  Value components;  // spec.components
  std::string publish_version;
  std::string workflow_name;
  std::string target_namespace;  // empty: the application's
  std::string cluster;           // empty: the hub
  Value cluster_version;         // {major, minor, gitVersion, platform}
  Value custom;                  // of application-scoped policies
  bool has_component_revisions = false;
  /// Of each evaluation of a template.
  cue::Limits limits = cue::Limits::for_template();
};

struct RenderedObject {
  std::string name{};   // in `outputs`
  std::string trait{};  // type of the trait that made it; empty: the component's own
  Stage stage = Stage::DefaultDispatch;
  bool is_control_plane_only = false;
  Value object{};
  bool is_name_made_up = false;  // its template gives none

  /// The same wherever the component is rendered: "scaler/hpa".
  std::string place() const { return trait + "/" + name; }
};

struct RenderedComponent {
  std::string name;
  std::string type;
  Value workload;  // null when a trait manages the workload, or the template has no `output`
  bool is_workload_managed = false;
  std::vector<RenderedObject> others;
  /// PostDispatch traits by place in the component's list, still to be rendered with the live workload.
  std::vector<std::size_t> pending_traits;
  bool is_secret = false;  // it holds what was read from a Secret
};

/// One parameter that is wrong or missing.
struct ParameterFault {
  std::string field;    // "parameter.ports.0.port"
  std::string message;  // without the field
  bool is_missing = false;
};
/// Where and why rendering stopped.
struct RenderError {
  std::string component{};
  std::string trait{};    // type; empty: the component's template
  std::string field{};    // "parameter.image", when the user's input is at fault; below it a path below properties
  std::string message{};  // with the paths and both sides of conflicts; places in a template only when the template is at fault
  bool is_user_error = false;
  /// Each parameter that `message` tells of.
  std::vector<ParameterFault> parameters{};
  /// Which trait of the component's list; none for the component's template.
  std::optional<std::size_t> trait_index{};
  /// Nothing contradicts anything: something is not known, and more data could help.
  bool is_incomplete = false;
};
/// `component web, trait scaler: parameter.replicas: …`
std::string to_string(const RenderError& error);

struct ComponentTemplates {
  DefinitionPtr component;
  std::vector<DefinitionPtr> traits;  // as in the component's list
};

/// A call that a template makes (processing.http, kube.#Read, config.#ReadConfig, …), to be run before it can be rendered.
/// `processing.http` is a call of http, do; its answer's `body`, a JSON object as text, becomes `processing.output`.
struct TemplateCall {
  std::string key;  // identifies it within the component: "<place>/<path>", place "component" or "trait 0"
  std::string provider;
  std::string function;
  Value params;  // what is concrete of them
};

/// What rendering came to: finished, or the next call to run with the answers so far.
using Rendering = std::variant<RenderedComponent, TemplateCall>;

/// `answers` holds what calls returned, by key. `patch` is a workflow step's patch {workload, traits} or null.
/// `live` is the live workload and auxiliaries ({output, outputs}) for PostDispatch traits, or null: these are then pending.
std::expected<Rendering, RenderError> render_component(const ComponentSpec& component, const ComponentTemplates& templates,
                                                       const RenderContext& context,
                                                       const std::map<std::string, Value>& answers, const Value& patch,
                                                       const Value& live);

/// The `context` that templates of a component see, without output and outputs.
Value component_context(const ComponentSpec& component, const RenderContext& context);

/// What health, customStatus and details of a definition say about live objects.
struct HealthVerdict {
  bool is_healthy = true;
  std::string message;
  std::map<std::string, std::string> details;
  std::string fault{};  // the health policy went beyond its budget; part of `message`
};
/// `output` is the live workload (null: not there), `outputs` live auxiliaries by name. For a trait `output` is the workload
/// too. `context` has name, appName and appRevision at least. Without a policy what is there is healthy; a policy that cannot
/// be evaluated is not.
HealthVerdict judge(const Definition& definition, const Value& context, const Value& parameter, const Value& output,
                    const Value& outputs);

}  // namespace slipway::delivery::application
