// The mark of ConfigMaps that hold the rendered resources of a revision: proof that what they hold is what the Application's
// controller rendered. Only the process sets it, and a change of the content by anyone else removes it, so a controller that
// applies the content (AppRollout) can tell rendered resources from what an editor of the namespace wrote. Pure.
#pragma once

#include "kube/admission.h"

namespace slipway::delivery {

inline constexpr const char* kRenderedMark = "slipway.dev/rendered";

bool is_marked_rendered(const kube::Object& config_map);

/// The object to store: with the mark of `old` where the content is unchanged, without it otherwise. What the process itself
/// writes stays as it is. For the `mutate_for` row of ConfigMaps.
kube::Object keep_rendered_mark(const kube::Object& config_map, const kube::Object& old, const kube::Asker& asker);

}  // namespace slipway::delivery
