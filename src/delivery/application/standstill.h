// What keeps Slipway from touching an object of its own kinds: the pause label, or an annotation that asks for another
// controller (a version of KubeVela's, or "Disabled" while its command line rolls back). Pure. Follows kubevela/kubevela
// pkg/controller/core.oam.dev/v1beta1/application.
#pragma once

#include <string>

#include "kube/object.h"

namespace slipway::delivery::application {

/// Why nothing is to be done about it, not even its deletion: "the annotation … asks for controller v1.10.3". Empty: nothing.
std::string asks_for_other(const kube::Object& object);
/// That, or why it is paused. Empty: it may be worked on.
std::string standstill(const kube::Object& object);

}  // namespace slipway::delivery::application
