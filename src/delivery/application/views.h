// The queries (VelaQL views) that KubeVela's clients look for before they show pods, endpoints or a revision: ConfigMaps in
// vela-system under the view's name, with the CUE text under `template`. The clients run them themselves; Slipway only keeps
// the texts of definitions/view there. Follows kubevela/kubevela pkg/velaql.
#pragma once

#include <string>

#include "client/client.h"

namespace slipway::delivery::application {

/// Makes the ConfigMaps that are missing, and brings those to the program's version that Slipway made and that are unedited
/// since. REQUIRES: the namespace.
Task<Result<void>> keep_views(client::Client& client, std::string manager);

}  // namespace slipway::delivery::application
