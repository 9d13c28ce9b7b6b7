// The served kind PackageRevisionResources (porch.kpt.dev/v1alpha1): the files of a revision, read from Git at each request and
// never stored. A PUT replaces all of them, runs the pipeline and makes the commit; its answer carries status.renderStatus.
// The Kptfile is shown with the gates and conditions of the log; what a PUT changes in these is read as flips and gate edits,
// which is how existing controllers write them. Nothing is stored when the pipeline fails, unless the revision has the
// annotation porch.kpt.dev/push-on-render-failure: "true".
//
// A watch is offered on revisions only, as Porch's. Files that are no text are not shown (a warning names them) and stay.
#pragma once

#include <memory>

#include "client/served.h"
#include "delivery/package/serving.h"

namespace slipway::delivery::package {

client::AnsweredKind resources_kind(std::shared_ptr<WriterTurns> turns);

Task<Result<client::Reply>> get_resources(client::ServedContext context, client::Request request);
Task<Result<client::Reply>> list_resources(client::ServedContext context, client::Request request);
/// PUT, and PATCH as JSON patch or merge patch of what GET shows.
Task<Result<client::Reply>> write_resources(client::ServedContext context, std::shared_ptr<WriterTurns> turns,
                                            client::Request request);

}  // namespace slipway::delivery::package
