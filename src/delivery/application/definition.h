// Definitions of components, traits, policies and workflow steps as rendering needs them: read from objects of core.oam.dev,
// or from files in the form of `vela def` (CUE). Found by namespace order, pinned by revision, kept by digest.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/workflow/template.h"
#include "json/value.h"

namespace slipway::delivery::application {

using json::Value;

enum class DefinitionKind : std::uint8_t { Component, Trait, Policy, WorkflowStep };
/// "ComponentDefinition", …
std::string_view kind_of(DefinitionKind kind);

/// When a trait's objects are dispatched, relative to the workload.
enum class Stage : std::uint8_t { PreDispatch, DefaultDispatch, PostDispatch };

/// A definition ready to be rendered with. Immutable and shared.
struct Definition {
  DefinitionKind kind = DefinitionKind::Component;
  std::string name;
  Value object;  // the *Definition object, as stored
  std::string digest;
  workflow::TemplatePtr program;        // null when it has no CUE template (terraform, helm, reference only), or a faulty one
  workflow::TemplatePtr health;         // status.healthPolicy; null when absent or faulty
  workflow::TemplatePtr custom_status;  // likewise
  workflow::TemplatePtr details;
  /// Why texts do not compile, with the places in them: "template: …", "status.healthPolicy: …". Whoever vets a definition
  /// refuses them; an application that uses it fails in the step that renders it, and is unhealthy without a policy that works.
  std::string fault;
  bool has_faulty_health = false;
  /// The field of the template that takes the properties; `parameters` in templates of old.
  std::string parameter_field = "parameter";
  /// Paths below that field of parameters marked `+immutable`.
  std::vector<std::vector<std::string>> immutable_parameters;
  // Components: the workload it declares ("autodetects.core.oam.dev" and absent: empty kind).
  std::string workload_api_version;
  std::string workload_kind;
  // Traits.
  Stage stage = Stage::DefaultDispatch;
  std::string workload_ref_path;
  bool manages_workload = false;
  bool is_control_plane_only = false;
  std::vector<std::string> applies_to;
  std::vector<std::string> conflicts_with;

  bool has_status_texts() const { return health != nullptr || custom_status != nullptr || details != nullptr; }
};
using DefinitionPtr = std::shared_ptr<const Definition>;

/// Reads a *Definition object. Errors: Invalid, which names the definition and the field. Faults of its texts are no errors.
Result<DefinitionPtr> read_definition(const Value& object, workflow::Templates& templates);

/// The *Definition object of a file in `vela def` form (CUE with a header and `template`). `file` is for messages.
Result<Value> definition_from_cue(const std::string& file, const std::string& text);

/// The built-in definitions: objects in namespace vela-system, made from definitions/*/*.cue, which are part of the binary.
const std::vector<Value>& builtin_definitions();

}  // namespace slipway::delivery::application
