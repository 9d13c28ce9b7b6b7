// One change of one key, as watchers and projections see it.
#pragma once

#include <optional>
#include <string>

#include "json/value.h"
#include "kube/object.h"

namespace slipway::store {

using kube::Revision;

/// Changes come in the order of revisions.
struct Change {
  Revision revision = 0;
  std::string key;
  std::optional<json::Value> value;     // nullopt: deleted
  std::optional<json::Value> previous;  // nullopt: created
  Revision previous_revision = 0;       // of the change that made `previous`
};

}  // namespace slipway::store
