// The served kinds PackageRevision and PorchPackage (porch.kpt.dev/v1alpha1), answered from the log: what is read is a record
// shown as a revision, of the record's resourceVersion, so that lists, watches and selectors are the store's own.
//
// DIVERGES from Porch: a whole-object PUT with an old resourceVersion is merged (update.h); nothing but the log is touched by a
// change of conditions; server-side apply owns conditions by its field manager, other fields that it sends are set and are not
// taken away when it sends them no more.
#pragma once

#include <memory>

#include "client/served.h"
#include "delivery/package/serving.h"

namespace slipway::delivery::package {

client::AnsweredKind revision_kind(std::shared_ptr<WriterTurns> turns);
client::AnsweredKind package_kind();

// The functions, for the rows.
Task<Result<client::Reply>> get_revision(client::ServedContext context, client::Request request);
Task<Result<client::Reply>> list_revisions(client::ServedContext context, client::Request request);
Task<Result<std::unique_ptr<client::Watch>>> watch_revisions(client::ServedContext context, client::Request request);
Task<Result<client::Reply>> create_one(client::ServedContext context, client::Request request);
/// PUT and PATCH, of the revision or its approval.
Task<Result<client::Reply>> write_revision(client::ServedContext context, std::shared_ptr<WriterTurns> turns,
                                           client::Request request);
Task<Result<client::Reply>> delete_revision(client::ServedContext context, std::shared_ptr<WriterTurns> turns,
                                            client::Request request);
Task<Result<client::Reply>> delete_revisions(client::ServedContext context, std::shared_ptr<WriterTurns> turns,
                                             client::Request request);
Task<Result<client::Reply>> get_package(client::ServedContext context, client::Request request);
Task<Result<client::Reply>> list_packages(client::ServedContext context, client::Request request);

}  // namespace slipway::delivery::package
