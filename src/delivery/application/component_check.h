// What admission finds out about one component: it is rendered with its traits as the controller would do it for the first
// time, and what its definitions call immutable is compared with what it was. Every fault says where in the Application it is.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "delivery/application/parsed.h"
#include "delivery/application/render.h"

namespace slipway::delivery::application {

/// "parameter.image" of what stands at `path`: spec.components[0].properties.image.
Cause cause_of(const ParameterFault& fault, const Value& properties, const std::string& path);
/// `Not found: "nam": detail`.
Cause not_found(std::string path, const std::string& name, const std::string& detail);
/// A type without a definition; `error` is that of looking it up.
Cause unknown_type(std::string path, const std::string& type, const Status& error);

/// One component to be rendered as it is written, unless an override policy mends it. Touches nothing of the logic thread's.
struct RenderingCheck {
  ComponentSpec component;
  ComponentTemplates templates;
  /// The component as override policies make it, where their definitions are known.
  std::vector<std::pair<ComponentSpec, ComponentTemplates>> overridden;
  /// Variables go into its parameters while the workflow runs: what is only missing then passes.
  bool is_fed = false;
  std::string path;

  /// A template that makes calls passes.
  std::vector<Cause> faults(const RenderContext& context) const;
};

/// By name, what override policies make of a component: each of them alone, and all together. Those that change nothing of it
/// are left out.
using OverriddenComponents = std::map<std::string, std::vector<ComponentSpec>>;
/// Ends early, with a part, once `cancelled` is set.
OverriddenComponents overridden_components(const std::vector<ComponentSpec>& components,
                                           const std::vector<PolicySpec>& overrides, const std::atomic<bool>& cancelled);

class ComponentCheck {
 public:
  /// Everything outlives this.
  ComponentCheck(const kube::Object& application, const kube::Object& old, const ApplicationSpec& spec,
                 const OverriddenComponents& overridden);

  RenderingCheck rendering(const ComponentSpec& component, ComponentTemplates templates, const Lookup& lookup, bool is_fed,
                           std::string path) const;
  /// Parameters marked immutable that were set and are now others.
  std::vector<Cause> immutable(const ComponentSpec& component, const ComponentTemplates& templates,
                               const std::string& path) const;

  /// What components are rendered with.
  const RenderContext& context() const { return context_; }

 private:
  RenderContext context_;
  bool forces_parameters_ = false;
  Value old_components_;
  const OverriddenComponents& overridden_;
};

}  // namespace slipway::delivery::application
