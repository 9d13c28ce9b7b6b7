// What every object of an application carries so that it can be told whose it is: name, namespace, labels and annotations
// (kubevela/kubevela pkg/appfile, SetOAMContract). The labels app.oam.dev/cluster and app-revision-hash and the annotations of
// last-applied are put on at dispatch.
#pragma once

#include <string>

#include "delivery/application/render.h"

namespace slipway::delivery::application {

inline constexpr const char* kAuxiliaryWorkload = "AuxiliaryWorkload";

/// Puts the marks of one component on its objects.
class Contract {
 public:
  Contract(const ComponentSpec& component, const RenderContext& context) : component_(component), context_(context) {}

  /// `object` as the component's workload; called after the component when it has no name.
  Value workload(const Value& object) const;
  /// `one.object` beside the workload. `trait` is null for what the component's own template made.
  Value other(const RenderedObject& one, const Definition* trait, const Value& workload) const;

 private:
  Value with_identity(const Value& object) const;
  Value with_application(const Value& object) const;
  Value in_namespace(const Value& object, bool is_control_plane_only) const;

  const ComponentSpec& component_;
  const RenderContext& context_;
};

}  // namespace slipway::delivery::application
