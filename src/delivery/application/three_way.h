// KubeVela's way of applying, for who needs it (`--apply-mode three-way`): a patch made of what was applied last, what is
// wanted and what is there; strategic where the kind is built in. What was applied last stands in the annotation
// app.oam.dev/last-applied-configuration, but not on Secrets and ConfigMaps: of those nothing is taken away. Pure. Follows
// kubevela/kubevela pkg/utils/apply.
#pragma once

#include "client/client.h"
#include "json/value.h"

namespace slipway::delivery::application {

struct ThreeWayPatch {
  client::PatchType type = client::PatchType::Merge;
  json::Value patch;  // {}: nothing is to be changed
};

/// The manifest with the annotation, for an object that is not there. `live` null or an object whose annotation says "-" or
/// "skip", which it keeps.
json::Value with_last_applied(const json::Value& manifest, const json::Value& live);
/// Errors: BadRequest for lists that cannot be merged by their schema.
Result<ThreeWayPatch> three_way_patch(const json::Value& manifest, const json::Value& live);

}  // namespace slipway::delivery::application
