// What an ApplicationRevision tells of the run that delivered it: whether it succeeded, and a copy of its status. KubeVela's
// command line lists it and rolls back to it.
#pragma once

#include "client/client.h"
#include "delivery/workflow/run_status.h"
#include "kube/object.h"

namespace slipway::delivery::application {

/// The status that says so, or null where `revision` says it already. A revision that was delivered once stays so.
json::Value revision_status(const kube::Object& revision, const workflow::RunStatus& run);
/// Writes it. What another writer changed meanwhile is written at the next look.
Task<Result<void>> note_run(client::Client& client, kube::Object revision, workflow::RunStatus run);

}  // namespace slipway::delivery::application
