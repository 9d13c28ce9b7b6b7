// An Application with everything that its spec names looked up: definitions, shared policies and the workflow. What was looked
// up once is frozen in the ApplicationRevision and comes from there until the spec changes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "delivery/application/definition.h"
#include "delivery/application/policy.h"
#include "delivery/application/spec.h"
#include "delivery/workflow/step.h"
#include "kube/object.h"

namespace slipway::delivery::application {

/// Where names are looked up: the cluster, or a revision.
struct Lookup {
  std::function<Result<DefinitionPtr>(DefinitionKind kind, const std::string& type)> definition;
  /// Policy and Workflow objects of the application's namespace; null when absent.
  std::function<Value(const std::string& name)> policy;
  std::function<Value(const std::string& name)> workflow;
  /// What DefinitionStore::global_policies() says. May be empty.
  std::function<std::vector<DefinitionPtr>()> global_policies = {};
  /// What stood behind the URLs of components (references.h): a list, or null.
  Value referred{};
};

/// The type of the steps that deliver one component; their definition is the engine's own unless a user has one of that name.
inline constexpr const char* kApplyComponent = "apply-component";
inline constexpr const char* kBuiltinApplyComponent = "builtin-apply-component";
using workflow::kStepGroup;

/// Whether the engine itself reads the properties of such policies, whether or not there is a definition of them.
bool is_own_policy(std::string_view type);

using DefinitionsByType = std::map<std::string, DefinitionPtr>;

struct Parsed {
  ApplicationSpec spec;  // with the shared policies that steps name
  workflow::Steps steps;
  std::string workflow_name;
  KeepPolicies keep;
  DefinitionsByType components, traits, policies, step_types;
  std::map<std::string, Value> shared_policies;  // Policy objects by name
  Value shared_workflow;                         // the Workflow object, or null
  std::vector<DefinitionPtr> global_policies;    // as Lookup's
  Value referred;                                // likewise

  const PolicySpec* find_policy(std::string_view name) const;
};

/// Errors: Invalid and NotFound; the message begins with what could not be read ("failed to parse component web: …").
Result<Parsed> parse(const kube::Object& application, const Value& spec, const Lookup& lookup);

/// The definitions of one component and its traits; those that the spec does not name (an override's) are looked up.
Result<std::pair<DefinitionPtr, std::vector<DefinitionPtr>>> definitions_of(const ComponentSpec& component,
                                                                            const Parsed& parsed, const Lookup& lookup);

}  // namespace slipway::delivery::application
