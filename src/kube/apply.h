// Server-side apply and field ownership (KEP-555, structured-merge-diff): who owns which field, as metadata.managedFields says,
// and how an applied configuration merges into a live object. Pure functions over values and a schema.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

/// Who writes, through which endpoint.
struct Writer {
  std::string manager;
  std::string api_version;
  std::string subresource;  // "" or "status"
};

/// After a create, update or patch: `updated` with managedFields that say `writer` owns what changed against `live`
/// (null for a create). Never conflicts. When nothing changed managedFields stay as in `live`, so that the write can be seen to
/// be a no-op. `updated` may carry managedFields of its own (a client may edit them); an empty list resets.
json::Value track_update(const ResourceType& type, const json::Value& live, const json::Value& updated, const Writer& writer,
                         Time now);

/// A lower bound on the text that the writer's row of managedFields will have after track_update(), from one cheap pass; 0 when
/// nothing would be tracked. So what will be too large is refused before the expensive work.
std::size_t least_tracked_bytes(const ResourceType& type, const json::Value& live, const json::Value& updated);

/// Applies `config` for `writer` to `live` (null for a create).
/// BadRequest when config carries managedFields or another apiVersion; Invalid when it does not fit the schema's lists;
/// Conflict with FieldManagerConflict causes when other managers own what would change and `force` is false.
Result<json::Value> apply(const ResourceType& type, const json::Value& live, const json::Value& config, const Writer& writer,
                          bool force, Time now);

/// `live` when what an apply made, in its stored form, differs from it in nothing but the times of managedFields; else
/// `applied`. An applier that repeats a zero value that is not stored thus writes nothing.
json::Value settled_apply(const json::Value& live, const json::Value& applied);

}  // namespace slipway::kube
