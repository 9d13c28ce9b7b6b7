// Components whose objects other controllers carry out: their definition says by annotations which kinds it cannot do without
// and who brings them. Where no cluster serves such a kind, an application that uses the definition waits before anything is
// rendered, as if there were no such definition (upstream's comes with the addon that brings the kinds); where another cluster
// serves it, the step that delivers the component waits (AppRun::deliver).
#pragma once

#include "control/controller.h"
#include "delivery/application/live.h"
#include "delivery/application/parsed.h"

namespace slipway::delivery::application {

/// Of an application's spec. Errors: NotFound, which names component, definition and kind, and who brings it; other faults of
/// the spec are not told. A cluster that does not answer may serve all. `run` and `live` outlive the call.
Task<Result<void>> check_needed_kinds(control::Reconcile& run, LiveObjects& live, Value spec, Lookup lookup);

}  // namespace slipway::delivery::application
