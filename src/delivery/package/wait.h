// Waiting until the worker has carried out what a record says is still to be done: an approval is answered when the remote has
// taken it, a deletion when the references are gone. Not as long as half a minute, which is the patience of clients;
// what takes longer goes on all the same.
#pragma once

#include "client/served.h"
#include "delivery/package/records.h"

namespace slipway::delivery::package {

inline constexpr Duration kLongestWait = std::chrono::seconds{25};

/// The record once it is published. Conflict with the drift that came between; Timeout with what the repository says.
Task<Result<StoredRecord>> wait_published(client::ServedContext context, StoredRecord approved);
/// Comes back when the record is gone, is held by a finalizer of others, or the wait was too long.
Task<> wait_gone(client::ServedContext context, StoredRecord going);

}  // namespace slipway::delivery::package
