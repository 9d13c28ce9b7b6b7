// What admission finds out about one component: it is rendered with its traits as the controller would do it for the first
// time, and what its definitions call immutable is compared with what it was. Every fault says where in the Application it is.
#pragma once

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

class ComponentCheck {
 public:
  /// Everything outlives this. `overrides` are the override policies that components may be delivered with.
  ComponentCheck(const kube::Object& application, const kube::Object& old, const ApplicationSpec& spec,
                 const std::vector<PolicySpec>& overrides);

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
  std::vector<std::vector<ComponentSpec>> overridden_;  // by each override policy, and by all of them
};

}  // namespace slipway::delivery::application
