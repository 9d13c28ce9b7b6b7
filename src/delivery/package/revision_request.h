// What a PUT or PATCH of a PackageRevision means: the object that its sender wants, over what it had read and what is there
// now. A PUT may be old, and is merged against what its sender had read (update.h); a patch is of what is there. Server-side
// apply owns conditions by its field manager; most say nothing else, and those are merged without making the object. Of
// requests to the endpoint of the status only the conditions count.
#pragma once

#include <optional>

#include "client/served.h"
#include "delivery/package/serving.h"

namespace slipway::delivery::package {

/// The object that a request means, what its sender had read, and what is there now (of an apply with its conditions).
struct Sent {
  std::optional<StoredRecord> base{};  // nothing: it is the current one
  StoredRecord current{};
  json::Value object{};

  const StoredRecord& read() const { return base ? *base : current; }
};

Task<Result<Sent>> sent_of(client::ServedContext context, client::Request request, StoredRecord current);

/// An apply of the revision or its status.
bool is_apply_of(const client::Request& request);
/// Whether an apply says nothing but conditions, as most do: then the rest of the object is neither made nor read.
bool has_only_conditions(const client::Request& request);
/// The record that such an apply makes of the newest one.
Result<Change> with_applied_conditions(const client::ServedContext& context, const client::Request& request,
                                       StoredRecord newest);
/// An applied object without what the endpoint of the status does not look at.
json::Value only_status(const json::Value& config);

/// Conflict while it was approved and the repository has not taken it yet.
Result<void> check_not_publishing(const client::Request& request, const RevisionRecord& record);

}  // namespace slipway::delivery::package
